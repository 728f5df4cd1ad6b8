"""WebMining's filters: candidate pairs similar in size, language and structure (Tomás et al., section 2.2).

Each pair goes through the filters in the paper's order and is counted under the first one that it fails. The content
filter (section 2.3) is not here.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.baselines.distance_line import DistanceLine, fit_line, shifted_partners
from twinlink.baselines.tag_distance import ROUNDING, table_cells, tag_distances
from twinlink.config.baselines import WebminingSettings
from twinlink.errors import ShapeError
from twinlink.languages import UNDETERMINED, includes_language
from twinlink.similarity.filter_verdicts import FilterVerdicts, all_kept, with_filter
from twinlink.similarity.nearest import best_candidates
from twinlink.sparse import entries, select, with_values

__all__ = [
    "FIT_CELLS",
    "MEASURED_TO",
    "SideShapes",
    "checked_pairs",
    "fit_line_unlabelled",
    "languages_fit",
    "relative_difference",
    "size_verdicts",
    "structure_verdicts",
    "with_limit",
]

FIT_CELLS = 5 * 10**8
"""Cells of all tables at most that the line is fitted on without labels: some five seconds."""

MEASURED_TO = 2
"""Distances are measured up to this multiple of their bound, to be reported with pairs that fail; the time for a pair
grows with it."""

Tokens = NDArray[np.int32]
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]
Passed = NDArray[np.bool_]


class SideShapes(msgspec.Struct, frozen=True, eq=False):
    """Pages of one language, or any other list of pages that is compared with another: one value per page."""

    tokens: Sequence[Tokens]
    """Linearised pages: a negative number for each tag, the length of each text, in words or characters."""
    size: Numbers
    """Sizes of the files in bytes."""
    languages: Sequence[str]
    """BCP 47 tags; ``und`` or empty where the language is not known."""

    def tags(self) -> Numbers:
        """Return the number of tags of each page, start and end tags."""
        return np.array([np.count_nonzero(page < 0) for page in self.tokens], np.int64)

    def texts(self) -> Numbers:
        """Return the number of texts between tags of each page."""
        return np.array([np.count_nonzero(page >= 0) for page in self.tokens], np.int64)

    def text_lengths(self) -> Numbers:
        """Return the length of all texts of each page together, in the unit of the tokens."""
        return np.array([page[page >= 0].sum() for page in self.tokens], np.int64)


def relative_difference(x: ArrayLike, y: ArrayLike) -> Values:
    """Return ``|x − y|/max(x, y)``, 0 where both are 0; the papers say "30 %", not of what.

    Examples
    --------
    >>> relative_difference([70, 0], [100, 0]).round(2).tolist()
    [0.3, 0.0]
    """
    first, second = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return np.abs(first - second) / np.maximum(np.maximum(first, second), 1)


def languages_fit(a: Sequence[str], b: Sequence[str], pattern: csr_array, wanted: Sequence[str] = ()) -> Passed:
    """Return for each stored pair whether its languages are wanted and differ.

    Parameters
    ----------
    a, b : sequence of str
        BCP 47 tag of each page; ``und`` and empty are never wanted.
    pattern : csr_array, shape (len(a), len(b))
    wanted : sequence of str
        Tags; ``zh`` includes ``zh-Hant``, and two pages included in the same one do not differ. Empty: every language
        is wanted, and each tag differs from the others.

    Examples
    --------
    >>> languages_fit(["en", "zh-Hant"], ["zh-Hans"], csr_array([[True], [True]]), ["en", "zh"]).tolist()
    [True, False]
    """
    numbers: dict[str, int] = {}
    of_a, of_b = (np.array([_language(tag, wanted, numbers) for tag in tags], np.int64) for tags in (a, b))
    rows, columns = entries(pattern)
    return np.asarray((of_a[rows] >= 0) & (of_b[columns] >= 0) & (of_a[rows] != of_b[columns]))


def _language(tag: str, wanted: Sequence[str], numbers: dict[str, int]) -> int:
    """Return the number of a page's language, -1 if it is not wanted."""
    if tag in {"", UNDETERMINED}:
        return -1
    if not wanted:
        return numbers.setdefault(tag.lower(), len(numbers))
    return next((k for k, name in enumerate(wanted) if includes_language(name, tag)), -1)


def size_verdicts(
    a: SideShapes,
    b: SideShapes,
    pattern: csr_array,
    wanted: Sequence[str] = (),
    settings: WebminingSettings | None = None,
) -> FilterVerdicts:
    """Apply WebMining's first two filters: sizes, then languages.

    ``size``, ``tags`` and ``paragraphs`` pass where ``|x − y|/max(x, y)`` is at most the threshold; ``language`` as in
    `languages_fit`. The paper does not say what a paragraph is: each text between tags counts as one, for pages laid
    out with tables have no ``p`` elements.

    Parameters
    ----------
    a, b : SideShapes
    pattern : csr_array, shape (pages of a, pages of b)
        Candidate pairs: its stored entries.
    wanted : sequence of str
        Wanted languages.
    settings : WebminingSettings, optional

    Returns
    -------
    FilterVerdicts
        All scores NaN.

    Raises
    ------
    ShapeError
        If ``pattern`` does not fit the pages.
    """
    settings = settings or WebminingSettings()
    rows, columns = checked_pairs(a, b, pattern)

    verdicts = all_kept(pattern)
    for name, x, y, most in (
        ("size", a.size, b.size, settings.size_difference),
        ("tags", a.tags(), b.tags(), settings.tag_difference),
        ("paragraphs", a.texts(), b.texts(), settings.paragraph_difference),
    ):
        verdicts = with_limit(verdicts, name, relative_difference(x[rows], y[columns]), most)
    return with_filter(verdicts, "language", languages_fit(a.languages, b.languages, pattern, wanted))


