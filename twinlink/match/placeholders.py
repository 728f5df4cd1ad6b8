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
"""Factor by which a language must have more of them than another one: where both have short pages, these are pairs."""

Marks = npt.NDArray[np.bool_]


class Placeholders(NamedTuple):
    """Pages of a language that seem to be placeholders."""

    marks: Marks
    """Whether each page is one, shape (n_pages,)."""
    text: str
    """The longest text that most of them share."""


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
    is_small = body <= SMALL * usual
    is_short = has_little & is_small
    with_text = np.flatnonzero(is_frequent & (sizes >= SENTENCE))
    n_short = (counts.T @ is_short.astype(np.float32))[with_text]
    n_others = np.maximum(n_pages - on_pages[with_text], 1)
    is_telling = (n_short >= NEARLY_ALL * on_pages[with_text]) & (is_short.sum() - n_short <= HALF * n_others)
    telling = with_text[is_telling]
    if not len(telling):
        return Placeholders(np.zeros(n_pages, np.bool_), "")
    marks = is_small & (counts[:, telling].sum(axis=1) > 0)
    usual_ones = telling[on_pages[telling] >= HALF * on_pages[telling].max()]
    return Placeholders(marks, texts.distinct[int(usual_ones[sizes[usual_ones].argmax()])])


def find_placeholders(groups: Sequence[Group], texts: PageTexts) -> list[Placeholders]:
    """Find the placeholders of each language of a site: none where no other language has clearly fewer.

    Parameters
    ----------
    groups : sequence of Group
    texts : PageTexts
        Of all pages of the site.
    """
    found = [placeholders_of(texts.of_pages(group.rows)) for group in groups]
    sizes = [int(each.marks.sum()) for each in found]
    return [
        each if size >= LEAST_PAGES and size > MORE * min(sizes) else each._replace(marks=np.zeros_like(each.marks))
        for each, size in zip(found, sizes, strict=True)
    ]


def without_placeholders(groups: Sequence[Group], texts: PageTexts) -> tuple[list[Group], dict[int, str]]:
    """Leave the placeholders out of the languages of a site; return these, and the shared text of each placeholder."""
    found = find_placeholders(groups, texts)
    pairs = list(zip(groups, found, strict=True))
    kept = [group._replace(rows=group.rows[~each.marks]) for group, each in pairs]
    return kept, {row: each.text for group, each in pairs for row in group.rows[each.marks].tolist()}
