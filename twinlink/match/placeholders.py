"""Placeholders: pages that only say that there is no translation yet (``This page is not available in English``).

A site may have one for each page that is not translated. Its address, its links and the links to it are those of
a translation, so the pairs of placeholders would be sure, and right pairs would be compared with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from twinlink.match.sides import Group
from twinlink.text.page_texts import PageTexts

__all__ = ["Placeholders", "find_placeholders", "placeholders_of", "without_placeholders"]

LEAST_PAGES, LEAST_SHARE = 5, 0.05
"""Pages of a language that have a text, and their share, for it to be one of a placeholder. Our choice, not tuned."""
OWN = 200
"""Number of characters that most placeholders have at most in texts that few pages have: heading, names of links."""
SMALL = 0.25
"""Maximum length of a placeholder, as a share of the median of the other pages of its language; without the texts of
nearly all pages, such as menus."""
SENTENCE = 20
"""Minimum number of characters of the text that placeholders share."""
NEARLY_ALL, HALF = 0.9, 0.5
"""Minimum share of placeholders among the pages with this text, and maximum share among the others."""
MORE = 2
"""Factor by which a language must have more of them than another one has pages of this size: where both have small
pages, these are pairs."""
LARGE = 0.9
"""Quantile of the sizes of the pages of a language that is its unit of size: placeholders are hardly ever above it."""
ROOM = 1.5
"""Factor by which pages of another language may be larger than half of the placeholders to be of their size. Trials on
15 made sites with look-alikes: without this comparison, right pages of eight of them are taken for placeholders, on
three nearly all pages of one language; with it, 18 pages of three. With the largest placeholder instead of the median,
those of debwww-en-ru are not recognised."""

Marks = npt.NDArray[np.bool_]


class Placeholders(NamedTuple):
    """Pages of a language that seem to be placeholders."""

    marks: Marks
    """Whether each page is one, shape (n_pages,)."""
    text: str
    """The longest text that most of them share."""
    sizes: npt.NDArray[np.float64]
    """Length of each page without menus, relative to the large pages of its language (`LARGE`), shape (n_pages,)."""


def placeholders_of(texts: PageTexts) -> Placeholders:
    """Find the pages of one language that have little text of their own, and a sentence that only such pages have.

    Parameters
    ----------
    texts : PageTexts
        Of the pages of the language.

    Examples
    --------
    >>> from twinlink.text.page_texts import page_texts
    >>> pages = [[f"Title {k}", f"The text of page {k}. " * 20] for k in range(6)]
    >>> pages += [[f"Title {k}", "This page is not available in English."] for k in range(6, 12)]
    >>> found = placeholders_of(page_texts(pages))
    >>> found.marks.nonzero()[0].tolist(), found.text
    ([6, 7, 8, 9, 10, 11], 'This page is not available in English.')
    """
    counts, n_pages = texts.counts, len(texts)
    counts.data[:] = 1
    sizes = np.array([len(text) for text in texts.distinct], np.float64)
    on_pages = np.bincount(counts.indices, minlength=len(sizes))
    is_frequent, is_menu = on_pages >= max(LEAST_PAGES, LEAST_SHARE * n_pages), on_pages >= NEARLY_ALL * n_pages
    own, body = (counts @ np.where(left_out, 0.0, sizes) for left_out in (is_frequent, is_menu))
    has_little = own <= OWN
    usual = np.median(body[~has_little]) if not has_little.all() else 0.0
    relative = body / max(1.0, np.quantile(body, LARGE)) if n_pages else body
    is_small = body <= SMALL * usual
    is_short = has_little & is_small
    with_text = np.flatnonzero(is_frequent & (sizes >= SENTENCE))
    n_short = (counts.T @ is_short.astype(np.float32))[with_text]
    n_others = np.maximum(n_pages - on_pages[with_text], 1)
    is_telling = (n_short >= NEARLY_ALL * on_pages[with_text]) & (is_short.sum() - n_short <= HALF * n_others)
    telling = with_text[is_telling]
    if not len(telling):
        return Placeholders(np.zeros(n_pages, np.bool_), "", relative)
    marks = is_small & (counts[:, telling].sum(axis=1) > 0)
    usual_ones = telling[on_pages[telling] >= HALF * on_pages[telling].max()]
    return Placeholders(marks, texts.distinct[int(usual_ones[sizes[usual_ones].argmax()])], relative)


def find_placeholders(groups: Sequence[Group], texts: PageTexts) -> list[Placeholders]:
    """Find the placeholders of each language of a site.

    A language has none unless another one has the pages that they stand for: as many pages, of which clearly fewer are
    as small as the placeholders.

    Parameters
    ----------
    groups : sequence of Group
    texts : PageTexts
        Of all pages of the site.
    """
    found = [placeholders_of(texts.of_pages(group.rows)) for group in groups]
    return [
        each if _stand_for_others(each, found[:n] + found[n + 1 :]) else each._replace(marks=np.zeros_like(each.marks))
        for n, each in enumerate(found)
    ]


def _stand_for_others(found: Placeholders, others: Sequence[Placeholders]) -> bool:
    """Return whether the pages that placeholders stand for may be those of one of the other languages."""
    n_found = int(found.marks.sum())
    if n_found < LEAST_PAGES:
        return False
    size = ROOM * np.median(found.sizes[found.marks])
    return any(n_found <= len(each.sizes) and n_found > MORE * np.sum(each.sizes <= size) for each in others)


def without_placeholders(groups: Sequence[Group], texts: PageTexts) -> tuple[list[Group], dict[int, str]]:
    """Leave the placeholders out of the languages of a site; return these, and the shared text of each placeholder."""
    found = find_placeholders(groups, texts)
    pairs = list(zip(groups, found, strict=True))
    kept = [group._replace(rows=group.rows[~each.marks]) for group, each in pairs]
    return kept, {row: each.text for group, each in pairs for row in group.rows[each.marks].tolist()}
