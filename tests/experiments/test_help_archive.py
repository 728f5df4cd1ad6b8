"""Archives of HTML pages become one folder for each language."""

from __future__ import annotations

import zipfile
from pathlib import Path

from experiments.sitemaker.help_archive import ARCHIVES, HTML, unpack_help


def _package(root: Path, lang: str) -> Path:
    (root / ARCHIVES).mkdir(parents=True)
    with zipfile.ZipFile(root / ARCHIVES / f"scilab_{lang}_help.jar", "w") as archive:
        archive.writestr(f"scilab_{lang}_help/abs.html", lang)
        archive.writestr(f"scilab_{lang}_help/style.css", "")
    with zipfile.ZipFile(root / ARCHIVES / "images.jar", "w"):
        pass
    return root


def test_pages_of_each_language_are_unpacked_once(tmp_path: Path) -> None:
    roots = [_package(tmp_path / "a", "en_US"), _package(tmp_path / "b", "pt_BR"), tmp_path / "none"]
    unpack_help(roots, {"en", "pt"})
    pages = [roots[0] / HTML / "en-US", roots[1] / HTML / "pt-BR"]
    assert [sorted(path.name for path in folder.iterdir()) for folder in pages] == [["abs.html"], ["abs.html"]]
    assert (pages[1] / "abs.html").read_text() == "pt_BR"
    (pages[0] / "abs.html").write_text("kept")
    unpack_help(roots, {"en", "pt"})
    assert (pages[0] / "abs.html").read_text() == "kept"
    assert [path.name for path in (roots[0] / HTML).iterdir()] == ["en-US"]


def test_half_of_an_archive_is_unpacked_again(tmp_path: Path) -> None:
    root = _package(tmp_path, "ja_JP")
    half = root / HTML / "ja-JP.tmp" / "scilab_ja_JP_help"
    half.mkdir(parents=True)
    (half / "old.html").touch()
    unpack_help([root], {"ja"})
    assert [path.name for path in (root / HTML / "ja-JP").iterdir()] == ["abs.html"]
