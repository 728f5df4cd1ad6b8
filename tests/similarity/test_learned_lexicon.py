"""The learned lexicon against counting in dictionaries."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity import learned_lexicon as learned
from twinlink.similarity.learned_lexicon import learn_translations

Matrix = NDArray[np.float64]


def plain_translations(
    counts_a: Matrix, counts_b: Matrix, pairs: list[tuple[int, int]], limit: int = 20
) -> dict[tuple[int, int], float]:
    """Squared Dice of the words of the pairs, rows of sum 1.

    2 pairs at least, 30 % of the pairs at most, Dice > .3, the ``limit`` strongest of each word.
    """
    n_a: Counter[int] = Counter()
    n_b: Counter[int] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    for i, j in pairs:
        words_a = [s for s, n in enumerate(counts_a[i]) if n]
        words_b = [t for t, n in enumerate(counts_b[j]) if n]
        n_a.update(words_a)
        n_b.update(words_b)
        together.update((s, t) for s in words_a for t in words_b)
    most = max(2, 0.3 * len(pairs))
    squares = {}
    for (s, t), n in together.items():
        dice = 2 * n / (n_a[s] + n_b[t])
        if n >= 2 and n_a[s] <= most and n_b[t] <= most and dice > 0.3:
            squares[s, t] = dice**2
    for s in {s for s, _ in squares}:
        own = sorted((t for r, t in squares if r == s), key=lambda t: (-squares[s, t], t))
        for t in own[limit:]:
            del squares[s, t]
    sums: Counter[int] = Counter()
    for (s, _), square in squares.items():
        sums[s] += square  # type: ignore[assignment]
    return {(s, t): square / sums[s] for (s, t), square in squares.items()}


def entries(matrix: csr_array) -> dict[tuple[int, int], float]:
    coo = matrix.tocoo()
    return dict(zip(zip(coo.row.tolist(), coo.col.tolist(), strict=True), coo.data.tolist(), strict=True))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 25),
    st.integers(1, 8),
    st.integers(1, 8),
    st.floats(0.05, 0.5),
    st.integers(1, 9),
)
def test_equals_counting_in_dictionaries(seed: int, n_pages: int, n_a: int, n_b: int, share: float, limit: int) -> None:
    rng = np.random.default_rng(seed)
    counts_a, counts_b = (rng.poisson(share, (n_pages, n)).astype(float) for n in (n_a, n_b))
    rows, columns = rng.permutation(n_pages), rng.permutation(n_pages)
    with patch.object(learned, "MAX_LINKS", limit):
        found = learn_translations(csr_array(counts_a), csr_array(counts_b), rows, columns)
    expected = plain_translations(counts_a, counts_b, list(zip(rows.tolist(), columns.tolist(), strict=True)), limit)
    assert found.shape == (n_a, n_b)
    assert found.dtype == np.float32
    assert entries(found) == pytest.approx(expected, abs=1e-6)
    sums = found.sum(axis=1)
    assert np.allclose(sums[sums > 0], 1, atol=1e-5)


def test_a_hidden_dictionary_is_found() -> None:
    """Every page is written with a few of 30 words; its partner has their translations."""
    rng = np.random.default_rng(0)
    hidden = rng.permutation(30)
    counts_a = np.array([np.isin(np.arange(30), rng.choice(30, 5, replace=False)) for _ in range(60)], float)
    counts_b = counts_a[:, np.argsort(hidden)]
    pages = np.arange(60)
    found = learn_translations(csr_array(counts_a), csr_array(counts_b), pages, pages).toarray()
    assert found.argmax(axis=1).tolist() == hidden.tolist()


def test_the_order_of_the_pairs_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    counts = csr_array(rng.poisson(0.3, (20, 9)).astype(float))
    order = rng.permutation(20)
    forward = learn_translations(counts, counts, np.arange(20), np.arange(20))
    shuffled = learn_translations(counts, counts, order, order)
    assert np.allclose(forward.toarray(), shuffled.toarray())
    assert forward.nnz > 0


def test_how_often_a_word_stands_on_a_page_does_not_matter() -> None:
    once = csr_array(np.eye(2).repeat(2, axis=0))
    pages = np.arange(4)
    assert entries(learn_translations(once * 7, once, pages, pages)) == entries(
        learn_translations(once, once, pages, pages)
    )


@pytest.mark.parametrize("n_pairs", [0, 1])
def test_one_pair_and_none_teach_nothing(n_pairs: int) -> None:
    counts = csr_array(np.ones((1, 3)))
    pages = np.zeros(n_pairs, int)
    found = learn_translations(counts, counts, pages, pages)
    assert found.shape == (3, 3)
    assert found.nnz == 0


def test_a_word_on_every_page_says_nothing() -> None:
    """Word 0 is on all pages, word 1 on three of ten."""
    counts = csr_array(np.c_[np.ones(10), np.arange(10) < 3].astype(float))
    assert learn_translations(counts, counts, np.arange(10), np.arange(10)).toarray().tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(("n_a", "n_b"), [(0, 0), (0, 2), (2, 0)])
def test_an_empty_vocabulary(n_a: int, n_b: int) -> None:
    pages = np.arange(3)
    found = learn_translations(csr_array(np.ones((3, n_a))), csr_array(np.ones((3, n_b))), pages, pages)
    assert found.shape == (n_a, n_b)
    assert found.nnz == 0


def test_pages_that_are_in_no_pair_do_not_count() -> None:
    counts = np.eye(2).repeat(2, axis=0)
    more = np.r_[counts, np.ones((5, 2))]
    pages = np.arange(4)
    found = learn_translations(csr_array(more), csr_array(more), pages, pages)
    assert found.toarray().tolist() == [[1, 0], [0, 1]]


def test_there_must_be_as_many_rows_as_columns() -> None:
    counts = csr_array(np.ones((2, 2)))
    with pytest.raises(ShapeError, match="got 2 and 1"):
        learn_translations(counts, counts, np.arange(2), np.arange(1))


def test_stored_zeros_other_formats_and_labels_of_a_column_change_nothing() -> None:
    counts = csr_array(np.eye(7).repeat(2, axis=0))
    expected = learn_translations(counts, counts, np.arange(14), np.arange(14)).toarray()
    assert expected.any()
    zeros = csr_array(np.ones((14, 7)))
    zeros.data[:] = counts.toarray().ravel()
    pages = pd.Series(range(14), index=range(14, 28))
    for same in (zeros, csr_array(counts.T).T):
        assert learn_translations(same, counts, pages, pages).toarray().tolist() == expected.tolist()
