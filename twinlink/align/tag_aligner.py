"""Alignment of two pages by their tags and texts, as in TagAligner.

Both pages are sequences of tags and text blocks. The alignment is the cheapest edit script between them, with costs as
in Esplà-Gomis & Forcada (2010), section 5, equations 6 to 9: for a tag t of category k and text blocks of length b

    C_i(t) = W_i(k)      C_d(t) = W_d(k)      C_s(t1, t2) = 0 if t1 = t2 else W_s(k1, k2)
    C_i(b) = W_i·b       C_d(b) = W_d·b       C_s(b1, b2) = W_s·|b1 - b2|        C_s(t, b) = ∞

Insertions are tokens of the second page. Where the paper is silent:

- The weights are in another paper, whose text was not found. `TagWeights` has weights fitted on data, the same for
  insertions and deletions; `TagAlignerSettings.swaps` has W_s of single pairs of categories.
- The categories are left to the user; ours are `CATEGORIES`.
- Lengths are first scaled to the same total (`TagAlignerSettings.scaled`), because Chinese needs a third of the
  characters of English.
- Only start tags count: an end tag says nothing that its start tag does not.
- Of several cheapest scripts, the one that takes two tokens together at the end of the pages counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.align.bands import Band, around, full_band
from twinlink.align.kernels import row_starts
from twinlink.compiled import compiled
from twinlink.config.align import TagAlignerSettings, TagWeights
from twinlink.errors import ShapeError

__all__ = ["CATEGORIES", "MAX_CELLS", "Outline", "align_blocks", "category_of", "partners", "swap_costs"]

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

_CATEGORY_NAMES = (*CATEGORIES, "line")

MAX_CELLS = 16_000_000
"""Maximum number of cells for two pages (16 MB); of longer ones, only those near the diagonal are used."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BOTH, FIRST, SECOND = 0, 1, 2


class Outline(NamedTuple):
    """A page as tags and text blocks, in document order."""

    kinds: Ints
    """Code of each tag, 0 or more; -1 for a text block."""
    sizes: Ints
    """Length of each text block, 0 for a tag."""


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
    ConfigError
        If a weight of two categories cannot be read.

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
    sizes_a, sizes_b = a.sizes.astype(np.float64), b.sizes.astype(np.float64)
    if settings.scaled:
        sizes_a, sizes_b = _on_one_scale(a.sizes, b.sizes)
    found = partners(
        a.kinds,
        sizes_a,
        _gaps(a.kinds, settings.text_deletion * sizes_a, settings.deletion, categories),
        b.kinds,
        sizes_b,
        _gaps(b.kinds, settings.text_insertion * sizes_b, settings.insertion, categories),
        swap_costs(settings),
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


def _gaps(kinds: Ints, texts: NDArray[np.float64], weights: TagWeights, categories: Ints) -> NDArray[np.float64]:
    """Cost of each token without partner; ``texts`` is that of the text blocks."""
    gap = np.array([getattr(weights, name) for name in _CATEGORY_NAMES])
    return np.where(kinds < 0, texts, gap[categories[np.maximum(kinds, 0)]])


def swap_costs(settings: TagAlignerSettings) -> NDArray[np.float64]:
    """Return W_s: the cost of two different tags, by their categories.

    >>> swap_costs(TagAlignerSettings(swap_across=3, swaps=("heading-paragraph=0.5",)))[1].tolist()
    [3.0, 2.0, 0.5, 3.0, 3.0, 3.0]
    """
    swaps = np.full((len(_CATEGORY_NAMES),) * 2, float(settings.swap_across))
    np.fill_diagonal(swaps, settings.swap_within)
    for one, other, weight in settings.swap_weights():
        x, y = _CATEGORY_NAMES.index(one), _CATEGORY_NAMES.index(other)
        swaps[x, y] = swaps[y, x] = weight
    return swaps


def _band(n: int, m: int) -> Band:
    if (n + 1) * (m + 1) <= MAX_CELLS:
        return full_band(n, m)
    return around(np.array([0, n]), np.array([0, m]), n, m, max(1, MAX_CELLS // (4 * (n + m))))


@compiled
def partners(  # noqa: C901  (one loop over the cells, one back)
    kinds_a: Ints,
    sizes_a: Floats,
    gaps_a: Floats,
    kinds_b: Ints,
    sizes_b: Floats,
    gaps_b: Floats,
    swaps: Floats,
    categories: Ints,
    text_weight: float,
    low: Ints,
    high: Ints,
) -> tuple[float, Ints]:
    """Cost of the cheapest alignment of two token sequences, and the partner in b of each token of a, -1: none.

    ``kinds`` is the code of a tag, or -1 for a text, whose length stands in ``sizes``; ``gaps`` is what a token costs
    without partner. Two equal tags cost 0, two others ``swaps`` of their ``categories``, two texts ``text_weight``
    times the difference of their lengths; a tag and a text are never partners. Of equal ways the one that takes two
    tokens together, at the end of the pages, goes first, then the one that leaves out a token of a. Rows of the band
    have the cells ``low[i] <= j < high[i]``.
    """
    n = len(kinds_a)
    start = row_starts(low, high)
    moves = np.zeros(start[-1], np.uint8)
    width = np.max(high - low)
    above, here = np.full(width, np.inf), np.full(width, np.inf)
    for i in range(n + 1):
        above, here = here, above
        for j in range(low[i], high[i]):
            best, move = np.inf, BOTH
            if i == 0 and j == 0:
                best = 0.0
            if i > 0 and j > 0 and low[i - 1] <= j - 1 < high[i - 1]:
                x, y = kinds_a[i - 1], kinds_b[j - 1]
                cost = np.inf
                if x == y:
                    cost = text_weight * abs(sizes_a[i - 1] - sizes_b[j - 1]) if x < 0 else 0.0
                elif x >= 0 and y >= 0:
                    cost = swaps[categories[x], categories[y]]
                best = above[j - 1 - low[i - 1]] + cost
            if i > 0 and low[i - 1] <= j < high[i - 1] and above[j - low[i - 1]] + gaps_a[i - 1] < best:
                best, move = above[j - low[i - 1]] + gaps_a[i - 1], FIRST
            if j > low[i] and here[j - 1 - low[i]] + gaps_b[j - 1] < best:
                best, move = here[j - 1 - low[i]] + gaps_b[j - 1], SECOND
            here[j - low[i]] = best
            moves[start[i] + j - low[i]] = move
    total = here[high[n] - 1 - low[n]]
    found = np.full(n, -1, np.int64)
    i, j = n, high[n] - 1
    while i > 0 or j > 0:
        move = moves[start[i] + j - low[i]]
        if move == BOTH:
            found[i - 1] = j - 1
        i -= move != SECOND
        j -= move != FIRST
    return total, found
