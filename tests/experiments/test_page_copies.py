"""Sites of which pages have a second address."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.page_copies import with_page_copies


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    pages = {"en/a.html": 'A <a href="7.html">seven</a> <a href="../fr/">f</a>', "en/7.html": "7", "fr/index.html": "F"}
    for name, body in pages.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(body, encoding="utf-8")
    (folder / "gold.tsv").write_text("/en/7.html\t/fr/\t1\n", encoding="utf-8")
    (folder / "pages.tsv").write_text("/en/a.html\tA\n/en/7.html\tA\n/fr/\tB\n", encoding="utf-8")
    (folder / "equiv.tsv").write_text("3\tB\t/fr/\n", encoding="utf-8")
    return folder


def test_both_pages_of_a_pair_get_a_copy(site: Path, tmp_path: Path) -> None:
    made = with_page_copies(site, tmp_path / "out", 1.0)
    (old, new) = [line.split("\t") for line in (made / "gold.tsv").read_text().splitlines()]
    assert old == ["/en/7.html", "/fr/", "1"]
    copy_a, copy_b, _ = new
    assert copy_a.startswith("/en/")
    assert copy_a[4:-5].isdigit()
    assert copy_b == "/fr-copy/"
    assert (made / "site" / copy_a.lstrip("/")).read_text() == "7"
    assert (made / "site" / "fr-copy" / "index.html").read_text() == "F"
    assert (made / "pages.tsv").read_text().splitlines()[3:] == [f"{copy_a}\tA", "/fr-copy/\tB"]
    groups = [line.split("\t") for line in (made / "equiv.tsv").read_text().splitlines()]
    assert {tuple(group) for group in groups} == {
        ("copy-0", "A", "/en/7.html"),
        ("copy-0", "A", copy_a),
        ("3", "B", "/fr/"),
        ("3", "B", "/fr-copy/"),
    }


def test_some_links_lead_to_copies(site: Path, tmp_path: Path) -> None:
    links = " ".join('<a href="7.html">x</a>' for _ in range(40))
    (site / "site" / "en" / "a.html").write_text(links, encoding="utf-8")
    made = with_page_copies(site, tmp_path / "out", 1.0)
    copy = (made / "gold.tsv").read_text().splitlines()[1].split("\t")[0]
    text = (made / "site" / "en" / "a.html").read_text()
    assert 5 < text.count(f'"{copy}"') < 35
    assert text.count(f'"{copy}"') + text.count('"7.html"') == 40


def test_without_a_share_nothing_changes(site: Path, tmp_path: Path) -> None:
    made = with_page_copies(site, tmp_path / "out", 0.0)
    for file in site.rglob("*"):
        if file.is_file():
            assert (made / file.relative_to(site)).read_bytes() == file.read_bytes()
