"""The cut without labels, on sites whose right pairs are known because they were made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity.decision import Decision, choose_threshold, keep_pairs


@dataclass
class Pairs:
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    scores: NDArray[np.float32]


def greedy(scores: csr_array) -> Pairs:
    """Largest score first, no page twice."""
    entries = scores.tocoo()
    rows, columns, values = [], [], []
    for k in np.lexsort((entries.col, entries.row, -entries.data)):
        if entries.row[k] not in rows and entries.col[k] not in columns:
            rows.append(int(entries.row[k]))
            columns.append(int(entries.col[k]))
            values.append(entries.data[k])
    return Pairs(np.array(rows, np.int64), np.array(columns, np.int64), np.array(values, np.float32))


def all_different(n: int) -> csr_array:
    return csr_array(np.eye(n, dtype=np.float32))


def decide(
    scores: NDArray[np.float64], vectors_a: csr_array | None = None, vectors_b: csr_array | None = None
) -> tuple[Pairs, Decision]:
    matrix = csr_array(scores.astype(np.float32))
    pairs = greedy(matrix)
    n_a, n_b = matrix.shape
    return pairs, choose_threshold(
        matrix,
        pairs,
        greedy,
        all_different(n_a) if vectors_a is None else vectors_a,
        all_different(n_b) if vectors_b is None else vectors_b,
    )


def made_site(
    n_right: int, n_alone: int, seed: int = 0, right: tuple[float, float] = (0.7, 0.9)
) -> NDArray[np.float64]:
    """Scores of n_right pairs (on the diagonal) and n_alone pages of each language without partner; noise up to ½."""
    rng = np.random.default_rng(seed)
    n = n_right + n_alone
    scores = rng.uniform(0.05, 0.5, (n, n))
    scores[np.arange(n_right), np.arange(n_right)] = rng.uniform(*right, n_right)
    return scores


@pytest.mark.parametrize(("n_right", "n_alone"), [(40, 0), (40, 10), (20, 40)])
def test_right_pairs_are_kept_and_pages_left_over_are_not(n_right: int, n_alone: int) -> None:
    pairs, decision = decide(made_site(n_right, n_alone))
    right = (pairs.rows == pairs.columns) & (pairs.rows < n_right)
    assert right.sum() == n_right
    keep = decision.probabilities >= decision.threshold
    assert keep[right].all()
    assert keep[~right].mean() <= 0.1 if n_alone else not (~right).any()
    assert decision.probabilities[keep].mean() > 0.9
    assert decision.threshold == 0.3


def test_little_is_kept_where_no_page_has_a_partner() -> None:
    """Noise alone: the pairs look like those that are known to be wrong."""
    _, decision = decide(made_site(0, 60))
    assert decision.threshold == 0.5
    assert (decision.probabilities >= 0.5).mean() < 0.2


def test_near_duplicates_are_no_rivals() -> None:
    """Every page has a copy. The right pair beats the copy's by a hair; all pairs are to be kept, with weak rivals."""
    n = 40
    scores = made_site(n, 0)
    for i in range(0, n, 2):
        scores[i, i + 1] = scores[i, i] - 0.001
        scores[i + 1, i] = scores[i + 1, i + 1] = scores[i, i] - 0.002
    copies = csr_array(np.repeat(np.eye(n // 2, dtype=np.float32), 2, axis=0))
    pairs, decision = decide(scores, copies, copies)
    assert (pairs.rows // 2 == pairs.columns // 2).all()
    assert (decision.probabilities >= decision.threshold).all()
    assert decision.rivals.max() <= 0.5
    _, unaware = decide(scores)
    assert unaware.rivals.min() >= 0.69


def test_overlapping_evidence_gives_probabilities_that_hold() -> None:
    """The mean estimate is near the share of right pairs, on the strict side, over several made sites."""
    estimates, truths = [], []
    for seed in range(6):
        pairs, decision = decide(made_site(40, 20, seed, right=(0.45, 0.8)))
        estimates.append(decision.probabilities.mean())
        truths.append(((pairs.rows == pairs.columns) & (pairs.rows < 40)).mean())
    assert np.mean(truths) - 0.15 < np.mean(estimates) < np.mean(truths) + 0.03


def test_more_evidence_is_never_less_probable() -> None:
    pairs, decision = decide(made_site(30, 30, right=(0.3, 0.8)))
    evidence = pairs.scores - 0.75 * decision.rivals
    assert (np.diff(decision.probabilities[np.argsort(evidence, kind="stable")]) >= 0).all()
    assert decision.probabilities.min() >= 0
    assert decision.probabilities.max() <= 1


def test_rival_is_the_best_other_candidate_of_either_page() -> None:
    _, decision = decide(np.array([[0.9, 0.3, 0], [0.6, 0.8, 0], [0, 0, 0.5]]))
    assert decision.rivals.tolist() == pytest.approx([0.6, 0.6, 0])


def test_same_input_same_decision() -> None:
    first, second = (decide(made_site(20, 20))[1] for _ in range(2))
    assert first.probabilities.tolist() == second.probabilities.tolist()


def test_without_other_candidates_nothing_can_be_estimated() -> None:
    _, decision = decide(np.array([[0.7]]))
    assert decision.probabilities.tolist() == pytest.approx([0.3])
    assert decision.threshold == 0.3
    assert keep_pairs(decision.probabilities, threshold=decision.threshold).tolist() == [True]


def test_no_pairs() -> None:
    _, decision = decide(np.zeros((2, 3)))
    assert decision.probabilities.shape == decision.rivals.shape == (0,)


def test_arguments_must_fit() -> None:
    scores = csr_array(np.eye(2, dtype=np.float32))
    with pytest.raises(ShapeError, match=r"expected scores of shape \(3, 2\)"):
        choose_threshold(scores, greedy(scores), greedy, all_different(3), all_different(2))
    outside = Pairs(np.array([5]), np.array([0]), np.array([1], np.float32))
    with pytest.raises(ShapeError, match="got some outside"):
        choose_threshold(scores, outside, greedy, all_different(2), all_different(2))


probabilities = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), max_size=12).map(np.array)
levels = st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.6, 0.75, 0.9, 0.95, 1.0])


