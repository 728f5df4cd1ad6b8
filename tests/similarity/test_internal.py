"""S_in = β·S_cb + (1-β)·S_struct."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity.internal import internal_similarity

PLACES = (np.array([0, 0, 1]), np.array([0, 2, 1]))


def on_pattern(*values: float) -> csr_array:
    return csr_array((np.array(values, np.float32), PLACES), shape=(2, 3))


def test_mixture_by_hand() -> None:
    mixed = internal_similarity(on_pattern(1, 0.5, 0), on_pattern(0, 0.5, 1), beta=0.25)
    assert mixed.data.tolist() == [0.25, 0.5, 0.75]
    assert mixed.dtype == np.float32


@pytest.mark.parametrize(("beta", "expected"), [(1, [0.0, 0.5, 0.25]), (0, [0.75, 0.0, 1.0])])
def test_the_ends_are_content_and_structure_alone(beta: float, expected: list[float]) -> None:
    mixed = internal_similarity(on_pattern(0, 0.5, 0.25), on_pattern(0.75, 0, 1), beta)
    assert mixed.data.tolist() == expected
    assert mixed.nnz == 3  # zeros stay stored


def test_parts_on_different_candidates_are_refused() -> None:
    other = csr_array((np.ones(3, np.float32), (np.array([0, 0, 1]), np.array([0, 1, 1]))), shape=(2, 3))
    with pytest.raises(ShapeError, match="one candidate pattern"):
        internal_similarity(on_pattern(1, 1, 1), other)
    with pytest.raises(ShapeError, match="one candidate pattern"):
        internal_similarity(csr_array((2, 3)), csr_array((3, 2)))


@pytest.mark.parametrize("beta", [-0.5, 2, np.nan])
def test_weights_outside_0_to_1_are_refused(beta: float) -> None:
    with pytest.raises(ConfigError, match=r"beta: expected a weight in \[0, 1\]"):
        internal_similarity(on_pattern(1, 1, 1), on_pattern(1, 1, 1), beta)


def test_parts_in_another_format_are_read_by_rows() -> None:
    content, structure = on_pattern(0.25, 0.5, 1), on_pattern(1, 0.5, 0)
    mixed = internal_similarity(csc_array(content), structure, 0.5)
    assert mixed.toarray().tolist() == internal_similarity(content, structure, 0.5).toarray().tolist()


@pytest.mark.parametrize("value", [1.5, -0.5, np.nan])
def test_similarities_outside_0_to_1_are_refused(value: float) -> None:
    one, other = csr_array([[1.0]]), csr_array([[value]])
    for parts in ((one, other), (other, one)):
        with pytest.raises(ShapeError, match=r"expected values in \[0, 1\]"):
            internal_similarity(*parts)
