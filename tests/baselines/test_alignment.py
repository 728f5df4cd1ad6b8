"""The alignment of linearised pages against the printed recurrence, SciPy and RapidFuzz."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from tests.baselines.alignment_reference import align_chunks, cost_table
from twinlink.baselines import alignment, alignment_kernels
from twinlink.baselines.alignment import StructureAlignments, align, chunk_pairs
from twinlink.errors import ShapeError

TOKEN = st.sampled_from([-1, -2, -3, -4, -512]) | st.integers(1, 9)
PAGE = st.lists(TOKEN, max_size=25)
# Few symbols, many repetitions and rows longer than a machine word: where ties are many and carries run far.
REPEATED = st.tuples(st.lists(st.sampled_from([-1, -2, 3]), min_size=1, max_size=4), st.integers(1, 90)).map(
    lambda made: (made[0] * made[1])[:150]
)
RUNS = st.lists(st.tuples(st.sampled_from([-1, -2, 3]), st.sampled_from([1, 2, 62, 64, 70])), max_size=5).map(
    lambda made: [token for token, length in made for _ in range(length)]
)
LONG = REPEATED | RUNS


def page(*tokens: int) -> NDArray[np.int32]:
    return np.array(tokens, np.int32)


def one(a: list[int], b: list[int], **options: bool) -> StructureAlignments:
    return align([page(*a)], [page(*b)], [0], [0], **options)


def classes(tokens: list[int]) -> list[int]:
    return [min(token, 1) for token in tokens]


def check(a: list[int], b: list[int]) -> None:
    cost, pairs = align_chunks(a, b)
    assert chunk_pairs(page(*a), page(*b)).tolist() == [list(pair) for pair in pairs]
    found = one(a, b)
    assert found.cost.tolist() == one(a, b, chunks=False).cost.tolist() == [cost]
    assert found.aligned.tolist() == [len(pairs)]
    assert found.unequal.tolist() == [sum(a[i] != b[j] for i, j in pairs)]
    lengths = [sum(token for token in tokens if token > 0) for tokens in (a, b)]
    assert [int(x[0]) for x in (found.tokens_a, found.tokens_b, found.length_a, found.length_b)] == [
        len(a),
        len(b),
        *lengths,
    ]


def test_pages_of_the_papers_figure_2() -> None:
    html, title, body, h1 = -1, -3, -5, -7
    english = [html, title, 23, title - 1, body, h1, 23, h1 - 1, 72]
    kazakh = [html, title, 21, title - 1, body, 69]
    found = one(english, kazakh)
    assert found.cost.tolist() == [3]
    assert (found.tokens_a.tolist(), found.tokens_b.tolist()) == ([9], [6])
    assert (found.length_a.tolist(), found.length_b.tolist()) == ([118], [90])
    assert found.cost_share.tolist() == [3 / 15]
    assert found.length_difference.tolist() == [28 / 208]


def test_papers_examples_of_the_features() -> None:
    """Section 3.1: two lone tokens of 20 and of 200, and lengths of 400 and 600 either way round."""
    small = one([-1] * 9 + [-3], [-1] * 9 + [-5])
    large = one([-1] * 99 + [-3], [-1] * 99 + [-5])
    assert (small.cost_share.tolist(), large.cost_share.tolist()) == ([0.1], [0.01])
    assert one([400], [600]).length_difference.tolist() == [-0.2]
    assert one([600], [400]).length_difference.tolist() == [0.2]


@given(PAGE, PAGE)
@example([], [])
@example([5], [])
@example([-1, 5], [5, -1])
def test_equals_the_printed_recurrence(a: list[int], b: list[int]) -> None:
    check(a, b)


@given(LONG, LONG)
@example([3] * 64, [3] * 64)
@example([3] * 65, [-1] + [3] * 64)
@example([-1] * 128, [-2] * 128)
@example([-1, -2] * 70, [-2, -1] * 70)
@example([-1], [-1] + [-2] * 140 + [-1])  # a carry runs through a whole word
def test_equals_the_printed_recurrence_on_repetitions(a: list[int], b: list[int]) -> None:
    check(a, b)


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 2048, 2500])
def test_long_pages_are_aligned_block_by_block(n: int) -> None:
    """Pages around the size of a block, and some of several blocks."""
    rng = np.random.default_rng(n)
    a = rng.choice(page(-1, -2, -3, -4, 7, 8), n)
    b = np.delete(a, rng.integers(0, n, n // 9))
    assert align([a], [b], [0], [0]).cost.tolist() == [Indel.distance(classes(a.tolist()), classes(b.tolist()))]
    check(a.tolist(), b[::37].tolist())
    check(b[::37].tolist(), a.tolist())


@given(PAGE, PAGE)
def test_cost_is_that_of_insertions_and_deletions(a: list[int], b: list[int]) -> None:
    """Another algorithm: RapidFuzz, on the tokens without lengths."""
    assert one(a, b).cost.tolist() == [Indel.distance(classes(a), classes(b))]


@given(PAGE, PAGE)
def test_cost_is_a_distance(a: list[int], b: list[int]) -> None:
    cost = int(one(a, b).cost[0])
    assert cost == int(one(b, a).cost[0])
    assert (cost == 0) == (classes(a) == classes(b))
    assert abs(len(a) - len(b)) <= cost <= len(a) + len(b)
    assert (cost - len(a) - len(b)) % 2 == 0
    assert 0 <= one(a, b).cost_share[0] <= 1


def test_ties_go_to_the_first_tokens() -> None:
    """One chunk of two can be aligned: the first; and where tokens cross, the second page's stays alone."""
    assert chunk_pairs(page(-1, 10, -2, -1, 20, -2), page(-1, 12, -2)).tolist() == [[1, 1]]
    assert chunk_pairs(page(-1, 12, -2), page(-1, 10, -2, -1, 20, -2)).tolist() == [[1, 1]]
    assert chunk_pairs(page(-1, 5), page(5, -1)).tolist() == []
    assert chunk_pairs(page(5, -1), page(-1, 5)).tolist() == [[0, 1]]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=3, max_size=30))
