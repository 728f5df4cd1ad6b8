"""Many hosts at once, as their server sees it."""

from __future__ import annotations

from pathlib import Path

from experiments.bench.bench_hosts import at_once
from experiments.bench.webserver import Site, read_log, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl

SLOW = 290  # more than Scrapy would have in flight
FAST = 4


def test_slow_hosts_starve_no_fast_ones_and_limits_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(log, SLOW + FAST, Site(3, 1, 0, SLOW, 2.0)) as starts:
        settings = CrawlSettings(concurrency=2, autothrottle=False, sitemaps=False)
        assert crawl(starts, tmp_path / "run", settings).fetched == 3 * (SLOW + FAST)
    requests = read_log(log)
    late = max(request.answered for request in requests if request.site >= SLOW)
    before = sum(request.answered < late for request in requests if request.site < SLOW)
    assert before < len(requests) / 2
    for host in range(SLOW + FAST):
        assert at_once(request for request in requests if request.site == host) <= settings.concurrency
