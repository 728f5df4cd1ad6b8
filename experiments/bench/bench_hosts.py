"""Many hosts at once: the limits of each host, as the server saw them, and memory over time.

::

    python -m experiments.bench.bench_hosts [--hosts 200] [--pages 500] [--delay 0] [--concurrency 4] [--latency 0]
                                            [--slow 0] [--slow-latency 5]

Every host is an address of this machine with its own generated site. The server runs in a separate process; its log has
the number of simultaneous requests to a host, and the intervals between them (Scrapy varies a delay by half, so the
minimum is half of it). ``--slow`` hosts respond late: the last column of the first table is the time when the other
hosts were complete, which slow hosts must not delay. The second table is the memory of the crawler process over time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from experiments.bench.webserver import Request, Site, read_log, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import CrawlProgress, crawl

MOMENTS = 12  # rows of the second table


class Memory:
    """Records the memory of the crawler process, which is a child of this process, and the number of pages."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, int, float, float]] = []
        """Seconds, fetched pages, memory and peak memory in megabytes."""
        self._began = time.monotonic()

    def __call__(self, progress: CrawlProgress) -> None:
        """Record once."""
        found = crawler_memory()
        if found is not None:
            self.rows.append((time.monotonic() - self._began, progress.fetched, *found))

    def spread(self) -> list[tuple[float, int, float, float]]:
        """Return a few rows, evenly spread over the pages."""
        if not self.rows:
            return []
        most = self.rows[-1][1]
        wanted = [most * step / (MOMENTS - 1) for step in range(MOMENTS)]
        return [next(row for row in self.rows if row[1] >= pages) for pages in wanted]


def crawler_memory() -> tuple[float, float] | None:
    """Return memory and peak memory of the crawler process in megabytes; None if there is no such process."""
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in children.read_text().split():
            try:
                if b"twinlink.spiders.process" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                    continue
                lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            except OSError:  # it has just ended
                continue
            sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "VmHWM"))}
            if len(sizes) == 2:
                return int(sizes["VmRSS"]) / 1024, int(sizes["VmHWM"]) / 1024
    return None


def at_once(requests: Iterable[Request]) -> int:
    """Return the maximum number of simultaneous requests.

    >>> at_once([Request(0, "/", 0.0, 2.0), Request(0, "/a", 1.0, 3.0), Request(0, "/b", 2.0, 4.0)])
    2
    """
    steps = sorted((moment, step) for one in requests for moment, step in ((one.came, 1), (one.answered, -1)))
    now = most = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


def gaps(requests: Sequence[Request]) -> list[float]:
    """Return the seconds between the arrivals of a host's requests."""
    return [later - earlier for earlier, later in pairwise(sorted(one.came for one in requests))]


def told(log: Sequence[Request], slow: int, n_pages: int) -> str:
    """Return the row on how the limits were respected."""
    hosts: defaultdict[int, list[Request]] = defaultdict(list)
    for request in log:
        hosts[request.site].append(request)
    sent = Counter((request.site, request.path) for request in log if request.path.startswith(("/p", "/?")))
    twice = sum(count - 1 for count in sent.values())
    whole = sum(sum(1 for site, _ in sent if site == host) + 1 >= n_pages for host in hosts)
    apart = sorted(gap for requests in hosts.values() for gap in gaps(requests))
    began = min(request.came for request in log)
    fast = max((request.answered for request in log if request.site >= slow), default=began) - began
    end = max(request.answered for request in log) - began
    return (
        f"| {len(hosts)} | {whole} | {twice} | {max(map(at_once, hosts.values()))} | {at_once(log)} "
        f"| {apart[0]:.3f} | {apart[len(apart) // 100]:.3f} | {apart[len(apart) // 2]:.3f} | {end:.0f} | {fast:.0f} |"
    )


def main() -> None:
    """Crawl, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=500, help="of each host")
    parser.add_argument("--paragraphs", type=int, default=4)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that an answer takes")
    parser.add_argument("--slow", type=int, default=0, help="so many of the hosts answer late")
    parser.add_argument("--slow-latency", type=float, default=5.0)
    given = parser.parse_args()
    site = Site(given.pages, given.paragraphs, given.latency, given.slow, given.slow_latency)
    settings = CrawlSettings(
        delay=given.delay, concurrency=given.concurrency, autothrottle=False, max_pages=10**7, site_by="host"
    )
    memory = Memory()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        began = time.monotonic()
        with serving(log, given.hosts, site) as starts:
            end = crawl(starts, Path(folder) / "run", settings, memory)
        seconds = time.monotonic() - began
        print(f"{end.fetched} pages in {seconds:.0f} s, {end.fetched / seconds:.0f} pages/s, dropped: {end.reasons}\n")
        print(
            "| hosts | complete | fetched twice | at once, a host | at once, all | least gap s | 1% | median ", end=""
        )
        print("| end s | other hosts' end s |\n|---|---|---|---|---|---|---|---|---|---|")
        print(told(read_log(log), given.slow, given.pages))
    print("\n| s | pages | MB | peak MB |\n|---|---|---|---|")
    for when, pages, now, peak in memory.spread():
        print(f"| {when:.0f} | {pages} | {now:.0f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
