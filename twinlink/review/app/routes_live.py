"""Routes of the live view: progress of the mining, pause, and review of each pair as it is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pandas as pd
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.review.app.answers import AppState, Form, Notice, go_to, posting, show, state_of
from twinlink.review.app.filters import Selection, selection_of
from twinlink.review.app.routes_queue import pair_path
from twinlink.review.reading.run_view import RunView
from twinlink.review.templating import count
from twinlink.wording import reason_words

__all__ = ["routes"]

_PAIRS_SHOWN, _PAGES_SHOWN, _REASONS_SHOWN = 15, 12, 12
_STAGE_WORDS = {
    "crawl": "fetch pages",
    "ingest": "read pages",
    "shapes": "outline pages",
    "match": "find pairs",
    "align": "align sentences",
    "patterns": "learn URL patterns",
    "recover": "recover pages",
    "rank": "rank sites",
}


class NewPair(msgspec.Struct, frozen=True):
    """A pair found recently."""

    path: str
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    probability: float | None


def live(request: Request) -> Response:
    """Show the progress of the mining; if it stops at each pair, go to the next pair when there is one."""
    state = state_of(request)
    selection = selection_of(request.query_params)
    if state.watch.is_on and (found := state.watch.next(state.session.run)):
        path = pair_path(*found, Selection(view=selection.view, live=True))
        if request.headers.get("hx-request") and not request.headers.get("hx-boosted"):
            return Response(headers={"hx-redirect": path})
        return go_to(path)
    return show(request, "review_live.html", nav="live", selection=Selection(view=selection.view), **_now(state))


def _now(state: AppState) -> dict[str, Any]:
    now = state.session.run.live()
    rejects = sorted(now.rejects.items(), key=lambda each: -each[1])
    newest = now.pairs.iloc[::-1].head(_PAIRS_SHOWN)
    return {
        "live": now,
        "pace": state.pace.now(now),
        "counts": [_counts(stage.counts) for stage in now.stages],
        "stage_words": _STAGE_WORDS,
        "pages": now.pages[:_PAGES_SHOWN],
        "pairs": _found(state.session.run, newest),
        "n_pairs": len(now.pairs),
        "so_far": _found(state.session.run, now.so_far.head(_PAIRS_SHOWN)),
        "n_so_far": len(now.so_far),
        "rejects": [(name, reason_words(name), number) for name, number in rejects[:_REASONS_SHOWN]],
        "n_rejects": sum(now.rejects.values()),
        "is_watching": state.watch.is_on,
        "has_queue": not state.session.run.pairs.empty,
    }


def _counts(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return names and texts of counts; the count ``of`` is the total of the count before it."""
    found: list[tuple[str, str]] = []
    for name, number in counts.items():
        if name == "of" and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} of {count(number)}")
        else:
            found.append((name, count(number)))
    return found


def _found(run: RunView, pairs: pd.DataFrame) -> list[NewPair]:
    ends = [*pairs["page_a"].tolist(), *pairs["page_b"].tolist()]
    titles = run.read(lambda tables: tables.titles(ends)) if ends else ()
    return [
        NewPair(
            path=pair_path(int(row["page_a"]), int(row["page_b"]), Selection()),
            url_a=row["url_a"],
            url_b=row["url_b"],
            title_a=titles[place],
            title_b=titles[place + len(pairs)],
            probability=None if pd.isna(row["probability"]) else float(row["probability"]),
        )
        for place, row in enumerate(pairs.to_dict("records"))
    ]


def pause(request: Request, form: Form) -> Response:
    """Pause or continue the mining."""
    wanted = form.get("wanted", "")
    if wanted not in {"yes", "no"}:
        raise HTTPException(400, "The form does not say whether to wait or to go on.")
    state_of(request).session.run.pause(wanted == "yes")
    return go_to("/live")


def watch(request: Request, form: Form) -> Response:
    """Begin or end stopping at each pair."""
    state = state_of(request)
    if form.get("wanted") == "yes":
        state.watch.begin(state.session.run)
        state.notices.append(Notice("The mining stops at each new pair until you have reviewed it."))
    else:
        state.watch.end(state.session.run)
        state.notices.append(Notice("The mining goes on without stopping at pairs."))
    return go_to("/live")


def looking(request: Request) -> Response:
    """Record that a reviewer still looks at a new pair."""
    state = state_of(request)
    state.watch.next(state.session.run)
    return Response(status_code=204)


routes = [
    Route("/live", live),
    Route("/looking", looking),
    Route("/pause", posting(pause), methods=["POST"]),
    Route("/watch", posting(watch), methods=["POST"]),
]
