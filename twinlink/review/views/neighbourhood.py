"""The link graph around a page and its partner, with the neighbours that are partners of each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from twinlink.review.charts.svg import Alternative, document, element, line, words, written
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Neighbour, Page
from twinlink.review.templating import clean, shortened

MAX_SHOWN = 30
"""Neighbours drawn per page: as many as are legible on a screen."""
_MAX_ASKED = 1_000  # neighbours examined per page; further ones are only counted

_WIDTH, _STEP, _TOP = 980, 30, 46
_OUTER, _INNER = 250, 330  # horizontal places of the neighbours' nodes and of the page's
_NAME, _MIDDLE_NAME = 34, 21  # columns of a name beside a node, and between the two pages


class Node(NamedTuple):
    """A neighbour of a page; links in both directions give one node."""

    page_id: int
    url: str
    title: str
    lang: str
    anchors: tuple[str, ...]
    """Distinct texts of the links, at most three."""
    outgoing: bool
    """Whether the page links to it."""
    incoming: bool
    """Whether it links to the page."""
    is_paired: bool
    """Whether it has a partner."""


class Neighbourhood(msgspec.Struct, frozen=True):
    """A page, the page it is compared with, and the pages around both."""

    page: Page
    partner: Page | None
    left: tuple[Node, ...]
    """Neighbours of the page: first those that match, in the same order as their partners in ``right``."""
    right: tuple[Node, ...]
    """Neighbours of the partner."""
    matches: tuple[tuple[int, int], ...]
    """Indices in left and right of neighbours that are partners of each other."""
    more_left: int
    """Neighbours that are not in ``left``."""
    more_right: int
    n_matches: int
    """Matches among all examined neighbours, shown or not."""
    n_left: int
    """Number of examined neighbours of the page."""
    n_right: int
    is_pair: bool = True
    """Whether the page is paired with the page that it is compared with."""

    @property
    def all_left(self) -> int:
        """Number of all neighbours of the page."""
        return len(self.left) + self.more_left

    @property
    def all_right(self) -> int:
        """Number of all neighbours of the other page."""
        return len(self.right) + self.more_right

    @property
    def share(self) -> float:
        """Similarity of the neighbourhoods: ``2 n_matches / (n_left + n_right)``, 0 without neighbours."""
        total = self.n_left + self.n_right
        return 2 * self.n_matches / total if total else 0.0


def around(
    tables: Snapshot, page_id: int, partner_id: int | None = None, limit: int = MAX_SHOWN
) -> Neighbourhood | None:
    """Return the neighbourhood of a page and its partner.

    Parameters
    ----------
    tables : Snapshot
        The tables of the run.
    page_id : int
        The page.
    partner_id : int, optional
        The page to compare with; by default the first partner, if there is one.
    limit : int
        Neighbours shown per page.

    Returns
    -------
    Neighbourhood or None
        None: one of the two pages does not exist, or they are the same.
    """
    page = tables.page(page_id)
    partners = tables.partners(page_id)
    chosen = partner_id if partner_id is not None else next(iter(partners), None)
    partner = tables.page(chosen) if chosen is not None else None
    if page is None or page_id == partner_id or (partner is None and partner_id is not None):
        return None
    middle = [each.page_id for each in (page, partner) if each]
    left = tables.neighbours(page_id, _MAX_ASKED, middle)
    right = tables.neighbours(partner.page_id, _MAX_ASKED, middle) if partner else ()
    n_left = tables.count_neighbours(page_id, middle)
    n_right = tables.count_neighbours(partner.page_id, middle) if partner else 0
    shown = face(page, partner, left, right, limit)
    more_left, more_right = n_left - len(shown.left), n_right - len(shown.right)
    return replace(shown, more_left=more_left, more_right=more_right, is_pair=chosen in partners)


def face(
    page: Page, partner: Page | None, left: Sequence[Neighbour], right: Sequence[Neighbour], limit: int = MAX_SHOWN
) -> Neighbourhood:
    """Arrange the neighbours of two pages so that partners are side by side, each with at most one partner.

    Parameters
    ----------
    page, partner : Page
        The two pages.
    left, right : sequence of Neighbour
        Their neighbours. The two pages themselves are left out.
    limit : int
        Neighbours shown per page.
    """
    middle = {each.page_id for each in (page, partner) if each}
    nodes_left, pairs_of = _nodes(left, middle)
    nodes_right, _ = _nodes(right, middle)
    matched = _match(nodes_left, nodes_right, pairs_of)
    shown = [(a, b) for a, b in matched.items()][:limit]
    first_left = [nodes_left[a] for a, _ in shown]
    first_right = [nodes_right[b] for _, b in shown]
    taken = set(matched.values())
    rest_left = [node for key, node in nodes_left.items() if key not in matched]
    rest_right = [node for key, node in nodes_right.items() if key not in taken]
    all_left, all_right = (first_left + rest_left)[:limit], (first_right + rest_right)[:limit]
    return Neighbourhood(
        page,
        partner,
        tuple(all_left),
        tuple(all_right),
        tuple((k, k) for k in range(len(shown))),
        len(nodes_left) - len(all_left),
        len(nodes_right) - len(all_right),
        len(matched),
        len(nodes_left),
        len(nodes_right),
    )


def _nodes(
    neighbours: Iterable[Neighbour], middle: Collection[int]
) -> tuple[dict[int, Node], dict[int, tuple[int, ...]]]:
    """Return the neighbours of a page without repetition, and the partners of each."""
    nodes: dict[int, Node] = {}
    partners: dict[int, tuple[int, ...]] = {}
    for near in neighbours:
        if near.page_id in middle:
            continue
        partners[near.page_id] = near.partners
        known = nodes.get(near.page_id)
        anchors = known.anchors if known else ()
        if near.anchor and near.anchor not in anchors and len(anchors) < 3:
            anchors = (*anchors, near.anchor)
        nodes[near.page_id] = Node(
            near.page_id,
            near.url,
            near.title,
            near.lang,
            anchors,
            near.outgoing or (known.outgoing if known else False),
            not near.outgoing or (known.incoming if known else False),
            bool(near.partners),
        )
    return nodes, partners


def _match(left: dict[int, Node], right: dict[int, Node], partners_of: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """Map pages on the left to their partners on the right, one to one."""
    taken: set[int] = set()
    matched: dict[int, int] = {}
    for page_id in left:
        for partner in partners_of[page_id]:
            if partner in right and partner not in taken:
                taken.add(partner)
                matched[page_id] = partner
                break
    return matched


def draw(shown: Neighbourhood, address_of: Callable[[int], str], name: str = "neighbourhood") -> Markup:
    """Draw a neighbourhood as SVG: page and partner in the middle, the neighbours of each on its outer side.

    Lines connect each page with its neighbours, and neighbours that are partners of each other. Each node is a link.
    Colours are classes (``side-a``, ``side-b``, ``match``, ``alone``); a template gives the text alternative as lists
    of ``left``, ``right`` and ``matches``.

    Parameters
    ----------
    shown : Neighbourhood
        The neighbourhood to draw.
    address_of : callable
        Maps a page_id to the address of the graph around that page.
    name : str
        Unique on its page; letters, digits and hyphens.
    """
    height = _TOP + _n_rows(shown) * _STEP + 24
    middle = _middle(shown)
    parts = [*_match_lines(shown), *_side(shown, True, middle, address_of), *_side(shown, False, middle, address_of)]
    alternative = Alternative(name, _title(shown), _description(shown))
    return document(alternative, _WIDTH, height, parts, "plot wide neighbourhood", role="group")


def _side(shown: Neighbourhood, is_left: bool, middle: float, address_of: Callable[[int], str]) -> Iterable[str]:
    """Yield one of the two pages and its neighbours."""
    page = shown.page if is_left else shown.partner
    nodes, more = (shown.left, shown.more_left) if is_left else (shown.right, shown.more_right)
    side = "side-a" if is_left else "side-b"
    if page is None:
        yield words(_x(_INNER, is_left) - 110, middle, "no partner", class_="label")
        return
    for row, node in enumerate(nodes):
        kind = "both" if node.outgoing and node.incoming else "outgoing" if node.outgoing else "incoming"
        yield line(_x(_OUTER, is_left), _y(row), _x(_INNER, is_left), middle, f"edge {side} {kind}")
    partners = {place[0 if is_left else 1] for place in shown.matches}
    for row, node in enumerate(nodes):
        state = "matched" if row in partners else "paired" if node.is_paired else "alone"
        about = ", ".join(filter(None, (node.title or node.url, node.url, *node.anchors)))
        text = (_x(_OUTER - 14, is_left), _y(row) + 5, _fitting(node.title or node.url, _NAME))
        mark = element("circle", cx=_x(_OUTER, is_left), cy=_y(row), r=7, class_=f"node {side} {state}")
        yield _link(address_of(node.page_id), about, mark + words(*text, "end" if is_left else "start", class_="name"))
    if more:
        place = (_x(_OUTER - 14, is_left), _y(len(nodes)) + 5)
        yield words(*place, f"… {more:,} more", "end" if is_left else "start", class_="label more")
    mark = element("circle", cx=_x(_INNER, is_left), cy=middle, r=13, class_=f"node middle {side}")
    place_of_name = (_x(_INNER - 10, is_left), middle - 20, _fitting(page.title or page.url, _MIDDLE_NAME))
    name = words(*place_of_name, "start" if is_left else "end", class_="name middle")
    yield _link(address_of(page.page_id), page.url, mark + name)


def _match_lines(shown: Neighbourhood) -> Iterable[str]:
    """Yield the lines between partners."""
    for a, b in shown.matches:
        start, end = (_x(_OUTER, True), _y(a)), (_x(_OUTER, False), _y(b))
        yield line(*start, *end, "match")
    if shown.partner is not None:
        middle = _middle(shown)
        if shown.is_pair:
            yield line(_x(_INNER, True), middle, _x(_INNER, False), middle, "match pair")


def _link(address: str, about: str, content: str) -> str:
    return element("a", element("title", written(about)) + content, href=address)


def _n_rows(shown: Neighbourhood) -> int:
    return max(len(shown.left) + bool(shown.more_left), len(shown.right) + bool(shown.more_right), 3)


def _middle(shown: Neighbourhood) -> float:
    """Return the vertical place of the two pages."""
    return _TOP + _n_rows(shown) * _STEP / 2


def _x(place: float, is_left: bool) -> float:
    return float(place if is_left else _WIDTH - place)


def _y(row: int) -> float:
    return float(_TOP + row * _STEP)


def _fitting(text: str, n_columns: int) -> str:
    """Return the beginning of a text that fits; Chinese characters take two columns."""
    text = clean(text)
    done = 0
    for place, character in enumerate(text):
        done += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if done > n_columns:
            return f"{text[: max(place - 1, 0)].rstrip()}…"
    return text


def _title(shown: Neighbourhood) -> str:
    names = [page.title or page.url for page in (shown.page, shown.partner) if page]
    return f"Pages around {' and '.join(shortened(name, 60) for name in names)}"


def _description(shown: Neighbourhood) -> str:
    if shown.partner is None:
        return f"The page has {shown.n_left:,} neighbours and no partner."
    other = "its partner" if shown.is_pair else "the other page"
    looked = shown.n_left + shown.n_right
    cut = f" {looked:,} of them were examined." if looked < shown.all_left + shown.all_right else ""
    return (
        f"The page has {shown.all_left:,} neighbours, {other} {shown.all_right:,};{cut}"
        f" {shown.n_matches:,} on each side are partners of each other."
    )
