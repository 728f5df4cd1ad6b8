"""Restarts: other first pairs for the rounds of `weighed`, where look-alikes may have been exchanged.

Look-alikes differ in few words. Their translations are learned from the pairs of the first round, and wrong pairs teach
translations that confirm them: so the result depends on where the rounds start. Of several results, the one whose pairs
of look-alikes have most contrast, and of which most pairs are expected to be right, is the best most often: a page is
compared with words learned from other pages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.match.measures import SiteMeasures, State
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import Weighing
from twinlink.sparse import as_rows

__all__ = ["BETTER", "are_enough", "is_risky", "n_restarts", "restarts"]

RISKY = 0.1
"""Share of the look-alikes that would be paired with a sibling of a missing partner, from which the rounds run again.
Trials: up to .08 on six real sites with many look-alikes, .29 on bitcoinorg; .13 to .87 on sites made of look-alikes,
of which those with many wrong pairs have .39 or more."""
MANY_ALIKE = 0.1
"""Share of look-alikes among the pairs from which it is worth the time. Our choice, not tuned."""
STARTS = ((False, 0), *((seed % 2 == 0, seed) for seed in range(1, 9)))
"""Whether the first round uses the order of links, and what its chance is drawn from; 0: without chance. Trials: mean
F1 on 15 sites of look-alikes is .985, with the first five of them .976, without restarts .832."""
N_STARTS = ((10_000, 9), (50_000, 5), (sys.maxsize, 1))
"""Number of restarts for up to so many candidates. Our choice: the rounds take .3 s for 3,000 candidates."""
ENOUGH = 4
"""If so many results have the same objective, but for what `BETTER` allows, no more are tried."""
CHANCE = 2.0
"""The log odds of the candidates change by up to this much in the first matching."""
BETTER = 1.01
"""Factor by which a restart's objective must be larger than that of the first result. Our choice. On the 15 sites, it
is up to 2.7 times as large; on bitcoinorg, where contrast tells little, that of no restart is larger."""


def is_risky(site: SiteMeasures, rivalry: Rivalry, result: Weighing) -> bool:
    """Return whether many pairs are of look-alikes, and their siblings would be as likely.

    A pair is of look-alikes if one of its pages has near-duplicates. Without a further round nothing is learned from
    the first pairs, and another start would lead nowhere.
    """
    if result.mistaken < RISKY or not site.uses("contrast") or not site.settings.weighing.rounds:
        return False
    return bool(site.has_alike(rivalry)[result.pairs].sum() > MANY_ALIKE * len(result.pairs))


def n_restarts(first: State) -> int:
    """Return the number of restarts, by the number of candidates."""
    return next(n for most, n in N_STARTS if first.pattern.nnz <= most)


def restarts(site: SiteMeasures, first: State) -> list[State]:
    """Return other states to start from: without the order of links in the first round, and with pairs by chance."""
    return [
        replace(first, order_first=order_first, chance=_chance(site, first, seed) if seed else None)
        for order_first, seed in STARTS[: n_restarts(first)]
    ]


def are_enough(objectives: Sequence[float]) -> bool:
    """Return whether no more results are needed, because those so far have the same objective."""
    return len(objectives) >= ENOUGH and max(objectives) <= BETTER * min(objectives)


def _chance(site: SiteMeasures, state: State, seed: int) -> npt.NDArray[np.float64]:
    """Return a number between -`CHANCE` and `CHANCE` for each candidate.

    It depends on the words of the pages, and not on the order of the pages or of the sides.
    """
    rivalry = Rivalry(state.pattern)
    keys_a, keys_b = (_keys(terms.counts, seed) for terms in (site.words.a, site.words.b))
    mixed = keys_a[rivalry.rows] + keys_b[rivalry.columns]  # the sum of two random numbers modulo 2**64 is one, too
    return CHANCE * (mixed / 2.0**63 - 1)


def _keys(counts: sp.csr_array, seed: int) -> npt.NDArray[np.uint64]:
    """Return a random number for the words of each page."""
    salt, counts = seed.to_bytes(8, "little"), as_rows(counts, "counts")
    words = (slice(*between) for between in pairwise(counts.indptr))
    terms, data = counts.indices.astype(np.int32), counts.data
    texts = (terms[each].tobytes() + data[each].tobytes() for each in words)
    digests = b"".join(blake2b(text, digest_size=8, salt=salt).digest() for text in texts)
    return np.frombuffer(digests, "<u8").astype(np.uint64)
