"""Manual pages become one folder of HTML pages for each language; ``mandoc`` is a short script here."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from experiments.sitemaker.man_pages import HTML, write_man_pages

MANDOC = """#!/bin/sh
echo "<html><body>$(cat)</body></html>"
"""


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    script = tmp_path / "mandoc" / "usr/bin/mandoc"
    script.parent.mkdir(parents=True)
    script.write_text(MANDOC)
    script.chmod(0o755)
    pages = {
        "first/usr/share/man/man1/ls.1.gz": "list, see <b>stat</b>(2), <b>gone</b>(1) and <b>sort</b>(1)",
        "first/usr/share/man/man1/dir.1.gz": ".so man1/ls.1",
        "second/usr/share/man/man1/sort.1.gz": "sort",
        "second/usr/share/man/man2/stat.2": "state",
        "other/usr/share/man/pt_BR/man1/ls.1.gz": "listar <b>ls</b>(1)",
    }
    for place, text in pages.items():
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    (tmp_path / "first/usr/share/man/man1/vdir.1.gz").symlink_to("ls.1.gz")
    return [tmp_path / name for name in ("mandoc", "first", "second", "other")]


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_pages_of_all_packages_of_a_language_are_in_one_folder(roots: list[Path]) -> None:
    write_man_pages(roots, {"en", "ptbr", "xx"})
    english, portuguese = roots[1] / HTML / "en", roots[3] / HTML / "pt-BR"
    assert _files(english) == ["index-1.html", "index-2.html", "ls.1.html", "sort.1.html", "stat.2.html"]
    assert _files(portuguese) == ["index-1.html", "ls.1.html"]
    assert not (roots[2] / HTML).exists()
    assert "listar" in (portuguese / "ls.1.html").read_text()


def test_names_of_pages_are_links(roots: list[Path]) -> None:
    write_man_pages(roots, {"en"})
    folder = roots[1] / HTML / "en"
    assert (folder / "ls.1.html").read_text().strip() == (
        '<html><body>list, see <a href="stat.2.html"><b>stat</b>(2)</a>, <b>gone</b>(1) and '
        '<a href="sort.1.html"><b>sort</b>(1)</a></body></html>'
    )
    listed = '<li><a href="ls.1.html">ls.1</a></li><li><a href="sort.1.html">sort.1</a></li>'
    assert listed in (folder / "index-1.html").read_text()


def test_pages_that_are_there_stay_and_half_of_a_folder_is_written_again(roots: list[Path]) -> None:
    (roots[1] / HTML / "en").mkdir(parents=True)
    (roots[3] / HTML / "pt-BR.tmp").mkdir(parents=True)
    (roots[3] / HTML / "pt-BR.tmp" / "half.1.html").touch()
    write_man_pages(roots, {"en", "pt"})
    assert _files(roots[1] / HTML / "en") == []
    assert _files(roots[3] / HTML) == ["pt-BR"]
    assert _files(roots[3] / HTML / "pt-BR") == ["index-1.html", "ls.1.html"]


def test_a_program_that_fails_is_an_error(roots: list[Path]) -> None:
    (roots[0] / "usr/bin/mandoc").write_text("#!/bin/sh\ncat >/dev/null; exit 6\n")
    with pytest.raises(subprocess.CalledProcessError, match="exit status 6"):
        write_man_pages(roots, {"en"})
    assert not (roots[1] / HTML / "en").exists()
