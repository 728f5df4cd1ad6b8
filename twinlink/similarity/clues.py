"""Clues: evidence that points from one page to its version in another language, and its reliability on a site.

A clue (a language switch, hreflang, a URL pattern that makes one address of the other) points at one page, at several,
or at none; a URL pattern may point at an address that the site does not have. Its reliability is estimated on the site:
words, structure and links give the odds of the candidates, and expectation maximisation finds the most likely rates of
the clues.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry

__all__ = [
    "AT_NO_PAGE",
    "CLUES",
    "HERE",
    "OF_ONE_PAGE",
    "clue_odds",
    "clue_states",
    "is_contradicted",
    "learn_clues",
    "without_elsewhere",
]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""
States = NDArray[np.int8]
Marks = NDArray[np.bool_]

CLUES = ("direct", "hreflang", "pattern")
"""Kinds of evidence that are clues."""
OF_ONE_PAGE = ("hreflang", "pattern")
"""Clues that are meant to name the partner alone; a link between two pages may have any reason."""
AT_NO_PAGE = -1.0
"""Strength of a clue that points from one of the two pages at an address that the site does not have."""
SILENT, HERE, ALSO_HERE, ELSEWHERE, NOWHERE = np.arange(5, dtype=np.int8)  # small: a large site has 15 million states

_START = np.array([0.30, 0.60, 0.05, 0.05])
"""Initial rates for right pairs."""
_MIXED_IN = 0.5
"""Pseudo-candidates, distributed like all candidates, that are added to the right ones. Our choice, not tuned."""
_AGAINST = 0.5
"""Share of a clue's weight that counts against the candidates that it does not point at: most of its information is
already counted for the one that it points at. With a tenth of the addresses of a site of look-alikes exchanged, F1 is
.908 with 1, .994 with ½, .997 with 0 (`experiments.lies`); with 0 a page whose clues point elsewhere finds a wrong
partner more easily."""
_ROUNDS = 30
CONFIRMED = 0.25
"""Share of the pairs clear by words and structure that a clue must confirm. On 26 sites with addresses that differ by
language, in 83 versions of them (half of a side removed, one template for all pages, both), URL patterns confirm 5,210
such pairs and contradict one. Where news are numbered in each language by themselves (``experiments.numbered``), they
confirm 0 to 11, and contradict 4 to 471, in nine cases on three sites."""
LEAST_COMPARED = 3
"""Minimum number of such pairs. Our choice: with 5, the numbers of two sites of few pages were believed."""
_MOST = 9.0
"""Limit of what one clue adds to or subtracts from the log odds: clues can be wrong."""


def clue_states(values: Values, rivalry: Rivalry, left: Marks | None = None) -> States:
    """Return the state of a clue per candidate.

    0: silent, 1: points only here, 2: here and elsewhere, 3: elsewhere, 4: at an address without a page.

    Parameters
    ----------
    values : ndarray, shape (n_candidates,), values >= 0, or `AT_NO_PAGE`
        Strength of the clue, 0 where it does not point from one page to the other.
    rivalry : Rivalry
    left : ndarray of bool, shape (n_candidates,), optional
        Candidates that are left; the states of the others have no meaning.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clue_states(np.array([0.5, 0.0, 0.0, 0.0]), Rivalry(csr_array(np.ones((2, 2))))).tolist()
    [1, 3, 3, 0]
    """
    rivals = rivalry.rivals(values, left)
    spoken = np.where(values > rivals, HERE, ALSO_HERE)
    quiet = np.where(values < 0, NOWHERE, SILENT)
    return np.where(values > 0, spoken, np.where(rivals > 0, ELSEWHERE, quiet))


def is_contradicted(values: Values, clear: Marks, rivalry: Rivalry) -> bool:
    """Return whether a clue joins the pages of most pairs that are clear by other evidence with other pages.

    So do addresses that are numbered in each language by themselves: the same numbers say nothing. Such a clue is worse
    than none, because links follow it: what is next to a wrong pair is joined by the next numbers.

    Parameters
    ----------
    values : ndarray, shape (n_candidates,), values >= 0, or `AT_NO_PAGE`
        Strength of the clue.
    clear : ndarray of bool, shape (n_candidates,)
        Pairs, no page twice.
    rivalry : Rivalry

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rivalry, clear = Rivalry(csr_array(np.ones((6, 6)))), np.eye(6, dtype=bool).ravel()
    >>> same, next_ones = np.eye(6).ravel(), np.roll(np.eye(6), 1, axis=1).ravel()
    >>> is_contradicted(same, clear, rivalry), is_contradicted(next_ones, clear, rivalry)
    (False, True)
    """
    states = clue_states(values, rivalry)[clear]
    n_here, n_elsewhere = int(np.sum(states == HERE)), int(np.sum(states == ELSEWHERE))
    compared = n_here + n_elsewhere
    return compared >= LEAST_COMPARED and n_here < CONFIRMED * compared


def learn_clues(clues: Mapping[str, Values], odds: Floats, rivalry: Rivalry) -> Mapping[str, Floats]:
    """Learn the weights of clues: what each of the four states adds to the log odds of a candidate.

    With m(s) the rate of state s among right candidates and u(s) among wrong ones, the weights are ``log m(s)/u(s)``,
    as in record linkage (Fellegi & Sunter 1969). Which candidates are right is not known: r is the probability from
    ``odds`` and the current weights, each page having one partner or none, and m, u are the rates weighted by r and by
    1 - r. Both steps are repeated.

    Parameters
    ----------
    clues : mapping of str to ndarray, shape (n_candidates,), values >= 0, or `AT_NO_PAGE`
    odds : ndarray, shape (n_candidates,)
        Log odds of the candidates by all other evidence.
    rivalry : Rivalry

    Returns
    -------
    mapping of str to ndarray, shape (4,), values within ±9
    """
    if not clues or not len(odds):
        return MappingProxyType({})
    states = {name: _as_learned(clue_states(values, rivalry)) for name, values in clues.items()}
    weights = {name: _start(of_clue) for name, of_clue in states.items()}
    for _ in range(_ROUNDS):
        right = _probabilities(odds + sum(weights[name][of_clue] for name, of_clue in states.items()), rivalry)
        before, weights = weights, {name: _weights(right, of_clue) for name, of_clue in states.items()}
        if all(np.abs(weights[name] - before[name]).max() < 1e-3 for name in weights):
            break
    return weights


def clue_odds(
    clues: Mapping[str, Values], weights: Mapping[str, Floats], rivalry: Rivalry, left: Marks | None = None
) -> dict[str, Floats]:
    """Return what each clue adds to the log odds of each candidate, with the weights from `learn_clues`.

    A clue that points at an address without a page adds all of the weight of one that points elsewhere: no other
    candidate has a part of it.
    """
    return {
        name: np.append(of_state, of_state[ELSEWHERE] / _AGAINST)[clue_states(clues[name], rivalry, left)]
        for name, of_state in weights.items()
    }


def without_elsewhere(odds: Floats, weights: Floats) -> Floats:
    """Return what a clue adds to the log odds of candidates, but 0 where it points elsewhere.

    Parameters
    ----------
    odds : ndarray, shape (n,)
        From `clue_odds`.
    weights : ndarray, shape (4,)
        Of the same clue, from `learn_clues`.

    Examples
    --------
    A clue of a right pair, one that points elsewhere, and one at an address without a page:

    >>> without_elsewhere(np.array([4.0, -2.5, -5.0]), np.array([0.1, 4.0, 0.5, -2.5])).tolist()
    [4.0, 0.0, -5.0]
    """
    return np.where(odds == weights[ELSEWHERE], 0.0, odds)


def _as_learned(states: States) -> States:
    """Return states with silence for clues that point at no page.

    Hardly any right pair has such a clue. Counted as one that points elsewhere, it would exaggerate the weight of that
    state: with a tenth of the addresses exchanged, a site with many untranslated pages has F1 .990 instead of .992.
    """
    return np.where(states == NOWHERE, SILENT, states)


def _start(states: States) -> Floats:
    """Return initial weights: a clue that is not silent points at the right page."""
    weights: Floats = np.log(_START / np.maximum(_rates(np.ones(len(states)), states), 0.01))
    return weights


def _weights(right: Floats, states: States) -> Floats:
    """Return log m/u of each state; the rates of all candidates are mixed into both, so that no rate is 0.

    A state that no candidate has gets weight 0, so it adds nothing where it occurs later.
    """
    of_all = np.bincount(states, minlength=len(_START)) + 1e-3
    of_all /= of_all.sum()
    share = _MIXED_IN / (right.sum() + _MIXED_IN)
    m, u = (share * of_all + (1 - share) * _rates(weights, states) for weights in (right, 1 - right))
    weights: Floats = np.clip(np.log(m / u), -_MOST, _MOST)
    weights[ELSEWHERE] *= _AGAINST
    return weights


def _rates(counts: Floats, states: States) -> Floats:
    sums = np.bincount(states, counts, len(_START))
    rates: Floats = sums / max(sums.sum(), np.finfo(float).tiny)
    return rates


def _probabilities(odds: Floats, rivalry: Rivalry) -> Floats:
    """Return the probability of each candidate among its rivals; "no partner" has odds of 1."""
    likelihood = np.exp(np.clip(odds, -30, 30))
    of_row, of_column = rivalry.sums(likelihood)
    probabilities: Floats = likelihood / (1 + np.maximum(of_row, of_column))
    return probabilities
