"""A site folder is read for experiments as `twinlink mine` reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.cases import open_case
from tests.made_sites import page, town_page, write_pages
from twinlink import mine

N = 12
HOME = "http://town.example/"
PORTUGUESE = (
    "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem"
    " agir uns para com os outros em espírito de fraternidade."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a site in English and French, and among its French pages one in Portuguese, as only link texts say."""
    towns = tmp_path / "towns"
    others = {"en": "", "fr": '<a href="other.html">Português</a>'}
    for lang, other in others.items():
        menu = other + "".join(f'<a href="{n}.html">{n}</a>' for n in range(N))
        texts = {f"{n}.html": town_page(lang, n).replace("</body>", f"{menu}</body>") for n in range(N)}
        write_pages(towns / "site" / lang, texts)
    write_pages(towns / "site" / "fr", {"other.html": page(PORTUGUESE, *(f"{n}.html" for n in range(N)))})
    facts = {"lang_a": "en", "lang_b": "fr", "host": "town.example"}
    (towns / "meta.json").write_text(json.dumps(facts), encoding="utf-8")
    (towns / "gold.tsv").write_text("".join(f"/en/{n}.html\t/fr/{n}.html\n" for n in range(N)), encoding="utf-8")
    return towns


def test_link_texts_name_the_language_of_a_page_as_in_a_match(folder: Path, tmp_path: Path) -> None:
    pages = mine(folder / "site", out=tmp_path / "run", langs=["en", "fr"], base_url=HOME).pages
    languages = dict(zip(pages["url"], pages["lang"], strict=True))
    assert languages[f"{HOME}fr/other.html"] == "pt"
    with open_case(folder) as case:
        for side in (case.side_a, case.side_b):
            assert {*side.urls} == {url for url, lang in languages.items() if lang == side.lang}
