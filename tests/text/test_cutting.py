"""The compiled cutter against the regular expression that says the same."""

from __future__ import annotations

import re
from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.scripts import EAST_ASIAN, SOUTH_EAST_ASIAN, UNSPACED
from twinlink.text import cutting
from twinlink.text.characters import MARK_RANGES
from twinlink.text.cutting import Cutter, cut_texts

TOKEN = re.compile(
    r"\d+(?:[.,'’]\d+)*"
    rf"|[^\W\d_{UNSPACED}][^\W{UNSPACED}]*(?:(?:[{MARK_RANGES}]|['’](?=[^\W\d_]))[^\W{UNSPACED}]*)*"
    rf"|[{EAST_ASIAN}]+|[{SOUTH_EAST_ASIAN}]+"
)
LETTERS = "ab9_.,'’ -é\u0301行政々〇かカกั๒हि२ỳя서²½\u00a0İß\U00020001😀\ud800\n"
texts = st.text(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=30)


def plain_cut(text: str) -> Counter[str]:
    return Counter(TOKEN.findall(text))


def counted(cut: cutting.Cut) -> list[Counter[str]]:
    rows = cut.counts.toarray()
    return [Counter({cut.tokens[j]: int(n) for j, n in enumerate(row) if n}) for row in rows]


@given(st.lists(texts, max_size=6), st.integers(1, 40))
def test_equals_the_regular_expression(texts: list[str], chunk: int) -> None:
    with patch.object(cutting, "CHUNK", chunk):
        cut = cut_texts(texts)
    assert cut.counts.shape == (len(texts), len(cut.tokens))
    assert counted(cut) == [plain_cut(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1,234.50 1..2 3.", ["1,234.50", "1", "2", "3"]),
        ("2nd ipv6 x86_64 _a", ["2", "nd", "ipv6", "x86_64", "a"]),
        ("l'été d’un 'quoted' o'", ["l'été", "d’un", "quoted", "o"]),
        ("हिन्दी объём", ["हिन्दी", "объём"]),
        ("ab行政cd๒ก", ["ab", "行政", "cd", "๒", "ก"]),
        ("", []),
        ("… !? —\n", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert cut_texts([text]).tokens == tokens


def test_a_line_break_ends_a_token() -> None:
    assert cut_texts(["ab\ncd", "ef"]).tokens == ["ab", "cd", "ef"]


@given(st.lists(st.lists(st.text("ab1 ,.行ก\n", max_size=8), max_size=5), max_size=4))
def test_a_cutter_equals_a_cut_of_each_list(lists):
    cutter = Cutter()
    for texts in lists:
        known, fresh = cutter(texts), cut_texts(texts)
        order = [known.tokens.index(token) for token in fresh.tokens]
        assert sorted(known.tokens) == sorted(fresh.tokens)
        assert known.counts[:, order].toarray().tolist() == fresh.counts.toarray().tolist()


def test_a_cutter_cuts_a_text_once(monkeypatch):
    cut = []
    real = cutting._cut_chunk
    monkeypatch.setattr(cutting, "_cut_chunk", lambda texts, ids: cut.extend(texts) or real(texts, ids))
    cutter = Cutter()
    cutter(["one", "two", "one"])
    cutter(["two", "three"])
    assert cut == ["one", "two", "three"]


def test_a_cutter_that_forgot_begins_anew() -> None:
    cutter = Cutter()
    cutter(["red house"])
    cutter.forget()
    cut = cutter(["house", "red"])
    assert (cut.tokens, cut.counts.toarray().tolist()) == (["house", "red"], [[1.0, 0.0], [0.0, 1.0]])
