"""The order of the pairs in the chart of two languages."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from twinlink.review.charts.facing import cuthill_mckee


@given(st.integers(1, 26).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_order_is_that_of_scipy(graph: tuple[int, set[tuple[int, int]]]) -> None:
    n, links = graph
    dense = np.zeros((n, n))
    for one, other in links:
        if one != other:
            dense[one, other] = dense[other, one] = 1
    linked = csr_array(dense)
    assert cuthill_mckee(linked).tolist() == reverse_cuthill_mckee(linked, symmetric_mode=True).tolist()


def test_no_nodes_have_an_empty_order() -> None:
    assert cuthill_mckee(csr_array((0, 0))).tolist() == []
