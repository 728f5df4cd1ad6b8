"""Precision, recall and F1 of page pairs by labels from `twinlink review`, alone or with a gold list.

An accepted pair is right, a rejected one wrong; pairs without a label are not scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from twinlink.evaluation.gold import Counts, Evaluation, Gold, evaluate
from twinlink.labels.book import Label
from twinlink.labels.precision import Estimate, Share, estimate_pairs, harmonic_mean, share_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelScores", "count_labels", "evaluate_with_gold", "score_labels", "share_lines"]

Pair = tuple[str, str]
Labels = Mapping[Pair, Label]


class LabelScores(msgspec.Struct, frozen=True):
    """Precision, recall and F1 of the pairs of a run, estimated from labels, each with a 95 % interval.

    ``print`` shows each as a number only if its interval is narrow enough (`twinlink.labels.precision.Share`).
    """

    counts: Counts
    """``n_gold``: accepted pairs; ``n_right``: those that the run has; ``n_wrong``: rejected pairs that the run has."""
    precision: Estimate
    """Of all pairs of the run. Labelled pairs are not a random sample: doubtful ones are shown first. So each label
    represents only pairs of similar probability."""
    recall: Share | None
    """Share of the accepted pairs that the run has; None without any. It does not cover pages in no pair, which the
    review does not show."""
    f1: Share | None
    """Harmonic mean of both."""

    def __str__(self) -> str:
        return "\n".join(share_lines(self.precision.share, self.recall, self.f1))


def share_lines(precision: Share, recall: Share | None, f1: Share | None) -> Iterator[str]:
    """Yield a line for each measure: a number with its interval, or the number of labels needed."""
    kinds = (("precision", precision, "labels in random order"), ("recall", recall, "accepted pairs"), ("F1", f1, ""))
    for name, share, needed in kinds:
        show_needed = share and share.needed and needed and not share.is_narrow
        more = f"; about {share.needed:,} {needed} are needed" if share and show_needed else ""
        yield f"{name}: {share or 'not known, no pair was accepted'}{more}"


def score_labels(pairs: pd.DataFrame, labels: Labels) -> LabelScores:
    """Score the pairs of a run by labels.

    Parameters
    ----------
    pairs : DataFrame
        Columns of `twinlink.tables.PAIRS`, at least the two addresses and the probability.
    labels : mapping
        As `LabelBook.current` gives them.

    Examples
    --------
    >>> import pandas as pd
    >>> from datetime import UTC, datetime
    >>> pairs = pd.DataFrame({"url_a": ["/a", "/b"], "url_b": ["/x", "/y"], "probability": [0.9, 0.6]})
    >>> print(score_labels(pairs, {("/a", "/x"): Label("/a", "/x", "accept", "ann", datetime.now(UTC))}))
    precision: too few labels (95 % interval 0.500 to 1.000); about 2 labels in random order are needed
    recall: too few labels (95 % interval 0.147 to 1.000); about 31 accepted pairs are needed
    F1: too few labels (95 % interval 0.2... to 1.000)
    """
    counts = count_labels(zip(pairs["url_a"], pairs["url_b"], strict=True), labels)
    recall = counts.n_right, counts.n_gold
    f1 = harmonic_mean(pairs, labels, recall) if counts.n_gold else None
    return LabelScores(counts, estimate_pairs(pairs, labels), share_of(*recall), f1)


def count_labels(pairs: Iterable[Pair], labels: Labels) -> Counts:
    """Count the right and wrong ones among pairs of addresses by their labels; n_gold: how many pairs are accepted.

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
    >>> found = count_labels([("/a", "/x"), ("/b", "/y")], {("/a", "/x"): said})
    >>> found.n_wrong, found.n_unscored
    (1, 1)
    """
    verdicts = [_verdict(pair, labels) for pair in _unique(pairs)]
    counts = Counter(verdicts)
    return Counts(
        n_gold=sum(label.verdict == "accept" for label in labels.values()),
        n_predicted=len(verdicts),
        n_right=counts[True],
        n_wrong=counts[False],
        n_unscored=counts[None],
        n_unknown=0,
    )


def evaluate_with_gold(
    pairs: Iterable[Pair], labels: Labels, gold: Gold, langs: Mapping[str, str] | None = None
) -> Evaluation:
    """Count them by labels where they have one, by a gold list where they have none.

    Labels take precedence: an accepted pair that the gold list lacks replaces the gold pairs of its two pages with
    other pages of the same two languages; a rejected pair is removed from the gold list.

    Parameters
    ----------
    pairs : iterable of (str, str)
    labels : mapping
        As `LabelBook.current` gives them.
    gold : Gold
    langs : mapping, optional
        Language of each address of the run. A page whose language is not known counts as one of every language.
    """
    unique = _unique(pairs)
    known = {pair for pair in unique if _verdict(pair, labels) is not None}
    rest = _without_labelled(gold, labels, langs or {})
    by_gold = evaluate([pair for pair in unique if pair not in known], rest)
    by_label = count_labels([pair for pair in unique if pair in known], labels)
    return Evaluation(
        n_gold=by_gold.n_gold + by_label.n_gold,
        n_predicted=by_gold.n_predicted + by_label.n_predicted,
        n_right=by_gold.n_right + by_label.n_right,
        n_wrong=by_gold.n_wrong + by_label.n_wrong,
        n_unscored=by_gold.n_unscored,
        n_unknown=by_gold.n_unknown,
        n_alike=by_gold.n_alike,
    )


def _without_labelled(gold: Gold, labels: Labels, langs: Mapping[str, str]) -> Gold:
    """Leave out the gold pairs with a label, and those that an accepted pair replaces because the list lacks it."""
    keys = {pair: gold.grouped((gold.key(pair[0]), gold.key(pair[1]))) for pair in labels}
    decided, known = set(keys.values()), set(map(gold.grouped, gold.pairs))
    accepted = {keys[pair] for pair, label in labels.items() if label.verdict == "accept"}
    lang_of = {gold.group(gold.key(url)): lang for url, lang in langs.items()}
    replaced = {(page, lang_of.get(other)) for pair in accepted - known for page in pair for other in pair - {page}}
    pages = {page for page, _ in replaced}

    def is_replaced(page: str, other: str) -> bool:
        lang = lang_of.get(other)
        return page in pages if lang is None else bool(replaced & {(page, lang), (page, None)})

    left = [
        pair
        for pair in gold.pairs
        if gold.grouped(pair) not in decided
        and not any(is_replaced(*sides) for sides in permutations(map(gold.group, pair)))
    ]
    return replace(gold, pairs=tuple(left))


def _unique(pairs: Iterable[Pair]) -> list[Pair]:
    return list({frozenset(pair): pair for pair in pairs}.values())


def _verdict(pair: Pair, labels: Labels) -> bool | None:
    label = labels.get(pair) or labels.get((pair[1], pair[0]))
    return None if label is None else label.verdict == "accept"
