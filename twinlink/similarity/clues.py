"""Clues: what points from one page to its version in another language, and how far that is to be believed on a site.

A clue (a language switch, hreflang, a URL pattern that makes one address of the other) points at one page, at several,
or at none. How often it points at the right one is found on the site: words, structure and links say which candidates
are likely, and expectation maximisation finds the rates that explain best what the clues do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry

__all__ = ["CLUES", "clue_odds", "clue_states", "learn_clues"]

Floats = NDArray[np.float64]
States = NDArray[np.int64]

CLUES = ("direct", "hreflang", "pattern")
"""Kinds of evidence that are clues."""
SILENT, HERE, ALSO_HERE, ELSEWHERE = range(4)

_START = np.array([0.30, 0.60, 0.05, 0.05])
"""Rates for right pairs that the first step starts from."""
_MIXED_IN = 0.5
"""Candidates that count as right and have the states that all candidates have. Ours, not tuned."""
_AGAINST = 0.5
"""Part of what a clue says against the candidates that it does not point at: it has said most of it for the one that it
points at. With a tenth of the addresses of a site of look-alikes exchanged, F1 is .908 with 1, .994 with ½, .997 with
0 (`experiments.lies`); with 0 a page whose clues point elsewhere finds a wrong partner more easily."""
_ROUNDS = 30
_MOST = 9.0
"""Most that one clue adds to the log odds, for or against: clues lie."""


def clue_states(values: Floats, rivalry: Rivalry) -> States:
    """Return what a clue does for each candidate: 0 silent, 1 points here alone, 2 also here, 3 elsewhere.

    Parameters
    ----------
    values : ndarray, shape (n_candidates,), values >= 0
        Strength of the clue, 0 where it does not point from one page to the other.
    rivalry : Rivalry

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clue_states(np.array([0.5, 0.0, 0.0, 0.0]), Rivalry(csr_array(np.ones((2, 2))))).tolist()
    [1, 3, 3, 0]
    """
    rivals = rivalry.rivals(values)
    spoken = np.where(values > rivals, HERE, ALSO_HERE)
    return np.where(values > 0, spoken, np.where(rivals > 0, ELSEWHERE, SILENT))


def learn_clues(clues: Mapping[str, Floats], odds: Floats, rivalry: Rivalry) -> Mapping[str, Floats]:
    """Return for each clue what its four states add to the log odds of a candidate.

    With m(s) the rate of state s among right candidates and u(s) among wrong ones, the weights are ``log m(s)/u(s)``,
    as in record linkage (Fellegi & Sunter 1969). Which candidates are right is not known: r is the chance by ``odds``
    and the weights so far, each page having one partner or none, and m, u are the rates weighted by r and by 1 - r.
    Both steps are repeated.

    Parameters
    ----------
    clues : mapping of str to ndarray, shape (n_candidates,), values >= 0
    odds : ndarray, shape (n_candidates,)
        Log odds of the candidates by all other evidence.
    rivalry : Rivalry

    Returns
    -------
    mapping of str to ndarray, shape (4,), values within ±9
    """
    if not clues or not len(odds):
        return MappingProxyType({})
    states = {name: clue_states(values, rivalry) for name, values in clues.items()}
    weights = {name: _start(of_clue) for name, of_clue in states.items()}
    for _ in range(_ROUNDS):
        right = _chances(odds + sum(weights[name][of_clue] for name, of_clue in states.items()), rivalry)
        before, weights = weights, {name: _weights(right, of_clue) for name, of_clue in states.items()}
        if all(np.abs(weights[name] - before[name]).max() < 1e-3 for name in weights):
            break
    return weights


def clue_odds(clues: Mapping[str, Floats], weights: Mapping[str, Floats], rivalry: Rivalry) -> dict[str, Floats]:
    """Return what each clue adds to the log odds of each candidate, by the weights that `learn_clues` found."""
    return {name: of_state[clue_states(clues[name], rivalry)] for name, of_state in weights.items()}


def _start(states: States) -> Floats:
    """Return weights to start from: a clue that speaks points at the right page."""
    weights: Floats = np.log(_START / np.maximum(_rates(np.ones(len(states)), states), 0.01))
    return weights


def _weights(right: Floats, states: States) -> Floats:
    """Return log m/u of each state; the rates of all candidates are mixed into both, so that no rate is 0.

    A state that no candidate has adds nothing: it says nothing where it comes up later.
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


def _chances(odds: Floats, rivalry: Rivalry) -> Floats:
    """Return the chance of each candidate beside its rivals; a page has no partner at odds of 1."""
    likelihood = np.exp(np.clip(odds, -30, 30))
    of_row, of_column = rivalry.sums(likelihood)
    chances: Floats = likelihood / (1 + np.maximum(of_row, of_column))
    return chances
