"""Log odds by what a pair has, not by what its rivals lack: pages without a partner have no strong rivals.

The log odds t of `twinlink.similarity.weighing_model` tell the partner of a page from its other candidates. The best
candidate of a page without a partner may have little evidence, but if no rival has more, t is high. The trials of
`twinlink.similarity.weighing` remove partners, and so they know such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.standings import fit_logistic, spread

__all__ = ["SURE", "Evidence", "Measured", "all_of", "discriminated"]

Floats = NDArray[np.float64]

SURE = 0.9
"""Presence above which the pages of a pair surely have partners: the pair is an example of a right one."""
LEAST_SURE, SURE_SHARE = 30, 0.35
"""Minimum number of sure pairs, and their share of the pairs. Trials on 15 sites, each whole and with half of the pages
of one side or of either: mean F1 .9283 with 166 wrong pairs; .9300 with 186 where 5 sure pairs are enough (16 pairs
teach what only they have); .9260 with 179 where they are six in ten and 5; without a discriminant .9248 with 205."""
LEAST_WRONG = 5
"""Minimum number of wrong pairs. Our choice, not tuned."""
RIDGE = 10.0
"""Penalty ½·`RIDGE`·|w|² on the weights of standardised values. On these sites, with six in ten pairs to be
sure: mean F1 .9260 with 10 and .9266 with 1, but one whole site falls by .011."""
MOST = 1_000
"""Maximum number of right examples, and of wrong ones."""


class Evidence(NamedTuple):
    """Evidence of some pairs."""

    named: Floats
    """Part of the log odds from the clues that are meant to name the partner (hreflang, URL patterns), shape (n,). A
    clue that names another page adds 0."""
    values: Floats
    """Each kind of evidence that is no clue, shape (n, n_kinds)."""


class Measured(NamedTuple):
    """What is known of some pairs."""

    odds: Floats
    """Log odds t, shape (n,)."""
    evidence: Evidence

    def of(self, marks: NDArray[np.bool_]) -> Measured:
        """Return what is known of the marked pairs."""
        return Measured(self.odds[marks], Evidence(*(each[marks] for each in self.evidence)))


def all_of(lists: Sequence[Measured]) -> Measured:
    """Return what is known of the pairs of several lists, one list after the other."""
    odds, evidence = zip(*lists, strict=True)
    return Measured(np.concatenate(odds), Evidence(*(np.concatenate(each) for each in zip(*evidence, strict=True))))


def discriminated(given: Measured, wrong: Measured, presence: Floats) -> tuple[Floats, Floats] | None:
    """Return log odds that tell right pairs from the best pairs of pages without a partner.

    With t the log odds of a pair, c the part of them that comes from clues that are meant to name the partner, and v
    its evidence of each kind that is no clue::

        d = w₀ + w₁·(t - c) + Σ over kinds k of w_k·v_k + c

    A logistic regression on standardised values finds the weights, with a ridge penalty; they may be negative. Values
    beyond those of the examples count as the nearest of these. Right examples are the given pairs with a presence above
    `SURE`, which is their target; wrong ones are the known wrong pairs.

    c keeps its weight: a named partner may have little evidence else, such as a page that was hardly translated. (With
    c as a part of t, one site loses one pair of 94. With links between the two pages as a part of c, F1 on eleven
    sites, whole and with half of either side removed, is .9261 instead of .9275.) A clue that names another page is not
    in c: it may be wrong, and the evidence of the pair decides. (With it, a tenth of wrong hreflang costs six of 59
    pairs on vote-en-ar, and on eight sites F1 is .9887 instead of .9950; true clues of 15 sites, whole and without some
    pages, give the same either way.) A clue that names an address without a page is in c: the partner is missing.
    (Without it, F1 on debwww-en-ru-plain with half of the pages of side B removed is .978 instead of .998.)

    Parameters
    ----------
    given : Measured
        Chosen pairs.
    wrong : Measured
        Pairs that were chosen where the partner of a page was missing.
    presence : ndarray, shape (n,), values in [0, 1]
        Of the given pairs, by t alone.

    Returns
    -------
    (ndarray, ndarray) or None
        d of the given and of the wrong pairs. None if there is no other evidence than t, or there are too few examples
        (`LEAST_SURE`, `SURE_SHARE`, `LEAST_WRONG`).

    Examples
    --------
    Half of the given pairs are as good as the others beside their rivals, but have as little evidence as wrong pairs:

    >>> given = Measured(np.full(80, 5.0), Evidence(np.zeros(80), np.repeat([[0.8], [0.2]], 40, axis=0)))
    >>> wrong = Measured(np.full(40, 4.0), Evidence(np.zeros(40), np.full((40, 1), 0.2)))
    >>> of_given, of_wrong = discriminated(given, wrong, np.full(80, 0.95))
    >>> bool(of_given[0] > of_given[-1] > of_wrong[0])
    True
    """
    sure = np.flatnonzero(presence > SURE)
    n, n_wrong = len(given.odds), len(wrong.odds)
    if not given.evidence.values.shape[1] or len(sure) < max(LEAST_SURE, SURE_SHARE * n) or n_wrong < LEAST_WRONG:
        return None
    x_given, x_wrong = _rows(given), _rows(wrong)
    right, others = sure[spread(len(sure), MOST)], spread(n_wrong, MOST)
    examples = np.concatenate([x_given[right], x_wrong[others]])
    targets = np.append(presence[right], np.zeros(len(others)))
    least, most = examples.min(axis=0), examples.max(axis=0)  # before the fit, which standardises them in place
    model = fit_logistic(examples, targets, RIDGE / len(examples))
    of_given, of_wrong = (model.log_odds(np.clip(x, least, most)) for x in (x_given, x_wrong))
    return of_given + given.evidence.named, of_wrong + wrong.evidence.named


def _rows(measured: Measured) -> Floats:
    """Return log odds without named partners, the evidence, and a column of ones."""
    odds, (named, values) = measured
    return np.column_stack([odds - named, values, np.ones(len(odds))])
