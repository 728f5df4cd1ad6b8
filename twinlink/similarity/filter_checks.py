"""Checks: the numbers behind a verdict on page pairs, each beside the bound that it was compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

__all__ = ["MEANINGS", "Check", "Relation", "check_of", "check_text", "pair_texts", "verdict_of"]

Values = NDArray[np.float64]
Marks = NDArray[np.bool_]
Relation = Literal["<", "<=", ">", ">=", ""]

MEANINGS = {
    "size": "|bytes1 - bytes2|/max",
    "tags": "|tags1 - tags2|/max",
    "paragraphs": "|texts1 - texts2|/max, texts between tags",
    "language": "the languages are wanted and differ",
    "structure": "tag distance; the bound grows with the tags of the larger page",
    "content": "share of the sentences in beads supported by their words; for urls: words contradict the pair",
    "text-length": "|characters1 - characters2|/max",
    "differences": "differences of the fingerprints",
    "best": "distance of the fingerprints, beside the lowest of the two pages",
    "weak-pattern": "credibility of the URL pattern",
    "cost_share": "P_d = W/(M1 + M2)",
    "length_distance": "|L_d - μ|, μ the mean L_d of pairs with P_d = 0",
    "p_value": "p: probability of such an r between unrelated texts",
    "correlation": "r: of the lengths of aligned texts",
    "aligned": "aligned texts",
    "unequal": "n: aligned texts that differ in length",
    "cost": "W: tokens without partner",
    "tokens_a": "M1: tokens of the first page",
    "tokens_b": "M2: tokens of the second page",
    "length_a": "L1: characters of the first page",
    "length_b": "L2: characters of the second page",
    "cluster": "cluster of the pair; 1: the parallel ones",
    "log_odds": "log odds to be parallel",
    "probability": "probability that the two are translations",
}
"""What each number is, by the name of its check."""


class Check(msgspec.Struct, frozen=True, eq=False):
    """A number of each pair, and the bound that it was compared with; all arrays have one value per pair."""

    name: str
    """A key of `MEANINGS`."""
    values: Values
    """NaN: not measured, or too far beyond the bound to be measured."""
    bounds: Values
    """NaN: none."""
    relation: Relation
    """Relation of a passing value to its bound; empty: there is no bound."""
    passed: Marks
    reached: Marks
    """Pairs that were checked: not those that an earlier filter rejected."""

    def reordered(self, order: NDArray[np.integer], n_new: int) -> Check:
        """Return the check after pairs that were not checked are appended, in another order of all pairs."""
        unknown, no = np.full(n_new, np.nan), np.zeros(n_new, np.bool_)
        return replace(
            self,
            values=np.append(self.values, unknown)[order],
            bounds=np.append(self.bounds, unknown)[order],
            passed=np.append(self.passed, no)[order],
            reached=np.append(self.reached, no)[order],
        )

    def at(self, places: NDArray[np.integer]) -> Check:
        """Return the check of some pairs."""
        return Check(
            self.name,
            self.values[places],
            self.bounds[places],
            self.relation,
            self.passed[places],
            self.reached[places],
        )


def check_of(name: str, values: ArrayLike, bound: ArrayLike = np.nan, relation: Relation = "") -> Check:
    """Return the check of all pairs: a value passes if it is in this relation to its bound.

    Examples
    --------
    >>> check_of("cost_share", [0.1, 0.3], 0.2, "<").passed.tolist()
    [True, False]
    """
    x = np.asarray(values, np.float64)
    limits = np.broadcast_to(np.asarray(bound, np.float64), x.shape)
    everywhere = np.ones(x.shape, np.bool_)
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    passed = compare[relation](x, limits) if relation else everywhere
    return Check(name, x, limits, relation, passed, everywhere)


def check_text(name: str, value: float, relation: str, bound: float, passed: bool) -> str:
    """Return a check of a pair as text.

    Examples
    --------
    >>> check_text("size", 0.12, "<=", 0.3, True), check_text("language", np.nan, "", np.nan, False)
    ('size 0.12 <= 0.3', 'language failed')
    >>> check_text("tags", 0.25, "<=", 0.2, False), check_text("structure", np.nan, "<=", 9.5, False)
    ('tags 0.25 <= 0.2 failed', 'structure not measured <= 9.5 failed')
    """
    number = "" if np.isnan(value) and not relation else "not measured" if np.isnan(value) else f"{value:.4g}"
    bounded = f"{relation} {bound:.4g}" if relation else ""
    verdict = "failed" if not passed else "" if number else "passed"
    return " ".join(filter(None, [name, number, bounded, verdict]))


def verdict_of(relation: str, value: float, passed: bool) -> str:
    """Return a verdict in one word; empty for a number that decides nothing.

    >>> verdict_of("<", 0.1, True), verdict_of("", np.nan, False), verdict_of("", 0.98, True)
    ('passed', 'failed', '')
    """
    if not passed:
        return "failed"
    return "passed" if relation or np.isnan(value) else ""


def pair_texts(checks: Iterable[Check], n_pairs: int) -> list[str]:
    """Return the checks of each pair as text, in their order.

    Examples
    --------
    >>> pair_texts([check_of("cost_share", [0.1, 0.3], 0.2, "<"), check_of("unequal", [3, 4])], 2)
    ['cost_share 0.1 < 0.2; unequal 3', 'cost_share 0.3 < 0.2 failed; unequal 4']
    """
    checks = list(checks)
    return ["; ".join(_texts(checks, k)) for k in range(n_pairs)]


def _texts(checks: Iterable[Check], k: int) -> Iterator[str]:
    for each in checks:
        if each.reached[k]:
            numbers = float(each.values[k]), each.relation, float(each.bounds[k])
            yield check_text(each.name, *numbers, bool(each.passed[k]))
