"""Pairs that a round learns weights from: at first the clear ones, later those that are probably right."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from twinlink.graph.matching import greedy_among
from twinlink.match.measures import State, mean_of
from twinlink.match.methods.weighed.first_state import FIRST_MARGIN
from twinlink.similarity.clues import CLUES
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import LIKELY, clear_pairs

__all__ = ["pairs_to_learn"]

NEARLY_AS_GOOD = 0.8
"""Share of the best rival's first evidence at which the pages do not contradict a clue. Our choice, not tuned."""
HARDLY_ANY = 4
"""A clue that gives this many times as many clear pairs as the pages is used even if they contradict it."""


def pairs_to_learn(
    state: State,
    evidence: Mapping[str, npt.NDArray[np.floating]],
    rivalry: Rivalry,
    lessons: Lessons | None,
    nearly: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.bool_]:
    """Mark the pairs to learn from: at first the clear ones, later those that are probably right.

    At first, pairs that a clue makes clear come before those that the pages themselves make clear, but for pages that
    these pair with others. A clue is used here if most of its pairs are nearly the best by the pages' own evidence,
    or if this gives hardly any clear pairs. If the pages make no pair clear, near-duplicates are no rivals of each
    other; if no clue makes one clear either, content alone tells: where each page has the same structure and links to
    all others, ETS is nearly the same for all candidates.
    """
    if lessons is not None:
        evidence = lessons.without_rejected(evidence)
    if state.probabilities is not None and (state.probabilities > LIKELY).any():
        return _unlabelled(state.probabilities > LIKELY, lessons)
    own = {kind: evidence[kind].astype(np.float64) for kind in ("ets", "content", "structure") if kind in evidence}
    first = own["ets"] if "ets" in own else mean_of(own, ("content", "structure"), state.pattern.nnz)
    by_pages = clear_pairs(first, rivalry, FIRST_MARGIN)
    if not by_pages.any():
        by_pages = _clear_but_for_alike(first, rivalry, nearly)
    agreed = (first >= NEARLY_AS_GOOD * rivalry.rivals(first)) & (by_pages | ~_with_page_of(by_pages, rivalry))
    clear = np.zeros(state.pattern.nnz, dtype=np.bool_)
    for clue in CLUES:
        pointed = clear_pairs(evidence[clue], rivalry, FIRST_MARGIN) if clue in evidence else clear
        if 2 * np.sum(pointed & agreed) > np.sum(pointed) or HARDLY_ANY * np.sum(by_pages) < np.sum(pointed):
            clear |= pointed & (by_pages | ~_with_page_of(by_pages | clear, rivalry))
    clear |= by_pages & ~_with_page_of(clear, rivalry)
    if not clear.any() and "content" in own:
        clear = clear_pairs(own["content"], rivalry, FIRST_MARGIN)
    return _unlabelled(clear, lessons)


def _clear_but_for_alike(
    first: npt.NDArray[np.float64],
    rivalry: Rivalry,
    nearly: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.bool_]:
    """Mark the pairs that are clear if their pages' near-duplicates are no rivals: the best of two sets of them.

    Where each page has a version for printing that differs by a word, none would be clear otherwise, and none be found.
    Trials: where as few as 1 to 9 pairs are clear, these alone teach better.
    """
    everywhere = np.ones(len(first), np.bool_)
    pairs = greedy_among(first.astype(np.float32), rivalry.rows, rivalry.columns, everywhere, *rivalry.shape)
    alike = nearly(pairs)
    alike[pairs] = False
    return clear_pairs(np.where(alike, 0, first), rivalry, FIRST_MARGIN)


def _unlabelled(clear: npt.NDArray[np.bool_], lessons: Lessons | None) -> npt.NDArray[np.bool_]:
    """Leave out labelled candidates."""
    return clear if lessons is None else clear & ~lessons.accepted & ~lessons.barred


def _with_page_of(pairs: npt.NDArray[np.bool_], rivalry: Rivalry) -> npt.NDArray[np.bool_]:
    """Mark the candidates that have a page in common with one of some pairs."""
    of_row, of_column = rivalry.pages(np.flatnonzero(pairs))
    return of_row[rivalry.rows] | of_column[rivalry.columns]
