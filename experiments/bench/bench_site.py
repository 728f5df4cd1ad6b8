"""Cost of each stage on a site, as a multiple of a bare parse of its pages: processor time, wall time and peak memory.

::

    python -m experiments.bench.bench_site SITE_FOLDER … [--runs 3] [--lexicon FILE] [--svg bench.svg]

``bare parse`` is libxml2 behind lxml in SAX mode with empty callbacks, over the bytes of all pages: the least that an
HTML tool costs. ``parse`` is `parse_page` with its compiled callbacks, decoding included. ``ingest``, ``match`` and
``mine`` are the commands, start-up and report included, in one process each; ``mine`` is the whole job, from the folder
to pairs.tsv and the report. ``all cores`` is ``mine`` with one worker per core: the processor time of all processes,
and the memory of the largest. ``--svg`` draws the multiples.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from twinlink.languages import base_language
from twinlink.pages.libxml2 import compiled_parser
from twinlink.pages.parser import parse_page

ALONE = ("--workers", "1")


class Cost(NamedTuple):
    """Cost of a command, or of a function over all pages."""

    cpu: float
    """Seconds of processor time."""
    wall: float
    """Seconds."""
    peak: float = 0.0
    """Peak memory in MB; 0 where nothing was measured."""


class _Nothing:
    """A parser target that does nothing."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...

    def close(self) -> None: ...


def main() -> None:
    """Print a table for each site."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", type=Path, nargs="+", help="site folders")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lexicon", type=Path, action="append", default=[])
    parser.add_argument("--svg", type=Path, help="draw the multiples of the bare parse")
    given = parser.parse_args()
    multiples: dict[str, dict[str, float]] = {}
    compiled_parser()  # as a stage does that has much to parse
    for site in given.sites:
        bodies = [path.read_bytes() for path in sorted((site / "site").rglob("*.htm*"))]
        print(f"{site.name}: {len(bodies)} pages, {sum(map(len, bodies)) / 1e6:.1f} MB; medians of {given.runs} runs")
        rounds = [dict(costs(site, bodies, given.lexicon)) for _ in range(given.runs)]
        medians = {name: median([each[name] for each in rounds]) for name in rounds[0]}
        bare = medians["bare parse"].cpu
        for name, cost in medians.items():
            peak = f"  peak {cost.peak:5.0f} MB" if cost.peak else ""
            print(f"{name:<11} {cost.cpu:7.2f} s CPU  {cost.wall:7.2f} s wall  {cost.cpu / bare:5.1f} x bare{peak}")
        multiples[site.name] = {name: cost.cpu / bare for name, cost in medians.items()}
    if given.svg:
        draw(multiples, given.svg)


def draw(multiples: Mapping[str, Mapping[str, float]], file: Path) -> None:
    """Draw the cost of each step as a multiple of the bare parse, the sites side by side."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "bench"  # the same figures give the same file
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(multiples)
    for number, (site, costs_) in enumerate(multiples.items()):
        places = [step + (number - (len(multiples) - 1) / 2) * width for step in range(len(costs_))]
        axes.bar(places, list(costs_.values()), width, label=site)
    steps = list(next(iter(multiples.values())))
    axes.set_xticks(range(len(steps)), steps)
    axes.set_ylabel("processor time / bare parse")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, metadata={"Date": None})


def median(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def costs(site: Path, bodies: list[bytes], lexicons: list[Path]) -> Iterator[tuple[str, Cost]]:
    """Measure everything once."""
    yield "bare parse", cost_of(bare_parse, bodies)
    yield "parse", cost_of(parse, bodies)
    meta = json.loads((site / "meta.json").read_text(encoding="utf-8"))
    langs = ",".join(base_language(meta[key]) for key in ("lang_a", "lang_b"))
    pages = (str(site / "site"), "--base-url", f"http://{meta['host']}/")
    matching = ("--langs", langs, "-q", *(text for lexicon in lexicons for text in ("--lexicon", str(lexicon))))
    with tempfile.TemporaryDirectory() as out:
        yield "ingest", run("ingest", *pages, "-o", out, "-q", *ALONE)
        yield "match", run("match", out, *matching, *ALONE)
    for name, workers in (("mine", ALONE), ("all cores", ())):
        with tempfile.TemporaryDirectory() as out:
            yield name, run("mine", *pages, "-o", out, *matching, *workers)


def bare_parse(body: bytes) -> None:
    """Parse a page and keep nothing of it."""
    target: Any = _Nothing()  # the stubs ask for methods that lxml does not need
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    parser.feed(body or b"<html/>")
    parser.close()


def parse(body: bytes) -> None:
    """Parse a page as the crawler and the readers do."""
    parse_page(body, "http://site.example/page.html")


def cost_of(function: Callable[[bytes], None], bodies: list[bytes]) -> Cost:
    """Return the cost of a function over all pages."""
    cpu, wall = time.process_time(), time.perf_counter()
    for body in bodies:
        function(body)
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)


def run(*args: str) -> Cost:
    """Run a command of twinlink to its end, in a process of its own, with all processes that it starts."""
    start = time.perf_counter()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
    with subprocess.Popen([sys.executable, "-m", "twinlink", *args], stdout=subprocess.DEVNULL, env=env) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
