"""Speed of parsing, and cost of each stage on a site: processor time and peak memory.

::

    python -m experiments.bench.bench_site SITE_FOLDER [--runs 5] [--lexicons FOLDER]

``parse`` is `parse_page` over all pages, decoding included, on one core; ``bare parse`` is lxml alone building a tree
of the same bytes and walking it, in the same run. ``ingest`` and ``match`` are the stages of the command line, start-up
included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from twinlink.pages.parser import parse_page

CHILD = """
import resource, sys
from twinlink.cli import app
app(sys.argv[1:], standalone_mode=False)
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=sys.stderr)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("site", type=Path, help="site folder")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--lexicon", type=Path, action="append", default=[])
    given = parser.parse_args()
    bodies = [path.read_bytes() for path in sorted((given.site / "site").rglob("*.htm*"))]
    megabytes = sum(map(len, bodies)) / 1e6
    print(f"{given.site.name}: {len(bodies)} pages, {megabytes:.1f} MB; medians of {given.runs} runs")
    for name, function in (("bare parse", bare_parse), ("parse", parse)):
        seconds = statistics.median(cpu_seconds(function, bodies) for _ in range(given.runs))
        print(f"{name:<11} {seconds:7.2f} s CPU  {len(bodies) / seconds:8.0f} pages/s")
    for name, seconds, peak in stages(given.site, given.lexicon, given.runs):
        print(f"{name:<11} {seconds:7.2f} s CPU  {len(bodies) / seconds:8.0f} pages/s  peak {peak:6.0f} MB")


def bare_parse(body: bytes) -> None:
    """Build lxml's tree and walk it."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    for _ in etree.fromstring(body or b"<html/>", parser).iter():
        pass


def parse(body: bytes) -> None:
    """Parse a page as the crawler and the readers do."""
    parse_page(body, "http://site.example/page.html")


def cpu_seconds(function: Callable[[bytes], None], bodies: list[bytes]) -> float:
    """Return the processor time of a function over all pages."""
    start = time.process_time()
    for body in bodies:
        function(body)
    return time.process_time() - start


def stages(site: Path, lexicons: list[Path], runs: int) -> list[tuple[str, float, float]]:
    """Return (stage, CPU seconds, peak megabytes), each stage in a process of its own, medians."""
    meta = json.loads((site / "meta.json").read_text(encoding="utf-8"))
    langs = ",".join(meta[key].replace("_", "-").split("-")[0] for key in ("lang_a", "lang_b"))
    options = [text for lexicon in lexicons for text in ("--lexicon", str(lexicon))]
    figures: dict[str, list[tuple[float, float]]] = {"ingest": [], "match": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as out:
            base = f"http://{meta['host']}/"
            figures["ingest"].append(run("ingest", str(site / "site"), "--base-url", base, "-o", out, "-q"))
            figures["match"].append(run("match", out, "--langs", langs, "-q", *options))
    return [(name, *map(statistics.median, zip(*values, strict=True))) for name, values in figures.items()]


def run(*args: str) -> tuple[float, float]:
    """Run a command of twinlink; return its processor time and its peak memory."""
    done = subprocess.run([sys.executable, "-c", CHILD, *args], capture_output=True, text=True, check=True)
    seconds, peak = done.stderr.split()[-2:]
    return float(seconds), float(peak)


if __name__ == "__main__":
    main()
