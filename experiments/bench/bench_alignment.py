"""Speed of aligning linearised pages, compared with a plain Python table.

::

    python -m experiments.bench.bench_alignment SITE_FOLDER [--pairs 20000] [--plain 20] [--runs 5]

The pairs are those of the site's ``gold.tsv`` over and over, until there are enough. ``with chunk pairs`` finds all
numbers of `twinlink.baselines.alignment.align`, ``cost alone`` leaves out what needs the aligned chunks, ``RapidFuzz``
is W by its Indel distance from lists of integers, one pair a call, and ``plain table`` is
`tests.baselines.alignment_reference`, on some of the pairs, evenly spread. All on one core, in processor time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from tests.baselines.alignment_reference import align_chunks
from twinlink.baselines.alignment import align
from twinlink.pages.linearise import linearise

__all__ = ["main", "print_rates", "read_pairs", "seconds_of"]

Tokens = NDArray[np.int32]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("site", type=Path, help="site folder with site/ and gold.tsv")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs to align (default: 20000)")
    parser.add_argument("--plain", type=int, default=20, help="pairs for the plain table (default: 20)")
    parser.add_argument("--runs", type=int, default=5, help="runs that a median is taken over (default: 5)")
    given = parser.parse_args(arguments)
    start = time.process_time()
    side_a, side_b = read_pairs(given.site)
    seconds = time.process_time() - start
    sizes = np.array([len(tokens) for tokens in (*side_a, *side_b)])
    print(f"{given.site.resolve().name}: {len(side_a)} pairs, {sizes.mean():.0f} tokens a page (most: {sizes.max()})")
    print(f"  linearise         {len(sizes) / seconds:12,.0f} pages/s")
    print_rates(side_a, side_b, given.pairs, given.plain, given.runs)


def read_pairs(site: Path) -> tuple[list[Tokens], list[Tokens]]:
    """Linearise both pages of each gold pair."""
    lines = (site / "gold.tsv").read_text(encoding="utf-8").split()
    pages = [linearise((site / "site" / path.lstrip("/")).read_bytes()).tokens for path in lines]
    return pages[::2], pages[1::2]


def print_rates(side_a: list[Tokens], side_b: list[Tokens], n_pairs: int, n_plain: int, runs: int) -> None:
    """Time all four, with the same pairs for a comparison, and check that they agree."""
    places = np.arange(n_pairs) % len(side_a)
    align(side_a, side_b, places[:1], places[:1])  # compiles
    for name, chunks in (("with chunk pairs", True), ("cost alone", False)):
        _print(name, n_pairs, seconds_of(partial(align, side_a, side_b, places, places, chunks=chunks), runs))
    lists_a, lists_b = ([np.minimum(tokens, 1).tolist() for tokens in side] for side in (side_a, side_b))
    seconds = seconds_of(lambda: list(map(Indel.distance, lists_a, lists_b)), runs)
    _print("RapidFuzz", len(side_a), seconds)
    some = np.linspace(0, len(side_a) - 1, min(n_plain, len(side_a))).astype(int)
    plain: list[tuple[int, int]] = []

    def align_plainly() -> None:
        for k in some:
            cost, pairs = align_chunks(lists_a[k], lists_b[k])
            plain.append((cost, len(pairs)))

    seconds = seconds_of(align_plainly, 1)
    _print(f"plain table ({len(some)})", len(some), seconds)
    again = np.repeat(some, 100)
    fast = seconds_of(partial(align, side_a, side_b, again, again), runs) / 100
    _print("kernel on these", len(some), fast)
    found = align(side_a, side_b, some, some)
    same = list(zip(found.cost.tolist(), found.aligned.tolist(), strict=True)) == plain
    same &= align(side_a, side_b, range(len(side_a)), range(len(side_a))).cost.tolist() == list(
        map(Indel.distance, lists_a, lists_b)
    )
    print(f"  ratio of these    {seconds / max(fast, 1e-9):12,.0f}   (equal: {same})")


def seconds_of(call: Callable[[], object], runs: int) -> float:
    """Run ``call`` some times and return the median of its processor time."""
    used = []
    for _ in range(runs):
        start = time.process_time()
        call()
        used.append(time.process_time() - start)
    return statistics.median(used)


def _print(name: str, n_pairs: int, seconds: float) -> None:
    print(f"  {name:17} {n_pairs / max(seconds, 1e-9):12,.0f} pairs/s")


if __name__ == "__main__":
    main()
