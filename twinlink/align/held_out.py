"""What words say about beads that did not teach them, and what they say about beads that are wrong.

A model that was learned from a bead speaks for it, right or wrong: in a list that each language sorts by its own
alphabet the items side by side are no translations, and yet their rare words have only ever been seen together. So each
bead is scored by what all others have taught (leave-one-out), and what that is worth is told by beads that are wrong
for sure: those of the same two pages aligned once more, every sentence's partner withheld.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.align.held_out_kernels import held_out
from twinlink.align.learning import teaching
from twinlink.align.page_pair import Aligned, PagePair
from twinlink.align.words.model import DISCOUNT, MOST_PAIRS, SHARE, Links

__all__ = ["held_out_scores"]


def held_out_scores(
    pair: PagePair, aligned: Aligned, links: tuple[Links, Links], *, taught: bool = True
) -> NDArray[np.float64]:
    """Return `Aligned.per_word` of each bead without what the bead itself has taught.

    Parameters
    ----------
    pair, aligned, links
        As of `twinlink.align.page_pair.align_pair`.
    taught : bool
        Whether the model has learned from this alignment; if not, nothing is taken off.

    Returns
    -------
    float64, shape (beads,)
        0 without partner; below 0 the words speak against each other.
    """
    a, b = pair.a, pair.b
    weights = aligned.posteriors * (teaching(pair, aligned) & taught)
    scores = held_out(aligned.beads, weights, a.words, a.ends, b.words, b.ends, *links, SHARE, DISCOUNT, MOST_PAIRS)
    return np.asarray(scores, np.float64)