def with_limit(verdicts: FilterVerdicts, name: str, values: Values, most: float) -> FilterVerdicts:
    """Return the verdicts after a filter that passes values of at most ``most``."""
    return with_filter(verdicts, name, values <= most, values=values, bounds=most, relation="<=")


def checked_pairs(a: SideShapes, b: SideShapes, pattern: csr_array) -> tuple[Numbers, Numbers]:
    """Return row and column of each stored pair; raise `ShapeError` if the pattern does not fit the pages."""
    for side in (a, b):
        if not len(side.tokens) == len(side.size) == len(side.languages):
            lengths = len(side.tokens), len(side.size), len(side.languages)
            raise ShapeError(f"expected tokens, sizes and languages of the same pages, got {lengths}")
    if pattern.shape != (len(a.tokens), len(b.tokens)):
        raise ShapeError(f"pattern {pattern.shape} does not fit {len(a.tokens)} and {len(b.tokens)} pages")
    return entries(pattern)


def structure_verdicts(a: SideShapes, b: SideShapes, verdicts: FilterVerdicts, line: DistanceLine) -> FilterVerdicts:
    """Apply WebMining's third filter: tag distance of the rest, at most ``line`` at the larger page's tags.

    Parameters
    ----------
    a, b : SideShapes
        Texts in words.
    verdicts : FilterVerdicts
        Verdicts of the earlier filters.
    line : DistanceLine
        `fit_line` on examples, `fit_line_unlabelled` without.

    Returns
    -------
    FilterVerdicts
        Filter ``structure``; scores ``1 − distance/line``, 1 where both are 0, and 0 for what it rejects.

    Raises
    ------
    ShapeError
        If the verdicts' pattern does not fit the pages.
    """
    rows, columns = checked_pairs(a, b, verdicts.pattern)
    left = np.flatnonzero(verdicts.failed < 0)
    # 1e-9 lest 0 be divided by 0
    most = line.at(np.maximum(a.tags()[rows], b.tags()[columns])) + 1e-9
    distances = np.full(verdicts.pattern.nnz, np.inf)
    distances[left] = tag_distances(a.tokens, b.tokens, verdicts.kept(), MEASURED_TO * most[left]).data
    scores = np.clip(1 - distances / most, 0, 1)
    values = np.where(np.isfinite(distances), distances, np.nan)
    near = distances <= most + ROUNDING
    return with_filter(verdicts, "structure", near, scores, values=values, bounds=most, relation="<=")


def fit_line_unlabelled(
    a: SideShapes, b: SideShapes, verdicts: FilterVerdicts, settings: WebminingSettings | None = None
) -> DistanceLine:
    """Fit the accepted tag distance on unlabelled pairs.

    Right examples are the pairs of which each page is the other one's nearest, of what the size and language filters
    left. Wrong examples are made of them (`shifted_partners`): the same pages, the same sizes, other partners. The
    line is `fit_line`. On five tuning sites it kept .96 to .99 of the right pairs, the line fitted on all true labels
    .79 to .99.

    Parameters
    ----------
    a, b : SideShapes
        Texts in words.
    verdicts : FilterVerdicts
        Of `size_verdicts`.
    settings : WebminingSettings, optional
        ``fit_pairs``; of long pages fewer pairs are measured, see `FIT_CELLS`.

    Returns
    -------
    DistanceLine
        0 everywhere if nothing was left. With a single right example there is no wrong one.

    Raises
    ------
    ShapeError
        If the verdicts' pattern does not fit the pages.
    """
    settings = settings or WebminingSettings()
    rows, _ = checked_pairs(a, b, verdicts.pattern)
    left = verdicts.failed < 0
    cells = int(table_cells(a.tokens, b.tokens, verdicts.pattern)[left].sum())
    step = max(-(-int(left.sum()) // settings.fit_pairs), -(-cells // FIT_CELLS), 1)
    chosen = left & (rows % step == 0)
    distances = tag_distances(a.tokens, b.tokens, select(with_values(verdicts.pattern, np.ones(len(rows))), chosen))
    best = best_candidates(distances)
    right_rows, right_columns = (pages[best] for pages in entries(distances))
    tags_a, tags_b = a.tags(), b.tags()
    right_tags = np.maximum(tags_a[right_rows], tags_b[right_columns])
    wrong_rows, wrong_columns = shifted_partners(right_rows, right_columns, right_tags)
    wrong = csr_array((np.ones(len(wrong_rows)), (wrong_rows, wrong_columns)), shape=distances.shape)
    wrong_rows, wrong_columns = entries(wrong)
    return fit_line(
        np.concatenate([right_tags, np.maximum(tags_a[wrong_rows], tags_b[wrong_columns])]),
        np.concatenate([distances.data[best], tag_distances(a.tokens, b.tokens, wrong).data]),
        np.repeat([True, False], [len(right_rows), len(wrong_rows)]),
    )
