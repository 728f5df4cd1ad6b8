"""The run while it is being mined: what has come in, waiting, and each pair as it is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.review.app.answers import Form, Room, Said, go_to, posting, room_of, show
from twinlink.review.app.filters import Wish, wish_of
from twinlink.review.app.routes_queue import pair_path
from twinlink.review.templating import count
from twinlink.review.wording import reason_words

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


@dataclass(frozen=True)
class Found:
    """A pair that has been found."""

    path: str
    url_a: str
    url_b: str
    probability: float | None


def live(request: Request) -> Response:
    """Show how the mining goes; in the mode that stops at each pair, go to the next one as soon as there is one."""
    room = room_of(request)
    wish = wish_of(request.query_params)
    if room.watch.is_on and (found := room.watch.next(room.desk.run)):
        path = pair_path(*found, Wish(view=wish.view, live=True))
        if request.headers.get("hx-request") and not request.headers.get("hx-boosted"):
            return Response(headers={"hx-redirect": path})
        return go_to(path)
    return show(request, "review_live.html", nav="live", wish=Wish(view=wish.view), **_now(room))


def _now(room: Room) -> dict[str, Any]:
    now = room.desk.run.live()
    rejects = sorted(now.rejects.items(), key=lambda each: -each[1])
    newest = now.pairs.iloc[::-1].head(_PAIRS_SHOWN)
    return {
        "live": now,
        "counts": [_counts(stage.counts) for stage in now.stages],
        "stage_words": _STAGE_WORDS,
        "pages": now.pages[:_PAGES_SHOWN],
        "pairs": _found(newest),
        "n_pairs": len(now.pairs),
        "rejects": [(name, reason_words(name), number) for name, number in rejects[:_REASONS_SHOWN]],
        "n_rejects": sum(now.rejects.values()),
        "is_watching": room.watch.is_on,
        "has_queue": not room.desk.run.pairs.empty,
    }


def _counts(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return counts in words; what is ``of`` something stands behind the count before it."""
    found: list[tuple[str, str]] = []
    for name, number in counts.items():
        if name == "of" and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} of {count(number)}")
        else:
            found.append((name, count(number)))
    return found


def _found(pairs: pd.DataFrame) -> list[Found]:
    return [
        Found(
            path=pair_path(int(row["page_a"]), int(row["page_b"]), Wish()),
            url_a=row["url_a"],
            url_b=row["url_b"],
            probability=None if pd.isna(row["probability"]) else float(row["probability"]),
        )
        for row in pairs.to_dict("records")
    ]


def pause(request: Request, form: Form) -> Response:
    """Ask the mining to wait, or to go on."""
    wanted = form.get("wanted", "")
    if wanted not in {"yes", "no"}:
        raise HTTPException(400, "The form does not say whether to wait or to go on.")
    room_of(request).desk.run.pause(wanted == "yes")
    return go_to("/live")


def watch(request: Request, form: Form) -> Response:
    """Begin to stop at each pair, or end it."""
    room = room_of(request)
    if form.get("wanted") == "yes":
        room.watch.begin(room.desk.run)
        room.said.append(Said("The mining stops at each new pair until you have looked at it."))
    else:
        room.watch.end(room.desk.run)
        room.said.append(Said("The mining goes on without stopping at pairs."))
    return go_to("/live")


def looking(request: Request) -> Response:
    """Take note that somebody still looks at a pair that was just found."""
    room = room_of(request)
    room.watch.next(room.desk.run)
    return Response(status_code=204)


routes = [
    Route("/live", live),
    Route("/looking", looking),
    Route("/pause", posting(pause), methods=["POST"]),
    Route("/watch", posting(watch), methods=["POST"]),
]
