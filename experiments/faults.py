"""The fault table: what servers, networks, disks and archives do to a crawl, each brought about for real.

    python -m experiments.faults [--moments 20] [--pages 400] [--seed 2014] [--no-tests]

First one crawl is killed with SIGKILL at ``--moments`` random moments and resumed after each; the row says how many
pages were lost, and how many were fetched twice beyond those in flight. Then the tests that bring the other faults
about are run, and each row tells what a test found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET  # what is read is our own
from collections import Counter
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from experiments.bench.webserver import Site, path_of, read_log, serving

ROOT = Path(__file__).resolve().parent.parent
CONCURRENCY = 4
CRAWL = """
import sys
from pathlib import Path
from twinlink.config import CrawlSettings
from twinlink.spiders.crawl import crawl
crawl([sys.argv[1]], Path(sys.argv[2]), CrawlSettings(concurrency=int(sys.argv[3]), autothrottle=False))
"""

FAULTS = {
    "SIGKILL at random moments, in the test suite": "test_crawl.py::test_killed_at_any_moment",
    "the crawler's process dies": "test_crawl.py::test_a_crawler_that_dies",
    "disk full: ledger, journal, archive; resumed": "test_faults.py::test_a_full_disk_loses_nothing",
    "connection reset or cut in a body, before it, once": "test_faults.py::test_connections_that_break",
    "no answer, time-out, no TLS at the port": "test_crawl.py::test_failures_that_are_no_answers",
    "429 with Retry-After": "test_manners.py::test_nothing_is_sent_while",
    "503 with a long Retry-After": "test_manners.py::test_a_server_that_asks_for_long",
    "429 without end": "test_manners.py::test_a_server_that_is_busy_each_time",
    "slow-loris, endless headers and bodies, header floods, wrong lengths": "test_hostile.py::test_answers_that_do_not",
    "gzip, deflate, br and zstd bombs; odd types; redirects to other schemes": "test_hostile.py::test_bombs_odd_types",
    "XHTML, entities, NULs, 100,000 deep, 20,000 links, dates, charsets, br bomb of 30 MB, redirect loops": (
        "test_faults.py::test_every_hostile_answer"
    ),
    "DNS: no such start": "test_faults.py::test_a_start_page_whose_name_is_not_known",
    "DNS: no such host, rebinding, redirect to a private address": "test_faults.py::test_names_that_lead",
    "a public name with a private address": "test_hostile.py::test_a_public_name_that_leads",
    "robots.txt redirected to a private address": "test_hostile.py::test_a_site_cannot_lead_robots",
    "TLS that fails; expired certificate": "test_faults.py::test_tls_that_fails",
    "robots.txt that changes between two runs": "test_faults.py::test_a_robots_txt_that_changes",
    "robots.txt that cannot be had": "test_manners.py::test_a_server_that_cannot_give",
    "entities in sitemaps": "test_sitemaps.py::test_entities_are_not_expanded",
    "sitemap index that lists itself": "test_sitemaps.py::test_an_index_that_lists_itself",
    "endless calendar, path, query": "test_scope.py::test_calendars_end",
    "one page under endless addresses": "test_sameness.py",
    "paths in archives: addresses": "test_faults.py::test_addresses_in_archives",
    "paths in archives: members of a WACZ": "test_wacz.py::test_names_that_lead_elsewhere",
    "archives cut anywhere, damaged, made to be slow": "test_warc.py",
}
"""The fault, and the tests that bring it about: a file, or the beginning of a test's name in one."""


def killed(n_pages: int, moments: int, seed: int) -> dict[str, int]:
    """Kill one crawl again and again; return what came of it.

    A page is lost when it is not in the archive at the end, and double when it is there more than once; ``twice`` are
    pages that the server sent more than once, ``beyond`` those of them that cannot have been in flight at a kill.
    """
    rng = random.Random(seed)
    when = sorted(rng.sample(range(1, n_pages), moments))
    with tempfile.TemporaryDirectory() as folder:
        log, run = Path(folder) / "log", Path(folder) / "run"
        with serving(log, 1, Site(n_pages, 4, 0.002, 0, 0)) as (url,):
            command = [sys.executable, "-c", CRAWL, url, str(run), str(CONCURRENCY)]
            for moment in when:
                child = subprocess.Popen(command, start_new_session=True)
                while _fetched(run) < moment and child.poll() is None:
                    time.sleep(rng.random() / 50)
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            subprocess.run(command, check=True)
        sent = Counter(request.path for request in read_log(log) if request.path not in ("/robots.txt", "/sitemap.xml"))
        archived = _archived(run / "warc", url)
    pages = {path_of(page) for page in range(n_pages)}
    twice = sum(count - 1 for count in sent.values())
    return {
        "moments": moments,
        "pages": n_pages,
        "lost": len(pages - archived.keys()),
        "double": sum(count - 1 for path, count in archived.items() if path in pages),
        "twice": twice,
        "beyond": max(0, twice - moments * CONCURRENCY),
    }


def _fetched(run: Path) -> int:
    from twinlink.spiders.ledger import ledger_counts

    return ledger_counts(run).done


def _archived(folder: Path, url: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in folder.iterdir():
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.raw_stream.read()
                if record.rec_type == "response":
                    found["/" + record.rec_headers["WARC-Target-URI"].removeprefix(url)] += 1
    return found


def tested() -> list[tuple[str, int, int, float]]:
    """Run the tests; return for each fault how many there are, how many passed, and their seconds."""
    files = sorted({f"tests/spiders/{node.partition('::')[0]}" for node in FAULTS.values()})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        names = " or ".join(node.partition("::")[2] or node.removesuffix(".py") for node in FAULTS.values())
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "-k", names, *files],
            cwd=ROOT, check=False, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        cases = list(ET.parse(report).iter("testcase"))  # noqa: S314
    rows = []
    for fault, node in FAULTS.items():
        file, _, name = node.partition("::")
        fits = [
            case
            for case in cases
            if case.get("classname", "").endswith(file.removesuffix(".py")) and case.get("name", "").startswith(name)
        ]
        passed = sum(not any(child.tag in ("failure", "error", "skipped") for child in case) for case in fits)
        rows.append((fault, len(fits), passed, sum(float(case.get("time", 0)) for case in fits)))
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2014)
    parser.add_argument("--tests", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    found = killed(given.pages, given.moments, given.seed)
    print(json.dumps(found))
    print("| fault | outcome | s |\n|---|---|---|")
    bad = found["lost"] + found["double"] + found["beyond"]
    came_of_it = ", ".join(f"{found[name]} {name}" for name in ("lost", "double", "twice", "beyond"))
    print(f"| SIGKILL at {found['moments']} random moments of {found['pages']} pages | {came_of_it} | |")
    for fault, n, passed, seconds in tested() if given.tests else ():
        bad += n - passed + (not n)
        print(f"| {fault} | {passed} of {n} tests passed | {seconds:.1f} |")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
