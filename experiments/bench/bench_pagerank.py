"""PageRank: time and memory by the number of edges, compared with igraph and networkx, and the error of each.

::

    python -m experiments.bench.bench_pagerank [--sizes 1000000:10000000] [--igraph 1000000:10000000]
                                               [--networkx 100000:1000000] [--seed 0] [--tolerance 1e-9]

igraph is not a dependency of the project: ``pip install igraph`` first, or give ``--igraph`` without a size.

Sizes are nodes:edges. Graphs are made: numbers of links out and in have heavy tails, a fifth of the nodes has no links
out. Each size is ranked in a process of its own. ``build`` is the time to make the matrix or graph from arrays, which
networkx needs most of its time for; ``CPU`` is that of the ranking alone. Memory is the peak of the process over what
it had before the graph. ``L1 off`` is Σ|x - x*| with x* ours at a tolerance of 1e-14. networkx stops at n·tol, so it is
given the tolerance divided by n.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.graph.ranking import pagerank

G = TypeVar("G")
R = TypeVar("R")
HEADS = ("nodes", "edges", "by", "build s", "CPU s", "wall s", "steps", "ms a step", "peak MB", "L1 off")
DANGLING = 0.2
TAIL = 3.0  # targets are n·u^TAIL: the most linked of a million nodes has some 1 % of all links


def main() -> None:
    """Print a row for each size and each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", nargs="*", type=_size, default=["1000000:10000000"])
    parser.add_argument("--igraph", nargs="*", type=_size, default=["1000000:10000000"])
    parser.add_argument("--networkx", nargs="*", type=_size, default=["100000:1000000"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    parser.add_argument("--one", nargs=3, metavar=("BY", "NODES", "EDGES"), help="measure in this process")
    given = parser.parse_args()
    if given.one:
        by, n, m = given.one
        print(*measure(by, int(n), int(m), given.seed, given.tolerance))
        return
    jobs = [(size, "twinlink") for size in given.sizes]
    for other, sizes in (("igraph", given.igraph), ("networkx", given.networkx)):
        if sizes and find_spec(other) is None:
            print(f"without {other}, which is not installed")
            continue
        jobs += [(size, by) for size in sizes for by in ("twinlink", other) if (size, by) not in jobs]
    print("".join(f"{head:>11}" for head in HEADS))
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


def _size(text: str) -> str:
    """Return a size that is written as nodes:edges."""
    if not re.fullmatch(r"\d+:\d+", text):
        raise argparse.ArgumentTypeError(f"expected NODES:EDGES such as 1000000:10000000, got {text!r}")
    return text


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
    pagerank(_matrix(*made_graph(10_000, 100_000, seed)))  # loads the compiled loop
    base = _peak()
    indptr, targets = made_graph(n, m, seed)
    found = _RANKERS[by](indptr, targets, tolerance)
    exact = pagerank(found.links, tolerance=1e-14, max_iterations=300).scores if m <= 2 * 10**7 else None
    off = np.nan if exact is None else float(np.abs(found.scores - exact).sum())
    return found.build, found.cpu, found.wall, found.steps, found.peak - base, off


class _Ranked(NamedTuple):
    """Cost and result of one program; seconds, megabytes."""

    links: csr_array
    scores: NDArray[np.float64]
    steps: int
    build: float
    cpu: float
    wall: float
    peak: float


def _rank(build: Callable[[], G], rank: Callable[[G], R]) -> tuple[G, R, tuple[float, float, float, float]]:
    """Build a graph and rank its nodes; return both results, and processor time to build, that to rank, wall, peak."""
    start = time.process_time()
    graph = build()
    cpu, wall = time.process_time(), time.perf_counter()
    ranked = rank(graph)
    return graph, ranked, (cpu - start, time.process_time() - cpu, time.perf_counter() - wall, _peak())


def _by_twinlink(indptr: NDArray[np.int64], targets: NDArray[np.int32], tolerance: float) -> _Ranked:
    links, found, cost = _rank(lambda: _matrix(indptr, targets), lambda graph: pagerank(graph, tolerance=tolerance))
    return _Ranked(links, found.scores, found.n_iterations, *cost)


def _by_networkx(indptr: NDArray[np.int64], targets: NDArray[np.int32], tolerance: float) -> _Ranked:
    import networkx as nx

    n = len(indptr) - 1

    def build() -> Any:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(zip(_sources(indptr).tolist(), targets.tolist(), strict=True))
        return graph

    graph, named, cost = _rank(build, lambda graph: nx.pagerank(graph, tol=tolerance / n, max_iter=1_000))
    links = nx.to_scipy_sparse_array(graph, dtype=np.float64)
    return _Ranked(links, np.array([named[node] for node in range(n)]), 0, *cost)


def _by_igraph(indptr: NDArray[np.int64], targets: NDArray[np.int32], tolerance: float) -> _Ranked:  # noqa: ARG001
    import igraph  # its method has no tolerance

    edges = np.column_stack([_sources(indptr), targets])
    _, scores, cost = _rank(
        lambda: igraph.Graph(n=len(indptr) - 1, edges=edges, directed=True), lambda graph: graph.pagerank()
    )
    return _Ranked(_matrix(indptr, targets), np.array(scores), 0, *cost)


_RANKERS = {"twinlink": _by_twinlink, "networkx": _by_networkx, "igraph": _by_igraph}


def _matrix(indptr: NDArray[np.int64], targets: NDArray[np.int32]) -> csr_array:
    n = len(indptr) - 1
    starts = indptr.astype(np.int32 if len(targets) < 2**31 else np.int64)
    return csr_array((np.ones(len(targets)), targets, starts), shape=(n, n))


def _sources(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
