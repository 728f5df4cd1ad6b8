"""Alignment of two pages by their tags and texts, as in TagAligner.

Both pages are sequences of tags and text blocks. The alignment is the cheapest edit script between them, with costs as
in Esplà-Gomis & Forcada (2010), section 5: for a tag t of category k and text blocks of length b

    C_i(t) = C_d(t) = W_g(k)        C_s(t1, t2) = 0 if t1 = t2 else W_s(k1, k2)
    C_i(b) = C_d(b) = W_b·b         C_s(b1, b2) = W_t·|b1 - b2|        C_s(t, b) = ∞

Their published weights were not found; `TagWeights` has weights fitted on data. Lengths are in characters, and are
first scaled to the same total, because Chinese needs a third of the characters of English.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.align.bands import Band, around, full_band
from twinlink.align.tag_aligner_kernels import partners
from twinlink.config.align import TagAlignerSettings
from twinlink.errors import ShapeError

__all__ = ["CATEGORIES", "MAX_CELLS", "Outline", "align_blocks", "category_of"]

CATEGORIES: dict[str, frozenset[str]] = {
    "section": frozenset(
        "div article section nav aside main header footer address form fieldset details dialog search body head html"
        " frameset noframes".split()
    ),
    "heading": frozenset("h1 h2 h3 h4 h5 h6 hgroup title legend summary".split()),
    "paragraph": frozenset("p pre blockquote hr center listing plaintext xmp figure figcaption multicol".split()),
    "list": frozenset("ol ul menu li dl dt dd dir".split()),
    "table": frozenset("table caption colgroup col tbody thead tfoot tr td th".split()),
}
"""Tags of each category, in the order of `TagWeights`; all others are of the category ``line``."""

MAX_CELLS = 16_000_000
"""Maximum number of cells for two pages (16 MB); of longer ones, only those near the diagonal are used."""

Ints = NDArray[np.int64]


class Outline(NamedTuple):
    """A page as tags and text blocks, in document order."""

    kinds: Ints
    """Code of each tag, 0 or more; -1 for a text block."""
    sizes: Ints
    """Characters of each text block, 0 for a tag."""


def category_of(tag: str) -> int:
    """Return the number of a tag's category.

    >>> category_of("h2"), category_of("td"), category_of("img")
    (1, 4, 5)
    """
    return next((number for number, tags in enumerate(CATEGORIES.values()) if tag in tags), len(CATEGORIES))


def align_blocks(a: Outline, b: Outline, categories: Ints, settings: TagAlignerSettings | None = None) -> Ints:
    """Align two pages, and return the pairs of corresponding text blocks.

    Parameters
    ----------
    a, b : Outline
    categories : int64
        Category of each tag code, see `category_of`.
    settings : TagAlignerSettings, optional

    Returns
    -------
    int64, shape (pairs, 2)
        Numbers of the blocks, counted from 0 on each page; both columns rise.

    Raises
    ------
    ShapeError
        If a tag has no category.

    Examples
    --------
    >>> h1, p, table = 0, 1, 2
    >>> categories = np.array([category_of(tag) for tag in ("h1", "p", "table")])
    >>> a = Outline(np.array([h1, -1, p, -1, p, -1]), np.array([0, 9, 0, 80, 0, 30]))
    >>> b = Outline(np.array([h1, -1, table, -1, p, -1]), np.array([0, 11, 0, 200, 0, 31]))
    >>> align_blocks(a, b, categories)[[0, -1]].tolist()
    [[0, 0], [2, 2]]
    """
    settings = settings or TagAlignerSettings()
    kinds = np.concatenate([a.kinds, b.kinds])
    if len(kinds) and kinds.max() >= len(categories):
        raise ShapeError(f"tag aligner: there are categories for {len(categories)} tags, got tag {kinds.max()}")
    sizes_a, sizes_b = _on_one_scale(a.sizes, b.sizes)
    gap = _values(settings)
    found = partners(
        a.kinds,
        sizes_a,
        _gaps(a.kinds, sizes_a, gap, categories, settings),
        b.kinds,
        sizes_b,
        _gaps(b.kinds, sizes_b, gap, categories, settings),
        _swaps(settings),
        categories,
        settings.text_difference,
        *_band(len(a.kinds), len(b.kinds)),
    )[1]
    number_a, number_b = (np.cumsum(side.kinds < 0) - 1 for side in (a, b))
    at = np.flatnonzero((a.kinds < 0) & (found >= 0))
    return np.stack([number_a[at], number_b[found[at]]], axis=1).astype(np.int64).reshape(-1, 2)


def _on_one_scale(sizes_a: Ints, sizes_b: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lengths as if both pages had the same total, the geometric mean of theirs."""
    total_a, total_b = max(int(sizes_a.sum()), 1), max(int(sizes_b.sum()), 1)
    mean = np.sqrt(total_a * total_b)
    return sizes_a * (mean / total_a), sizes_b * (mean / total_b)


def _values(settings: TagAlignerSettings) -> NDArray[np.float64]:
    gap = settings.gap
    return np.array([gap.section, gap.heading, gap.paragraph, gap.list, gap.table, gap.line])


def _gaps(
    kinds: Ints, sizes: NDArray[np.float64], gap: NDArray[np.float64], categories: Ints, settings: TagAlignerSettings
) -> NDArray[np.float64]:
    """Cost of each token without partner."""
    return np.where(kinds < 0, settings.text_gap * sizes, gap[categories[np.maximum(kinds, 0)]])


def _swaps(settings: TagAlignerSettings) -> NDArray[np.float64]:
    """Cost of two different tags, by their categories."""
    size = len(CATEGORIES) + 1
    swaps = np.full((size, size), settings.swap_across)
    np.fill_diagonal(swaps, settings.swap_within)
    return swaps


def _band(n: int, m: int) -> Band:
    if (n + 1) * (m + 1) <= MAX_CELLS:
        return full_band(n, m)
    return around(np.array([0, n]), np.array([0, m]), n, m, max(1, MAX_CELLS // (4 * (n + m))))
