"""The link graph of a site with its two languages side by side, and the share of mirrored links.

The first language is on the left, the second on the right, partners on one line; links inside a language are arcs on
its side. The more links are mirrored, the more the links reveal about partners.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from markupsafe import Markup
from scipy.sparse import csr_array

from twinlink.lookup import places_of
from twinlink.review.charts.svg import Alternative, document, element, words
from twinlink.review.templating import clean

__all__ = ["Facing", "facing", "facing_chart"]

Ints = npt.NDArray[np.intp]

MAX_SHOWN = 26
"""Maximum number of pairs in a chart, for legibility."""
MAX_ARCS = 160
"""Maximum number of links drawn per side."""
MENU_SHARE = 1 / 3
"""A page that more than this share of the pages link to counts as a menu entry; links to it are not informative."""
MIN_FOR_MENU = 8
"""Minimum number of pairs for recognising menu entries."""
BETWEEN_ALL = 1e-3
"""Weight between all pages of a chart, beside which a link counts 1."""

_WIDTH, _STEP, _EDGE = 860, 27, 96
_MIDDLE = 36  # between the two columns of names


class Facing(msgspec.Struct, frozen=True):
    """The pairs of a site that are shown, and the links among them."""

    rows: Ints
    """The pairs shown, from top to bottom: indices in the arguments of `facing`."""
    links_a: Ints
    """Shape (n, 2): links among the pages of the first language, as indices in ``rows``."""
    links_b: Ints
    """The same for the second language."""
    n_pairs: int
    """Pairs of the site."""
    n_links: int
    """Number of distinct links among paired pages within a language, without menus, in both languages together; a link
    and its mirror image are two."""
    n_mirrored: int
    """Number of mirrored links among them."""
    n_menu: int
    """Number of links to menu entries, which are left out."""

    @property
    def mirrored(self) -> float | None:
        """Share of mirrored links; None: no links."""
        return self.n_mirrored / self.n_links if self.n_links else None


def facing(
    page_a: npt.NDArray[np.int64],
    page_b: npt.NDArray[np.int64],
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    most: int = MAX_SHOWN,
) -> Facing:
    """Choose the pairs of a site to show, and count mirrored links.

    A link from page i to page j of one language is mirrored when the partner of i links to the partner of j.

    Parameters
    ----------
    page_a, page_b : ndarray of int64, shape (n_pairs,)
        The site's pairs; each page in at most one pair.
    source, target : ndarray of int64, shape (n_links,)
        The site's links; pages without a partner are ignored.
    most : int
        Number of pairs shown: the one with the most links and those around it, ordered so that linked pairs are near.
    """
    n = len(page_a)
    sides = [_links_between(pages, source, target) for pages in (page_a, page_b)]
    in_menu = np.zeros(n, np.bool_)
    if n >= MIN_FOR_MENU:
        for links in sides:
            in_menu |= np.bincount(links[:, 1], minlength=n) > MENU_SHARE * n
    kept = [links[~in_menu[links[:, 1]]] for links in sides]
    codes = [links[:, 0] * n + links[:, 1] for links in kept]
    n_mirrored = 2 * len(np.intersect1d(codes[0], codes[1], assume_unique=True))
    rows = _chosen(kept, n, most)
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    shown = [_shown(place, links) for links in kept]
    n_links = len(codes[0]) + len(codes[1])
    n_menu = sum(len(links) for links in sides) - n_links
    return Facing(rows, shown[0], shown[1], n, n_links, n_mirrored, n_menu)


def _links_between(pages: npt.NDArray[np.int64], source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> Ints:
    """Return the distinct links among some pages, as indices, shape (n, 2)."""
    start, stop = (places_of(ends, among=pages) for ends in (source, target))
    inside = (start >= 0) & (stop >= 0) & (start != stop)
    n = max(len(pages), 1)
    codes = np.sort(start[inside] * n + stop[inside])  # np.unique of many numbers is far slower: it hashes them
    codes = codes[np.diff(codes, prepend=-1) > 0]
    return np.stack(np.divmod(codes, n), axis=1).astype(np.intp)


def _chosen(kept: Sequence[Ints], n: int, most: int) -> Ints:
    """Return a connected set of pairs, ordered so that linked pairs are near each other.

    The pair with the most links is chosen first, then repeatedly the pair with the most links to the chosen ones.
    """
    both = np.concatenate(kept)
    ends = both.T.ravel(), both[:, ::-1].T.ravel()
    linked = csr_array((np.ones(2 * len(both)), ends), shape=(n, n))
    n_links: npt.NDArray[np.float64] = linked.sum(axis=1)
    gain = n_links / (n_links.max(initial=0.0) + 1)  # below 1: breaks ties only
    rows: list[int] = []
    for _ in range(min(most, n)):
        row = int(np.argmax(gain))
        rows.append(row)
        near = slice(linked.indptr[row], linked.indptr[row + 1])
        gain[linked.indices[near]] += linked.data[near]
        gain[rows] = -1.0
    chosen = np.sort(np.array(rows, np.intp))
    return chosen[spectral_order(csr_array(linked[chosen][:, chosen]))] if rows else chosen


def spectral_order(links: csr_array) -> Ints:
    """Return an order of some pages in which linked ones are close: that of the Fiedler vector of their graph.

    The Fiedler vector is the x with sum 0 and length 1 that minimises the sum of w_ij (x_i - x_j)^2 over the links: the
    second eigenvector of the Laplacian (Fiedler 1973). The order begins with the half that the first page is in.

    Parameters
    ----------
    links : csr_array, shape (n, n)
        Symmetric weights w_ij. A small weight between all pages, added here, orders those without a path between them.

    Examples
    --------
    >>> spectral_order(csr_array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])).tolist()
    [0, 2, 1]
    """
    n = links.shape[0]
    if n < 2:
        return np.arange(n)
    weights = links.toarray() + BETWEEN_ALL
    _, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    fiedler = vectors[:, 1].round(9)  # equal places stay in the order of the pages
    return np.argsort(-fiedler if fiedler[0] > 0 else fiedler, kind="stable")


def _shown(place: Ints, links: Ints) -> Ints:
    ends = place[links]
    return ends[(ends >= 0).all(axis=1)]


def facing_chart(
    alternative: Alternative, found: Facing, titles_a: Sequence[str], titles_b: Sequence[str], langs: tuple[str, str]
) -> Markup:
    """Draw the link graph with the two languages side by side.

    Parameters
    ----------
    alternative : Alternative
    found : Facing
    titles_a, titles_b : sequence of str
        Names of the shown pages, in the order of ``found.rows``.
    langs : tuple of str
        The two languages, written above the columns.
    """
    height = 40 + len(found.rows) * _STEP
    parts = [
        words(_EDGE + 14, 18, langs[0], "start", "head a"),
        words(_WIDTH - _EDGE - 14, 18, langs[1], "end", "head b"),
    ]
    both = {tuple(link) for link in found.links_a.tolist()} & {tuple(link) for link in found.links_b.tolist()}
    parts += _arcs(found.links_a, both, "a")
    parts += _arcs(found.links_b, both, "b")
    for row, (one, other) in enumerate(zip(titles_a, titles_b, strict=True)):
        parts += _row(row, one, other)
    return document(alternative, _WIDTH, height, parts, "plot wide")


def _y(place: float) -> float:
    return 44 + place * _STEP


def _row(row: int, title_a: str, title_b: str) -> list[str]:
    """Return two partners on a line, with their names."""
    y = _y(row)
    left, right, room = _EDGE, _WIDTH - _EDGE, _WIDTH / 2 - _EDGE - 14 - _MIDDLE
    return [
        element("line", x1=left, x2=right, y1=y, y2=y, class_="match"),
        element("circle", cx=left, cy=y, r=5, class_="node a"),
        element("circle", cx=right, cy=y, r=5, class_="node b"),
        words(left + 14, y + 5, _fitted(title_a, room), "start", "halo"),
        words(right - 14, y + 5, _fitted(title_b, room), "end", "halo"),
    ]


def _arcs(links: Ints, both: set[tuple[int, ...]], side: str) -> list[str]:
    """Return the links of a side as arcs, mirrored ones on top; if there are too many, the longest are left out."""
    pairs = {(min(link), max(link), tuple(link) in both) for link in links.tolist()}
    chosen = sorted(pairs, key=lambda each: (not each[2], each[1] - each[0], each[0]))[:MAX_ARCS]
    longest = max((stop - first for first, stop, _ in chosen), default=1)
    parts = []
    for first, stop, is_mirrored in reversed(chosen):
        reach = 14 + (_EDGE - 24) * ((stop - first) / longest) ** 0.6
        x, bend = (_EDGE - 6, _EDGE - 6 - reach) if side == "a" else (_WIDTH - _EDGE + 6, _WIDTH - _EDGE + 6 + reach)
        y1, y2 = _y(first), _y(stop)
        curve = (
            f"M{x} {y1:.0f}C{bend:.0f} {y1 + (y2 - y1) * 0.15:.0f} {bend:.0f} {y2 - (y2 - y1) * 0.15:.0f} {x} {y2:.0f}"
        )
        parts.append(element("path", d=curve, class_=f"arc {side}" if is_mirrored else "arc"))
    return parts


def _fitted(text: str, room: float) -> str:
    """Return a text cut to a width; Chinese characters are twice as wide."""
    width, cut = 0.0, ""
    for sign in clean(text):
        width += 14.5 if ord(sign) >= 0x2E80 else 7.8
        if width > room:
            return cut.rstrip() + "…"
        cut += sign
    return cut
