"""Pairs scored by what people said of them in `twinlink review`, alone or together with a gold list.

An accepted pair is right, a rejected one wrong; of pairs without a label nothing is known, they are not scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from twinlink.evaluate import Evaluation, Gold, evaluate
from twinlink.review.labels import Label

__all__ = ["evaluate_labels", "evaluate_with_gold"]

Pair = tuple[str, str]
Labels = Mapping[Pair, Label]


def evaluate_labels(pairs: Iterable[Pair], labels: Labels) -> Evaluation:
    """Count the right and wrong ones among pairs of addresses by their labels; n_gold: how many pairs are accepted.

    Which pairs have a label is not left to chance: doubtful ones are shown first. So the precision here is that of the
    labelled pairs; of all pairs `twinlink.review.precision.estimate_pairs` tells it, with an interval.

    Parameters
    ----------
    pairs : iterable of (str, str)
        In either order; each counts once.
    labels : mapping
        As `LabelBook.current` gives them.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> said = Label("/a", "/x", "reject", "ann", datetime.now(UTC))
    >>> found = evaluate_labels([("/a", "/x"), ("/b", "/y")], {("/a", "/x"): said})
    >>> found.n_wrong, found.n_unscored
    (1, 1)
    """
    verdicts = [_verdict(pair, labels) for pair in _unique(pairs)]
    counts = Counter(verdicts)
    return Evaluation(
        n_gold=sum(label.verdict == "accept" for label in labels.values()),
        n_predicted=len(verdicts),
        n_right=counts[True],
        n_wrong=counts[False],
        n_unscored=counts[None],
        n_unknown=0,
    )


def evaluate_with_gold(pairs: Iterable[Pair], labels: Labels, gold: Gold) -> Evaluation:
    """Count them by labels where they have one, by a gold list where they have none.

    A label has the last word: an accepted pair counts as one of the gold list, in the place of those that the list has
    of its two pages; a rejected one is none of it.
    """
    unique = _unique(pairs)
    known = {pair for pair in unique if _verdict(pair, labels) is not None}
    rest = _without_labelled(gold, labels)
    by_gold = evaluate([pair for pair in unique if pair not in known], rest)
    by_label = evaluate_labels([pair for pair in unique if pair in known], labels)
    return Evaluation(
        n_gold=by_gold.n_gold + by_label.n_gold,
        n_predicted=by_gold.n_predicted + by_label.n_predicted,
        n_right=by_gold.n_right + by_label.n_right,
        n_wrong=by_gold.n_wrong + by_label.n_wrong,
        n_unscored=by_gold.n_unscored,
        n_unknown=by_gold.n_unknown,
        n_alike=by_gold.n_alike,
    )


def _without_labelled(gold: Gold, labels: Labels) -> Gold:
    """Leave out the gold pairs that labels decide on: those with a label, and those of pages that are accepted."""
    keys = {pair: (gold.group(gold.key(pair[0])), gold.group(gold.key(pair[1]))) for pair in labels}
    decided = {both for pair in keys.values() for both in (pair, pair[::-1])}
    accepted = {key for pair, label in labels.items() if label.verdict == "accept" for key in keys[pair]}
    left = [
        pair
        for pair in gold.pairs
        if (grouped := (gold.group(pair[0]), gold.group(pair[1]))) not in decided and accepted.isdisjoint(grouped)
    ]
    return replace(gold, pairs=tuple(left))


def _unique(pairs: Iterable[Pair]) -> list[Pair]:
    return list({frozenset(pair): pair for pair in pairs}.values())


def _verdict(pair: Pair, labels: Labels) -> bool | None:
    label = labels.get(pair) or labels.get((pair[1], pair[0]))
    return None if label is None else label.verdict == "accept"
