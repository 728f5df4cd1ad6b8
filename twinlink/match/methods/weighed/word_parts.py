"""Parts of the pages that learn words from each other, where halves are too small: the rounds of `weighed` start again.

Words that a page's own pair taught would support it even if it is wrong, so each half of the pages is measured with
words that the other half taught. On a small site with short pages, half of the pairs teach too little: few pairs
become sure, and these teach little again. In eight parts, each is measured with what seven eighths of the pairs
teach. A wrong pair may have a twin (the versions for printing of the same two pages), so near-duplicates are in the
same part.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from twinlink.match.measures import SiteMeasures
from twinlink.similarity.contrast import groups_of
from twinlink.similarity.weighing import Weighing, are_mostly_sure

__all__ = ["MORE_PARTS", "MORE_RIGHT", "is_unsure", "parts_of"]

MORE_PARTS = (8, 16, 12, 8, 16, 12, 8, 16, 12)
"""Number of parts of each start, one after the other: the first one from the first state, the others from the consensus
of the results so far (`twinlink.match.methods.weighed.consensus`), or from the first state, too, where they do not
agree. Which number finds most depends on chance. Trials on 65 made sites, of which few pairs are sure on 34: mean F1
.690 in halves alone, .762 with the first three from the first state. On 29 others (help of GNOME under one template,
half of the pairs without a page): .850 with these three, .919 with all nine."""
MORE_RIGHT = 1.25
"""Factor by which the expected number of right pairs must be larger than in halves. Trials on the 29 made sites whose
result changes with 1.01: mean F1 .699 without restarts, .796, .787 and .761 with 1.01, 1.25 and 1.5. On 14 made after
this choice, of which two change: .848 without, .859 with 1.25, and P .949 and .941. On five real sites of which half
of the pages, nearly all or all have no partner, more wrong pairs are found: 172 in the 15 lists with 1.25, 164 with
1.5, 150 without; mean F1 of those with pairs is .787, .792 and .788."""
LEAST_PAIRS = 20
"""Number of pairs from which a site starts again. Of five pairs or fewer, none is ever sure; of some more, what a part
leaves out teaches little. Our choice, not tuned."""
FEW_WORDS = 150_000
"""Number of different words on each page, summed over all pages, up to which a site starts again. A site of 475 short
pages in each language has 110,000, one of 213 and 228 long ones 169,000. More teach enough in halves, and take longer.
Our choice."""


def is_unsure(site: SiteMeasures, result: Weighing) -> bool:
    """Return whether few pairs of a small site are sure, so that words from more of them may find others.

    Without a further round, or where words are not learned, no pair teaches any.
    """
    if not site.uses("learned") or not site.settings.weighing.rounds or len(result.pairs) < LEAST_PAIRS:
        return False
    return site.words.a.counts.nnz + site.words.b.counts.nnz <= FEW_WORDS and not are_mostly_sure(result.presence)


def parts_of(alike: sp.csr_array, n_parts: int) -> NDArray[np.int64]:
    """Return the part of each page: near-duplicates are in the same one, unless they are more than a part has pages.

    Parameters
    ----------
    alike : csr_array, shape (n_pages, n_pages)
        Which pages are near-duplicates.
    n_parts : int

    Returns
    -------
    ndarray of int64, shape (n_pages,), values from 0 to n_parts - 1

    Examples
    --------
    Pages 1 and 4 are near-duplicates:

    >>> alike = np.zeros((6, 6), bool)
    >>> alike[1, 4] = alike[4, 1] = True
    >>> parts_of(sp.csr_array(alike), 2).tolist()
    [0, 0, 1, 0, 0, 1]
    """
    groups, n_pages = groups_of(alike), alike.shape[0]
    alone, together = np.flatnonzero(groups == 0), np.flatnonzero(groups)
    together = together[np.argsort(groups[together], kind="stable")]
    _, first, group, sizes = np.unique(groups[together], return_index=True, return_inverse=True, return_counts=True)
    place = np.where(sizes[group] * n_parts <= n_pages, first[group], np.arange(len(together)))
    parts = np.zeros(n_pages, np.int64)
    parts[alone] = np.arange(len(alone)) % n_parts
    parts[together] = place * n_parts // max(1, len(together))
    return parts
