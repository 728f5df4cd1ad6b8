"""The page test by sentences, and WebMining's content filter: where structure tells nothing, words do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.baselines.methods import match_webmining
from twinlink.baselines.page_test import PageTest
from twinlink.config import MatchSettings
from twinlink.config.baselines import WebminingSettings
from twinlink.match.evidence import Between, Side
from twinlink.pages.linearise import PageShape
from twinlink.system.steps import Steps

WORDS = [f"{a}{b}{c}" for a in "bdfgklmprt" for b in "aeiou" for c in ("nd", "st", "rk", "lm")]
OTHERS = [word[::-1].replace("a", "ou").replace("e", "ie") + "q" for word in random.Random(7).sample(WORDS, len(WORDS))]
DICTIONARY = dict(zip(WORDS, OTHERS, strict=True))
N_PAGES = 24


def two_sides(seed: int = 1) -> tuple[Side, Side]:
    """Pages of eight sentences of eight words; page k of either side is a translation of the other's."""
    rng = random.Random(seed)
    pages = [[rng.choices(WORDS, k=8) for _ in range(8)] for _ in range(N_PAGES)]
    translated = [[[DICTIONARY[word] for word in sentence] for sentence in page] for page in pages]
    return side("en", pages), side("fr", translated)


def side(lang: str, pages: list[list[list[str]]]) -> Side:
    blocks = [[" ".join(sentence) + "." for sentence in page] for page in pages]
    none = sp.csr_array(np.zeros((len(pages), len(pages)), np.bool_))
    tokens = np.array([-1, *([-5, 50, -6] * 8), -2], np.int32)
    shape = PageShape(tokens, np.full(8, 8, np.int32), 1000)
    urls = [f"http://x.org/{lang}/{k}" for k in range(len(pages))]
    tags = [b"\x01\x02"] * len(pages)
    return Side(lang, np.arange(len(pages)), urls, blocks, tags, none, shapes=[shape] * len(pages))


RIGHT = [(k, k) for k in range(N_PAGES)]


def test_right_pages_pass_and_wrong_ones_fail() -> None:
    pages = np.arange(N_PAGES)
    test = PageTest(*two_sides())
    assert test.supports(pages, pages, RIGHT).min() > 0.9
    assert test.supports(pages, (pages + 1) % N_PAGES, RIGHT).max() < 0.6


def test_the_model_learns_from_what_passes_only() -> None:
    """Half of the later teachers are wrong: they do not spoil what the first ones taught."""
    wrong = [(k, (k + 1) % N_PAGES) for k in range(N_PAGES)]
    pages = np.arange(N_PAGES)
    supports = PageTest(*two_sides()).supports(pages, pages, [*RIGHT[:20], *wrong[:12]])
    assert supports.min() > 0.9


def test_pages_without_text_have_no_support() -> None:
    a, b = two_sides()
    a = replace(a, blocks=[*a.blocks[:3], [], *a.blocks[4:]])
    assert PageTest(a, b).supports(np.array([3]), np.array([3]), RIGHT[:2]).tolist() == [0.0]


def test_pages_are_cut() -> None:
    a, b = two_sides()
    b = replace(b, blocks=[*b.blocks[:5], [*b.blocks[5], *b.blocks[6], *b.blocks[7]], *b.blocks[6:]])
    five = np.array([5])
    assert PageTest(a, b).supports(five, five, RIGHT)[0] == pytest.approx(0.5, abs=0.1)
    assert PageTest(a, b, max_sentences=8).supports(five, five, RIGHT)[0] > 0.9


def test_supports_are_reported_on_the_way() -> None:
    pages, seen = np.arange(N_PAGES), []
    supports = PageTest(*two_sides()).supports(pages, pages, RIGHT, lambda found: seen.append(found.copy()))
    assert [int((~np.isnan(found)).sum()) for found in seen] == list(range(1, N_PAGES + 1))
    assert seen[-1].tolist() == supports.tolist()


def test_webmining_shows_the_pairs_so_far_one_after_the_other() -> None:
    """Structure is the same for every third page, so that nothing is clear by it; the tests find pair after pair."""
    a, b = two_sides()
    shapes = [
        PageShape(np.append(a.shapes[0].tokens, [-7, -8] * (k % 16)), a.shapes[0].words, 1000) for k in range(N_PAGES)
    ]
    a, b = replace(a, shapes=shapes), replace(b, shapes=shapes)
    settings = MatchSettings(webmining=WebminingSettings(content_pairs=3, tag_difference=1, size_difference=1))
    nothing = sp.csr_array(np.zeros((N_PAGES, N_PAGES), np.float32))
    seen: list[set[tuple[int, int]]] = []
    shown: list[str] = []

    def keep(langs: str, make: Callable[[], pa.Table]) -> None:
        assert langs == "en-fr"
        made = make()
        seen.append(set(zip(made["page_a"].to_pylist(), made["page_b"].to_pylist(), strict=True)))

    steps = Steps(lambda share, step: shown.append(f"{share:.2f} {step}"), keep=keep)
    found = match_webmining(a, b, Between(nothing, nothing), settings, steps)
    assert seen[-1] == set(zip(found.matching.rows.tolist(), found.matching.columns.tolist(), strict=True))
    sizes = [len(each) for each in seen]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 10
    assert shown[0] == "0.20 en-fr: sentences"
    assert shown[-1].startswith("1.00 en-fr: sentences of ")


@pytest.mark.parametrize(("content", "score"), [(False, "log-ratio"), (True, "log-ratio"), (True, "printed")])
def test_webmining_asks_for_the_content_where_structures_are_one(
    content: bool, score: Literal["log-ratio", "printed"]
) -> None:
    """The last third of the pages has one structure: by it alone, ties go by row and column; b is turned around."""
    a, b = two_sides()
    shapes = [PageShape(np.append(a.shapes[0].tokens, [-7, -8] * k), a.shapes[0].words, 1000) for k in range(1, 17)]
    shapes += [a.shapes[0]] * (N_PAGES - len(shapes))
    a, b = replace(a, shapes=shapes), replace(b, shapes=shapes[::-1], blocks=b.blocks[::-1])
    settings = MatchSettings(
        webmining=WebminingSettings(
            content=content, score=score, content_pairs=N_PAGES, tag_difference=1, size_difference=1
        )
    )
    nothing = sp.csr_array(np.zeros((N_PAGES, N_PAGES), np.float32))
    between = Between(nothing, nothing)
    found = match_webmining(a, b, between, settings)
    pairs = set(zip(found.matching.rows.tolist(), found.matching.columns.tolist(), strict=True))
    right = {(k, N_PAGES - 1 - k) for k in range(N_PAGES)}
    assert pairs == right if content else len(pairs & right) < 20
    assert ("content" in found.n_filtered) == content
