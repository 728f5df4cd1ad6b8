"""PageRank: time and memory by the number of edges, compared with networkx, and the error of both.

::

    python -m experiments.bench.bench_pagerank [--sizes 1000000:10000000] [--networkx 100000:1000000] [--seed 0]
                                               [--tolerance 1e-9]

Sizes are nodes:edges. Graphs are made: numbers of links out and in have heavy tails, a fifth of the nodes has no links
out. Each size is ranked in a process of its own. ``build`` is the time to make the matrix or graph from arrays, which
networkx needs most of its time for; ``CPU`` is that of the ranking alone. Memory is the peak of the process over what
it had before the graph. ``L1 off`` is Σ|x - x*| with x* ours at a tolerance of 1e-14. networkx stops at n·tol, so it is
given the tolerance divided by n.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.graph.ranking import pagerank

HEADS = ("nodes", "edges", "by", "build s", "CPU s", "wall s", "steps", "ms a step", "peak MB", "L1 off")
DANGLING = 0.2
TAIL = 3.0  # targets are n·u^TAIL: the most linked of a million nodes has some 1 % of all links


def main() -> None:
    """Print a row for each size and each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", nargs="*", default=["1000000:10000000"])
    parser.add_argument("--networkx", nargs="*", default=["100000:1000000"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--one", nargs=3, metavar=("BY", "NODES", "EDGES"), help="measure in this process")
    given = parser.parse_args()
    if given.one:
        by, n, m = given.one
        print(*measure(by, int(n), int(m), given.seed, given.tolerance))
        return
    print("".join(f"{head:>11}" for head in HEADS))
    jobs = [(size, "twinlink") for size in given.sizes]
    for size in given.networkx:
        jobs += [(size, by) for by in ("twinlink", "networkx") if (size, by) not in jobs]
    for size, by in jobs:
        n, _, m = size.partition(":")
        options = ["--seed", str(given.seed), "--tolerance", str(given.tolerance), "--one", by, n, m]
        command = [sys.executable, "-m", "experiments.bench.bench_pagerank", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        build, cpu, wall, steps, peak, off = map(float, done.stdout.split())
        row = f"{n:>11}{m:>11}{by:>11}{build:>11.1f}{cpu:>11.2f}{wall:>11.2f}"
        print(
            f"{row}{steps or '?':>11}{cpu / steps * 1e3 if steps else np.nan:>11.1f}{peak:>11.0f}{off:>11.1e}",
            flush=True,
        )


def made_graph(n: int, m: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the links of n nodes as row pointers and targets; a row may contain a target twice."""
    rng = np.random.default_rng(seed)
    share = rng.pareto(1.5, n) + 0.1
    share[rng.random(n) < DANGLING] = 0
    degrees = np.floor(share * (m / share.sum())).astype(np.int64)
    degrees[np.argmax(degrees)] += m - degrees.sum()
    targets = np.empty(m, dtype=np.int32)
    for start in range(0, m, 10**7):
        part = targets[start : start + 10**7]
        part[:] = n * rng.random(len(part)) ** TAIL
    return np.concatenate([[0], np.cumsum(degrees)]), targets


def measure(by: str, n: int, m: int, seed: int, tolerance: float) -> tuple[float, ...]:
    """Return seconds to build, CPU and wall seconds, steps (0: unknown), peak megabytes, distance to the solution."""
    pagerank(csr_array(np.eye(2)))
    base = _peak()
    indptr, targets = made_graph(n, m, seed)
    build = time.process_time()
    if by == "networkx":
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        sources = np.repeat(np.arange(n), np.diff(indptr))
        graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
        del indptr, targets, sources
        build, cpu, wall = time.process_time() - build, time.process_time(), time.perf_counter()
        named = nx.pagerank(graph, tol=tolerance / n, max_iter=1_000)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        scores, steps = np.array([named[node] for node in range(n)]), 0
        peak = _peak() - base
        links = nx.to_scipy_sparse_array(graph, dtype=np.float64)
    else:
        links = csr_array((np.ones(m), targets, indptr.astype(np.int32 if m < 2**31 else np.int64)), shape=(n, n))
        del indptr, targets
        build, cpu, wall = time.process_time() - build, time.process_time(), time.perf_counter()
        found = pagerank(links, tolerance=tolerance)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        scores, steps, peak = found.scores, found.n_iterations, _peak() - base
    exact = pagerank(links, tolerance=1e-14, max_iterations=300).scores if m <= 2 * 10**7 else None
    off = np.nan if exact is None else float(np.abs(scores - exact).sum())
    return build, cpu, wall, steps, peak, off


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
