"""Time and memory of reading a host graph of Common Crawl's form, made at random.

::

    python -m experiments.bench.bench_webgraph FOLDER [--hosts 10000000] [--edges 100000000] [--sites 50000]
                                               [--steps 20]

Makes the two files in the folder, unless they are there (about 6 bytes per edge, packed), and reads them as
``twinlink rank --host-graph`` does. The linked hosts are skewed: the first tenth of them gets nearly half of the links.
A tenth of the sites are crawled. Times include everything but the making of the files.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from experiments.tables import print_grid
from twinlink.sites.web_files import WebFiles
from twinlink.sites.web_graph import read_web_graph

__all__ = ["main", "make_graph", "site_names"]

STEP = 1_000_000
HOSTS_OF_A_SITE = ("", ".sub", ".blog")
ENDINGS = ("com", "org")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the files, read them, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hosts", type=int, default=10_000_000)
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--sites", type=int, default=50_000)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args(arguments)
    files = make_graph(given.folder, given.hosts, given.edges)
    rng = np.random.default_rng(1)
    names = site_names(rng.choice(given.hosts // 3, given.sites, replace=False).tolist())
    crawled = np.arange(given.sites) < given.sites // 10
    start, worked = time.perf_counter(), time.process_time()
    found = read_web_graph(files, names, rng.random(given.sites), crawled, given.folder, steps=given.steps)
    minutes, seconds = (time.perf_counter() - start) / 60, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print_grid(
        "Host graph",
        [
            ["hosts", "edges", "sites", "linked sites", "minutes", "processor s", "peak MB"],
            [
                *(f"{n:,}" for n in (given.hosts, given.edges, given.sites, int((found.hosts > 0).sum()))),
                f"{minutes:.1f}",
                f"{seconds:.0f}",
                f"{peak:,.0f}",
            ],
        ],
    )


def make_graph(folder: Path, hosts: int, edges: int) -> WebFiles:
    """Make the files of a graph, unless they are there; three hosts make a site."""
    folder.mkdir(parents=True, exist_ok=True)
    vertices, links = (folder / f"{kind}-{hosts}-{edges}.txt.gz" for kind in ("vertices", "edges"))
    rng = np.random.default_rng(0)
    if not vertices.exists():
        with gzip.open(vertices, "wb", compresslevel=1) as file:
            for first in range(0, hosts, STEP):
                rows = range(first, min(hosts, first + STEP))
                file.write("".join(f"{k}\t{_host(k)}\n" for k in rows).encode())
    if not links.exists():
        with gzip.open(links, "wb", compresslevel=1) as file:
            for first in range(0, hosts, STEP):
                last = min(hosts, first + STEP)
                size = edges * last // hosts - edges * first // hosts
                columns = np.sort(rng.integers(first, last, size)), (hosts * rng.random(size) ** 3).astype(np.int64)
                text = pa.BufferOutputStream()
                options = csv.WriteOptions(include_header=False, delimiter="\t")
                csv.write_csv(pa.table(list(columns), ["from", "to"]), text, options)
                file.write(text.getvalue())
    return WebFiles([vertices], [links])


def _host(number: int) -> str:
    site = number // len(HOSTS_OF_A_SITE)
    return f"{ENDINGS[site % len(ENDINGS)]}.site{site}{HOSTS_OF_A_SITE[number % len(HOSTS_OF_A_SITE)]}"


def site_names(sites: Sequence[int]) -> list[str]:
    """Return the names of some sites.

    >>> site_names([4])
    ['site4.com']
    """
    return [f"site{site}.{ENDINGS[site % len(ENDINGS)]}" for site in sites]


if __name__ == "__main__":
    main()
