"""Link matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.errors import ConfigError, ShapeError
from twinlink.graph.links import adjacency, neighbours

N_PAGES = 6
LINKS = st.lists(st.tuples(st.integers(0, N_PAGES - 1), st.integers(0, N_PAGES - 1)), max_size=30)


def stored(matrix: csr_array) -> set[tuple[int, int]]:
    rows, columns = matrix.tocoo().coords
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def of_links(links: list[tuple[int, int]]) -> csr_array:
    return adjacency([a for a, _ in links], [b for _, b in links], N_PAGES)


def assert_plain(matrix: csr_array) -> None:
    assert matrix.dtype == np.bool_
    assert matrix.has_canonical_format
    assert matrix.data.all()
    assert not matrix.diagonal().any()


@given(LINKS)
def test_adjacency_holds_each_link_once_and_none_of_a_page_to_itself(links: list[tuple[int, int]]) -> None:
    matrix = of_links(links)
    assert_plain(matrix)
    assert matrix.shape == (N_PAGES, N_PAGES)
    assert stored(matrix) == {(a, b) for a, b in links if a != b}


@given(LINKS)
def test_neighbours_are_sets_of_pages(links: list[tuple[int, int]]) -> None:
    apart = {(a, b) for a, b in links if a != b}
    back = {(b, a) for a, b in apart}
    for direction, expected in (("in", back), ("out", apart), ("both", apart | back)):
        matrix = neighbours(of_links(links), direction)  # type: ignore[arg-type]
        assert_plain(matrix)
        assert stored(matrix) == expected


def test_no_links_at_all() -> None:
    matrix = adjacency([], [], 3)
    assert matrix.shape == (3, 3)
    assert matrix.nnz == neighbours(matrix).nnz == 0
    assert adjacency(np.array([], dtype=np.int64), [], 0).shape == (0, 0)


def test_neighbours_do_not_trust_the_matrix_that_they_are_given() -> None:
    given_matrix = csr_array((np.array([True, False, True]), np.array([0, 1, 2]), np.array([0, 3, 3, 3])), shape=(3, 3))
    assert stored(neighbours(given_matrix, "out")) == {(0, 2)}  # neither the page itself nor a stored False
    assert given_matrix.nnz == 3


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([0, 1], [1], "as many targets as sources, got 1 and 2"),
        ([0], [3], "target: expected pages 0 to 2, got 3 to 3"),
        ([-1], [0], "source: expected pages 0 to 2, got -1 to -1"),
        ([0.0], [1], "source: expected whole numbers, got float64"),
        ([[0]], [1], "source: expected an array of one dimension"),
    ],
)
def test_adjacency_refuses_invalid_page_numbers(source: list[int], target: list[int], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        adjacency(source, target, 3)


def test_neighbours_refuse_a_matrix_that_is_not_square() -> None:
    with pytest.raises(ShapeError, match=r"expected a square matrix, got shape \(2, 3\)"):
        neighbours(csr_array((2, 3), dtype=np.bool_))


def test_neighbours_refuse_an_unknown_direction() -> None:
    with pytest.raises(ConfigError, match="expected one of in, out, both, got 'sideways'"):
        neighbours(adjacency([0], [1], 2), "sideways")  # type: ignore[arg-type]
