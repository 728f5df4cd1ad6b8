"""Idioms of sparse matrices beside dictionaries and sets of their entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from twinlink.errors import ShapeError
from twinlink.sorted_keys import find_keys
from twinlink.sparse import (
    as_rows,
    as_weights,
    carry_over,
    check_csr,
    counts_of,
    entries,
    entry_keys,
    members,
    narrow,
    pattern_from,
    positions,
    select,
    union_of,
    with_values,
)

SEEDS, SIZES = st.integers(0, 2**32 - 1), st.integers(0, 6)


def made_pattern(rng, shape):
    return sp.csr_array(rng.random(shape) < rng.random())


def pairs_of(pattern):
    entries = pattern.tocoo()
    return list(zip(entries.row.tolist(), entries.col.tolist(), strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6))
def test_carry_over_equals_a_dictionary(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    old, new = made_pattern(rng, (n_a, n_b)), made_pattern(rng, (n_a, n_b))
    values = rng.integers(1, 100, old.nnz).astype(float)
    known = dict(zip(pairs_of(old), values.tolist(), strict=True))
    asked = []

    def measure(rest):
        asked.extend(pairs_of(rest))
        assert rest.shape == new.shape
        return np.array([-1.0 - row * 10 - column for row, column in pairs_of(rest)])

    found = carry_over(old, values, new, measure)
    assert found.tolist() == [known.get(pair, -1.0 - pair[0] * 10 - pair[1]) for pair in pairs_of(new)]
    assert asked == [pair for pair in pairs_of(new) if pair not in known]


def test_nothing_is_measured_where_all_is_known():
    pattern = sp.csr_array(np.eye(3, dtype=bool))

    def refuse(rest):
        raise AssertionError(rest)

    assert carry_over(pattern, np.array([1.0, 2.0, 3.0]), pattern, refuse).tolist() == [1, 2, 3]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_positions_equal_a_dictionary(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    pattern = made_pattern(rng, (n_a, n_b))
    place = {pair: k for k, pair in enumerate(pairs_of(pattern))}
    asked = [pairs_of(pattern)[k] for k in rng.permutation(pattern.nnz)]
    rows, columns = np.array(asked, int).reshape(-1, 2).T
    assert positions(pattern, rows, columns).tolist() == [place[pair] for pair in asked]


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6))
def test_narrow_changes_nothing_but_the_type_of_the_indices(seed, n_a, n_b):
    pairs = np.array(pairs_of(made_pattern(np.random.default_rng(seed), (n_a, n_b))), np.int64).reshape(-1, 2)
    wide = pattern_from(pairs[:, 0], pairs[:, 1], (n_a, n_b))
    found = narrow(wide)
    assert found.shape == wide.shape
    assert pairs_of(found) == pairs_of(wide)
    assert found.data.tolist() == wide.data.tolist()
    assert found.indices.dtype == found.indptr.dtype == np.int32


def test_narrow_leaves_what_32_bits_cannot_count():
    wide = sp.csr_array((np.ones(1), np.array([2**31]), np.array([0, 1])), shape=(1, 2**31 + 1))
    assert narrow(wide).indices.tolist() == [2**31]


def test_positions_in_a_large_pattern_do_not_overflow():
    """Row times columns is beyond 32 bits."""
    side = 100_000
    pattern = sp.csr_array((np.ones(2, bool), ([3, side - 1], [7, side - 1])), shape=(side, side))
    found = positions(pattern, np.array([side - 1, 3], np.int32), np.array([side - 1, 7], np.int32))
    assert found.tolist() == [1, 0]
    assert carry_over(pattern, np.array([0.5, 0.25]), pattern, lambda rest: np.zeros(rest.nnz)).tolist() == [0.5, 0.25]


def test_with_values_keeps_zeros_as_candidates():
    pattern = sp.csr_array(np.array([[True, False], [True, True]]))
    found = with_values(pattern, np.array([0.0, 0.5, 0.0]))
    assert pairs_of(found) == pairs_of(pattern)
    assert found.dtype == np.float32
    assert found.data.tolist() == [0, 0.5, 0]


@given(SEEDS, SIZES, SIZES)
def test_sets_of_entries(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    one, other = made_pattern(rng, (n_a, n_b)), made_pattern(rng, (n_a, n_b))
    assert list(zip(*(part.tolist() for part in entries(one)), strict=True)) == pairs_of(one)
    assert entry_keys(one).tolist() == [row * n_b + column for row, column in pairs_of(one)]
    assert members(one, other).tolist() == [pair in pairs_of(other) for pair in pairs_of(one)]
    both = union_of(one, other)
    assert pairs_of(both) == sorted({*pairs_of(one), *pairs_of(other)})
    assert both.dtype == np.bool_
    assert both.has_canonical_format


@given(SEEDS, SIZES, SIZES)
def test_select_keeps_the_marked_entries_with_their_values(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    pattern = made_pattern(rng, (n_a, n_b))
    matrix = with_values(pattern, rng.random(pattern.nnz))
    which = rng.random(pattern.nnz) < 0.5
    found = select(matrix, which)
    assert pairs_of(found) == [pair for pair, mark in zip(pairs_of(matrix), which, strict=True) if mark]
    assert found.data.tolist() == matrix.data[which].tolist()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3))))
def test_pattern_from_places_in_any_order(places):
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    found = pattern_from(rows, columns, (5, 4))
    assert pairs_of(found) == sorted(set(places))
    assert found.data.all()
    counts = counts_of(rows, columns, (5, 4))
    assert pairs_of(counts) == sorted(set(places))
    assert counts.data.tolist() == [places.count(place) for place in sorted(set(places))]


def test_a_pattern_without_columns_is_empty():
    nothing = np.zeros(0, np.int64)
    assert pattern_from(nothing, nothing, (3, 0)).shape == (3, 0)


@pytest.mark.parametrize("among", [[], [5], [2, 5, 9]])
def test_find_keys(among):
    keys = np.array([1, 2, 5, 10])
    places, found = find_keys(keys, np.array(among, np.int64))
    assert found.tolist() == [key in among for key in keys.tolist()]
    assert [among[place] for place in places[found].tolist()] == keys[found].tolist()


@pytest.mark.parametrize("kind", [sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array])
def test_matrices_of_all_sparse_formats_are_read_by_rows(kind):
    dense = np.array([[0, 1, 2], [3, 0, 0]], np.float32)
    found = as_rows(kind(dense), "counts")
    assert isinstance(found, sp.csr_array)
    assert found.toarray().tolist() == dense.tolist()


def test_what_is_right_is_not_copied():
    given = sp.csr_array(np.eye(2, dtype=np.float32))
    assert as_rows(given, "counts") is as_weights(given, "counts") is check_csr(given, "counts") is given


@pytest.mark.parametrize("given", [np.eye(2), [[1]], sp.coo_array(np.ones(3))])
def test_what_is_no_sparse_matrix_is_refused(given):
    with pytest.raises(ShapeError, match="counts: expected a csr_array of two dimensions"):
        as_rows(given, "counts")


def test_another_order_of_entries_is_refused_where_it_matters():
    with pytest.raises(ShapeError, match="scores: expected a csr_array of two dimensions, got csc_array"):
        check_csr(sp.csc_array(np.eye(2)), "scores")


@pytest.mark.parametrize("column", [2, -1, 10**6])
def test_columns_outside_the_shape_are_refused(column):
    with pytest.raises(ShapeError, match="counts: expected columns within shape"):
        as_rows(sp.csr_array((np.ones(2), [0, column], [0, 1, 2]), shape=(2, 2)), "counts")


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_weights_are_floats_without_stored_zeros(dtype):
    given = sp.csr_array((np.array([1, 0, 1], dtype), [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    found = as_weights(given, "counts")
    assert found.dtype == (np.float64 if dtype == np.float64 else np.float32)
    assert (found.indices.tolist(), found.indptr.tolist(), given.nnz) == ([0, 0], [0, 1, 2], 3)
