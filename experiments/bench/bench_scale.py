"""Cost of matching by the size of a site: processor time, wall time, memory and F1, on sites made from a real one.

::

    python -m experiments.bench.bench_scale SITE_FOLDER [--pages 1000 3000 10000] [--seed 0] [--memory 2GB]

Page n of a made site has the frame of a real page of the same language (its blocks that are on many pages) and blocks
of its own that are drawn from partner pages, the same draw in both languages: page n of one side is the version of page
n of the other. Links are drawn once for both sides. Each size runs in a process of its own. ``--memory`` is the
setting ``run.memory``, and the process gets no more private memory than that (``RLIMIT_DATA``), so that a match that
needs more fails. ``digest`` is that of the pairs with their probabilities, and of all candidates with their evidence.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.cases import Case, open_case
from twinlink.config import MatchSettings
from twinlink.config.config import read_size
from twinlink.graph.links import adjacency
from twinlink.match.evidence import Between, FoundPairs, Side
from twinlink.match.selection import match_sides
from twinlink.system.memory import Memory
from twinlink.system.scratch import scratch_in

SOURCES = 3
"""Number of real pages that the blocks of a generated page come from."""
LINKS = 12
"""Links per page; half of them lead to pages with similar numbers."""
NEAR = 10
FRAME_SHARE = 0.1
"""A block on more than this share of the pages is part of the frame."""


def main() -> None:
    """Print a row for each size, and the exponents of growth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("site", type=Path, help="site folder")
    parser.add_argument("--pages", type=int, nargs="+", default=[1_000, 3_000, 10_000], help="pages per language")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory", default="", help="memory that the match plans by and is limited to, such as 2GB")
    parser.add_argument("--one", action="store_true", help="measure a single size in this process")
    given = parser.parse_args()
    if given.one:
        print(*measure(given.site, given.pages[0], given.seed, read_size(given.memory or 0, "--memory")))
        return
    names = f"{'pages':>7} {'F1':>6} {'CPU s':>8} {'wall s':>8} {'peak MB':>8} {'growth':>7} {'digest':>12}"
    print(f"{given.site.name}\n{names}")
    before: tuple[int, float] | None = None
    for n in given.pages:
        f1, cpu, wall, peak, digest = in_a_process(given.site, n, given.seed, given.memory)
        growth = f"{np.log(cpu / before[1]) / np.log(n / before[0]):.2f}" if before else ""
        print(f"{n:>7} {f1:>6.3f} {cpu:>8.2f} {wall:>8.2f} {peak:>8.0f} {growth:>7} {digest:>12}", flush=True)
        before = n, cpu


def in_a_process(site: Path, n_pages: int, seed: int, memory: str) -> tuple[float, float, float, float, str]:
    """Return F1, CPU seconds, wall seconds, peak megabytes and the digest of one size."""
    command = [sys.executable, "-m", "experiments.bench.bench_scale", str(site), "--one"]
    command += ["--pages", str(n_pages), "--seed", str(seed), f"--memory={memory}"]
    env = os.environ | ({"ARROW_DEFAULT_MEMORY_POOL": "system"} if memory else {})  # Arrow's own reserves a gigabyte
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    *figures, digest = done.stdout.split()[-5:]
    f1, cpu, wall, peak = map(float, figures)
    return f1, cpu, wall, peak, digest


