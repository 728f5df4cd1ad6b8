"""Held-out scores of beads by their words, and scores of beads that are known to be wrong.

A model learned from a bead supports it, right or wrong: in a list that each language sorts by its own alphabet,
aligned items are not translations, but their rare words occur only together. So each bead is scored by a model
learned from all others (leave-one-out), and the scores are calibrated with beads known to be wrong: those of the
same two pages aligned again with every sentence's partner withheld.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.align.held_out_kernels import held_out
from twinlink.align.learning import teaching
from twinlink.align.page_pair import Aligned, PagePair
from twinlink.align.words.model import DISCOUNT, MOST_PAIRS, SHARE, Links


def held_out_scores(
    pair: PagePair, aligned: Aligned, links: tuple[Links, Links], *, taught: bool = True
) -> NDArray[np.float64]:
    """Return `Aligned.per_word` of each bead without the counts of the bead itself.

    Parameters
    ----------
    pair, aligned, links
        As of `twinlink.align.page_pair.align_pair`.
    taught : bool
        Whether the model has learned from this alignment; if not, nothing is subtracted.

    Returns
    -------
    float64, shape (beads,)
        0 without partner; below 0 the words are evidence against each other.
    """
    a, b = pair.a, pair.b
    weights = aligned.posteriors * (teaching(pair, aligned) & taught)
    scores = held_out(aligned.beads, weights, a.words, a.ends, b.words, b.ends, *links, SHARE, DISCOUNT, MOST_PAIRS)
    return np.asarray(scores, np.float64)
