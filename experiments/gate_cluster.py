"""The accuracy gate through a cluster: local processes and Dask workers give equal scores and equal tables.

::

    python -m experiments.gate_cluster SITES… [--workers 2]

The sites of two languages are mined in one run from WARC files, so that there are several tasks; they need different
hosts. The scheduler and its workers are processes of this machine on the loopback interface. A line for each site has
its F1 by both; a line for each run says whether all of its tables are equal, row by row, with their digest.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq

from experiments.bench.bench_cluster import same_tables, scheduler
from experiments.bench.bench_many import FETCHED
from experiments.cases import find_cases, langs_of, read_meta
from twinlink.config import IngestSettings
from twinlink.evaluation.gold import evaluate, read_gold
from twinlink.ingest.stage import read_source
from twinlink.run import open_run
from twinlink.sources.documents import Document
from twinlink.spiders.warc_writer import WarcWriter

__all__ = ["main"]

HEADERS = [("Content-Type", "text/html")]


class Site(NamedTuple):
    """A site folder."""

    folder: Path
    host: str
    langs: tuple[str, str]

    @classmethod
    def of(cls, folder: Path) -> Site:
        """Read what its ``meta.json`` says."""
        meta = read_meta(folder)
        return cls(folder, meta["host"], langs_of(meta))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table; the exit code is the number of differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", type=Path, nargs="+", help="site folders, or folders of these")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    groups = defaultdict[tuple[str, str], list[Site]](list)
    for folder in find_cases(given.sites):
        site = Site.of(folder)
        if any(site.host == other.host for other in groups[site.langs]):
            sys.exit(f"{folder}: another site has the host {site.host}, too")
        groups[site.langs].append(site)
    print(f"{'site':<32} {'local':>7} {'cluster':>7}")
    with tempfile.TemporaryDirectory() as place, scheduler(given.workers) as address:
        n_other = sum(compare(sites, Path(place), given.workers, address) for sites in groups.values())
    sys.exit(n_other)


def compare(sites: Sequence[Site], place: Path, workers: int, address: str) -> int:
    """Mine the sites of two languages in both ways; print scores and digests, and return the number of differences."""
    langs = ",".join(sites[0].langs)
    archives = place / langs
    archives.mkdir()
    for site in sites:
        archive(site, archives)
    runs = []
    for name, options in (("local", ["--workers", str(workers)]), ("cluster", ["--cluster", address])):
        runs.append(place / f"{langs}-{name}")
        command = [sys.executable, "-m", "twinlink", "mine", str(archives), "--langs", langs, "-q", *options]
        subprocess.run(
            [*command, "--set", "crawl.site_by=host", "-o", str(runs[-1])], check=True, stdout=subprocess.DEVNULL
        )
    n_other = 0
    found = [open_run(run).pairs for run in runs]
    for site in sites:
        local, cluster = (f1(pairs, site) for pairs in found)
        n_other += local != cluster
        print(f"{site.folder.name:<32} {local:7.4f} {cluster:7.4f}{'' if local == cluster else '  DIFFERENT'}")
    is_same = same_tables(*runs)
    digests = [digest(run) for run in runs]
    verdict = f"equal, {digests[0]}" if is_same else f"DIFFERENT, {' and '.join(digests)}"
    print(f"{langs}: {sum(1 for _ in tables(runs[0]))} tables {verdict}", flush=True)
    return n_other + (not is_same)


def archive(site: Site, folder: Path) -> None:
    """Write the pages of a site into a WARC file."""
    writer = WarcWriter(folder, site.folder.name)
    for item in read_source(site.folder / "site", IngestSettings(base_url=f"http://{site.host}/")):
        if isinstance(item, Document) and not item.location:
            path = "/" + item.url.split("/", 3)[3]
            writer.write(item.url, f"GET {path} HTTP/1.1", [], 200, HEADERS, item.body, FETCHED)
    writer.close()


def f1(pairs: pd.DataFrame, site: Site) -> float:
    """Return the F1 of the pairs of a site."""
    own = pairs[pairs["url_a"].str.split("/").str[2] == site.host]
    return evaluate(zip(own["url_a"], own["url_b"], strict=True), read_gold(site.folder / "gold.tsv")).f1


def tables(run: Path) -> Iterator[Path]:
    """Yield the tables of a run by their names."""
    yield from sorted(run.rglob("*.parquet"), key=lambda file: str(file.relative_to(run)))


def digest(run: Path) -> str:
    """Return the digest of the rows of all tables of a run."""
    hasher = hashlib.blake2b(digest_size=8)
    for file in tables(run):
        hasher.update(str(file.relative_to(run)).encode())
        for batch in pq.read_table(file).combine_chunks().to_batches():
            hasher.update(batch.serialize())
    return hasher.hexdigest()


if __name__ == "__main__":
    main()
