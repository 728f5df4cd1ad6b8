"""Candidates of a large site: known pairs among them, and time, of the search that is made and of an exact one.

::

    python -m experiments.bench.bench_search SITE_FOLDER [--pages 3000 10000 30000] [--products 25000]

The sites are those of ``bench_scale``. For the candidates by content and by structure of the first round, a row has the
share of the known pairs among the candidates and the processor time, with the setting
``match.candidates.products_per_page`` and with all products (exact). The time includes that of the vectors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from experiments.bench.bench_scale import made_sides
from experiments.cases import open_case
from twinlink.config import CandidateSettings, MatchSettings
from twinlink.match.evidence import read_words
from twinlink.similarity.candidates import candidate_pattern, content_votes, tag_vectors

__all__ = ["main", "recall_and_seconds"]

ALL = 2**62
"""Products per page of an exact search."""


def main() -> None:
    """Print a row for each size and kind of candidates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("site", type=Path, help="site folder")
    parser.add_argument("--pages", type=int, nargs="+", default=[3_000, 10_000, 30_000], help="pages per language")
    parser.add_argument("--products", type=int, default=CandidateSettings().products_per_page, help="products per page")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{'pages':>7} {'by':>10} {'recall':>7} {'CPU s':>7} {'exact':>7} {'CPU s':>8}")
    for n in given.pages:
        for kind, search in searches(given.site, n, given.seed).items():
            settings = [CandidateSettings(products_per_page=products) for products in (given.products, ALL)]
            recall_and_seconds(search, CandidateSettings(products_per_page=1))  # compiles
            found, exact = (recall_and_seconds(search, each) for each in settings)
            print(f"{n:>7} {kind:>10} {found[0]:>7.3f} {found[1]:>7.2f} {exact[0]:>7.3f} {exact[1]:>8.2f}", flush=True)


def searches(site: Path, n_pages: int, seed: int) -> dict[str, Callable[[CandidateSettings], csr_array]]:
    """Return the searches for candidates of the first round on a made site."""
    with open_case(site) as case:
        side_a, side_b, _ = made_sides(case, n_pages, seed)
    words = read_words(side_a, side_b, [], MatchSettings())
    counts = words.a.counts, words.b.counts
    return {
        "content": lambda settings: content_votes(*counts, words.translation, settings),
        "structure": lambda settings: candidate_pattern(*tag_vectors(side_a.tags, side_b.tags), settings),
    }


def recall_and_seconds(
    search: Callable[[CandidateSettings], csr_array], settings: CandidateSettings
) -> tuple[float, float]:
    """Return the share of pairs (n, n) among the candidates, and the processor time of the search."""
    before = time.process_time()
    found = search(settings)
    seconds = time.process_time() - before
    return float(np.mean(found.diagonal() > 0)), seconds


if __name__ == "__main__":
    main()
