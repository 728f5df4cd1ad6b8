"""Page pairs that URL patterns join, each with the credibility of its pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from twinlink.config.patterns import PatternSettings
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.learning import SitePatterns, learn_patterns, pattern_evidence
from twinlink.patterns.library import read_libraries
from twinlink.sparse import pattern_from

__all__ = ["credible_pairs", "pairs_of_patterns"]


def pairs_of_patterns(
    urls_a: Sequence[str], urls_b: Sequence[str], langs: tuple[str, str], settings: PatternSettings
) -> tuple[sp.csr_array, sp.csr_array]:
    """Learn the URL patterns between the pages of two languages, and return the pairs that they join.

    Parameters
    ----------
    urls_a, urls_b : sequence of str
        Addresses of the pages of either language.
    langs : (str, str)
        The two languages.
    settings : PatternSettings
        With the libraries to use.

    Returns
    -------
    pattern : csr_array of bool, shape (len(urls_a), len(urls_b))
        All pairs that a pattern joins, weak patterns included.
    credibility : csr_array of float32, of the same pattern
        The larger of local credibility and mean credibility on other sites, in [0, 1]; 0 for a weak pattern.
    """
    urls = [*urls_a, *urls_b]
    prior = credible_keys(read_libraries(settings.libraries), settings)
    found = learn_patterns(urls, [langs[0]] * len(urls_a) + [langs[1]] * len(urls_b), settings, prior)
    pattern = _joined(found, len(urls_a), len(urls_b))
    return pattern, pattern_evidence(urls_a, urls_b, pattern, found, urls, prior)


def credible_pairs(
    urls_a: Sequence[str], urls_b: Sequence[str], langs: tuple[str, str], settings: PatternSettings
) -> sp.csr_array:
    """Return the pairs that credible URL patterns join, with their credibility: float32, sorted, values in (0, 1]."""
    credibility = pairs_of_patterns(urls_a, urls_b, langs, settings)[1]
    credibility.eliminate_zeros()
    return credibility


def _joined(found: SitePatterns, n_a: int, n_b: int) -> sp.csr_array:
    """Return all pairs of patterns, weak ones included, as candidates."""
    rows, columns = np.minimum(found.sources, found.targets), np.maximum(found.sources, found.targets) - n_a
    return pattern_from(rows, columns, (n_a, n_b))
