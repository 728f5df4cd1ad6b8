"""Cost of `mine` on a site of several languages, every two of which are matched, by number of workers.

::

    python -m experiments.bench.bench_languages SITE_FOLDER … [--workers 1 2] [--runs 3]

The folders, of one host, are read as one site: what `experiments.sites` makes of one source in several languages, with
plain addresses. A line has the pairs, the mean F1 on the known pairs of the folders, the wall time, the processor time
of all processes, and the memory of the largest.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from experiments.bench.bench_site import Cost, median, run
from experiments.cases import langs_of, read_meta
from twinlink.errors import InputError
from twinlink.evaluation.gold import evaluate
from twinlink.languages import base_language

__all__ = ["main", "mined"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", type=Path, nargs="+", help="site folders of one host")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    try:
        options = _options(given.sites)
    except InputError as error:
        parser.error(str(error))
    for n in given.workers:
        rounds = [mined(given.sites, [*options, "--workers", str(n)]) for _ in range(given.runs)]
        cost = median([cost for cost, *_ in rounds])
        _, n_pairs, f1 = rounds[0]
        print(
            f"{n} workers: {n_pairs:,} pairs, F1 {f1:.3f}, {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU,"
            f" peak {cost.peak:.0f} MB"
        )


def _options(sites: Sequence[Path]) -> list[str]:
    """Return the options that name the host and all languages of some site folders.

    Raises
    ------
    InputError
        If they have different hosts.
    """
    known = [read_meta(site) for site in sites]
    hosts = sorted({meta["host"] for meta in known})
    if len(hosts) > 1:
        raise InputError(f"expected site folders of one host, got {', '.join(hosts)}")
    langs = dict.fromkeys(lang for meta in known for lang in langs_of(meta))
    return ["--base-url", f"http://{hosts[0]}/", "--langs", ",".join(langs)]


def mined(sites: Sequence[Path], options: Sequence[str]) -> tuple[Cost, int, float]:
    """Mine some site folders as one site; return the cost, the number of pairs, and the mean F1 on known pairs."""
    with tempfile.TemporaryDirectory() as out:
        cost = run("mine", *(str(site / "site") for site in sites), *options, "-o", out, "-q")
        with (Path(out) / "pairs.tsv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
    scores = []
    for site in sites:
        langs = set(map(base_language, langs_of(read_meta(site))))
        pairs = [
            (row["url_a"], row["url_b"])
            for row in rows
            if {*map(base_language, (row["lang_a"], row["lang_b"]))} <= langs
        ]
        scores.append(evaluate(pairs, site / "gold.tsv").f1 or 0.0)
    return cost, len(rows), statistics.fmean(scores)


if __name__ == "__main__":
    main()
