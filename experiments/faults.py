"""The fault table: effects of servers, networks, disks and archives on a crawl, each produced by a test.

    python -m experiments.faults

Runs the tests that cause the faults; each row has their results. Kills, pauses, hostile sites and files, and large
numbers of damaged archives are tried by `experiments.campaign`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET  # what is read is our own
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FAULTS = {
    "SIGKILL at random moments, in the test suite": "spiders/test_crawling.py::test_killed_at_any_moment",
    "the crawler's process dies": "spiders/test_crawling.py::test_a_crawler_that_dies",
    "disk full: ledger, journal, archive; resumed": "spiders/test_faults.py::test_a_full_disk_loses_nothing",
    "connection reset or cut in a body, before it, once": "spiders/test_faults.py::test_connections_that_break",
    "no answer, time-out, no TLS at the port": "spiders/test_crawling.py::test_failures_that_are_no_answers",
    "429 with Retry-After": "spiders/test_manners.py::test_nothing_is_sent_while",
    "503 with a long Retry-After": "spiders/test_manners.py::test_a_server_that_asks_for_long",
    "one page with a long Retry-After, or late": "spiders/test_manners.py::test_a_page_that",
    "429 without end": "spiders/test_manners.py::test_a_server_that_is_busy_each_time",
    "slow-loris, endless headers and bodies, header floods, wrong lengths": (
        "spiders/test_hostile.py::test_answers_that_do_not"
    ),
    "gzip, deflate, br and zstd bombs; odd types; redirects to other schemes": (
        "spiders/test_hostile.py::test_bombs_odd_types"
    ),
    "XHTML, entities, NULs, 100,000 deep, 20,000 links, dates, charsets, br bomb of 30 MB, redirect loops": (
        "spiders/test_faults.py::test_every_hostile_answer"
    ),
    "DNS: no such start": "spiders/test_faults.py::test_a_start_page_whose_name_is_not_known",
    "DNS: no such host, rebinding, redirect to a private address": "spiders/test_faults.py::test_names_that_lead",
    "a public name with a private address": "spiders/test_hostile.py::test_a_public_name_that_leads",
    "robots.txt redirected to a private address": "spiders/test_hostile.py::test_a_site_cannot_lead_robots",
    "TLS that fails; expired certificate": "spiders/test_faults.py::test_tls_that_fails",
    "robots.txt that changes between two runs": "spiders/test_faults.py::test_a_robots_txt_that_changes",
    "robots.txt that cannot be had": "spiders/test_manners.py::test_a_server_that_cannot_give",
    "entities in sitemaps": "spiders/test_sitemaps.py::test_entities_are_not_expanded",
    "sitemap index that lists itself": "spiders/test_sitemaps.py::test_an_index_that_lists_itself",
    "endless calendar, path, query": "spiders/test_scope.py::test_calendars_end",
    "one page under endless addresses": "spiders/test_sameness.py",
    "session identifiers of any name": "spiders/test_passive_parameters.py",
    "thousands of dead links": "spiders/test_budgets.py::test_a_site_of_dead_links",
    "paths in archives: addresses": "spiders/test_faults.py::test_addresses_in_archives",
    "paths in archives: members of a WACZ": "sources/test_wacz.py::test_names_that_lead_elsewhere",
    "archives cut anywhere, damaged, made to be slow": "spiders/test_warc_writer.py",
}
"""From a fault to the tests that cause it: a file, or the prefix of a test name in a file."""


def tested() -> list[tuple[str, int, int, float]]:
    """Run the tests; return, for each fault, the number of tests, of passed tests, and their seconds."""
    files = sorted({f"tests/{node.partition('::')[0]}" for node in FAULTS.values()})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        names = " or ".join(node.partition("::")[2] or Path(node).stem for node in FAULTS.values())
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
            if case.get("classname", "").endswith(file.removesuffix(".py").replace("/", "."))
            and case.get("name", "").startswith(name)
        ]
        passed = sum(not any(child.tag in ("failure", "error", "skipped") for child in case) for case in fits)
        rows.append((fault, len(fits), passed, sum(float(case.get("time", 0)) for case in fits)))
    return rows


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    bad = 0
    print("| fault | outcome | s |\n|---|---|---|")
    for fault, n, passed, seconds in tested():
        bad += n - passed + (not n)
        print(f"| {fault} | {passed} of {n} tests passed | {seconds:.1f} |")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
