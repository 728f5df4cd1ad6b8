"""Pairs scored by labels, alone and together with a gold list."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from twinlink.evaluation.gold import Gold
from twinlink.evaluation.labelled import count_labels, evaluate_with_gold, score_labels
from twinlink.labels.book import Label, Verdict
from twinlink.labels.precision import MAX_INTERVAL_WIDTH, estimate, labels_needed, share_of

PAIRS = [("/a", "/x"), ("/b", "/y"), ("/c", "/z"), ("/d", "/w")]


def labels_of(**said: Verdict) -> dict[tuple[str, str], Label]:
    """Return labels of pairs that are written as two letters."""
    pairs = {(f"/{name[0]}", f"/{name[1]}"): verdict for name, verdict in said.items()}
    return {pair: Label(*pair, verdict, "ann", datetime(2025, 1, 1, tzinfo=UTC)) for pair, verdict in pairs.items()}


def test_accepted_is_right_rejected_is_wrong_the_rest_is_not_scored() -> None:
    found = count_labels(PAIRS, labels_of(ax="accept", yb="reject", qr="accept"))
    assert (found.n_right, found.n_wrong, found.n_unscored, found.n_predicted) == (1, 1, 2, 4)
    assert found.n_gold == 2
    assert not hasattr(found, "recall"), "a count of labels is no measure of the run"


def test_each_pair_counts_once_in_either_order() -> None:
    found = count_labels([("/a", "/x"), ("/x", "/a")], labels_of(ax="accept"))
    assert (found.n_predicted, found.n_right) == (1, 1)


def test_without_labels_nothing_is_scored() -> None:
    found = count_labels(PAIRS, {})
    assert (found.n_right, found.n_wrong, found.n_gold, found.n_unscored) == (0, 0, 0, 4)


def test_labels_have_the_last_word_over_gold() -> None:
    gold = Gold((("/a", "/x"), ("/b", "/q"), ("/c", "/z")))
    found = evaluate_with_gold(PAIRS, labels_of(by="accept", cz="reject"), gold)
    assert found.n_gold == 2, "a-x of the list and b-y; b-q and c-z are struck out"
    assert (found.n_right, found.n_wrong) == (2, 2), "a-x, b-y right; c-z rejected, d-w not in the list"


def test_an_accepted_pair_of_the_gold_list_replaces_no_other() -> None:
    gold = Gold((("/e", "/f"), ("/e", "/d"), ("/f", "/d")))
    found = evaluate_with_gold(gold.pairs, labels_of(fe="accept"), gold)
    assert (found.n_gold, found.n_right, found.n_wrong) == (3, 3, 0)


def test_an_accepted_pair_leaves_the_gold_pairs_with_a_third_language() -> None:
    gold = Gold((("/e", "/f"), ("/e", "/z"), ("/f", "/z")))
    langs = {"/e": "en", "/f": "fr", "/z": "zh", "/g": "fr"}
    found = evaluate_with_gold([("/e", "/g"), ("/e", "/z"), ("/f", "/z")], labels_of(ge="accept"), gold, langs)
    assert (found.n_gold, found.n_right, found.n_wrong) == (3, 3, 0), "only e-f is struck out"


def test_an_accepted_pair_replaces_gold_pairs_with_pages_whose_language_is_not_known() -> None:
    found = evaluate_with_gold([], labels_of(ge="accept"), Gold((("/e", "/f"),)), {"/e": "en", "/g": "fr"})
    assert found.n_gold == 1


def test_without_labels_it_is_the_gold_list_alone() -> None:
    found = evaluate_with_gold(PAIRS, {}, Gold((("/a", "/x"), ("/q", "/r"))))
    assert (found.n_right, found.n_wrong, found.n_gold) == (1, 3, 2)


def test_a_label_of_a_gold_pair_counts_once() -> None:
    found = evaluate_with_gold(PAIRS, labels_of(xa="accept"), Gold((("/a", "/x"),)))
    assert (found.n_right, found.n_gold) == (1, 1)


def test_the_counts_of_both_together_make_up_those_predicted() -> None:
    pairs = [("/a?m=1", "/x?m=1"), ("/a?m=2", "/x?m=2"), ("/b", "/y"), ("/c", "/z")]
    found = evaluate_with_gold(pairs, labels_of(by="accept"), Gold((("/a", "/x"),)))
    assert found.n_predicted == found.n_right + found.n_wrong + found.n_unscored == 3
    assert found.n_alike == 1, "the two with a query are one for a gold list without queries"


def table_of(n: int) -> pd.DataFrame:
    """A run of ``n`` pairs of falling probability."""
    urls = {f"url_{side}": [f"/{side}{k}" for k in range(n)] for side in "ab"}
    return pd.DataFrame({**urls, "probability": np.linspace(0.99, 0.5, n)})


def said_of(accepted: Iterable[int], rejected: Iterable[int] = (), missing: int = 0) -> dict[tuple[str, str], Label]:
    """Labels of pairs by their numbers, and accepted pairs that the run does not have."""
    said: list[tuple[str, str, Verdict]] = [(f"/a{k}", f"/b{k}", "accept") for k in accepted]
    said += [(f"/a{k}", f"/b{k}", "reject") for k in rejected]
    said += [(f"/a{k}", f"/other{k}", "accept") for k in range(missing)]
    return {(a, b): Label(a, b, verdict, "ann", datetime(2025, 1, 1, tzinfo=UTC)) for a, b, verdict in said}


def test_two_labels_are_too_few_for_an_estimate() -> None:
    scores = score_labels(table_of(100), said_of([3, 50]))
    assert scores.recall is not None
    assert scores.f1 is not None
    assert not any((scores.precision.is_narrow, scores.recall.is_narrow, scores.f1.is_narrow))
    for line in str(scores).splitlines():
        assert "too few labels (95 % interval" in line
    assert "some 41 labels" not in str(scores)
    assert f"about {scores.precision.needed} labels in random order are needed" in str(scores)
    assert f"about {scores.recall.needed} accepted pairs are needed" in str(scores)


def test_many_labels_tell_all_three() -> None:
    """Of 60 labels in no order 54 are accepted; 6 pairs are accepted that the run does not have."""
    drawn = np.random.default_rng(1).permutation(300)[:60].tolist()
    scores = score_labels(table_of(300), said_of(drawn[:54], drawn[54:], missing=6))
    assert scores.recall is not None
    assert scores.f1 is not None
    for share, expected in ((scores.precision.share, 0.9), (scores.recall, 54 / 60), (scores.f1, 0.9)):
        assert share.is_narrow
        assert share.low < expected < share.high
        assert share.value == pytest.approx(expected, abs=0.02)
    assert "too few" not in str(scores)


def test_f1_is_between_the_harmonic_means_of_the_bounds() -> None:
    scores = score_labels(table_of(50), said_of(range(20), range(20, 25), missing=5))
    assert scores.recall is not None
    assert scores.f1 is not None
    low, high = (
        2 * p * r / (p + r)
        for p, r in ((scores.precision.low, scores.recall.low), (scores.precision.high, scores.recall.high))
    )
    assert low <= scores.f1.low < scores.f1.value < scores.f1.high <= high


def test_without_an_accepted_pair_recall_is_not_known() -> None:
    scores = score_labels(table_of(10), said_of([], range(10)))
    assert (scores.precision.precision, scores.recall, scores.f1) == (0.0, None, None)
    assert str(scores).splitlines()[1:] == [f"{name}: not known, no pair was accepted" for name in ("recall", "F1")]


def test_no_pairs() -> None:
    scores = score_labels(table_of(0), said_of([1]))
    assert not scores.precision.is_narrow
    assert "about 0 labels" not in str(scores)


@given(st.integers(0, 80), st.integers(0, 80))
def test_a_share_is_reported_where_its_interval_is_narrow_enough(n_right: int, n_wrong: int) -> None:
    share = share_of(n_right, n_right + n_wrong)
    assert (share is None) == (n_right + n_wrong == 0)
    if share is not None:
        assert share.low < share.value < share.high
        assert share.is_narrow == (share.high - share.low <= MAX_INTERVAL_WIDTH)
        assert ("too few" in str(share)) != share.is_narrow
        expected = scipy.stats.beta(n_right + 0.5, n_wrong + 0.5).interval(0.95)
        assert [share.low, share.high] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("right", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("of", [40, 400, 4000])
def test_reported_number_of_labels_is_sufficient(right: float, of: int) -> None:
    needed = labels_needed(right, of)
    codes = np.full(of, -1)
    codes[np.random.default_rng(3).permutation(of)[:needed]] = np.arange(needed) < round(right * needed)
    found = estimate([0.9] * of, codes)
    assert found.high - found.low <= MAX_INTERVAL_WIDTH + 0.02
    assert labels_needed(right, of) <= labels_needed(0.5, of) <= labels_needed(0.5) <= 50
