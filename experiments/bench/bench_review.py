"""Size of the report of many pairs, and response times of the review.

::

    python -m experiments.bench.bench_review [--pairs 100000] [--sites 21] [--requests 15] [--run FOLDER]

The run is synthetic (`experiments.bench.synthetic_run`); with ``--run`` it is kept in that folder, and reused if it
exists. The report is written by `twinlink report` and opened from its file in Chromium. The review is `twinlink review`
in a separate process, called over HTTP; each line is one kind of request, for pairs from the whole run: median and
maximum of the times from the request to the last byte, and the processor time of the server per request. Labels are
posted as a reviewer would, after 500 existing labels; ``label, and next pair`` is two responses.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec
import pandas as pd

from experiments.bench.synthetic_run import Size, write_run
from twinlink.labels.book import Label, LabelBook
from twinlink.review.app.filters import VIEWS
from twinlink.review.reading.columns import read_sites
from twinlink.review.reading.orders import ORDERS
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.browser.chromium import find_browser
from twinlink.tables import PAIRS

__all__ = ["Measured", "Opened", "Visitor", "main", "measure", "open_report", "questions", "reviewing"]

BAR = 0.2  # seconds
N_LABELS = 500
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
TOKEN = re.compile(r'name="token" value="([^"]+)"')
TICK = os.sysconf("SC_CLK_TCK")
Answer = tuple[int, dict[str, str], bytes]
Ask = Callable[[int], Answer]


class Opened(msgspec.Struct, frozen=True):
    """A report in a browser."""

    load: float
    """Seconds from navigation to the end of the load event."""
    rows: int
    """Table rows that it has."""


class Measured(msgspec.Struct, frozen=True):
    """Response times of one kind of request."""

    name: str
    seconds: tuple[float, ...]
    cpu: float
    """Processor seconds of the server per request."""
    n_bytes: int
    """Size of the longest response."""

    def __str__(self) -> str:
        median, worst = statistics.median(self.seconds), max(self.seconds)
        late = "  LATE" if worst > BAR else ""
        times = f"{1000 * median:7.1f} {1000 * worst:7.1f} {1000 * self.cpu:7.1f}"
        return f"{self.name:<22} {times} {self.n_bytes / 1000:8.1f}{late}"


class Visitor:
    """A browser without scripts that is logged in.

    Parameters
    ----------
    address : str
        The address printed by `twinlink review`.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.origin = f"http://{parts.netloc}"
        self._netloc = parts.netloc
        self._cookie = ""
        self.token = ""
        self._cookie = self.ask(f"{parts.path}?{parts.query}")[1]["set-cookie"].partition(";")[0]

    def ask(self, path: str, **form: object) -> Answer:
        """Get a page, or post a form; return status, headers and body."""
        headers = {"Cookie": self._cookie}
        with closing(http.client.HTTPConnection(self._netloc, timeout=120)) as connection:
            if form:
                body = urlencode({"token": self.token, **form})
                kind = "application/x-www-form-urlencoded"
                connection.request("POST", path, body, {**headers, "Origin": self.origin, "Content-Type": kind})
            else:
                connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        if not self.token and (found := TOKEN.search(content.decode(errors="replace"))):
            self.token = found[1]
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