def measure(site: Path, n_pages: int, seed: int, n_bytes: int) -> tuple[float, float, float, float, str]:
    """Generate one site and match it; CPU and wall seconds are those of the matching, without compilation."""
    with open_case(site) as case:
        match_sides(*made_sides(case, 50, seed), [], MatchSettings())
        sides = made_sides(case, n_pages, seed)
    if n_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    cpu, wall = time.process_time(), time.perf_counter()
    with scratch_in(Path(tempfile.gettempdir()), Memory.of(n_bytes).to_keep()):
        matched = match_sides(*sides, [], MatchSettings())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    found = matched.pairs()
    right = sum(a.rpartition("/")[2] == b.rpartition("/")[2] for a, b in found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return 2 * right / (len(found) + n_pages), cpu, wall, peak, digest_of(matched.found)


def digest_of(found: FoundPairs) -> str:
    """Return a digest of the pairs, their probabilities, and the candidates with their evidence."""
    matching, scores = found.matching, found.scores
    arrays = [matching.rows, matching.columns, found.probabilities, scores.indptr, scores.indices, scores.data]
    digest = hashlib.sha256()
    for array in [*arrays, *(found.evidence[kind] for kind in sorted(found.evidence))]:
        digest.update(np.ascontiguousarray(array, np.int64 if array.dtype.kind == "i" else None).tobytes())
    return digest.hexdigest()[:12]


def made_sides(case: Case, n_pages: int, seed: int) -> tuple[Side, Side, Between]:
    """Return two sides of ``n_pages`` pages each, page n of one being the version of page n of the other."""
    pairs = partners(case)
    random = np.random.default_rng(seed)
    frames = random.integers(0, len(pairs), n_pages)
    sources = random.integers(0, len(pairs), (n_pages, SOURCES))
    shares = random.random((n_pages, SOURCES))
    graph = made_links(n_pages, random)
    sides = [
        made_side(side, pairs[:, column], frames, sources, shares, graph)
        for column, side in enumerate((case.side_a, case.side_b))
    ]
    no_pages = np.zeros(0, dtype=np.int64)
    none = csr_array((np.zeros(0, dtype=np.float32), (no_pages, no_pages)), shape=(n_pages, n_pages))
    return sides[0], sides[1], Between(none, none)


def partners(case: Case) -> NDArray[np.int64]:
    """Return (row, column) of the gold pairs."""
    rows, columns = ({case.gold.key(url): i for i, url in enumerate(side.urls)} for side in (case.side_a, case.side_b))
    known = [(rows[a], columns[b]) for a, b in case.gold.pairs if a in rows and b in columns]
    return np.array(sorted(known), dtype=np.int64)


def made_links(n_pages: int, random: np.random.Generator) -> csr_array:
    """Return links of each page, half of them to pages nearby."""
    rows = np.repeat(np.arange(n_pages), LINKS)
    anywhere = random.integers(0, n_pages, len(rows))
    nearby = np.clip(rows + random.integers(-NEAR, NEAR + 1, len(rows)), 0, n_pages - 1)
    return adjacency(rows, np.where(np.arange(len(rows)) % 2, anywhere, nearby), n_pages)


def made_side(
    side: Side,
    pages: NDArray[np.int64],
    frames: NDArray[np.int64],
    sources: NDArray[np.int64],
    shares: NDArray[np.float64],
    graph: csr_array,
) -> Side:
    """Return one side: frames and sources are positions in ``pages``, the real pages that have a partner."""
    limit = FRAME_SHARE * len(side.blocks)
    on = Counter(block for page in side.blocks for block in set(page))
    frame = [[block for block in side.blocks[page] if on[block] > limit] for page in pages]
    own = [[block for block in side.blocks[page] if on[block] <= limit] for page in pages]
    blocks = [
        [*frame[f], *(block for s, share in zip(drawn, kept, strict=True) for block in part_of(own[s], share))]
        for f, drawn, kept in zip(frames.tolist(), sources.tolist(), shares.tolist(), strict=True)
    ]
    tags = [b"".join(side.tags[pages[s]][:300] for s in drawn) for drawn in sources.tolist()]
    urls = [f"http://{side.lang}.made.example/{n}" for n in range(len(blocks))]
    return Side(side.lang, np.arange(len(blocks)), urls, blocks, tags, graph)


def part_of(blocks: Sequence[str], share: float) -> Sequence[str]:
    """Return one half of the blocks, starting at a share of the first half: the same part of both versions."""
    first = int(len(blocks) / 2 * share)
    return blocks[first : first + max(1, len(blocks) // 2)]


if __name__ == "__main__":
    main()
