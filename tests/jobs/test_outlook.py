"""How many pages a crawl is expected to fetch."""

from __future__ import annotations

from twinlink.config import CrawlSettings
from twinlink.jobs.outlook import MANY_FAILURES, Outlook
from twinlink.spiders.crawling import CrawlProgress


def so_far(fetched: int, queued: int, failed: int = 0, end: str = "") -> CrawlProgress:
    reasons = {"robots": 999, "http-404": failed // 2, "timeout": failed - failed // 2}
    return CrawlProgress(fetched, 0, queued, 999 + failed, 0, 1.0, reasons, n_sites=2, end=end)


def expected(progress: CrawlProgress, outlook: Outlook | None = None, **limits: int) -> int | None:
    return (outlook or Outlook()).expected_pages(progress, CrawlSettings(**limits))  # type: ignore[arg-type]


def test_all_known_pages_are_expected_within_the_limits() -> None:
    assert expected(so_far(5, 95)) == 100
    assert expected(so_far(5, 95), max_pages=60) == 60
    assert expected(so_far(5, 95), max_site_pages=10) == 20
    assert expected(so_far(50, 50), max_pages=40) == 50


def test_nothing_is_expected_while_only_failures_come() -> None:
    outlook = Outlook()
    assert expected(so_far(5, 95, 70), outlook) == 100, "failures before the last page"
    assert expected(so_far(5, 80, 70 + MANY_FAILURES - 1), outlook) == 85
    assert expected(so_far(5, 70, 70 + MANY_FAILURES), outlook) is None
    assert expected(so_far(6, 69, 70 + MANY_FAILURES), outlook) == 75, "a page came"


def test_at_the_end_all_that_was_fetched_is_all() -> None:
    outlook = Outlook()
    assert expected(so_far(5, 95), outlook) == 100
    assert expected(so_far(5, 0, 2 * MANY_FAILURES), outlook) == 5
    assert expected(so_far(5, 50, 2 * MANY_FAILURES, end="budget"), outlook) == 5
