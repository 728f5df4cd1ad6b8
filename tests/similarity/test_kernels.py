"""The compiled loops against plain twins, which add and take in the same order: equal to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.similarity import kernels

F = np.float32
SEEDS = st.integers(0, 2**32 - 1)


def random_matrix(rng: np.random.Generator, shape: tuple[int, int], density: float, n_values: int = 5) -> csr_array:
    """Few different values, so that there are ties; sorted."""
    matrix = csr_array(random_array(shape, density=density, rng=rng, dtype=np.float32))
    matrix.data = (rng.integers(1, n_values + 1, matrix.nnz) / F(n_values)).astype(np.float32)
    matrix.sort_indices()
    return matrix


def plain_product(x: csr_array, y: csr_array) -> NDArray[np.float32]:
    """Add the products of each entry in the order of the row of x."""
    result = np.zeros((x.shape[0], y.shape[1]), np.float32)
    dense = y.toarray()
    for i in range(x.shape[0]):
        for at in range(x.indptr[i], x.indptr[i + 1]):
            result[i] += x.data[at] * dense[x.indices[at]]
    return result


def plain_best(product: NDArray[np.float32], k: int) -> list[list[int]]:
    best = [sorted(np.flatnonzero(row).tolist(), key=lambda j: (-row[j], j))[:k] for row in product]
    return [row + [-1] * (k - len(row)) for row in best]


def best_products(
    x: csr_array, y: csr_array, k: int, both: bool = True
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """All columns as one block."""
    none = np.full((x.shape[0], k), -1, np.int32), np.zeros((x.shape[0], k), np.float32)
    return kernels.best_products(kernels.arrays_of(x), kernels.arrays_of(y), y.shape[1], k, both, 0, *none)


@given(SEEDS, st.integers(0, 12), st.integers(1, 40), st.sampled_from([0.02, 0.2, 0.6]), st.integers(1, 5))
@settings(deadline=None)
def test_best_products(seed: int, n_rows: int, n_columns: int, density: float, k: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = random_matrix(rng, (n_rows, 15), 0.4), random_matrix(rng, (15, n_columns), density)
    of_row, scores, of_column, column_scores = best_products(x, y, k)
    product = plain_product(x, y)
    assert of_row.tolist() == plain_best(product, k)
    assert scores.tolist() == [[row[j] if j >= 0 else 0 for j in js] for row, js in zip(product, of_row, strict=True)]
    assert of_column.tolist() == plain_best(product.T, k)
    assert column_scores.tolist() == [
        [column[i] if i >= 0 else 0 for i in rows] for column, rows in zip(product.T, of_column, strict=True)
    ]
    rows_only, _, none, _ = best_products(x, y, k, False)
    assert rows_only.tolist() == of_row.tolist()
    assert none.shape == (0, k)


def test_best_products_of_long_and_short_rows_together() -> None:
    """A term on all pages and one on a single page: the one is laid out in full, the other is not."""
    x = csr_array(np.array([[1, 1], [0, 1]], np.float32))
    y = csr_array(np.vstack([np.full(8, 0.5), np.eye(8)[3]]).astype(np.float32))
    of_row, _, of_column, _ = best_products(x, y, 3)
    assert of_row.tolist() == [[3, 0, 1], [3, -1, -1]]
    assert of_column[:, 0].tolist() == [0] * 8


@pytest.mark.parametrize("n_columns", [63, 64, 65, 200])
def test_best_products_of_several_groups_of_columns(n_columns: int) -> None:
    """Rows with many summands are read in groups of columns, those with few by a list; both are in this product."""
    rng = np.random.default_rng(n_columns)
    x, y = random_matrix(rng, (30, 15), 0.1), random_matrix(rng, (15, n_columns), 0.4)
    of_row, _, of_column, _ = best_products(x, y, 5)
    product = plain_product(x, y)
    n_summands = (x.toarray() > 0) @ np.diff(y.indptr)
    assert (n_summands * kernels.SPARSE >= n_columns).any()
    assert (n_summands * kernels.SPARSE < n_columns).any()
    assert of_row.tolist() == plain_best(product, 5)
    assert of_column.tolist() == plain_best(product.T, 5)


def test_best_products_of_a_further_block() -> None:
    """Column 5, the first of its block, is better than column 2; column 6 equals it, and column 7 is too small."""
    before = np.array([[2, 1]], np.int32), np.array([[0.5, 0.25]], np.float32)
    x, y = csr_array(np.array([[1]], np.float32)), csr_array(np.array([[0.75, 0.5, 0.125]], np.float32))
    found = kernels.best_products(kernels.arrays_of(x), kernels.arrays_of(y), 3, 2, True, 5, *before)
    assert [each.tolist() for each in found] == [
        [[5, 2]],
        [[0.75, 0.5]],
        [[0, -1]] * 3,
        [[0.75, 0], [0.5, 0], [0.125, 0]],
    ]
    assert before[0].tolist() == [[2, 1]]  # a call that is repeated in machine code needs them as they were


@pytest.mark.parametrize("n", [1, 3, 130])
def test_groups_are_in_whole_lines_of_the_cache(n: int) -> None:
    groups = kernels._groups(n, 0.5)
    assert groups.shape == (n, kernels.GROUP)
    assert (groups == 0.5).all()
    assert groups.flags.c_contiguous
    assert groups.ctypes.data % 64 == 0


@given(SEEDS, st.integers(0, 6), st.integers(1, 6))
@settings(deadline=None)
def test_pattern_dot(seed: int, n_rows: int, n_others: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = random_matrix(rng, (n_rows, 9), 0.5), random_matrix(rng, (n_others, 9), 0.5)
    pattern = random_matrix(rng, (n_rows, n_others), 0.6)
    starts, columns, _ = kernels.arrays_of(pattern)
    found = kernels.pattern_dot(kernels.arrays_of(x), kernels.arrays_of(y), 9, starts, columns)
    rows = np.repeat(np.arange(n_rows), np.diff(starts))
    assert found.tolist() == pytest.approx((x.toarray() @ y.toarray().T)[rows, columns].tolist(), abs=1e-5)


@given(SEEDS, st.integers(0, 6), st.sampled_from([0.0, 0.1]))
@settings(deadline=None)
def test_without_mean(seed: int, n_rows: int, least: float) -> None:
    rng = np.random.default_rng(seed)
    x, weights = random_matrix(rng, (n_rows, 9), 0.5), random_matrix(rng, (n_rows, n_rows), 0.4)
    starts, others, _ = kernels.arrays_of(weights)
    shares = weights.data.astype(np.float64)
    found = kernels.without_mean(kernels.arrays_of(x), 9, starts, others, shares, least)
    rows, usual = np.repeat(np.arange(n_rows), np.diff(x.indptr)), np.zeros((n_rows, 9))
    for i in range(n_rows):
        for at in range(starts[i], starts[i + 1]):
            usual[i] += shares[at] * x[[others[at]]].toarray()[0]
    rest = x.data - usual[rows, x.indices]
    assert found.tolist() == np.where(rest > least, rest, 0).astype(np.float32).tolist()


def plain_aligned(a: csr_array, b: csr_array, links: csr_array, i: int, j: int) -> float:
    """Take word by word: terms as page i has them, their links as they are stored."""
    free, total = b[[j]].toarray()[0], np.float64(0)
    for k in range(a.indptr[i], a.indptr[i + 1]):
        wanting, term = a.data[k], a.indices[k]
        for link in range(links.indptr[term], links.indptr[term + 1]):
            taken = min(wanting, free[links.indices[link]])
            wanting -= taken
            free[links.indices[link]] -= taken
            total += taken * links.data[link]
    return float(F(total))


@given(SEEDS, st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.0, 0.1, 0.5]))
@settings(deadline=None)
def test_aligned_words(seed: int, n_rows: int, n_others: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_matrix(rng, (n_rows, 10), 0.5), random_matrix(rng, (n_others, 12), 0.5)
    links, pattern = random_matrix(rng, (10, 12), density), random_matrix(rng, (n_rows, n_others), 0.7)
    starts, columns, _ = kernels.arrays_of(pattern)
    of_a, of_b, of_links = (kernels.arrays_of(matrix) for matrix in (a, b, links))
    found = kernels.aligned_words(of_a, of_b, of_links, 12, starts, columns)
    rows = np.repeat(np.arange(n_rows), np.diff(starts))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    assert found.tolist() == [plain_aligned(a, b, links, i, j) for i, j in pairs]


def plain_companions(there_a: csr_array, there_b: csr_array, k: int, least: int, limit: F) -> list[list[int]]:
    together = there_a.toarray().T.astype(int) @ there_b.toarray().astype(int)
    sizes_a, sizes_b = there_a.toarray().sum(axis=0).astype(int), there_b.toarray().sum(axis=0).astype(np.float32)
    best = []
    for s, row in enumerate(together):
        dice = [
            F(2 * n / (float(sizes_a[s]) + float(size))) if size else F(0) for n, size in zip(row, sizes_b, strict=True)
        ]
        good = [t for t, n in enumerate(row) if n >= least and dice[t] > limit]
        chosen = sorted(good, key=lambda t: (-dice[t], t))[:k]
        best.append(chosen + [-1] * (k - len(chosen)))
    return best


@given(SEEDS, st.integers(1, 12), st.integers(1, 3))
@settings(deadline=None)
def test_best_companions(seed: int, n_pairs: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    there_a, there_b = (random_matrix(rng, (n_pairs, n), 0.5, n_values=1) for n in (6, 7))
    sizes = np.bincount(there_b.indices, minlength=7).astype(np.float32)
    pairs_of = kernels.arrays_of(csr_array(there_a.T))
    best, dice = kernels.best_companions(pairs_of, kernels.arrays_of(there_b), sizes, k, 2, F(0.3))
    assert best.tolist() == plain_companions(there_a, there_b, k, 2, F(0.3))
    assert ((dice > 0.3) == (best >= 0)).all()


def test_arrays_are_not_copied() -> None:
    matrix = csr_array(np.eye(3, dtype=np.float32))
    _, indices, data = kernels.arrays_of(matrix)
    assert np.shares_memory(indices, matrix.indices)
    assert np.shares_memory(data, matrix.data)
