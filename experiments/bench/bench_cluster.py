"""Overhead of a cluster on one machine: the same mining with local processes, and with a scheduler and as many workers.

::

    python -m experiments.bench.bench_cluster INPUT … --langs en,zh [--workers 2] [--runs 3]

The scheduler and its workers are processes that run before the first measurement. The two ways alternate; figures are
medians. ``equal`` says whether all tables have the same rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

__all__ = ["main", "same_tables", "scheduler"]

SILENT = subprocess.DEVNULL


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the wall seconds of both ways, their ratio, and whether the tables are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("inputs", type=Path, nargs="+", help="archives or folders")
    parser.add_argument("--langs", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    command = [sys.executable, "-m", "twinlink", "mine", *map(str, given.inputs), "--langs", given.langs]
    seconds: dict[str, list[float]] = {"local": [], "cluster": []}
    with tempfile.TemporaryDirectory() as folder, scheduler(given.workers) as address:
        runs = {way: Path(folder) / way for way in seconds}
        ways = {"local": ["--workers", str(given.workers)], "cluster": ["--cluster", address]}
        for number in range(given.runs + 1):  # the first of each is not counted: workers load what they need
            for way, options in ways.items():
                place = runs[way] / str(number)
                began = time.perf_counter()
                subprocess.run([*command, *options, "--quiet", "-o", str(place)], check=True, stdout=SILENT)
                seconds[way].append(time.perf_counter() - began)
        equal = same_tables(*(place / "0" for place in runs.values()))
    local, cluster = (statistics.median(each[1:]) for each in seconds.values())
    same = "yes" if equal else "no"
    print(f"local {local:.1f} s, cluster {cluster:.1f} s, ratio {cluster / local:.2f}, equal: {same}")


@contextmanager
def scheduler(n_workers: int) -> Iterator[str]:
    """Run a scheduler with some workers on this machine; return its address."""
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "scheduler.json"
        local = ("--host", "127.0.0.1", "--no-dashboard")
        processes = [_dask("scheduler", *local, "--port", "0", "--scheduler-file", str(note))]
        try:
            while not (note.exists() and note.read_text()):
                time.sleep(0.05)
            address: str = json.loads(note.read_text())["address"]
            processes += [_dask("worker", address, *local, "--nthreads", "1", "--no-nanny") for _ in range(n_workers)]
            with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
                client.wait_for_workers(n_workers, timeout=60)
            yield address
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


def _dask(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "dask", *arguments], stdout=SILENT, stderr=SILENT)


def same_tables(first: Path, second: Path) -> bool:
    """Return whether two run directories have the same tables, file by file."""
    files, others = ({path.relative_to(run) for path in run.rglob("*.parquet")} for run in (first, second))
    return files == others and all(pq.read_table(first / path).equals(pq.read_table(second / path)) for path in files)


if __name__ == "__main__":
    main()
