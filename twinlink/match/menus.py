"""Menus that list every page of a site: their words say nothing about a page, and hide what its title says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.affordable import pages_with
from twinlink.text.page_texts import PageTexts, page_texts

__all__ = ["without_menus"]

_SHARE = 0.5
"""Share of the pages from which a text on more of them is part of the frame. Not tuned."""
_NEARLY_ALL = 0.9
"""Number of texts of the frame, as a share of the number of pages, from which it lists them: some titles are equal. Not
tuned: .82 and .89 on two sites of 121 and 213 pages with large menus, .9 to 1.9 where a menu of all pages was added."""
_FEW = 3  # texts on so many pages are no frame, however small the site


def without_menus(*sides: Sequence[Sequence[str]]) -> list[Sequence[Sequence[str]]]:
    """Return the texts of pages without the frame, if the frame has about as many texts as there are pages.

    A menu of all pages puts the words of each title on all pages, so that their idf is 0, on the page of that title,
    too. The first text of a page, its title, always stays. A smaller frame stays as it is: its words have little
    weight, and where pages have few words, those of the frame help to learn translations.

    Parameters
    ----------
    sides : sequence of sequence of str
        The texts of each page, for the pages of each language.

    Examples
    --------
    >>> menu = ["Home", "News", "Shop", "Help"]
    >>> [*without_menus([[page, *menu, f"About {page}"] for page in menu])[0]]
    [['Home', 'About Home'], ['News', 'About News'], ['Shop', 'About Shop'], ['Help', 'About Help']]
    """
    texts = [page_texts(pages) for pages in sides]
    frames = [_frame(of_side) for of_side in texts]
    if sum(frame.sum() for frame in frames) < _NEARLY_ALL * sum(map(len, texts)):
        return [*sides]
    return [of_side.where(_kept(of_side, frame)) for of_side, frame in zip(texts, frames, strict=True)]


def _frame(texts: PageTexts) -> NDArray[np.bool_]:
    """Mark the distinct texts that are on many pages."""
    return pages_with(texts.counts) > max(_SHARE * len(texts), _FEW)


def _kept(texts: PageTexts, frame: NDArray[np.bool_]) -> NDArray[np.bool_]:
    kept = ~frame[texts.numbers]
    kept[texts.starts[:-1][np.diff(texts.starts) > 0]] = True
    return kept