@given(probabilities, levels)
def test_keep_pairs_equals_trying_every_length(probabilities: NDArray[np.float64], level: float) -> None:
    best_first = sorted(range(len(probabilities)), key=lambda k: (-probabilities[k], k))
    longest = max(n for n in range(len(best_first) + 1) if sum(probabilities[best_first[:n]]) >= level * n - 1e-9)
    found = keep_pairs(probabilities, min_precision=level)
    assert found.dtype == bool
    assert np.flatnonzero(found).tolist() == sorted(best_first[:longest])


@given(probabilities, levels, levels)
def test_a_higher_precision_is_a_part_of_the_list_and_is_kept(
    probabilities: NDArray[np.float64], one: float, other: float
) -> None:
    longer = keep_pairs(probabilities, min_precision=min(one, other))
    shorter = keep_pairs(probabilities, min_precision=max(one, other))
    assert not (shorter & ~longer).any()
    assert not shorter.any() or probabilities[shorter].mean() >= max(one, other) - 1e-9


@given(probabilities, levels)
def test_keep_pairs_by_a_least_probability(probabilities: NDArray[np.float64], level: float) -> None:
    assert keep_pairs(probabilities, level).tolist() == [p >= level for p in probabilities.tolist()]


def test_keep_pairs_takes_doubtful_pairs_that_sure_ones_make_up_for() -> None:
    probabilities = np.array([0.2, 1.0, 0.9, 0.3])
    assert keep_pairs(probabilities).tolist() == [False, True, True, False]
    assert keep_pairs(probabilities, min_precision=0.7).tolist() == [False, True, True, True]
    assert keep_pairs(probabilities, min_precision=0.6).tolist() == [True] * 4
    assert keep_pairs(probabilities, 0.0, min_precision=1.0).tolist() == [False, True, False, False]


def test_keep_pairs_keeps_to_both_limits() -> None:
    probabilities = np.array([0.2, 1.0, 0.9, 0.3])
    assert keep_pairs(probabilities, 0.3, 0.6).tolist() == [False, True, True, True]
    assert keep_pairs(probabilities, 0.95, 0.6).tolist() == [False, True, False, False]
    assert keep_pairs(probabilities, 0.1, 0.95).tolist() == [False, True, True, False]


def test_keep_pairs_of_nothing() -> None:
    assert keep_pairs(np.zeros(0)).shape == keep_pairs(np.zeros(0), min_precision=0.9).shape == (0,)


def test_labels_of_a_column_do_not_matter() -> None:
    """The rows of a sorted table keep their labels."""
    column = pd.Series([0.4, 0.95, 0.8, 0.1]).sort_values(ascending=False)
    assert keep_pairs(column, min_precision=0.85).tolist() == [True, True, False, False]


def test_many_single_precision_probabilities_are_added_up_in_double_precision() -> None:
    probabilities = (np.random.default_rng(0).random(300_000) ** 0.2).astype(np.float32)
    kept = keep_pairs(probabilities, min_precision=0.9)
    assert kept.tolist() == keep_pairs(probabilities.astype(np.float64), min_precision=0.9).tolist()
