"""Credibility of URL patterns, of the page pairs that they join, and of sites (Zhang, Yao & Kit, section 2.1).

::

    C(p,w) = N(p,w)/|w|            local credibility of pattern p on site w
    C(p)   = Σ_w C(p,w)·N(p,w)     global credibility
    C(w)   = max_p C(p,w)          bilingual credibility of a site

N(p,w) counts pages matched into pairs, two per pair; |w| is the number of the site's pages. A pattern with a local
credibility below 0.1 is weak, and is rescued where it is credible elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from twinlink.config.patterns import PatternSettings
from twinlink.patterns.changes import changes
from twinlink.patterns.keys import Key, as_list
from twinlink.patterns.learning import Pattern, SitePatterns, learn_patterns, pattern_evidence
from twinlink.patterns.library import KeySums, PatternLibrary, read_libraries
from twinlink.sparse import pattern_from


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


def pairs_of_patterns(
    urls_a: Sequence[str] | pa.Array,
    urls_b: Sequence[str] | pa.Array,
    langs: tuple[str, str],
    settings: PatternSettings | None = None,
) -> tuple[sp.csr_array, sp.csr_array]:
    """Learn the URL patterns between the pages of two languages, and return the pairs that they join.

    Parameters
    ----------
    urls_a, urls_b : sequence of str, or pa.Array of strings
        Addresses of the pages of either language.
    langs : (str, str)
        The two languages.
    settings : PatternSettings, optional
        With the libraries to use.

    Returns
    -------
    pattern : csr_array of bool, shape (len(urls_a), len(urls_b))
        All pairs that a pattern joins, weak patterns included.
    credibility : csr_array of float32, of the same pattern
        The larger of local credibility and mean credibility on other sites, in [0, 1]; 0 for a weak pattern.
    """
    urls_a, urls_b = as_list(urls_a), as_list(urls_b)
    found, evidence = _learned(urls_a, urls_b, langs, settings or PatternSettings())
    return _joined(found, len(urls_a), len(urls_b)), evidence


class UrlClues(NamedTuple):
    """What the credible URL patterns of a site say of the pages of two languages."""

    pairs: sp.csr_array
    """The pairs that they join, with their credibility: float32, sorted, values in (0, 1]."""
    missing_a: npt.NDArray[np.bool_]
    """Pages of the first language in no such pair whose address some pattern changes: its partner, by this pattern,
    would have an address that the other language does not have."""
    missing_b: npt.NDArray[np.bool_]


def url_clues(
    urls_a: Sequence[str] | pa.Array,
    urls_b: Sequence[str] | pa.Array,
    langs: tuple[str, str],
    settings: PatternSettings | None = None,
) -> UrlClues:
    """Return the pairs that credible URL patterns join, and the pages whose partner they miss.

    Examples
    --------
    >>> names = ("home", "news", "jobs")
    >>> english, chinese = ([f"http://x.hk/{lang}/{name}.htm" for name in names] for lang in ("en", "tc"))
    >>> english += ["http://x.hk/en/map.htm", "http://x.hk/7"]
    >>> clues = url_clues(english, chinese, ("en", "zh"))
    >>> clues.pairs.nnz, clues.missing_a.tolist(), clues.missing_b.tolist()
    (3, [False, False, False, True, False], [False, False, False])
    """
    urls_a, urls_b = as_list(urls_a), as_list(urls_b)
    found, evidence = _learned(urls_a, urls_b, langs, settings or PatternSettings())
    evidence.eliminate_zeros()
    used = [each for each in found.patterns if each.verdict != "weak"]
    in_pair = np.diff(evidence.indptr) > 0, np.bincount(evidence.indices, minlength=len(urls_b)) > 0
    missing = (
        np.array(
            [
                not paired and _is_changed(url, lang, found.host, used)
                for url, paired in zip(urls, of_side, strict=True)
            ],
            bool,
        )
        for urls, lang, of_side in zip((urls_a, urls_b), langs, in_pair, strict=True)
    )
    return UrlClues(evidence, *missing)


def _is_changed(url: str, lang: str, host: str, patterns: Sequence[Pattern]) -> bool:
    """Return whether a pattern gives an address in the other language for a page of language ``lang``.

    ``host`` is the end of the host that all pages of the site have.
    """
    return any(
        pattern_lang == lang and changes(url, host, each.key, back=back)
        for each in patterns
        for back, pattern_lang in ((False, each.source_lang), (True, each.target_lang))
    )


def _learned(
    urls_a: Sequence[str], urls_b: Sequence[str], langs: tuple[str, str], settings: PatternSettings
) -> tuple[SitePatterns, sp.csr_array]:
    """Return the patterns, and the credibility of all pairs that they join, 0 for weak patterns."""
    urls = [*urls_a, *urls_b]
    prior = credible_keys(read_libraries(settings.libraries), settings)
    found = learn_patterns(urls, [langs[0]] * len(urls_a) + [langs[1]] * len(urls_b), settings, prior)
    pattern = _joined(found, len(urls_a), len(urls_b))
    return found, pattern_evidence(urls_a, urls_b, pattern, found, urls, prior)


def _joined(found: SitePatterns, n_a: int, n_b: int) -> sp.csr_array:
    """Return all pairs of patterns, weak ones included, as candidates."""
    rows, columns = np.minimum(found.sources, found.targets), np.maximum(found.sources, found.targets) - n_a
    return pattern_from(rows, columns, (n_a, n_b))
