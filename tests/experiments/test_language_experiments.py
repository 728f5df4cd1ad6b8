"""Sites made to try the language finder: few translated pages, foreign frames, languages that nobody speaks."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from experiments.few_translated import Site, few_translated, foreign_frame, measure, under_other_frame
from experiments.unknown_languages import STRANGE, cipher, text_pages
from experiments.unknown_languages import measure as measure_unknown
from tests.language.declaration import DECLARATION
from twinlink.evaluation.gold import Gold

N = 30
MENU = {"en": ["Home page", "All our news"], "fr": ["Page principale", "Toutes nos nouvelles"]}


def text(language: str, number: int) -> list[str]:
    words = DECLARATION[language].split()
    start = 11 * number % len(words)
    turned = [*words[start:], *words[:start]][: len(words) * 2 // 3]
    return [f"{number}", *(" ".join(turned[i : i + 12]) for i in range(0, len(turned), 12)), f"Form {number * 37}"]


def made_site(host: str, first_id: int = 0) -> Site:
    """Make pages in two languages; each links to the next three of its language."""
    sides = [(language, number) for language in ("en", "fr") for number in range(N)]
    paths = [f"/{language}/{number:03}.html" for language, number in sides]
    pages = pa.table(
        {
            "page_id": pa.array(range(first_id, first_id + 2 * N), pa.int64()),
            "site": [host] * (2 * N),
            "url": [f"http://{host}{path}" for path in paths],
            "title": [""] * (2 * N),
            "blocks": [[*MENU[language], *text(language, number)] for language, number in sides],
            "tags": pa.array([bytes([1, 0, 2, 0, 3 + number % 5, 0]) for _, number in sides], pa.binary()),
            "images": pa.array([[]] * (2 * N), pa.list_(pa.string())),
            "declared_lang": [""] * (2 * N),
            "canonical_url": pa.nulls(2 * N, pa.string()),
            "bytes": pa.array([1000] * (2 * N), pa.int64()),
        }
    )
    ends = [(i, i // N * N + (i + k) % N) for i in range(2 * N) for k in (1, 2, 3)]
    links = pa.table(
        {
            "source": pa.array([first_id + source for source, _ in ends], pa.int64()),
            "target": pa.array([first_id + target for _, target in ends], pa.int64()),
            "hreflang": [""] * len(ends),
            "target_url": [pages["url"][target].as_py() for _, target in ends],
            "target_site": [host] * len(ends),
            "switch": [""] * len(ends),
        }
    )
    pairs = tuple((f"/en/{number:03}.html", f"/fr/{number:03}.html") for number in range(N))
    return Site(pages, links, Gold(pairs, sides={path: "AB"[i // N] for i, path in enumerate(paths)}), ("en", "fr"))


def test_few_translated_pages_link_to_the_others() -> None:
    made = few_translated(made_site("a.example"), made_site("b.example", 1000), 6, 50)
    assert len(made.site.pages) == 50 + 6
    assert len(made.asked) == len(made.site.gold.pairs) == 6
    assert set(made.site.links["target"].to_pylist()[: 6 * N]) == set(range(N))


def test_few_translated_pages_are_found_whatever_they_link_to_and_stand_under() -> None:
    few = few_translated(made_site("a.example"), made_site("b.example", 1000), 6, 50)
    urls = few.site.pages["url"].to_pylist()
    rows = [row for row, url in enumerate(urls) if url in few.asked]
    framed = foreign_frame(few.site.pages, rows, [row for row in range(len(urls)) if row not in rows])
    assert framed["blocks"][rows[0]].as_py()[:2] == MENU["en"]
    for site in (few.site, Site(framed, few.site.links, few.site.gold, few.site.langs)):
        row = measure("few", few._replace(site=site))
        assert (row.asked, row.found, row.ceiling) == (6, 6, 1.0)


def test_pages_under_the_frame_of_the_other_language() -> None:
    made = under_other_frame(made_site("a.example"))
    row = measure("framed", made)
    assert row.asked == 3
    assert (row.found, row.ceiling) == (3, 1.0)


def test_cipher_is_a_language_of_its_own() -> None:
    blocks = made_site("a.example").pages["blocks"].to_pylist()
    row = measure_unknown(
        blocks, ["en", "fr"], [[cipher(block) for block in text("fr", number)] for number in range(12)]
    )
    assert row == (12, 12, 0)


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_pages_are_not_a_language(kind: str) -> None:
    blocks = made_site("a.example").pages["blocks"].to_pylist()
    added = [STRANGE[kind](random.Random(i)) for i in range(20)]
    assert measure_unknown(blocks, ["en", "fr"], added) == (20, 0, 0)


def test_pages_of_a_text() -> None:
    assert text_pages("a\n\nb\nc\nd\n") == [["a", "b", "c"]]
