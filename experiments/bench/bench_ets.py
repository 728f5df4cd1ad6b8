"""Speed of ETS, on random sites of the size of the largest of Liu et al. 2014 (their Table 1, S6).

::

    python -m experiments.bench.bench_ets [--runs 5] [--threads 2]

Prints the median of some runs for: three rounds on the large site; the same where every page also links to a common
menu; one round of the compiled kernel against the plain reference on a small site; and what the first call of a
process costs. Processor time is printed beside the time on the clock, because other programs on the machine move only
the latter.
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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tests.graph import reference
from twinlink.config import EtsSettings
from twinlink.graph.links import adjacency, neighbours
from twinlink.graph.matching import greedy_matching
from twinlink.graph.propagation import enhanced_similarity, external_similarity

SECTION = 100
"""Pages per section; most links and most wrong candidates are within a section."""

FIRST_CALL = """
import time
start = time.perf_counter()
import numpy as np
from scipy.sparse import csr_array
from twinlink.config import EtsSettings
from twinlink.graph.links import adjacency, neighbours
from twinlink.graph.propagation import enhanced_similarity
imported = time.perf_counter()
n = 50_000  # a chain of so many pages: the interpreter does the work where there is less
links = neighbours(adjacency(np.arange(n - 1), np.arange(1, n), n))
pages, same = np.arange(n), np.ones(n, np.float32)
enhanced_similarity(csr_array((same, (pages, pages)), shape=(n, n)), links, links, EtsSettings())
print(imported - start, time.perf_counter() - imported)
"""

Pages = NDArray[np.int64]


class Site(NamedTuple):
    """S_in and the neighbours of both sides; page p of one side is the translation of page p of the other."""

    internal: csr_array
    source: csr_array
    target: csr_array


class Times(NamedTuple):
    """Medians over some runs, in seconds."""

    clock: float
    processor: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="runs that a median is taken over (default: 5)")
    parser.add_argument("--pages", type=int, nargs=2, default=(4733, 4626), metavar="N", help="pages of the large site")
    parser.add_argument("--small", type=int, default=500, metavar="N", help="pages per language of the small site")
    parser.add_argument("--candidates", type=int, default=20, help="candidates of a page, each way (default: 20)")
    parser.add_argument("--neighbours", type=int, default=45, help="neighbours of a page (default: 45)")
    parser.add_argument("--menu", type=int, default=50, help="pages that every page links to in the second row")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None, help="default: the processors of this machine")
    given = parser.parse_args()
    print_first_call()
    n_source, n_target = given.pages
    for menu in (0, given.menu):
        site = make_site(n_source, n_target, given.candidates, given.neighbours, menu)
        print_large(site, given.rounds, given.threads, given.runs)
    small = make_site(given.small, given.small, given.candidates, given.neighbours)
    print_ratio(small, given.threads, given.runs)


def make_site(n_source: int, n_target: int, candidates: int, degree: int, menu: int = 0) -> Site:
    """Generate a site with nine of ten links the same on both sides.

    A page has ``degree`` neighbours on average, in addition to those of the menu. Its candidates are its translation
    and random pages, half of them from its own section; the score of its translation is higher by 0.3.
    """
    rng = np.random.default_rng(0)
    edges = _some_edges(rng, n_source, degree)
    common = edges[(edges < n_target).all(axis=1) & (rng.random(len(edges)) < 0.9)]
    other = _some_edges(rng, n_target, degree, common)
    return Site(
        internal=_some_scores(rng, n_source, n_target, candidates),
        source=_linked(edges, n_source, menu),
        target=_linked(other, n_target, menu),
    )


def print_first_call() -> None:
    """Time the import and the first call in new processes, without and with compiled code on disk."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        for name in ("compiled anew", "code on disk"):
            command = [sys.executable, "-c", FIRST_CALL]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            imported, called = (float(seconds) for seconds in done.stdout.split())
            print(f"first call, {name}: import {imported:.2f} s, call {called:.2f} s")


def print_large(site: Site, rounds: int, threads: int | None, runs: int) -> None:
    """Time all rounds and the matching on one site."""
    settings = EtsSettings(rounds=rounds)
    result = enhanced_similarity(*site, settings, threads)
    ets = median_times(lambda: enhanced_similarity(*site, settings, threads), runs)
    matching = median_times(lambda: greedy_matching(result.scores), runs)
    print(f"\n{describe(site)}")
    print(f"  {rounds} rounds of ETS   {ets.clock:8.4f} s  (processor {ets.processor:.4f} s)")
    print(f"  matching           {matching.clock:8.4f} s  (processor {matching.processor:.4f} s)")


