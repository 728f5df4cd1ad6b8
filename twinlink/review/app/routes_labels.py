"""Routes of labels: accept, reject, re-pair, undo, and the history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Literal

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.labels.book import Label, Step
from twinlink.review.app.answers import AppState, Form, Notice, go_to, posting, show, state_of
from twinlink.review.app.filters import Selection, page_number, part_number, selection_of
from twinlink.review.app.routes_pair import ShownPair, shown_pair
from twinlink.review.app.routes_queue import pair_path, path_of_row
from twinlink.review.reading.run_view import RunView
from twinlink.review.templating import shortened

__all__ = ["routes"]

_ON_A_PAGE = 50
_MOST_NOTE = 500
_DONE_WORDS = {"accept": "Accepted", "reject": "Rejected"}


class LabelledPair(msgspec.Struct, frozen=True):
    """The pair of a label in the history."""

    path: str = ""
    """Its address; empty: a page is no longer in the run."""
    ends: tuple[int, int] = (0, 0)
    titles: tuple[str, str] = ("", "")
    is_current: bool = False
    """Whether its label is in force, so that it can be changed."""


class HistoryEntry(msgspec.Struct, frozen=True):
    """A step of the history."""

    step: Step
    pairs: tuple[LabelledPair, ...]
    """The pair of each of its labels."""


def label(request: Request, form: Form) -> Response:
    """Store a verdict and go to the next pair; ``skip`` stores nothing."""
    state, selection = state_of(request), selection_of(form)
    shown = _pair_in_form(state, form, "a", "b")
    verdict = form.get("verdict", "")
    if verdict in _DONE_WORDS:
        _add(state, [(shown, "accept" if verdict == "accept" else "reject")], form)
        state.notices.append(Notice(f"{_DONE_WORDS[verdict]}: {_name(shown)}", can_undo=True))
    elif verdict != "skip":
        raise HTTPException(400, "The verdict is accept, reject or skip.")
    if form.get("here", "").startswith("/labels"):  # changed in the history
        return go_to(form["here"])
    return _go_on(state, selection, shown)


def pair_anew(request: Request, form: Form) -> Response:
    """Reject a pair and accept another one instead, as one step for undo."""
    state, selection = state_of(request), selection_of(form)
    old = _pair_in_form(state, form, "a", "b")
    new = _pair_in_form(state, form, "new_a", "new_b")
    if (old.url_a, old.url_b) == (new.url_a, new.url_b):
        raise HTTPException(400, "This is the same pair: accept it instead.")
    _add(state, [(old, "reject"), (new, "accept")], form)
    state.notices.append(Notice(f"Re-paired: {_name(new)}", can_undo=True))
    return _go_on(state, selection, old)


def undo(request: Request, form: Form) -> Response:
    """Undo the last step, and go to its pair."""
    state, selection = state_of(request), selection_of(form)
    taken = state.session.labels.undo(state.session.who)
    if not taken:
        state.notices.append(Notice("You have no label to undo.", "doubt"))
        return go_to(form.get("here", "/queue"))
    words = " and ".join("accepting" if each.verdict == "accept" else "rejecting" for each in taken)
    state.notices.append(Notice(f"Undone: {words} {shortened(taken[-1].url_a, 70)}", "doubt"))
    path = _path_of(state.session.run, taken[0], selection)
    return go_to(form["here"] if form.get("here", "").startswith("/labels") or not path else path)


def _pair_in_form(state: AppState, form: Form, a: str, b: str) -> ShownPair:
    numbers = page_number(form.get(a, "")), page_number(form.get(b, ""))
    if numbers[0] is None or numbers[1] is None:
        raise HTTPException(400, "The form does not say which pair is meant.")
    return shown_pair(state.session, state.session.listing(), numbers[0], numbers[1])


def _add(state: AppState, labelled: list[tuple[ShownPair, Literal["accept", "reject"]]], form: Form) -> None:
    now, who = datetime.now(UTC), state.session.who
    note = form.get("note", "").strip()[:_MOST_NOTE]
    state.session.labels.add(*(Label(pair.url_a, pair.url_b, verdict, who, now, note) for pair, verdict in labelled))


def _name(pair: ShownPair) -> str:
    return " ↔ ".join(shortened(page.title or page.url, 60) for page in (pair.page_a, pair.page_b))


def _go_on(state: AppState, selection: Selection, done: ShownPair) -> Response:
    if selection.live:
        state.watch.passed((done.page_a.page_id, done.page_b.page_id))
        found = state.watch.next(state.session.run)
        return go_to(pair_path(*found, selection) if found else "/live")
    listing = state.session.listing()
    row = listing.next_open(selection, done.row)
    if row is None or (
        row == done.row and listing.progress(selection).n_labels + 1 >= listing.progress(selection).n_pairs
    ):
        state.notices.append(Notice("That was the last pair without a label."))
        return go_to("/queue" + selection.query())
    return go_to(path_of_row(listing, row, selection))


def history(request: Request) -> Response:
    """Show the labels so far, newest first."""
    session = state_of(request).session
    steps, current = session.labels.history()[::-1], session.labels.current()
    n_pages = max(ceil(len(steps) / _ON_A_PAGE), 1)
    page = min(part_number(request.query_params.get("page", "")), n_pages)
    part = steps[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    return show(
        request,
        "review_labels.html",
        nav="labels",
        history=[
            HistoryEntry(step, tuple(_labelled_pair(session.run, each, current) for each in step.labels))
            for step in part
        ],
        page=page,
        n_pages=n_pages,
        counts=_counts(current),
        people=sorted({each.who for each in current.values()}),
    )


def _counts(labels: Mapping[tuple[str, str], Label]) -> dict[str, int]:
    return {name: sum(each.verdict == name for each in labels.values()) for name in ("accept", "reject")}


def _labelled_pair(run: RunView, label: Label, current: Mapping[tuple[str, str], Label]) -> LabelledPair:
    a, b = run.read(lambda tables: (tables.page_of(label.url_a), tables.page_of(label.url_b)))
    if a is None or b is None:
        return LabelledPair()
    title_a, title_b = run.read(lambda tables: tables.titles([a, b]))
    is_current = current.get((label.url_a, label.url_b)) == label
    return LabelledPair(pair_path(a, b, Selection()), (a, b), (title_a, title_b), is_current)


def _path_of(run: RunView, label: Label, selection: Selection) -> str:
    a, b = run.read(lambda tables: (tables.page_of(label.url_a), tables.page_of(label.url_b)))
    return "" if a is None or b is None else pair_path(a, b, selection)


routes = [
    Route("/label", posting(label), methods=["POST"]),
    Route("/repair", posting(pair_anew), methods=["POST"]),
    Route("/undo", posting(undo), methods=["POST"]),
    Route("/labels", history),
]
