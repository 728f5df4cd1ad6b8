"""Sites of which each page has one for printing."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.page_renditions import with_pages_for_printing, with_pairs_left


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    menu = '<nav><a href="/">Home</a></nav><div class="menu">Entry</div>'
    for name in ("en/1.html", "en/2.html", "fr/1.html", "fr/index.html"):
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(
            f'<meta charset="utf-8"><body>{menu}<p>Text <a href="2.html">é</a></p></body>', encoding="utf-8"
        )
    (folder / "meta.json").write_text('{"host": "x.example"}', encoding="utf-8")
    (folder / "gold.tsv").write_text("/en/1.html\t/fr/1.html\n/en/2.html\t/fr/\n", encoding="utf-8")
    rows = "/en/1.html\tA\n/en/2.html\tA\n/fr/1.html\tB\n/fr/\tB\n/de/\tN\n"
    (folder / "pages.tsv").write_text(rows, encoding="utf-8")
    return folder


def lines(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_page_for_printing_has_no_menu(site: Path, tmp_path: Path) -> None:
    made = with_pages_for_printing(site, tmp_path / "out")
    page, printed = ((made / "site" / name / "fr/index.html").read_text(encoding="utf-8") for name in ("", "print"))
    assert "Home" in page
    assert "Entry" in page
    assert '<a href="/print/fr/">Print</a>' in page
    assert "Home" not in printed
    assert "Entry" not in printed
    assert '<a href="http://x.example/fr/2.html">é</a>' in printed
    assert '<a href="/fr/">Back</a>' in printed
    assert ["/print/en/2.html", "/print/fr/"] in lines(made / "gold.tsv")
    assert lines(made / "pages.tsv")[5:8] == [
        ["/print/en/1.html", "A"],
        ["/print/en/2.html", "A"],
        ["/print/fr/1.html", "B"],
    ]


def test_pairs_that_are_not_left_have_lost_a_page(site: Path, tmp_path: Path) -> None:
    made = with_pairs_left(site, tmp_path / "out", 0.5)
    assert len(lines(made / "gold.tsv")) == 1
    assert len(lines(made / "pages.tsv")) == 4
    assert sum(file.is_file() for file in (made / "site").rglob("*")) == 3
    assert len(lines(with_pairs_left(site, tmp_path / "all", 1.0) / "gold.tsv")) == 2
