"""Cost of crawling a page: pages per second, processor time per page and peak memory, compared with Scrapy and wget.

::

    python -m experiments.bench.bench_crawl [--pages 5000] [--paragraphs 20] [--runs 3]

One made site on this machine is crawled to its end by each crawler in turn, ``--runs`` times over, medians are shown.
The server works in a process of its own, whose processor time does not count; start-up of the crawlers counts.

- ``twinlink``: `crawl` as it comes: WARC, ledger, parser, robots.txt, sitemap, AutoThrottle, likely partners first.
- ``twinlink breadth``: the same, breadth first.
- ``twinlink chromium``, ``twinlink chromium-headless-shell`` (with ``--only``): the same, all pages built in this
  browser, whose processor time counts; the peak is that of the largest process.
- ``scrapy``: a CrawlSpider that follows all links and does no more: no archive, no resuming, no parsing of text. Its
  settings are Scrapy's own but for what twinlink has as well: so many requests at once, no delay, robots.txt kept to,
  no log.
- ``scrapy lean``: the same without cookies, telnet console and statistics.
- ``scrapy jobdir``: the same with a queue on disk.
- ``wget``: ``wget -r --warc-file``: one request at a time, pages kept as files, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from experiments.bench.webserver import Site, read_log, serving

CONCURRENCY = 4  # twinlink's requests in flight to one host


def main() -> None:
    """Print the table, or be one of the crawlers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--paragraphs", type=int, default=20, help="of a page: 20 make 6 kB")
    parser.add_argument("--runs", type=int, default=3)
    without_browser = [*(name for name in CRAWLERS if name not in BROWSERS), "wget"]
    parser.add_argument("--only", nargs="+", choices=(*CRAWLERS, "wget"), default=without_browser)
    parser.add_argument("--be", nargs=3, metavar=("CRAWLER", "URL", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.be:
        name, url, folder = given.be
        CRAWLERS[name](url, Path(folder))
        return
    rounds = [{name: measure(name, given.pages, given.paragraphs) for name in given.only} for _ in range(given.runs)]
    print("| crawler | pages | pages/s | CPU ms/page | beside scrapy | peak MB |\n|---|---|---|---|---|---|")
    bare = statistics.median(one["scrapy"].cpu for one in rounds) if "scrapy" in given.only else float("nan")
    for name in given.only:
        cost = Cost(*(statistics.median(values) for values in zip(*(one[name].row() for one in rounds), strict=True)))
        print(
            f"| {name} | {cost.pages:.0f} | {cost.pages / cost.wall:.0f} | {1000 * cost.cpu / cost.pages:.2f} "
            f"| {cost.cpu / bare:.2f} | {cost.peak:.0f} |"
        )


class Cost(msgspec.Struct, frozen=True):
    """Cost of a crawl: pages that the server sent, seconds, and megabytes."""

    pages: float
    wall: float
    cpu: float
    peak: float

    def row(self) -> tuple[float, ...]:
        """Return the figures."""
        return self.pages, self.wall, self.cpu, self.peak


def measure(name: str, pages: int, paragraphs: int) -> Cost:
    """Crawl a made site with one crawler."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with serving(log, 1, Site(pages, paragraphs, 0, 0, 0)) as (url,):
            began = time.perf_counter()
            child = subprocess.Popen(command(name, url, Path(folder)))
            # The usage of a process with that of its children: twinlink crawls in one.
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - began
        if status and name != "wget":  # wget reports pages that were not found as an error
            raise SystemExit(f"{name} failed")
        sent = {request.path for request in read_log(log) if request.path != "/robots.txt"} - {"/sitemap.xml"}
    return Cost(len(sent), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def command(name: str, url: str, folder: Path) -> list[str]:
    """Return the command of a crawler."""
    if name == "wget":
        kept = ["-P", str(folder / "mirror"), f"--warc-file={folder / 'wget'}"]
        return ["wget", "-q", "-r", "-l", "inf", "--tries=1", *kept, url]
    return [sys.executable, "-m", "experiments.bench.bench_crawl", "--be", name, url, str(folder)]


def be_twinlink(url: str, folder: Path, **settings: Any) -> None:
    """Crawl as twinlink does."""
    from twinlink.config import CrawlSettings
    from twinlink.spiders.crawling import crawl

    crawl([url], folder / "run", CrawlSettings(**settings))


def be_scrapy(url: str, folder: Path, *, lean: bool = False, on_disk: bool = False) -> None:
    """Crawl with nothing but Scrapy."""
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    class Bare(CrawlSpider):
        name = "bare"
        start_urls = [url]  # noqa: RUF012  # Scrapy declares it so
        rules = (Rule(LinkExtractor(), follow=True),)

    settings: dict[str, Any] = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": CONCURRENCY,
    }
    if lean:
        settings |= {"COOKIES_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "DOWNLOADER_STATS": False}
        settings |= {"STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector"}
    if on_disk:
        settings["JOBDIR"] = str(folder / "job")
    process = CrawlerProcess(settings)
    process.crawl(Bare)
    process.start()


BROWSERS = {f"twinlink {browser}": browser for browser in ("chromium", "chromium-headless-shell")}
"""Commands of browsers by the name of the crawler that uses them."""
CRAWLERS: dict[str, Callable[[str, Path], None]] = {
    "twinlink": be_twinlink,
    "twinlink breadth": lambda url, folder: be_twinlink(url, folder, order="breadth"),
    "scrapy": be_scrapy,
    "scrapy lean": lambda url, folder: be_scrapy(url, folder, lean=True),
    "scrapy jobdir": lambda url, folder: be_scrapy(url, folder, on_disk=True),
    **{name: partial(be_twinlink, browser="always", browser_path=browser) for name, browser in BROWSERS.items()},
}
"""Crawlers in Python by name; wget is not among them."""


if __name__ == "__main__":
    main()
