"""Rate and time left of the running stage, from counts that are known."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from msgspec.structs import replace

from twinlink.progress import Latest
from twinlink.review.app.pace import Pace
from twinlink.review.records import Live, LiveStage


def live(*stages: LiveStage) -> Live:
    return Live(
        working=True, paused=False, stages=stages, pages=(), pairs=pd.DataFrame(), rejects={}, so_far=pd.DataFrame()
    )


def fetching(fetched: int, queued: int) -> Live:
    return live(LiveStage("crawl", "running", {"fetched": fetched, "queued": queued, "rejected": 3}))


def pace_at(*times: float) -> Pace:
    clock: Iterator[float] = iter(times)
    return Pace(lambda: next(clock))


def test_rate_and_time_left_of_a_crawl() -> None:
    pace = pace_at(0.0, 10.0)
    first = pace.now(fetching(10, 90))
    assert first is not None
    assert (first.share, first.rate, first.seconds_left, first.left) == (0.1, None, None, "")
    second = pace.now(fetching(30, 270))
    assert second is not None
    assert (second.share, second.rate, second.unit) == (0.1, 2.0, "fetched")
    assert (second.seconds_left, second.left) == (135, "2:15")


def test_only_the_last_minute_counts() -> None:
    pace = pace_at(0.0, 100.0, 150.0)
    pace.now(fetching(0, 100))
    pace.now(fetching(5, 95))
    last = pace.now(fetching(55, 45))
    assert last is not None
    assert last.rate == pytest.approx(1.0)


def test_another_stage_begins_anew() -> None:
    pace = pace_at(0.0, 10.0, 12.0)
    pace.now(fetching(0, 1))
    done = LiveStage("crawl", "done", {"fetched": 40, "queued": 0})
    first = pace.now(live(done, LiveStage("ingest", "running", {"pages": 10})))
    assert first is not None
    assert (first.share, first.rate) == (0.25, None)
    second = pace.now(live(done, LiveStage("ingest", "running", {"pages": 20})))
    assert second is not None
    assert (second.rate, second.seconds_left) == (5.0, 4)


def test_without_a_total_there_is_no_share_and_no_time() -> None:
    pace = pace_at(0.0, 2.0)
    for n in (0, 8):
        found = pace.now(live(LiveStage("align", "running", {"segments": n})))
    assert found is not None
    assert (found.share, found.rate, found.seconds_left) == (None, 4.0, None)


@pytest.mark.parametrize("stage", [LiveStage("crawl", "done", {"fetched": 3}), LiveStage("rank", "running", {})])
def test_there_is_no_pace_where_nothing_is_counted(stage: LiveStage) -> None:
    assert Pace().now(live(stage)) is None


def test_what_the_process_reports_counts() -> None:
    latest = Latest("match", 100, 400, "en-zh: round 1 of 4", 10.0, 30.4)
    progress = Pace().now(replace(fetching(10, 90), latest=latest))
    assert progress is not None
    assert (progress.share, progress.rate, progress.left, progress.step) == (0.25, 10.0, "0:30", "en-zh: round 1 of 4")
    unknown = Pace().now(replace(fetching(10, 90), latest=Latest("report", 0, None, "drawing", 0.0, None)))
    assert unknown is not None
    assert (unknown.share, unknown.rate, unknown.left) == (None, None, "")
