"""Credibility of URL patterns, local and global, and of sites (Zhang, Yao & Kit, section 2.1).

::

    C(p,w) = N(p,w)/|w|            local credibility of pattern p on site w
    C(p)   = Σ_w C(p,w)·N(p,w)     global credibility
    C(w)   = max_p C(p,w)          bilingual credibility of a site

N(p,w) counts pages matched into pairs, two per pair; |w| is the number of the site's pages. A pattern with a local
credibility below 0.1 is weak, and is rescued where it is credible elsewhere.
"""

from __future__ import annotations

from twinlink.config.patterns import PatternSettings
from twinlink.patterns.keys import Key
from twinlink.patterns.library import KeySums, PatternLibrary

__all__ = ["credible_keys", "is_rescued", "mean_credibility"]


def is_rescued(sums: KeySums, settings: PatternSettings | None = None) -> bool:
    """Return whether the statistics of a key over all sites rescue it where it is weak.

    ``sum``, the paper's (and with ``printed``): C(p) above ``min_sum``, 500 for its 12,800 sites. ``mean``:
    C(p)/ΣN(p,w), the local credibility averaged over the pages that the key paired, at least ``min_mean``, and credible
    on ``min_sites`` sites. The mean does not change if every site is duplicated.

    Examples
    --------
    >>> is_rescued(KeySums(n_sites=40, n_credible=30, n_pages=900, parts=400 * 2**40))
    True
    >>> is_rescued(KeySums(40, 30, 900, 400 * 2**40), PatternSettings(rescue="sum"))
    False
    """
    settings = (settings or PatternSettings()).in_use()
    if settings.rescue == "sum":
        return sums.credibility > settings.min_sum
    return settings.rescue == "mean" and sums.n_credible >= settings.min_sites and sums.mean >= settings.min_mean


def credible_keys(library: PatternLibrary, settings: PatternSettings | None = None) -> dict[Key, float]:
    """Return the keys that are rescued where they are weak, and the mean credibility of each."""
    return {key: sums.mean for key, sums in library.rows() if is_rescued(sums, settings)}


def mean_credibility(library: PatternLibrary) -> dict[Key, float]:
    """Return C(p)/ΣN(p,w) of every key."""
    return {key: sums.mean for key, sums in library.rows()}
