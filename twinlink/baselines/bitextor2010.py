"""Bitextor of 2010: surface filters, fingerprints, the best candidate of each page (Esplà-Gomis & Forcada 2010).

Its URL rule is `twinlink.baselines.url_rule`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.baselines.filters import (
    MEASURED_TO,
    SideShapes,
    checked_pairs,
    languages_fit,
    relative_difference,
    with_limit,
)
from twinlink.baselines.tag_distance import (
    ROUNDING,
    fingerprint_differences,
    fingerprint_distances,
    fit_text_tolerance,
)
from twinlink.config.baselines import BitextorSettings
from twinlink.similarity.filter_verdicts import FilterVerdicts, all_kept, with_filter
from twinlink.similarity.nearest import best_candidates, lowest_others
from twinlink.sparse import entries

FALLBACK_TOLERANCE = 0.5
"""t_b where no candidates have equal tags. It is 0.41 to 0.78 on five tuning sites."""


def surface_verdicts(
    a: SideShapes,
    b: SideShapes,
    pattern: csr_array,
    wanted: Sequence[str] = (),
    settings: BitextorSettings | None = None,
) -> FilterVerdicts:
    """Apply Bitextor's surface filters: language, file size, text length (section 3.1).

    Parameters
    ----------
    a, b : SideShapes
        Texts in characters.
    pattern : csr_array, shape (pages of a, pages of b)
        Candidate pairs: its stored entries; those of the URL rule, if it is used.
    wanted : sequence of str
        Wanted languages.
    settings : BitextorSettings, optional

    Returns
    -------
    FilterVerdicts
        Filters ``language``, ``size``, ``text-length``; all scores NaN.

    Raises
    ------
    ShapeError
        If ``pattern`` does not fit the pages.
    """
    settings = settings or BitextorSettings()
    rows, columns = checked_pairs(a, b, pattern)
    lengths_a, lengths_b = a.text_lengths(), b.text_lengths()
    size = relative_difference(a.size[rows], b.size[columns])
    length = relative_difference(lengths_a[rows], lengths_b[columns])
    verdicts = with_filter(all_kept(pattern), "language", languages_fit(a.languages, b.languages, pattern, wanted))
    verdicts = with_limit(verdicts, "size", size, settings.size_difference)
    return with_limit(verdicts, "text-length", length, settings.text_difference)


def text_tolerance(
    a: SideShapes, b: SideShapes, verdicts: FilterVerdicts, settings: BitextorSettings | None = None
) -> float:
    """Return t_b for the two languages: the setting, or what `fit_text_tolerance` finds on the pairs that are left.

    Parameters
    ----------
    a, b : SideShapes
        Texts in characters, pages `without_heading`.
    verdicts : FilterVerdicts
        Of `surface_verdicts`.
    settings : BitextorSettings, optional

    Returns
    -------
    float in [0, 1]
        `FALLBACK_TOLERANCE` where no two candidates have equal tags.
    """
    settings = settings or BitextorSettings()
    if settings.text_tolerance is not None:
        return settings.text_tolerance
    found = fit_text_tolerance(a.tokens, b.tokens, verdicts.kept(), settings.tolerance_share)
    return FALLBACK_TOLERANCE if found is None else found


def _most_differences(a: SideShapes, b: SideShapes, kept: csr_array, settings: BitextorSettings) -> NDArray[np.float64]:
    """Return the maximum number of differences of each pair."""
    rows, columns = entries(kept)
    lengths_a, lengths_b = (np.array([len(page) for page in side.tokens], np.float64) for side in (a, b))
    longer = np.maximum(lengths_a[rows], lengths_b[columns])
    return np.maximum(settings.max_differences, settings.max_difference_share * longer)


def fingerprint_verdicts(
    a: SideShapes, b: SideShapes, verdicts: FilterVerdicts, tolerance: float, settings: BitextorSettings | None = None
) -> FilterVerdicts:
    """Reject pairs with more than N differences, rank the rest by distance, keep the best candidates (section 4.2).

    Parameters
    ----------
    a, b : SideShapes
        Texts in characters, pages `without_heading`.
    verdicts : FilterVerdicts
        Verdicts of the earlier filters.
    tolerance : float in [0, 1]
        `text_tolerance`.
    settings : BitextorSettings, optional

    Returns
    -------
    FilterVerdicts
        Filters ``differences`` and ``best``; scores ``1/(1 + distance)``, which order as the paper's distance does, NaN
        for what has too many differences.

    Raises
    ------
    ShapeError
        If the verdicts' pattern does not fit the pages.
    """
    settings = settings or BitextorSettings()
    checked_pairs(a, b, verdicts.pattern)
    verdicts = _with_differences(a, b, verdicts, tolerance, settings)
    kept = np.flatnonzero(verdicts.failed < 0)
    distances = fingerprint_distances(a.tokens, b.tokens, verdicts.kept())
    scores, values, bounds = np.full((3, verdicts.pattern.nnz), np.nan)
    scores[kept] = 1 / (1 + distances.data)
    values[kept], bounds[kept] = distances.data, lowest_others(distances, settings.best_of)
    best = np.zeros(verdicts.pattern.nnz, np.bool_)
    best[kept] = best_candidates(distances, settings.best_of)
    return with_filter(verdicts, "best", best, scores, values=values, bounds=bounds, relation="<=")


def _with_differences(
    a: SideShapes, b: SideShapes, verdicts: FilterVerdicts, tolerance: float, settings: BitextorSettings
) -> FilterVerdicts:
    """Apply the filter by the number of differences."""
    left = np.flatnonzero(verdicts.failed < 0)
    values, bounds = np.full((2, verdicts.pattern.nnz), np.nan)
    bounds[left] = _most_differences(a, b, verdicts.kept(), settings)
    limits = MEASURED_TO * bounds[left]
    values[left] = fingerprint_differences(a.tokens, b.tokens, verdicts.kept(), tolerance, limits).data
    near = values <= bounds + ROUNDING
    values[np.isinf(values)] = np.nan
    return with_filter(verdicts, "differences", near, values=values, bounds=bounds, relation="<=")
