"""The search in blocks and on several cores against the search in one go."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.errors import ConfigError
from twinlink.similarity import affordable as of_search
from twinlink.similarity import kernels, page_search
from twinlink.similarity.affordable import affordable, weights_of
from twinlink.similarity.page_search import nearest_of, nearest_pages, nearest_within
from twinlink.system.side_by_side import on_cores


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 30), st.integers(1, 4), st.integers(1, 31))
@settings(deadline=None)
def test_blocks_of_pages(seed: int, n_a: int, n_b: int, k: int, n_pages: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (csr_array(rng.integers(0, 3, (n, 4)).astype(np.float32) / 3) for n in (n_a, n_b))
    for both in (True, False):
        whole = page_search._best_by_blocks(a, b, k, both, n_b)
        for n_cores in (1, 2, 5):
            with on_cores(n_cores), patch.object(page_search, "_PART", 1):
                blocks = page_search._best_by_blocks(a, b, k, both, n_pages)
            assert [each.tolist() for each in blocks] == [each.tolist() for each in whole]


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 30), st.integers(1, 4), st.integers(1, 31))
@settings(deadline=None)
def test_many_pages_are_compared_in_another_order(seed: int, n_a: int, n_b: int, k: int, size: int) -> None:
    """No two products of random weights are equal, so that there is one answer."""
    rng = np.random.default_rng(seed)
    a, b = (csr_array((rng.random((n, 9)) * rng.integers(0, 2, (n, 9))).astype(np.float32)) for n in (n_a, n_b))
    expected = nearest_pages(a, b, k, 10**9), nearest_of(a, b, k, 10**9), nearest_within(b, k, 10**9)
    with patch.object(page_search, "_COMPARED", size), patch.object(page_search, "_PART", 1), on_cores(2):
        found = nearest_pages(a, b, k, 10**9), nearest_of(a, b, k, 10**9), nearest_within(b, k, 10**9)
    assert [each.tolist() for each in found[0]] == [each.tolist() for each in expected[0]]
    assert [each.tolist() for each in found[1:]] == [each.tolist() for each in expected[1:]]


def test_equally_near_pages_come_in_the_order_of_the_search() -> None:
    """Pages 1 and 2 have the most frequent term, and come before page 0."""
    a, b = csr_array(np.ones((3, 2), np.float32)), csr_array(np.array([[1, 0], [0, 1], [0, 1]], np.float32))
    assert nearest_of(a, b, 3, 10**9).tolist() == [[0, 1, 2]] * 3
    with patch.object(page_search, "_COMPARED", 2):
        assert nearest_of(a, b, 3, 10**9).tolist() == [[1, 2, 0]] * 3


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 6), st.integers(1, 31))
@settings(deadline=None)
def test_each_two_pages_of_one_language_are_compared_once(seed: int, n: int, k: int, n_pages: int) -> None:
    """Few different weights: many pages are as near as others, which come in the order of their numbers."""
    rng = np.random.default_rng(seed)
    vectors = csr_array(rng.integers(0, 3, (n, 4)).astype(np.float32) / 3)
    expected = nearest_of(vectors, vectors, k, 10**9).tolist()
    for n_cores in (1, 3):
        with on_cores(n_cores), patch.object(page_search, "_PART", 1):
            assert page_search._best_within(vectors, k, n_pages).tolist() == expected


def test_pages_of_one_language_are_compared_by_the_affordable_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_search, "ALWAYS", 0)
    vectors = csr_array(np.hstack([np.full((3, 1), 5.0), np.eye(3)]))
    for n_products in (1, 2):
        expected = nearest_of(vectors, vectors, 2, n_products)
        assert nearest_within(vectors, 2, n_products).tolist() == expected.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(0, 30))
@settings(deadline=None)
def test_the_search_compares_the_affordable_part(seed: int, n_a: int, n_b: int, n_products: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (csr_array((rng.random((n, 4)) * rng.integers(0, 2, (n, 4))).astype(np.float32)) for n in (n_a, n_b))
    part = affordable(weights_of([a]), weights_of([b]), n_products * (n_a + n_b))
    expected = nearest_pages(part.of(a), part.of(b), 3, 10**9)
    with patch.object(page_search, "_COMPARED", 2), patch.object(of_search, "ALWAYS", 0):
        found = nearest_pages(a, b, 3, n_products)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


def test_each_core_compares_a_part_of_the_pages() -> None:
    rng = np.random.default_rng(0)
    a, b = (csr_array(rng.integers(0, 3, (n, 40)).astype(np.float32) / 3) for n in (700, 300))
    alone = nearest_pages(a, b, 7, 10**9)
    threads: set[str] = set()
    compare = kernels.best_products

    def noted(*arguments: Any) -> Any:
        threads.add(threading.current_thread().name)
        time.sleep(0.05)  # the other threads take the other parts
        return compare(*arguments)

    with patch.object(kernels, "best_products", noted), on_cores(3):
        found = nearest_pages(a, b, 7, 10**9)
    assert len(threads) == 3
    assert [each.tolist() for each in found] == [each.tolist() for each in alone]


def test_a_search_for_few_pages_compares_them_with_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_search, "_BLOCK", 40)
    others = csr_array(np.ones((100, 10)))
    sizes = [page_search._pages_at_once(csr_array(np.ones((n, 10))), others, 5) for n in (1, 20, 20_000)]
    assert sizes == [4, 30, page_search._COMPARED]


def test_the_most_frequent_terms_are_left_out_when_products_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The term on all pages takes 9 products, the three others 1 each: 6 pages may have 1 product each, or 2."""
    vectors = csr_array(np.hstack([np.full((3, 1), 5.0), np.eye(3)]))
    assert [pages.tolist() for pages in nearest_pages(vectors, vectors, 2, 1)] == [[[0, 1], [1, 0], [2, 0]]] * 2
    monkeypatch.setattr(of_search, "ALWAYS", 0)
    assert [pages.tolist() for pages in nearest_pages(vectors, vectors, 2, 1)] == [[[0, -1], [1, -1], [2, -1]]] * 2
    assert [pages.tolist() for pages in nearest_pages(vectors, vectors, 2, 2)] == [[[0, 1], [1, 0], [2, 0]]] * 2
    assert nearest_of(vectors, vectors, 2, 1).tolist() == [[0, -1], [1, -1], [2, -1]]
    assert nearest_of(vectors, vectors, 2, 2).tolist() == [[0, 1], [1, 0], [2, 0]]


def test_transposed_vectors_are_read_by_rows() -> None:
    terms = csr_array(np.random.default_rng(2).integers(0, 3, (4, 7)).astype(np.float32))
    pages = csr_array(terms.T)
    expected = [nearest.tolist() for nearest in nearest_pages(pages, pages, 3, 100)]
    assert [nearest.tolist() for nearest in nearest_pages(terms.T, terms.T, 3, 100)] == expected


def test_fewer_than_one_page_are_refused() -> None:
    with pytest.raises(ConfigError, match="k of at least 1, got 0"):
        nearest_pages(csr_array((2, 3)), csr_array((2, 3)), 0, 100)
