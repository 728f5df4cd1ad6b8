"""Links of the demo's pages besides menus and indexes: related pages, redirects, dead links.

The two sides mirror each other, but not perfectly: on each some links are missing and some are additional.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from twinlink.demo.compose import Content
from twinlink.demo.layout import Anchor, ui
from twinlink.demo.odd import CALENDAR, REGISTER
from twinlink.demo.plan import Unit

__all__ = ["Draft", "Redirect", "make_related"]

_RELATED = {"press": (1, 2), "guide": (2, 4)}  # how many; (1, 3) for the other kinds
_NO_RELATED = ("home", "index", "empty", "internal")
_DROPPED, _ADDED = 0.1, 0.15  # share of links that one side lacks; share of pages with a link of their own
_OLD_PAGES = 10
_DEAD_SHARE = 0.06

FOLDERS = ("en", "tc")


class Draft(NamedTuple):
    """The site before it is written: units, their content, and their addresses on both sides."""

    units: Sequence[Unit]
    contents: Sequence[Content]
    urls: Sequence[tuple[str, str]]

    def anchor(self, number: int, side: int) -> Anchor:
        """Return a link to a unit, with its title as text."""
        return Anchor(self.contents[number].title[side], self.urls[number][side])

    def anchors(self, numbers: Sequence[int], side: int) -> tuple[Anchor, ...]:
        """Return links to the units that are on a side."""
        return tuple(self.anchor(number, side) for number in numbers if self.urls[number][side])


class Redirect(NamedTuple):
    """An address that redirects."""

    url: str
    status: int
    target: str


Related = dict[tuple[int, int], list[Anchor]]  # (unit, side) → links


def make_related(draft: Draft, rng: random.Random) -> tuple[Related, list[Redirect]]:
    """Draw the links below the pages, and the redirects that some of them use."""
    related: Related = {(number, side): [] for number, unit in enumerate(draft.units) for side in unit.sides}
    free = [number for number, unit in enumerate(draft.units) if unit.kind not in _NO_RELATED]
    for number in free:
        _link_neighbours(draft, number, free, related, rng)
    redirects = _add_old_addresses(draft, free, related, rng)
    _add_dead_links(draft, free, related, rng)
    _add_traps(draft, related)
    return related, redirects


def _link_neighbours(draft: Draft, number: int, free: Sequence[int], related: Related, rng: random.Random) -> None:
    unit = draft.units[number]
    close = [n for n in free if draft.units[n].section == unit.section and n != number]
    wanted = rng.randint(*_RELATED.get(unit.kind, (1, 3)))
    chosen = dict.fromkeys(rng.choice(close if close and rng.random() < 0.6 else free) for _ in range(wanted))
    for side in unit.sides:
        numbers = [n for n in chosen if n != number and rng.random() >= _DROPPED]
        if rng.random() < _ADDED:
            numbers.append(rng.choice(free))
        related[number, side] += draft.anchors(numbers, side)


def _add_old_addresses(draft: Draft, free: Sequence[int], related: Related, rng: random.Random) -> list[Redirect]:
    """Link some pages by an old address; the first of them through two redirects."""
    redirects = [Redirect("/", 302, draft.urls[0][0])]
    paired = [n for n in free if draft.units[n].paired]
    for place, target in enumerate(rng.sample(paired, _OLD_PAGES)):
        source = rng.choice(paired)
        for side, folder in enumerate(FOLDERS):
            old = f"/{folder}/old/{place + 1}.html"
            redirects.append(Redirect(old, 302 if place % 3 == 2 else 301, draft.urls[target][side]))
            linked = old
            if place == 0:
                linked = f"/{folder}/go/{place + 1}"
                redirects.append(Redirect(linked, 302, old))
            related[source, side].append(Anchor(draft.contents[target].title[side], linked))
    return [*redirects, Redirect("/go/round", 302, "/go/again"), Redirect("/go/again", 302, "/go/round")]


def _add_dead_links(draft: Draft, free: Sequence[int], related: Related, rng: random.Random) -> None:
    for number in free:
        if rng.random() < _DEAD_SHARE:
            year, gone = rng.randint(1999, 2019), draft.contents[rng.choice(free)].title
            for side in draft.units[number].sides:
                related[number, side].append(Anchor(gone[side], f"/{FOLDERS[side]}/archive/{year}/{number}.html"))


def _add_traps(draft: Draft, related: Related) -> None:
    """Link from the home pages to pages that a crawler must not fetch, and to endless pages."""
    staff = next(number for number, unit in enumerate(draft.units) if unit.kind == "internal")
    for side in (0, 1):
        related[0, side] += [
            Anchor(ui("calendar", side), CALENDAR[side]),
            Anchor(ui("register", side), REGISTER[side]),
            Anchor(ui("staff", side), draft.urls[staff][side]),
            Anchor(ui("partner", side), "https://www.example.org/"),
            Anchor(ui("notice", side), "/go/round"),
            Anchor(ui("search", side), "javascript:void(0)"),
        ]