def test_correlation_is_scipys(lengths: list[tuple[int, int]]) -> None:
    a, b = zip(*lengths, strict=True)
    found = one(list(a), list(b))
    assert found.aligned.tolist() == [len(lengths)]
    assert found.unequal.tolist() == [sum(x != y for x, y in lengths)]
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan([found.correlation[0], found.p_value[0]]).all()
        return
    r, p = scipy.stats.pearsonr(a, b)
    assert found.correlation[0] == pytest.approx(r, abs=1e-9)
    assert found.p_value[0] == pytest.approx(p, abs=1e-5)


def test_p_value_by_hand() -> None:
    """r = 1/2 over three pairs: arccos(r)·2/π = 2/3."""
    found = one([1, 2, 3], [1, 3, 2])
    assert found.correlation[0] == pytest.approx(0.5)
    assert found.p_value[0] == pytest.approx(2 / 3)
    assert one([1, 2, 3], [2, 4, 6]).p_value[0] == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(("a", "b"), [([], []), ([4], [5]), ([4, 6], [5, 9]), ([4, 4, 4], [1, 2, 3])])
def test_no_correlation_without_three_chunks_that_vary(a: list[int], b: list[int]) -> None:
    found = one(a, b)
    assert np.isnan(found.correlation).all()
    assert np.isnan(found.p_value).all()


def test_equal_lengths_that_a_rounded_mean_makes_differ() -> None:
    assert np.isnan(one([7_777_777] * 49, list(range(1, 50))).correlation[0])


def test_empty_pages() -> None:
    found = one([], [])
    assert (found.cost_share.tolist(), found.length_difference.tolist()) == ([0.0], [0.0])
    found = one([-1, 5, -2], [])
    assert (found.cost.tolist(), found.cost_share.tolist(), found.length_difference.tolist()) == ([3], [1.0], [1.0])


def test_many_pairs_in_the_order_given() -> None:
    rng = np.random.default_rng(0)
    pages_a = [rng.choice(page(-1, -2, -3, 4, 5), n) for n in (0, 3, 70, 20)]
    pages_b = [rng.choice(page(-1, -2, -3, 4, 5), n) for n in (130, 9, 0)]
    rows, columns = [3, 0, 2, 2, 1], [1, 2, 0, 0, 1]
    found = align(pages_a, pages_b, rows, columns)
    assert len(found) == 5
    expected = [cost_table(pages_a[i].tolist(), pages_b[j].tolist())[0][0] for i, j in zip(rows, columns, strict=True)]
    assert found.cost.tolist() == expected
    assert found.tokens_a.tolist() == [20, 0, 70, 70, 3]
    assert found.tokens_b.tolist() == [9, 0, 130, 130, 9]


def test_no_pairs() -> None:
    found = align([], [], [], [])
    assert len(found) == 0
    assert found.cost_share.tolist() == found.length_difference.tolist() == []


def test_without_chunks_the_rest_is_the_same() -> None:
    a, b = [-1, 4, -2, 5, 6, 9], [-1, 7, -2, -3, 6, 2, 1]
    whole, part = one(a, b), one(a, b, chunks=False)
    for name in ("cost", "tokens_a", "tokens_b", "length_a", "length_b"):
        assert getattr(whole, name).tolist() == getattr(part, name).tolist()
    assert (part.aligned.tolist(), part.unequal.tolist()) == ([0], [0])
    assert np.isnan(part.correlation).all()
    assert np.isnan(part.p_value).all()


def test_very_long_pages_are_compared_by_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MAX_TOKENS", 3)
    found = one([-1, 5, -2, 9, 9], [-1, 6, -2, -5])
    assert (found.cost.tolist(), found.tokens_a.tolist(), found.length_a.tolist()) == ([0], [3], [5])
    assert chunk_pairs(page(1, 2, 3, 4), page(1, 2, 3, 4)).tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [([0], [0, 0], "as many rows as columns"), ([1], [0], "pages 0 to 0"), ([0], [-1], "pages 0 to 0")],
)
def test_pairs_must_fit(rows: list[int], columns: list[int], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        align([page(1)], [page(1)], rows, columns)


@pytest.mark.parametrize("token", [0, -alignment_kernels.SYMBOLS])
def test_tokens_must_be_tokens(token: int) -> None:
    with pytest.raises(ShapeError, match="a token is"):
        align([page(token)], [page(1)], [0], [0])