@contextmanager
def reviewing(run: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a review of a run; yield its process and the address that it prints."""
    command = [sys.executable, "-m", "twinlink", "review", str(run), "--no-open", "--port", "0", "--who", "bench"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            told = next((found[0] for line in process.stdout if (found := ADDRESS.search(line))), None)
            if told is None:
                raise RuntimeError("the review told no address")
            yield process, told
        finally:
            process.terminate()


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the processor time that a process has taken so far (Linux)."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def peak_megabytes(process: subprocess.Popen[str]) -> float:
    """Return the most memory that a process has held (Linux)."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return float(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def settle(process: subprocess.Popen[str]) -> None:
    """Wait until a process is idle, with its reading in advance complete."""
    before = -1.0
    while (now := cpu_seconds(process)) > before:
        before = now
        time.sleep(0.5)


def open_report(report: Path) -> Opened:
    """Open a report from its file in Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(report.as_uri(), wait_until="load", timeout=120_000)
        page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        load = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        rows = page.locator("tbody tr").count()
        browser.close()
    return Opened(load / 1000, rows)


def measure(process: subprocess.Popen[str], name: str, ask: Ask, times: int) -> Measured:
    """Repeat a request.

    Raises
    ------
    RuntimeError
        If the response is not as expected.
    """
    seconds, longest, cpu = [], 0, cpu_seconds(process)
    for number in range(times):
        start = time.perf_counter()
        status, _, body = ask(number)
        seconds.append(time.perf_counter() - start)
        if status not in (200, 303):
            raise RuntimeError(f"{name}: {status}\n{body.decode(errors='replace')[:2000]}")
        longest = max(longest, len(body))
    return Measured(name, tuple(seconds), (cpu_seconds(process) - cpu) / times, longest)


def questions(visitor: Visitor, pairs: pd.DataFrame) -> Iterator[tuple[str, Ask]]:
    """Yield kinds of requests of a reviewer by name, each as a function of the number of the request."""
    yield from _of_queue(visitor, pairs["site"].tolist())
    yield from _of_pairs(visitor, pairs)
    yield from _of_labels(visitor, pairs)
    yield from _of_pages(visitor, pairs)
    yield "live", lambda k: visitor.ask("/live")


def _of_queue(visitor: Visitor, sites: Sequence[str]) -> Iterator[tuple[str, Ask]]:
    for by in ORDERS:
        yield f"queue {by}", lambda k, by=by: visitor.ask(f"/queue?by={by}&page={1 + 7 * k}")  # type: ignore[misc]
    yield "queue of a site", lambda k: visitor.ask(f"/queue?site={sites[k]}")
    yield "queue of labelled", lambda k: visitor.ask(f"/queue?show={('accept', 'reject', 'open')[k % 3]}")
    yield "next", lambda k: visitor.ask(f"/next?by={ORDERS[k % len(ORDERS)]}")
    yield "next of a site", lambda k: visitor.ask(f"/next?site={sites[k]}")


def _of_pairs(visitor: Visitor, pairs: pd.DataFrame) -> Iterator[tuple[str, Ask]]:
    paths = _paths(pairs)
    for view in VIEWS:
        yield f"pair {view}", lambda k, view=view: visitor.ask(f"{paths[k]}?view={view}")  # type: ignore[misc]
    pages = pairs["page_b"].tolist()
    yield "page in its frame", lambda k: visitor.ask(f"/look/{pages[k]}")


def _of_labels(visitor: Visitor, pairs: pd.DataFrame) -> Iterator[tuple[str, Ask]]:
    paths = _paths(pairs)
    ends = list(zip(pairs["page_a"].tolist(), pairs["page_b"].tolist(), strict=True))

    def judge(number: int) -> Answer:
        verdict = ("accept", "reject")[number % 2]
        return visitor.ask("/label", a=ends[number][0], b=ends[number][1], verdict=verdict)

    def judge_and_see(number: int) -> Answer:
        return visitor.ask(judge(number)[1]["location"])

    yield "label", judge
    yield "label, and next pair", judge_and_see
    yield "undo", lambda k: visitor.ask("/undo", here=paths[k])
    yield "labels", lambda k: visitor.ask(f"/labels?page={1 + k % 3}")
    yield "labels to take away", lambda k: visitor.ask("/export/labels.tsv")


def _of_pages(visitor: Visitor, pairs: pd.DataFrame) -> Iterator[tuple[str, Ask]]:
    paths, pages = _paths(pairs), pairs["page_a"].tolist()
    tails = [urlencode({"q": url[-20:]}) for url in pairs["url_a"]]
    front = min(zip(pairs["url_a"].tolist(), pages, strict=True))[1]
    yield "graph of a page", lambda k: visitor.ask(f"/graph/{pages[k]}")
    yield "graph of a front page", lambda k: visitor.ask(f"/graph/{front}")
    yield "search by address", lambda k: visitor.ask(f"/graph?{tails[k]}")
    yield "search by title", lambda k: visitor.ask(f"/graph?q=document+{k}")
    yield "search in vain", lambda k: visitor.ask(f"/graph?q=nothing-{k}")
    yield "search for a partner", lambda k: visitor.ask(f"{paths[k]}?side=b&{tails[k]}")


def _paths(pairs: pd.DataFrame) -> list[str]:
    return [f"/pair/{a}/{b}" for a, b in zip(pairs["page_a"], pairs["page_b"], strict=True)]


def label_some(run: Path, pairs: pd.DataFrame) -> None:
    """Write labels of some pairs, four in five accepted."""
    chosen = pairs.iloc[:: max(len(pairs) // N_LABELS, 1)]
    now = datetime.now(UTC)
    book = LabelBook(run)
    for number, pair in enumerate(zip(chosen["url_a"].tolist(), chosen["url_b"].tolist(), strict=True)):
        book.add(Label(*pair, "reject" if number % 5 == 0 else "accept", "ann", now))


def asked_for(pairs: pd.DataFrame, archived: int, n: int) -> pd.DataFrame:
    """Return archived pairs from the whole run; the front page of the largest site first."""
    by_address = pairs.sort_values("url_a", kind="stable")
    stored = by_address.iloc[:: max(len(pairs) // max(archived, 1), 1)]
    return stored.iloc[:: max(len(stored) // n, 1)].head(n)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--sites", type=int, default=21)
    parser.add_argument("--requests", type=int, default=15)
    parser.add_argument("--run", type=Path, help="where the run is, or goes")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        run = given.run or Path(folder) / "run"
        size = Size(pairs=given.pairs, sites=given.sites)
        if not (run / "config.toml").exists():
            write_run(run, size)
        pairs = read_sites(run / "match" / "pairs", PAIRS).to_pandas()
        print_report(run, len(pairs))
        LabelBook(run).file.unlink(missing_ok=True)
        label_some(run, pairs)
        print_answers(run, asked_for(pairs, size.archived, given.requests), given.requests)


def print_report(run: Path, n_pairs: int) -> None:
    """Print the cost of a report."""
    start, child = time.perf_counter(), os.times()
    report = RunDirectory(run).report_file
    subprocess.run([sys.executable, "-m", "twinlink", "report", str(run), "-q"], check=True, capture_output=True)
    ended = os.times()
    cpu = ended.children_user + ended.children_system - child.children_user - child.children_system
    took = time.perf_counter() - start
    print(
        f"report of {n_pairs:,} pairs: {report.stat().st_size / 1e6:.2f} MB; written in {took:.1f} s ({cpu:.1f} s CPU)"
    )
    opened = open_report(report)
    print(f"opened in Chromium in {opened.load:.2f} s, {opened.rows} table rows")


def print_answers(run: Path, pairs: pd.DataFrame, n: int) -> None:
    """Print the response times of a review."""
    start = time.perf_counter()
    with reviewing(run) as (process, address):
        told = time.perf_counter()
        visitor = Visitor(address)
        visitor.ask("/queue")
        first = time.perf_counter()
        print(f"review: address told after {told - start:.1f} s, the first queue {first - told:.1f} s later")
        settle(process)
        print(f"all read ahead after {time.perf_counter() - start:.1f} s ({cpu_seconds(process):.1f} s CPU)")
        visitor.ask(f"/look/{pairs.iloc[0].page_a}")
        settle(process)  # the archives are scanned once
        print(f"{'milliseconds':<22} {'median':>7} {'worst':>7} {'CPU':>7} {'kB':>8}")
        late = 0
        for name, ask in questions(visitor, pairs):
            measured = measure(process, name, ask, min(n, len(pairs)))
            print(measured, flush=True)
            late += max(measured.seconds) > BAR
        print(f"{late} kinds of request over {1000 * BAR:.0f} ms at worst; peak {peak_megabytes(process):.0f} MB")


if __name__ == "__main__":
    main()
