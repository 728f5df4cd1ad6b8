"""What a person says of pairs: accepted, rejected, paired anew, taken back; and what was said so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.labels.book import Label, Step
from twinlink.review.app.answers import Form, Room, Said, go_to, posting, room_of, show
from twinlink.review.app.filters import Wish, page_number, part_number, wish_of
from twinlink.review.app.routes_pair import Looked, looked_at
from twinlink.review.app.routes_queue import pair_path, path_of_row
from twinlink.review.reading.run_view import RunView
from twinlink.review.templating import shortened

__all__ = ["routes"]

_ON_A_PAGE = 50
_MOST_NOTE = 500
_DONE_WORDS = {"accept": "Accepted", "reject": "Rejected"}


@dataclass(frozen=True)
class Told:
    """A step of the history, with the way to its pairs."""

    step: Step
    paths: tuple[str, ...]
    """Address of each label's pair; empty: a page is not in the run any more."""


def label(request: Request, form: Form) -> Response:
    """Write down a verdict, and go on to the next pair; ``skip`` only goes on."""
    room, wish = room_of(request), wish_of(form)
    looked = _looked(room, form, "a", "b")
    verdict = form.get("verdict", "")
    if verdict in _DONE_WORDS:
        _add(room, [(looked, "accept" if verdict == "accept" else "reject")], form)
        room.said.append(Said(f"{_DONE_WORDS[verdict]}: {_name(looked)}", can_undo=True))
    elif verdict != "skip":
        raise HTTPException(400, "The verdict is accept, reject or skip.")
    return _go_on(room, wish, looked)


def pair_anew(request: Request, form: Form) -> Response:
    """Reject a pair and accept another in its place: one step of undo."""
    room, wish = room_of(request), wish_of(form)
    old = _looked(room, form, "a", "b")
    new = _looked(room, form, "new_a", "new_b")
    if (old.url_a, old.url_b) == (new.url_a, new.url_b):
        raise HTTPException(400, "This is the same pair: accept it instead.")
    _add(room, [(old, "reject"), (new, "accept")], form)
    room.said.append(Said(f"Paired anew: {_name(new)}", can_undo=True))
    return _go_on(room, wish, old)


def undo(request: Request, form: Form) -> Response:
    """Take back the last step, and go to its pair."""
    room, wish = room_of(request), wish_of(form)
    taken = room.desk.labels.undo(room.desk.who)
    if not taken:
        room.said.append(Said("There is nothing of yours to take back.", "doubt"))
        return go_to(form.get("here", "/queue"))
    words = " and ".join("accepting" if each.verdict == "accept" else "rejecting" for each in taken)
    room.said.append(Said(f"Taken back: {words} {shortened(taken[-1].url_a, 70)}", "doubt"))
    path = _path_of(room.desk.run, taken[0], wish)
    return go_to(form["here"] if form.get("here", "").startswith("/labels") or not path else path)


def _looked(room: Room, form: Form, a: str, b: str) -> Looked:
    numbers = page_number(form.get(a, "")), page_number(form.get(b, ""))
    if numbers[0] is None or numbers[1] is None:
        raise HTTPException(400, "The form does not say which pair is meant.")
    return looked_at(room.desk, room.desk.listing(), numbers[0], numbers[1])


def _add(room: Room, said: list[tuple[Looked, Literal["accept", "reject"]]], form: Form) -> None:
    now, who = datetime.now(UTC), room.desk.who
    note = form.get("note", "").strip()[:_MOST_NOTE]
    room.desk.labels.add(*(Label(pair.url_a, pair.url_b, verdict, who, now, note) for pair, verdict in said))


def _name(pair: Looked) -> str:
    return " ↔ ".join(shortened(page.title or page.url, 60) for page in (pair.page_a, pair.page_b))


def _go_on(room: Room, wish: Wish, done: Looked) -> Response:
    if wish.live:
        room.watch.passed((done.page_a.page_id, done.page_b.page_id))
        found = room.watch.next(room.desk.run)
        return go_to(pair_path(*found, wish) if found else "/live")
    listing = room.desk.listing()
    row = listing.next_open(wish, done.row)
    if row is None or (row == done.row and listing.progress(wish).n_labels + 1 >= listing.progress(wish).n_pairs):
        room.said.append(Said("That was the last pair without a label."))
        return go_to("/queue" + wish.query())
    return go_to(path_of_row(listing, row, wish))


def history(request: Request) -> Response:
    """Show what was said so far, newest first."""
    desk = room_of(request).desk
    steps = desk.labels.history()[::-1]
    n_pages = max(ceil(len(steps) / _ON_A_PAGE), 1)
    page = min(part_number(request.query_params.get("page", "")), n_pages)
    part = steps[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    return show(
        request,
        "review_labels.html",
        nav="labels",
        told=[Told(step, tuple(_path_of(desk.run, each, Wish()) for each in step.labels)) for step in part],
        page=page,
        n_pages=n_pages,
        counts=_counts(desk.labels.current()),
        people=sorted({each.who for each in desk.labels.current().values()}),
    )


def _counts(labels: Mapping[tuple[str, str], Label]) -> dict[str, int]:
    return {name: sum(each.verdict == name for each in labels.values()) for name in ("accept", "reject")}


def _path_of(run: RunView, said: Label, wish: Wish) -> str:
    a, b = run.read(lambda tables: (tables.page_of(said.url_a), tables.page_of(said.url_b)))
    return "" if a is None or b is None else pair_path(a, b, wish)


routes = [
    Route("/label", posting(label), methods=["POST"]),
    Route("/repair", posting(pair_anew), methods=["POST"]),
    Route("/undo", posting(undo), methods=["POST"]),
    Route("/labels", history),
]
