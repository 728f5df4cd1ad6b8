"""All benchmarks of cost, one after another: each prints its own table.

::

    python -m experiments.bench SITES [--runs 3] [--svg bench.svg] [--only site ets …]

SITES is the folder of the site folders that `experiments.sites` makes; those of docs/results/cost.md are used,
as far as they exist. The tables are those of ``bench_site`` (stages as multiples of a bare parse), ``bench_start``,
``bench_scale``, ``bench_ets``, ``bench_pagerank``, ``bench_patterns``, ``bench_bitext`` and ``bench_review``; their
help says what is measured. The whole takes long, and the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from twinlink.errors import InputError

__all__ = ["commands", "main"]

SITES = ("lo-en-zhtw-opaque", "lo1000-en-ptbr-opaque", "apache-en-fr-opaque", "wetdist-en-fr-opaque")
GROWN = "lo1000-en-ptbr-opaque"
"""The site whose blocks the sites of all sizes are made from."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables; return 1 if a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", type=Path, help="folder of site folders")
    parser.add_argument("--runs", type=int, default=3, help="runs that medians are taken over (default: 3)")
    parser.add_argument("--svg", type=Path, help="draw the multiples of the bare parse")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the benchmarks, such as: site ets")
    given = parser.parse_args(arguments)
    try:
        wanted = commands(given.sites, given.runs, given.svg, given.only)
    except InputError as error:
        parser.error(str(error))
    failed = []
    for name, options in wanted.items():
        command = ["-m", f"experiments.bench.bench_{name}", *options]
        print(f"\n$ python {' '.join(command)}", flush=True)
        if subprocess.run([sys.executable, *command], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def commands(
    sites: Path, runs: int, svg: Path | None = None, only: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """Return the options of each benchmark, in the order in which they run.

    Raises
    ------
    InputError
        If a name in ``only`` is none of the benchmarks, or a site that one of them needs is missing.
    """
    found = [str(sites / name) for name in SITES if (sites / name / "meta.json").is_file()]
    repeated = ["--runs", str(runs)]
    every = {
        "site": [*found, *repeated, *(["--svg", str(svg)] if svg else [])],
        "start": repeated,
        "scale": [str(sites / GROWN), "--pages", "1000", "3000", "10000", "30000"],
        "ets": [*repeated, "--threads", "1"],
        "pagerank": [] if find_spec("igraph") else ["--igraph"],  # without a size: it is not a dependency
        "patterns": [],
        "bitext": [],
        "review": [],
    }
    unknown = [name for name in only or () if name not in every]
    if unknown:
        raise InputError(f"--only: expected some of {', '.join(every)}, got {', '.join(unknown)}")
    wanted = {name: options for name, options in every.items() if not only or name in only}
    if ("site" in wanted and not found) or ("scale" in wanted and str(sites / GROWN) not in found):
        raise InputError(f"{sites}: expected the site folders {', '.join(SITES)}; make them with experiments.sites")
    return wanted


if __name__ == "__main__":
    sys.exit(main())
