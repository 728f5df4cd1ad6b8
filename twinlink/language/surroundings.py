"""Evidence on a page's language from its neighbours: pages link mostly to pages of their own language version."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from twinlink.errors import ShapeError

__all__ = ["Adoption", "adoptions", "near_links", "neighbour_scores"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

_MIN_MENU_PAGES = 10
_NEIGHBOURS = 4
"""Maximum weight of all neighbours of a page, in neighbours."""
_MIN_OTHERS = 0.02
"""Minimum share of links to other languages, for sites without any such link."""
_MIN_ADOPTING = 4
_ADOPTING_SHARE = 0.75
_MIN_HOMOPHILY = 0.75


class Adoption(NamedTuple):
    """A page that is part of another language version than that of its text."""

    page: int
    label: int
    """Language of (nearly) all its neighbours."""
    share: float
    """Part of its neighbours that are in this language, 0 to 1."""


def near_links(links: csr_array, menu_share: float) -> csr_array:
    """Return the neighbours of pages by links in either direction, without links to and from menus.

    A link counts as menu where its target is linked from more than ``menu_share`` of the pages (and from more than
    ten), or where its source is such a page.

    Parameters
    ----------
    links : csr_array, shape (n_pages, n_pages)
        A stored entry at (p, q) where page p links to page q.
    menu_share : float

    Returns
    -------
    csr_array of float, shape (n_pages, n_pages)
        Symmetric, 1 or missing.

    Raises
    ------
    ShapeError
        If ``links`` is not square.
    """
    n_pages = links.shape[0]
    if links.shape[1] != n_pages:
        raise ShapeError(f"links: expected one row and one column per page, got shape {links.shape}")
    present = csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
    limit = max(menu_share * n_pages, _MIN_MENU_PAGES)
    keep = diags_array((np.bincount(present.indices, minlength=n_pages) <= limit).astype(float))
    near = csr_array(keep @ present @ keep)
    near = csr_array(near.maximum(near.T))
    near.setdiag(0)
    near.eliminate_zeros()
    return near


def neighbour_scores(near: csr_array, labels: Labels, n_languages: int) -> Floats:
    """Score each language on each page by the languages of its neighbours.

    With h the share of the links that stay within a language, over the whole site, k languages, and c(ℓ) the
    page's number of neighbours in ℓ::

        score(ℓ) = c(ℓ) · log(h·(k-1) / (1-h)) · min(1, 4 / Σ c)

    and 0 where links do not keep to a language. One h for all languages: so a few pages of a rare language that are
    linked only with another one do not suggest a rule.

    Parameters
    ----------
    near : csr_array, shape (n_pages, n_pages)
        As from `near_links`.
    labels : ndarray of int64, shape (n_pages,)
        Language of each page, -1 where unknown.
    n_languages : int

    Returns
    -------
    ndarray of float64, shape (n_pages, n_languages)
        Log-odds; a page without neighbours has zeros.
    """
    counts = _neighbour_counts(near, labels, n_languages)
    if n_languages < 2 or not counts.any():
        return np.zeros((len(labels), n_languages))
    inside = min(homophily(counts, labels), 1 - _MIN_OTHERS)
    weight = max(0.0, np.log(max(inside, 1e-9) * (n_languages - 1) / (1 - inside)))
    result: Floats = counts * weight * np.minimum(1.0, _NEIGHBOURS / np.maximum(counts.sum(axis=1), 1))[:, None]
    return result


def homophily(counts: Floats, labels: Labels) -> float:
    """Return the share of the links between pages of known language that stay within one; each page counts once."""
    known = np.flatnonzero((labels >= 0) & (counts.sum(axis=1) > 0))
    if not len(known):
        return 0.0
    return float(np.mean(counts[known, labels[known]] / counts[known].sum(axis=1)))


def adoptions(near: csr_array, labels: Labels, wanted: NDArray[np.bool_]) -> list[Adoption]:
    """Find the pages in languages that are not wanted, but that are part of the version of a wanted one.

    Such a page has four neighbours or more, three quarters of them in one wanted language, and more than three times
    as many there as in its own. Nothing is found where links do not keep to a language.

    Parameters
    ----------
    near : csr_array, shape (n_pages, n_pages)
        As from `near_links`.
    labels : ndarray of int64, shape (n_pages,)
        Language of each page, -1 where unknown.
    wanted : ndarray of bool, shape (n_languages,)
    """
    if not len(wanted) or not wanted.any():
        return []
    counts = _neighbour_counts(near, labels, len(wanted))
    if homophily(counts, labels) < _MIN_HOMOPHILY:
        return []
    totals = np.maximum(counts.sum(axis=1), 1)
    best = np.where(wanted, counts, -1.0).argmax(axis=1)
    shares = counts[np.arange(len(labels)), best] / totals
    strange = (labels >= 0) & ~wanted[labels]
    found = np.flatnonzero(strange & (totals >= _MIN_ADOPTING) & (shares >= _ADOPTING_SHARE))
    return [Adoption(int(page), int(best[page]), float(shares[page])) for page in found]


def _neighbour_counts(near: csr_array, labels: Labels, n_languages: int) -> Floats:
    known = np.flatnonzero(labels >= 0)
    member = csr_array((np.ones(len(known)), (known, labels[known])), shape=(len(labels), n_languages))
    counts: Floats = (near @ member).toarray()
    return counts
