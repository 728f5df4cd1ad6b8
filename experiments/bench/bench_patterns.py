"""Cost of learning URL patterns by the number of addresses: processor time, wall time, memory, result.

::

    python -m experiments.bench.bench_patterns [--urls 100000 1000000 10000000] [--seed 0] [--workers 2]

Sites are made (`experiments.made_urls`), 12,800 of them for 10,000,000 addresses and their share for fewer, and written
to one Parquet file before the clock starts, a row group a site. Each size is learned in a process of its own, compiled
code loaded before: reading the file, patterns of every site, and the library of all of them. Memory is the peak of the
process over what it had after loading. ``pairs`` and their precision and recall are of credible and rescued patterns.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.made_urls import made_site, site_sizes
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.learning import SitePatterns, learn_patterns
from twinlink.patterns.library import PatternLibrary

SITES_A_URL = 12_800 / 10_000_000
HEADS = ("urls", "sites", "largest", "CPU s", "wall s", "peak MB", "µs a URL", "growth", "pairs", "P", "R")


def main() -> None:
    """Print a row for each size, and the exponents of growth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--urls", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="threads")
    parser.add_argument("--one", type=Path, help="learn the sites of this file in this process")
    given = parser.parse_args()
    if given.one:
        print(*measure(given.one, given.workers))
        return
    print("".join(f"{head:>10}" for head in HEADS))
    before: tuple[int, float] | None = None
    for n in given.urls:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "urls.parquet"
            n_urls, n_sites, largest = write_sites(file, n, given.seed)
            cpu, wall, peak, pairs, right, gold = in_a_process(file, given.workers)
        growth = f"{np.log(cpu / before[1]) / np.log(n_urls / before[0]):.2f}" if before else ""
        counts = f"{n_urls:>10}{n_sites:>10}{largest:>10}{cpu:>10.1f}{wall:>10.1f}{peak:>10.0f}"
        quality = f"{pairs:>10.0f}{right / max(1, pairs):>10.3f}{right / max(1, gold):>10.3f}"
        print(f"{counts}{cpu / n_urls * 1e6:>10.1f}{growth:>10}{quality}", flush=True)
        before = n_urls, cpu


def write_sites(file: Path, n_urls: int, seed: int) -> tuple[int, int, int]:
    """Write made sites; return the number of addresses and of sites, and the size of the largest."""
    rng = np.random.default_rng(seed)
    sizes = site_sizes(n_urls, max(1, round(n_urls * SITES_A_URL)), rng)
    schema = pa.schema([("url", pa.large_string()), ("page", pa.int32())])
    total = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for number, size in enumerate(sizes):
            site = made_site(number, size, rng)
            page = np.arange(len(site.urls), dtype=np.int32)  # versions of one page have the same number
            for a, b in site.pairs:
                page[b] = page[a]
            writer.write_table(pa.table([site.urls, page], schema=schema))
            total += len(site.urls)
    return total, len(sizes), max(sizes)


def in_a_process(file: Path, workers: int) -> tuple[float, ...]:
    """Return CPU seconds, wall seconds, peak megabytes, pairs, right pairs and known pairs."""
    command = [sys.executable, "-m", "experiments.bench.bench_patterns", "--one", str(file), "--workers", str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return tuple(map(float, done.stdout.split()[-6:]))


def measure(file: Path, workers: int) -> tuple[float, ...]:
    """Learn the patterns of all sites, then rescue weak ones with the library of all sites."""
    learn_patterns([f"http://x.hk/{lang}/{k}{tail}.htm" for lang in "ec" for tail in ("", "e") for k in range(99)])
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, wall = time.process_time(), time.perf_counter()
    library = PatternLibrary()
    n_groups = pq.ParquetFile(file).num_row_groups
    found: list[SitePatterns] = []
    with ThreadPoolExecutor(workers) as executor:
        parts = np.array_split(np.arange(n_groups), max(1, n_groups // 20))
        for learned in executor.map(partial(_learn, file), parts):
            for site in learned:
                library.add(site)
                found.append(site)
    keys = credible_keys(library)
    found = [site.judged(keys) for site in found]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - base
    return (cpu, wall, peak, *_quality(file, found))


def _learn(file: Path, groups: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[SitePatterns]:
    source = pq.ParquetFile(file)
    return [learn_patterns(source.read_row_group(k, columns=["url"])["url"]) for k in groups.tolist()]


def _quality(file: Path, found: list[SitePatterns]) -> tuple[int, int, int]:
    """Return the number of pairs, of right pairs, and of known pairs (every pair of versions of a page)."""
    source = pq.ParquetFile(file)
    n_pairs, n_right, n_gold = 0, 0, 0
    for k, site in enumerate(found):
        page = source.read_row_group(k, columns=["page"])["page"].to_numpy()
        versions = np.bincount(page)
        n_gold += int((versions * (versions - 1) // 2).sum())
        if not site.patterns:
            continue
        used = site.used()
        a, b = site.sources[used], site.targets[used]
        n_pairs += len(a)
        n_right += int((page[a] == page[b]).sum())
    return n_pairs, n_right, n_gold


if __name__ == "__main__":
    main()
