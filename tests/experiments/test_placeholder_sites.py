"""Sites of which pages only say that there is no translation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.placeholders import NOTES, with_placeholders

MENU = '<a href="../">Accueil</a> <a href="/fr/aide/">Aide</a>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    pages = {
        f"fr/{k}/index.html": f"<title>Page {k}</title>{MENU} <a href='x{k}.html'>suite</a> texte" for k in range(9)
    }
    pages |= {f"en/{k}.html": "text" for k in range(9)}
    for name, body in pages.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(body, encoding="utf-8")
    (folder / "gold.tsv").write_text("".join(f"/en/{k}.html\t/fr/{k}/\n" for k in range(9)), encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps({"lang_a": "en", "lang_b": "fr-CA"}), encoding="utf-8")
    return folder


def test_pages_keep_title_and_menu_and_their_pairs_are_known_no_more(site: Path, tmp_path: Path) -> None:
    made = with_placeholders(site, tmp_path / "out", 1.0)
    assert (made / "gold.tsv").read_text(encoding="utf-8") == ""
    text = (made / "site" / "fr" / "3" / "index.html").read_text(encoding="utf-8")
    assert "<title>Page 3</title>" in text
    assert f"<p>{NOTES['fr']}</p>" in text
    assert '<a href="/fr/">Accueil</a>' in text
    assert '<a href="/fr/aide/">Aide</a>' in text
    assert "suite" not in text
    assert (made / "site" / "en" / "3.html").read_text(encoding="utf-8") == "text"


def test_a_share_of_the_pairs_is_drawn(site: Path, tmp_path: Path) -> None:
    made = with_placeholders(site, tmp_path / "out", 0.5)
    known = {line.split("\t")[1] for line in (made / "gold.tsv").read_text(encoding="utf-8").splitlines()}
    notes = {f"/fr/{k}/" for k in range(9) if NOTES["fr"] in (made / f"site/fr/{k}/index.html").read_text("utf-8")}
    assert len(known) + len(notes) == 9
    assert known.isdisjoint(notes)
    assert 0 < len(notes) < 9


def test_without_a_share_nothing_changes(site: Path, tmp_path: Path) -> None:
    made = with_placeholders(site, tmp_path / "out", 0.0)
    for file in site.rglob("*"):
        if file.is_file():
            assert (made / file.relative_to(site)).read_bytes() == file.read_bytes()
