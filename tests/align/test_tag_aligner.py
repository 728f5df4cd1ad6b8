"""The tag aligner: its kernel against a plain twin, and cases whose answer is known by argument."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.align import reference
from twinlink.align import tag_aligner as tagaligner
from twinlink.align.bands import full_band
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, prepare_texts, scoring_of
from twinlink.align.page_pair import align_pair
from twinlink.align.tag_aligner import CATEGORIES, Outline, align_blocks, category_of, swap_costs
from twinlink.config.align import BitextSettings, TagAlignerSettings
from twinlink.errors import ShapeError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TAGS = ["p", "h2", "td", "img", "div"]
CATEGORY = np.array([category_of(tag) for tag in TAGS])
TOKENS = st.lists(st.one_of(st.integers(0, 4), st.integers(-60, -1)), max_size=6)  # below 0: a text of that length


def outline(*items: str | int) -> Outline:
    """Outline of tag names and lengths of texts."""
    kinds = [TAGS.index(item) if isinstance(item, str) else -1 for item in items]
    return Outline(np.array(kinds), np.array([0 if isinstance(item, str) else item for item in items]))


def arrays(tokens: list[int]) -> tuple[Ints, Floats]:
    kinds = np.array([max(token, -1) for token in tokens], np.int64)
    return kinds, np.array([float(max(-token, 0)) for token in tokens])


@settings(max_examples=80, deadline=None)
@given(TOKENS, TOKENS)
def test_the_cheapest_alignment_is_that_of_the_recursion(a: list[int], b: list[int]) -> None:
    gaps, swaps = (
        np.array([1.0, 2.0, 0.5, 0.25, 4.0]),
        np.array([[1.5 + abs(x - y) for y in range(6)] for x in range(6)]),
    )

    def gap(token: tuple[int, float]) -> float:
        return gaps[token[0]] if token[0] >= 0 else 0.05 * token[1]

    sides = [arrays(tokens) for tokens in (a, b)]
    pairs = [[*zip(kinds.tolist(), sizes.tolist(), strict=True)] for kinds, sizes in sides]
    costs = [np.array([gap(token) for token in side], float) for side in pairs]
    given_ = (*sides[0], costs[0], *sides[1], costs[1], swaps, CATEGORY, 0.1)
    total, found = tagaligner.partners(*given_, *full_band(len(a), len(b)))
    expected = reference.tag_cost(pairs[0], pairs[1], gap, lambda x, y: swaps[CATEGORY[x], CATEGORY[y]], 0.1)
    assert total == pytest.approx(expected)
    taken = found[found >= 0]
    assert np.all(np.diff(taken) > 0)
    walked = sum(costs[0][found < 0]) + sum(costs[1]) - sum(costs[1][taken])
    for i, j in zip(np.flatnonzero(found >= 0), taken, strict=True):
        (x, size_x), (y, size_y) = pairs[0][i], pairs[1][j]
        assert (x < 0) == (y < 0)
        walked += 0.1 * abs(size_x - size_y) if x < 0 else (x != y) * swaps[CATEGORY[x], CATEGORY[y]]
    assert walked == pytest.approx(total)


def test_a_page_goes_with_itself_block_by_block() -> None:
    page = outline("div", "h2", 20, "p", 300, "p", 40, "td", 5, "td", 7)
    assert align_blocks(page, page, CATEGORY).tolist() == [[k, k] for k in range(5)]


def test_a_block_that_one_page_lacks_has_no_partner() -> None:
    a = outline("h2", 20, "p", 90, "td", 5, "p", 400, "p", 60)
    b = outline("h2", 24, "p", 95, "p", 410, "p", 70)
    assert align_blocks(a, b, CATEGORY).tolist() == [[0, 0], [1, 1], [3, 2], [4, 3]]
    assert align_blocks(b, a, CATEGORY)[:, ::-1].tolist() == [[0, 0], [1, 1], [3, 2], [4, 3]]


def test_lengths_are_put_on_one_scale() -> None:
    """Chinese takes a third of the characters: the long text goes with the long one."""
    a = outline("p", 30, "p", 300, "p", 30)
    b = outline("p", 10, "p", 100, "p", 10)
    assert align_blocks(a, b, CATEGORY).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_weights_decide() -> None:
    """A short text among tags: cheap tags let it find its equal, dear ones keep the tags together."""
    a, b = outline("p", 50, "img"), outline("img", "p", 50)
    assert align_blocks(a, b, CATEGORY).tolist() == [[0, 0]]
    dear = TagAlignerSettings(text_deletion=1e-3, text_insertion=1e-3, swap_across=100.0)
    heavy = outline("p", 50, "img", "img", "img"), outline("img", "img", "img", "p", 50)
    assert align_blocks(*heavy, CATEGORY, dear).tolist() == []


def test_costs_are_those_of_equations_6_to_9() -> None:
    """One page has h2, the other td; texts of 50 and 30 characters differ by 20.

    The tags cost 3 in any case: W_s(heading, table) = 3, W_d(heading) + W_i(table) = 1 + 2. The texts cost 20·W_s
    together, and .02·50 + .04·30 = 2.2 apart.
    """
    a, b = outline("h2", 50), outline("td", 30)
    weights = {"deletion": {"heading": 1.0}, "insertion": {"table": 2.0}, "swaps": ("heading-table=3",)}
    both = {"text_deletion": 0.02, "text_insertion": 0.04, "scaled": False}

    def found(**other: object) -> list[list[int]]:
        return align_blocks(a, b, CATEGORY, msgspec.convert({**weights, **both, **other}, TagAlignerSettings)).tolist()

    assert found(text_difference=0.1) == [[0, 0]]
    assert found(text_difference=0.3) == []
    assert found(text_difference=0.109) == [[0, 0]]  # 2.18 < 2.2
    assert found(text_difference=0.111) == []  # 2.22 > 2.2
    assert found(text_difference=0.111, text_deletion=0.021) == [[0, 0]]  # 2.22 < 1.05 + 1.2
    assert found(text_difference=0.111, text_insertion=0.041) == [[0, 0]]  # 2.22 < 1 + 1.23


def test_weights_of_two_categories() -> None:
    costs = swap_costs(TagAlignerSettings(swap_within=1, swap_across=3, swaps=("heading-list=0.5", "table-table=7")))
    assert (costs[1, 3], costs[3, 1], costs[4, 4], costs[1, 1], costs[0, 1]) == (0.5, 0.5, 7, 1, 3)


def test_pages_without_text_or_tags() -> None:
    empty = Outline(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert align_blocks(empty, empty, CATEGORY).shape == (0, 2)
    assert align_blocks(empty, outline("p", 5), CATEGORY).shape == (0, 2)
    assert align_blocks(outline("p"), outline("p", 5), CATEGORY).shape == (0, 2)


def test_a_tag_without_category_is_refused() -> None:
    with pytest.raises(ShapeError):
        align_blocks(Outline(np.array([7]), np.array([0])), outline("p"), CATEGORY)


def test_long_pages_are_aligned_near_the_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [item for k in range(60) for item in ("p", 20 + 7 * (k % 9))]
    a, b = outline(*items), outline("img", *items[:60], "img", *items[60:])
    whole = align_blocks(a, b, CATEGORY).tolist()
    monkeypatch.setattr(tagaligner, "MAX_CELLS", 5000)
    assert align_blocks(a, b, CATEGORY).tolist() == whole == [[k, k] for k in range(60)]


def test_every_category_has_a_weight() -> None:
    assert [*CATEGORIES, "line"] == [*TagAlignerSettings().deletion.__struct_fields__]
    assert len(set.union(*map(set, CATEGORIES.values()))) == sum(map(len, CATEGORIES.values()))


def test_anchors_move_sentences_between_blocks() -> None:
    """Two notes of one length, in another order on the second page: only the tags can tell."""
    a, b = ["Abcd efgh.", "Ijkl mnop."], ["Qrst uvwx.", "Yzab cdef."]
    texts = TextPair(Text(a, "", [0, 1]), Text(b, "", [0, 1]))
    plain = scoring_of(BitextSettings())
    found, _ = align_pair(prepare_texts(texts), Knowledge.empty(len(plain.shapes.names)), plain)
    assert found.beads.tolist() == [[0, 1, 0, 1], [1, 2, 1, 2]]
    anchored = scoring_of(BitextSettings(anchor_weight=8.0))
    pair = prepare_texts(texts, anchors=np.array([[0, 1]]))
    found, _ = align_pair(pair, Knowledge.empty(len(plain.shapes.names)), anchored)
    assert [0, 1, 1, 2] in found.beads.tolist()
