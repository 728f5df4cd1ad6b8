"""Pairs scored by labels, alone and together with a gold list."""

from __future__ import annotations

from datetime import UTC, datetime

from twinlink.evaluate import Gold
from twinlink.label_scores import evaluate_labels, evaluate_with_gold
from twinlink.review.labels import Label, Verdict

PAIRS = [("/a", "/x"), ("/b", "/y"), ("/c", "/z"), ("/d", "/w")]


def labels_of(**said: Verdict) -> dict[tuple[str, str], Label]:
    """Return labels of pairs that are written as two letters."""
    pairs = {(f"/{name[0]}", f"/{name[1]}"): verdict for name, verdict in said.items()}
    return {pair: Label(*pair, verdict, "ann", datetime(2025, 1, 1, tzinfo=UTC)) for pair, verdict in pairs.items()}


def test_accepted_is_right_rejected_is_wrong_the_rest_is_not_scored() -> None:
    found = evaluate_labels(PAIRS, labels_of(ax="accept", yb="reject", qr="accept"))
    assert (found.n_right, found.n_wrong, found.n_unscored, found.n_predicted) == (1, 1, 2, 4)
    assert found.n_gold == 2
    assert found.precision == found.recall == 0.5


def test_each_pair_counts_once_in_either_order() -> None:
    found = evaluate_labels([("/a", "/x"), ("/x", "/a")], labels_of(ax="accept"))
    assert (found.n_predicted, found.n_right) == (1, 1)


def test_no_labels_nothing_scored() -> None:
    found = evaluate_labels(PAIRS, {})
    assert (found.n_right, found.n_wrong, found.n_gold, found.n_unscored) == (0, 0, 0, 4)


def test_labels_have_the_last_word_over_gold() -> None:
    gold = Gold((("/a", "/x"), ("/b", "/q"), ("/c", "/z")))
    found = evaluate_with_gold(PAIRS, labels_of(by="accept", cz="reject"), gold)
    assert found.n_gold == 2, "a-x of the list and b-y; b-q and c-z are struck out"
    assert (found.n_right, found.n_wrong) == (2, 2), "a-x, b-y right; c-z rejected, d-w not in the list"


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
