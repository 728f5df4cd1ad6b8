"""Clues: cases whose answer is known by argument, on made candidates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.similarity.clues import (
    AT_NO_PAGE,
    clue_odds,
    clue_states,
    is_contradicted,
    learn_clues,
    without_elsewhere,
)
from twinlink.similarity.rivals import Rivalry

Floats = NDArray[np.float64]


def groups(n_groups: int, size: int) -> tuple[Rivalry, NDArray[np.bool_]]:
    """Candidates within groups of look-alikes; in each, the k-th page of one side belongs to the k-th of the other."""
    rivalry = Rivalry(csr_array(np.kron(np.eye(n_groups), np.ones((size, size)))))
    return rivalry, rivalry.rows == rivalry.columns


def pointing(rivalry: Rivalry, right: NDArray[np.bool_], share_of_lies: float) -> Floats:
    """A clue that points at the right page, but for some rows that exchange what it says with the next row."""
    n = rivalry.shape[0]
    target = np.arange(n)
    liars = np.arange(0, int(n * share_of_lies) // 2 * 2)
    target[liars] = liars.reshape(-1, 2)[:, ::-1].ravel()
    return (target[rivalry.rows] == rivalry.columns).astype(np.float64)


def test_states() -> None:
    rivalry = Rivalry(csr_array(np.ones((2, 3))))
    values = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
    assert clue_states(values, rivalry).tolist() == [2, 2, 3, 3, 3, 0]


def test_what_points_at_no_page_of_the_site_counts_in_full_and_changes_no_weight() -> None:
    values = np.array([1.0, AT_NO_PAGE, 0.0, AT_NO_PAGE, 0.0, 0.0])
    rivalry = Rivalry(csr_array(np.ones((3, 2))))
    assert clue_states(values, rivalry).tolist() == [1, 3, 3, 4, 3, 0]
    odds = np.array([5.0, -5.0, -5.0, 5.0, 0.0, 0.0])
    weights = learn_clues({"pattern": values}, odds, rivalry)
    silent = learn_clues({"pattern": np.maximum(values, 0)}, odds, rivalry)
    assert weights["pattern"].tolist() == silent["pattern"].tolist()
    added = clue_odds({"pattern": values}, weights, rivalry)["pattern"]
    assert added[3] == 2 * added[1] == 2 * added[2] < added[1] < added[5]
    kept = without_elsewhere(added, weights["pattern"])
    assert kept.tolist() == [added[0], 0, 0, added[3], 0, added[5]]


def test_a_clue_that_joins_the_pages_of_clear_pairs_with_others_is_contradicted() -> None:
    rivalry, right = groups(1, 20)
    for share, contradicted in ((0.0, False), (0.5, False), (0.7, False), (0.8, True), (1.0, True)):
        assert is_contradicted(pointing(rivalry, right, share), right, rivalry) is contradicted


def test_a_clue_is_not_contradicted_by_two_pairs_nor_by_pages_that_it_does_not_join() -> None:
    rivalry, right = groups(1, 20)
    lies = pointing(rivalry, right, 1.0)
    assert is_contradicted(lies, right & (rivalry.rows < 3), rivalry)
    assert not is_contradicted(lies, right & (rivalry.rows < 2), rivalry)
    silent = np.where(rivalry.rows < 4, AT_NO_PAGE, 0.0)
    assert not is_contradicted(silent, right, rivalry)


def test_a_clue_decides_among_look_alikes() -> None:
    """Words know the group and no more; the clue points at one page, and nothing contradicts it."""
    rivalry, right = groups(10, 8)
    clue = pointing(rivalry, right, 0)
    odds = np.full(len(right), -1.0)
    added = clue_odds({"pattern": clue}, learn_clues({"pattern": clue}, odds, rivalry), rivalry)["pattern"]
    assert added[right].min() > 3
    assert added[~right].max() < -1


def test_a_lying_clue_is_outvoted_where_words_are_clear() -> None:
    rivalry, right = groups(20, 4)
    clue = pointing(rivalry, right, 0.1)
    odds = np.where(right, 12.0, -12.0)
    total = odds + clue_odds({"pattern": clue}, learn_clues({"pattern": clue}, odds, rivalry), rivalry)["pattern"]
    assert total[right].min() > total[~right].max()


def test_one_lying_clue_is_outvoted_by_another() -> None:
    rivalry, right = groups(20, 4)
    clues = {"pattern": pointing(rivalry, right, 0.1), "hreflang": pointing(rivalry, right, 0)}
    odds = np.where(right, 1.0, -1.0)
    total = odds + sum(clue_odds(clues, learn_clues(clues, odds, rivalry), rivalry).values())
    assert total[right].min() > total[~right].max()


def test_what_points_anywhere_adds_nothing() -> None:
    rivalry, right = groups(200, 6)
    clue = (np.random.default_rng(0).random(len(right)) < 0.3).astype(np.float64)
    added = clue_odds({"direct": clue}, learn_clues({"direct": clue}, np.where(right, 5.0, -5.0), rivalry), rivalry)
    assert np.abs(added["direct"]).max() < 1


def test_a_silent_clue_adds_the_same_to_all() -> None:
    rivalry, right = groups(3, 3)
    silent = np.zeros(len(right))
    added = clue_odds({"direct": silent}, learn_clues({"direct": silent}, np.where(right, 2.0, -2.0), rivalry), rivalry)
    assert np.ptp(added["direct"]) == 0


def test_nothing_to_learn_from() -> None:
    rivalry = Rivalry(csr_array((0, 0)))
    assert not learn_clues({}, np.zeros(0), rivalry)
    assert not learn_clues({"direct": np.zeros(0)}, np.zeros(0), rivalry)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1))
def test_weights_are_bounded_on_any_input(seed: int, n_a: int, n_b: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((n_a, n_b)) < share))
    n = len(rivalry.rows)
    clues = {name: rng.integers(0, 3, n) / 2 for name in ("direct", "hreflang")}
    added = clue_odds(clues, learn_clues(clues, rng.normal(0, 9, n), rivalry), rivalry)
    for values in added.values():
        assert values.shape == (n,)
        assert np.abs(values).max(initial=0) <= 9 + 1e-9
