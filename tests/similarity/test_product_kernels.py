"""Products that are stored against plain twins, which add in the same order: equal to the last bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from tests.similarity.test_kernels import random_matrix
from twinlink.similarity import product_kernels
from twinlink.similarity.kernels import arrays_of

F = np.float32
SEEDS = st.integers(0, 2**32 - 1)


def plain_row(x: csr_array, y: csr_array, i: int) -> dict[int, np.float32]:
    """Entries of row i of the product by column: the column that is reached last comes first."""
    row: dict[int, np.float32] = {}
    for at in range(x.indptr[i], x.indptr[i + 1]):
        for link in range(y.indptr[x.indices[at]], y.indptr[x.indices[at] + 1]):
            column = int(y.indices[link])
            row[column] = row.get(column, F(0)) + x.data[at] * y.data[link]
    return dict(reversed(row.items()))


def room_for(x: csr_array, y: csr_array, more: int = 0) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    n_summands = int(np.diff(y.indptr)[x.indices].sum())
    return np.empty(n_summands + more + 1, np.uint32), np.empty(n_summands + more + 1, np.float32)


@given(SEEDS, st.integers(0, 8), st.sampled_from([0.05, 0.4]))
@settings(deadline=None)
def test_product(seed: int, n_rows: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = random_matrix(rng, (n_rows, 9), 0.4), random_matrix(rng, (9, 12), density)
    columns, values = room_for(x, y)
    starts = product_kernels.product(arrays_of(x), arrays_of(y), 12, columns, values)
    rows = [plain_row(x, y, i) for i in range(n_rows)]
    assert np.diff(starts).tolist() == [len(row) for row in rows]
    assert columns[: starts[-1]].tolist() == [column for row in rows for column in row]
    assert values[: starts[-1]].tolist() == [value for row in rows for value in row.values()]


def test_product_leaves_out_sums_that_are_too_small() -> None:
    """Column 1 is 0 in 32 bits at first and is reached again; column 0 stays 0."""
    x, y = csr_array(np.array([[1e-30, 1]], np.float32)), csr_array(np.array([[1e-30, 1e-30], [0, 0.5]], np.float32))
    columns, values = room_for(x, y)
    starts = product_kernels.product(arrays_of(x), arrays_of(y), 2, columns, values)
    assert (starts.tolist(), columns[:1].tolist(), values[:1].tolist()) == ([0, 1], [1], [0.5])


@given(SEEDS, st.integers(0, 8), st.integers(0, 8), st.booleans())
@settings(deadline=None)
def test_with_translations(seed: int, n_rows: int, first: int, own_first: bool) -> None:
    rng = np.random.default_rng(seed)
    whole, y = random_matrix(rng, (first + n_rows, 9), 0.3), random_matrix(rng, (9, 7), 0.2)
    starts, *rest = arrays_of(whole)
    scale, x = F(0.7), csr_array(whole[first:])
    columns, values = room_for(x, y, x.nnz)
    found = product_kernels.with_translations(
        (starts[first:], *rest), arrays_of(y), (9, 7), own_first, scale, columns, values
    )
    expected = []
    for i in range(n_rows):
        mapped = plain_row(x, y, i)
        length = np.sqrt(sum(float(value) ** 2 for value in mapped.values()))
        own = dict(zip(x.indices[x.indptr[i] :].tolist(), x.data[x.indptr[i] : x.indptr[i + 1]], strict=False))
        parts = (
            [(j + (0 if own_first else 7), value * scale) for j, value in own.items()],
            [(j + (9 if own_first else 0), F(float(value) / length) * scale) for j, value in mapped.items()],
        )
        expected.append([entry for part in parts[:: 1 if own_first else -1] for entry in part])
    assert np.diff(found).tolist() == [len(row) for row in expected]
    entries = zip(columns[: found[-1]].tolist(), values[: found[-1]].tolist(), strict=True)
    assert list(entries) == [entry for row in expected for entry in row]