def print_ratio(site: Site, threads: int | None, runs: int) -> None:
    """Time one round of both implementations on one site, and compare their results."""
    fast = median_times(lambda: external_similarity(*site, threads), runs)
    found = reference.as_dict(external_similarity(*site, threads))
    scores, sets = reference.as_dict(site.internal), (reference.as_sets(site.source), reference.as_sets(site.target))
    expected: dict[tuple[int, int], float] = {}
    plain = median_times(lambda: expected.update(reference.external_similarity(scores, *sets)), 1)
    print(f"\n{describe(site)}")
    print(f"  1 round, kernel    {fast.clock:8.4f} s  (processor {fast.processor:.4f} s)")
    print(f"  1 round, reference {plain.clock:8.4f} s  (processor {plain.processor:.4f} s)")
    print(f"  ratio              {plain.processor / fast.processor:8.0f}    (processor; equal: {found == expected})")


def describe(site: Site) -> str:
    """Return the size of a site in one line."""
    n_source, n_target = site.internal.shape
    degrees = site.source.nnz / n_source, site.target.nnz / n_target
    return (
        f"{n_source} x {n_target} pages, {site.internal.nnz} candidate pairs, "
        f"{degrees[0]:.0f} and {degrees[1]:.0f} neighbours a page"
    )


def median_times(call: Callable[[], object], runs: int) -> Times:
    """Run ``call`` some times and return the medians."""
    clock, processor = [], []
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return Times(statistics.median(clock), statistics.median(processor))


def _some_edges(rng: np.random.Generator, n: int, degree: int, start: Pages | None = None) -> Pages:
    """Pairs of pages, shape (n * degree / 2, 2): those of ``start``, and others at random, 7 in 10 within a section."""
    wanted = n * min(degree, n - 1) // 2
    edges = np.empty((0, 2), dtype=np.int64) if start is None else start
    while len(edges) < wanted:
        page = rng.integers(0, n, wanted)
        near = page // SECTION * SECTION + rng.integers(0, SECTION, wanted)
        other = np.where(rng.random(wanted) < 0.7, near, rng.integers(0, n, wanted))
        new = np.sort(np.column_stack([page, other]), axis=1)
        new = new[(new[:, 0] != new[:, 1]) & (new[:, 1] < n)]
        _, first = np.unique(np.concatenate([edges, new]), axis=0, return_index=True)
        edges = np.concatenate([edges, new])[np.sort(first)]
    return edges[:wanted]


def _linked(edges: Pages, n: int, menu: int) -> csr_array:
    """Return the neighbours by pairs of pages, and by a menu on every page that links to the first pages."""
    everybody, entry = np.repeat(np.arange(n), menu), np.tile(np.arange(menu), n)
    source, target = np.concatenate([edges[:, 0], everybody]), np.concatenate([edges[:, 1], entry])
    return neighbours(adjacency(source, target, n))


def _some_scores(rng: np.random.Generator, n_source: int, n_target: int, candidates: int) -> csr_array:
    """Return S_in of the translation and of ``candidates - 1`` other pages for each page of either side."""
    rows, columns = _some_candidates(rng, n_source, n_target, candidates)
    columns_too, rows_too = _some_candidates(rng, n_target, n_source, candidates)
    pairs = np.concatenate([rows, rows_too]) * n_target + np.concatenate([columns, columns_too])
    rows, columns = np.divmod(np.unique(pairs), n_target)
    scores = rng.random(rows.size, dtype=np.float32) * np.float32(0.6) + np.float32(0.3) * (rows == columns)
    return csr_array((scores.astype(np.float32), (rows, columns)), shape=(n_source, n_target))


def _some_candidates(rng: np.random.Generator, n: int, n_other: int, candidates: int) -> tuple[Pages, Pages]:
    """Return, for each of ``n`` pages, its translation, if any, and other pages, half of them from its section."""
    page = np.repeat(np.arange(n), candidates)
    place = np.tile(np.arange(candidates), n)
    near = page // SECTION * SECTION + rng.integers(0, SECTION, page.size)
    far = rng.integers(0, n_other, page.size)
    other = np.where(place == 0, page, np.where((place % 2 == 0) & (near < n_other), near, far))
    known = other < n_other
    return page[known], other[known]


if __name__ == "__main__":
    main()
