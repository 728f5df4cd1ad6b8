"""Pairs by pages fetched: effect of the order of a crawl that a budget ends.

    python -m experiments.frontier SITE... [--langs/--no-langs] [--pages N] [--starts N]

Serves each site folder (see `experiments.cases`) on this machine, crawls it in each order without delay, and prints the
share of gold pairs with both pages fetched after a share of the pages has been fetched, and the area under this curve.
A budget of N pages gives the first N pages of the order. ``best`` is the order that knows all pairs: it fetches the two
pages of each pair one after the other, and pages without a partner last.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from experiments.cases import find_cases, langs_of, read_meta
from twinlink.config import CrawlSettings
from twinlink.evaluation.gold import read_gold
from twinlink.spiders.crawling import crawl

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
ORDERS: tuple[Literal["breadth", "pairs"], ...] = ("breadth", "pairs")


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of a folder, and records those that were sent."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002
        if int(code) == 200:
            cast("_Server", self.server).sent.append(self.path)

    def log_message(self, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    sent: list[str]

    def handle_error(self, *args: object) -> None:
        """Ignore errors: a crawl that ends closes its connections."""


@contextmanager
def serving(folder: Path) -> Iterator[_Server]:
    """Serve a folder on this machine while the context lasts."""
    server = _Server(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    server.sent = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fetched_in_order(folder: Path, starts: Sequence[str], settings: CrawlSettings) -> tuple[list[str], float]:
    """Crawl a folder's files; return the paths of its pages in the order of fetching, and CPU seconds per page."""
    with serving(folder) as server, tempfile.TemporaryDirectory() as run:
        before = _child_seconds()
        end = crawl([f"http://127.0.0.1:{server.server_port}{start}" for start in starts], Path(run), settings)
        seconds = _child_seconds() - before
    pages = [path for path in dict.fromkeys(server.sent) if path not in ("/robots.txt", "/sitemap.xml")]
    return pages, seconds / end.fetched


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pairs_by_page(pages: Sequence[str], gold: Sequence[tuple[str, str]]) -> npt.NDArray[np.int64]:
    """Return the number of complete pairs after each page; a page may belong to several pairs.

    >>> pairs_by_page(["/a", "/b", "/c", "/d"], [("/a", "/c"), ("/d", "/b"), ("/e", "/a")]).tolist()
    [0, 0, 1, 2]
    """
    at = {page: number for number, page in enumerate(pages)}
    found = np.zeros(len(pages), np.int64)
    for a, b in gold:
        if a in at and b in at:
            found[max(at[a], at[b])] += 1
    return np.cumsum(found)


def best_order(pages: Sequence[str], gold: Sequence[tuple[str, str]]) -> list[str]:
    """Return the pages with the two pages of each pair adjacent, and all other pages after them."""
    there = set(pages)
    paired = [page for pair in gold if there.issuperset(pair) for page in pair]
    return list(dict.fromkeys([*paired, *pages]))


def area(curve: npt.NDArray[np.int64]) -> float:
    """Return the share of pairs found within a budget, averaged over all budgets.

    >>> area(np.array([0, 1, 1, 2]))
    0.5
    """
    return float(curve.mean() / curve[-1]) if len(curve) and curve[-1] else float("nan")


def measure(folder: Path, use_langs: bool, budget: int | None, n_starts: int | None = None) -> list[list[object]]:
    """Return the rows of one site; ``n_starts`` is the number of start pages passed to the crawl, None for all."""
    meta = read_meta(folder)
    known = read_gold(folder / "gold.tsv")
    gold = known.pairs
    langs = langs_of(meta) if use_langs else ()
    rows: list[list[object]] = []
    pages: list[str] = []
    for order in ORDERS:
        settings = CrawlSettings(order=order, langs=langs, delay=0, autothrottle=False)
        if budget is not None:
            settings = CrawlSettings(order=order, langs=langs, delay=0, autothrottle=False, max_pages=budget)
        pages, cpu = fetched_in_order(folder / "site", meta["seeds"][:n_starts], settings)
        pages = list(dict.fromkeys(map(known.key, pages)))
        rows.append([folder.name, order, len(pages), *_figures(pairs_by_page(pages, gold)), f"{1000 * cpu:.1f}"])
    best = pairs_by_page(best_order(pages, gold), gold)
    return [*rows, [folder.name, "best", len(pages), *_figures(best), ""]]


def _figures(curve: npt.NDArray[np.int64]) -> list[object]:
    return [*(int(curve[max(0, round(share * len(curve)) - 1)]) for share in SHARES), f"{area(curve):.3f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sites", nargs="+", type=Path)
    parser.add_argument("--langs", action=argparse.BooleanOptionalAction, default=True, help="say which are wanted")
    parser.add_argument("--pages", type=int, help="end after so many pages")
    parser.add_argument("--starts", type=int, help="start at the first so many of a site's start pages; default: all")
    given = parser.parse_args()
    rows: list[Sequence[object]] = [
        row for site in find_cases(given.sites) for row in measure(site, given.langs, given.pages, given.starts)
    ]
    titles = ["site", "order", "pages", *(f"{share:.0%}" for share in SHARES), "area", "CPU ms/page"]
    for row in (titles, ["---"] * len(titles), *rows):
        sys.stdout.write(f"| {' | '.join(map(str, row))} |\n")


if __name__ == "__main__":
    main()
