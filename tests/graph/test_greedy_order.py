"""Order of the greedy matching."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.graph.greedy_order import greedy_order


@given(st.lists(st.sampled_from((0.0, -0.0, 1e-45, 1e-30, 0.1, 0.5, 1.0)) | st.floats(0, 1, width=32), max_size=60))
def test_order_is_by_falling_score_then_position(values: list[float]) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted(range(len(values)), key=lambda position: (-scores[position], position))
    assert greedy_order(scores).tolist() == expected
