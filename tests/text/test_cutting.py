"""The compiled cutter against the regular expression that says the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.scripts import EAST_ASIAN, SOUTH_EAST_ASIAN, UNSPACED, split_units
from twinlink.text import cutting
from twinlink.text.characters import MARK_RANGES
from twinlink.text.cutting import FEW_CHARACTERS, cut_texts, cut_units

TOKEN = re.compile(
    r"\d+(?:[.,'’]\d+)*"
    rf"|[^\W\d_{UNSPACED}][^\W{UNSPACED}]*(?:(?:[{MARK_RANGES}]|['’](?=[^\W\d_]))[^\W{UNSPACED}]*)*"
    rf"|[{EAST_ASIAN}]+|[{SOUTH_EAST_ASIAN}]+"
)
LETTERS = "ab9_.,'’ -é\u0301行政々〇かカกั๒हि२ỳя서²½\u00a0İß\U00020001😀\ud800\n"
texts = st.text(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=30)


@pytest.fixture(autouse=True, scope="module")
def _no_machine_code() -> Iterator[None]:
    """Let only the number of characters decide which of the two cuts."""
    with patch.object(cutting, "code_runs", lambda: False):
        yield


def plain_cut(text: str) -> Counter[str]:
    return Counter(TOKEN.findall(text))


def counted(cut: cutting.Cut) -> list[Counter[str]]:
    rows = cut.counts.toarray()
    return [Counter({cut.tokens[j]: int(n) for j, n in enumerate(row) if n}) for row in rows]


@given(st.lists(texts, max_size=6), st.sampled_from([0, FEW_CHARACTERS]), st.integers(1, 40))
def test_equals_the_regular_expression(texts: list[str], few: int, chunk: int) -> None:
    with patch.multiple(cutting, FEW_CHARACTERS=few, FEW_WITHOUT_CODE=few, CHUNK=chunk):
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


@given(st.lists(texts, max_size=6), st.sampled_from([0, FEW_CHARACTERS]), st.integers(1, 40))
def test_units_equal_those_of_each_text(texts: list[str], few: int, chunk: int) -> None:
    with patch.multiple(cutting, FEW_CHARACTERS=few, FEW_WITHOUT_CODE=few, CHUNK=chunk):
        cut = cut_units(texts)
    assert counted(cut) == [Counter(split_units(text)) for text in texts]


@given(st.lists(texts, min_size=1, max_size=6), st.booleans())
def test_the_kernel_equals_the_expression(texts: list[str], is_lower: bool) -> None:
    form = str.lower if is_lower else None
    few = cut_texts(texts, form)
    with patch.multiple(cutting, FEW_CHARACTERS=0, FEW_WITHOUT_CODE=0):
        many = cut_texts(texts, form)
    assert few.tokens == many.tokens
    for name in ("data", "indices", "indptr"):
        one, other = getattr(few.counts, name), getattr(many.counts, name)
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())


def test_a_table_of_tokens_grows() -> None:
    texts = [f"w{number} w{number // 2} x" for number in range(9_000)]
    with patch.multiple(cutting, FEW_CHARACTERS=0, FEW_WITHOUT_CODE=0, CHUNK=50_000):
        many = cut_texts(texts)
    few = cut_texts(texts)
    assert many.tokens == few.tokens == list(dict.fromkeys(word for text in texts for word in text.split()))
    assert (many.counts != few.counts).nnz == 0


@given(st.lists(texts, max_size=6), st.sampled_from([0, FEW_CHARACTERS]))
def test_plain_texts_have_one_form(texts: list[str], few: int) -> None:
    with patch.multiple(cutting, FEW_CHARACTERS=few, FEW_WITHOUT_CODE=few):
        cut = cut_texts(texts, str.lower)
    for text, is_plain in zip(texts, cut.is_plain.tolist(), strict=True):
        if is_plain:
            assert unicodedata.normalize("NFKC", text.lower()) == text.lower()


def test_which_texts_are_plain() -> None:
    with patch.multiple(cutting, FEW_CHARACTERS=0, FEW_WITHOUT_CODE=0):
        cut = cut_texts(["a", "é 行政", "e\u0301", "，", "1\u00a0000", "\u1112\u1161"])
    assert cut.is_plain.tolist() == [True, True, False, False, False, False]


@given(st.lists(texts, max_size=6), st.data())
def test_some_of_the_texts(texts: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6)) if texts else []
    some = cut_texts(texts).of_texts(np.array(chosen, np.int64))
    assert counted(some) == [plain_cut(texts[number]) for number in chosen]
    assert set(some.tokens) == {token for number in chosen for token in plain_cut(texts[number])}
    assert some.is_plain.tolist() == [texts[number].isascii() for number in chosen]


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_texts_followed_by_others(first: list[str], second: list[str]) -> None:
    both = cut_texts(first).followed_by(cut_texts(second))
    assert counted(both) == [plain_cut(text) for text in first + second]
    assert both.tokens == cut_texts(first + second).tokens
    assert len(both.is_plain) == len(first + second)


def test_machine_code_that_runs_already_cuts_few_texts_too() -> None:
    few = ["é 1.5", "行政"]
    with patch.object(cutting, "code_runs", lambda: True):
        cut, units = cut_texts(few), cut_units(few)
    assert cut.is_plain.tolist() == [True, True]  # the expression only knows of ASCII
    for found, expected in ((cut, cut_texts(few)), (units, cut_units(few))):
        assert found.tokens == expected.tokens
        assert found.counts.toarray().tolist() == expected.counts.toarray().tolist()


@pytest.mark.parametrize(
    ("n_characters", "can_wait", "code_runs", "are_few"),
    [
        (1_000, False, False, True),
        (1_000, False, True, False),
        (900_000, False, False, False),
        (900_000, True, False, True),
        (900_000, True, True, True),
        (100_000_000, True, False, False),
    ],
)
def test_the_kernel_is_compiled_for_much_text_only(
    n_characters: int, can_wait: bool, code_runs: bool, are_few: bool
) -> None:
    with (
        patch.object(cutting, "code_runs", lambda: code_runs),
        patch.object(cutting.count_tokens, "can_wait", lambda seconds: can_wait and seconds < 0.1),
    ):
        assert cutting._are_few(n_characters) is are_few
