"""Processor time of short commands: the help, and the whole job on a few pages.

::

    python -m experiments.bench.bench_start [FOLDER …] [--runs 5]

The toy site and each FOLDER of a few pages are mined with compiled code on disk and, as on a new machine, with none.
Modules have their bytecode on disk, as installers write it; the first round, which may write it, does not count.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from twinlink.toy import BASE, write_toy


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    rounds = [dict(measured(given.folders)) for _ in range(1 + given.runs)][1:]
    for name in rounds[0]:
        seconds = statistics.median(each[name] for each in rounds)
        print(f"{name:<50} {seconds:6.2f} s CPU")


def measured(folders: list[Path]) -> Iterator[tuple[str, float]]:
    """Measure each command once."""
    yield "twinlink --help", seconds_of("--help")
    with tempfile.TemporaryDirectory() as name:
        toy = write_toy(Path(name) / "toy")
        for folder in (toy, *folders):
            call = ("mine", folder, "--base-url", BASE, "-q", "-o")
            yield f"mine {folder.name}", seconds_of(*call, Path(name) / f"{folder.name}-warm")
            cold = seconds_of(*call, Path(name) / f"{folder.name}-cold", cache=str(Path(name) / f"cache-{folder.name}"))
            yield f"mine {folder.name}, no compiled code on disk", cold


def seconds_of(*args: object, cache: str = "") -> float:
    """Return the processor time of a command, its start included; numba keeps its code in ``cache`` if named."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"NUMBA_CACHE_DIR": cache} if cache else {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "twinlink", *map(str, args)], env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
