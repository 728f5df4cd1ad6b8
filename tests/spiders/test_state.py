"""What the parts of a running crawl share."""

from __future__ import annotations

import time
from unittest.mock import Mock

from twinlink.config import CrawlSettings
from twinlink.spiders.state import CrawlState


def test_a_shorter_rest_does_not_end_a_longer_one() -> None:
    state = CrawlState(Mock(), Mock(), Mock(), Mock(), CrawlSettings(), 0.0)
    began = time.monotonic()
    for seconds in (400.0, 3600.0, 600.0):
        state.rest("a.org", seconds, f"{seconds} s")
    rest = state.rest_of("a.org")
    assert rest is not None
    assert (rest.until >= began + 3600, rest.why) == (True, "3600.0 s")
    assert state.rest_of("b.org") is None
    state.rest("b.org", -1.0, "over")
    assert state.rest_of("b.org") is None
    state.reading.close()
