"""Cost of many sites: pages a second and core, peak memory and number of files, by the number of pages.

::

    python -m experiments.bench.bench_many SITE_FOLDER … [--pages 10000 100000] [--site-pages 200] [--workers 2]
        [--seed 0] [--keep FOLDER]

The sites have sizes after Zipf (the site of rank r has 1/r of the pages of the first), 200 pages on average. Their
pages are made from the real blocks of the given sites as in ``bench_scale``, with links drawn at random, and are read
from WARC files of up to 1 GB. ``ingest`` and ``match`` are the commands, start-up included, in one process each with
its workers. ``grown`` is ``ingest`` and ``match`` again, after one more archive with a new page of the smallest site.
Memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import html
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.bench.bench_scale import made_sides
from experiments.bench.bench_site import Cost, run
from experiments.cases import Case, open_case
from twinlink.match.evidence import Side
from twinlink.spiders.warc_writer import WarcWriter

__all__ = ["archive_sites", "main", "zipf_sizes"]

FETCHED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HEADERS = [("Content-Type", "text/html; charset=utf-8")]


class Row(NamedTuple):
    """What one size cost."""

    ingest: Cost
    match: Cost
    grown: Cost
    n_pairs: int
    n_files: int
    n_bytes: int
    """Of these files."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", type=Path, nargs="+", help="site folders whose blocks are used")
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000], help="pages of all sites")
    parser.add_argument("--site-pages", type=int, default=200, help="pages of a site on average")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep archives and runs in this folder, and use archives in it")
    given = parser.parse_args(arguments)
    names = "pages sites ingest_CPU_s match_CPU_s pages/s/core wall_s peak_MB pairs files MB grown_CPU_s"
    print(*(f"{name:>12}" for name in names.split()))
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cases = [stack.enter_context(open_case(site)) for site in given.sites]
        for n_pages in given.pages:
            n_sites = max(n_pages // given.site_pages, 1)
            row = measure(cases, folder / f"{n_pages}", zipf_sizes(n_pages, n_sites), given.seed, given.workers)
            cpu = row.ingest.cpu + row.match.cpu
            figures = [row.ingest.cpu, row.match.cpu, n_pages / cpu, row.ingest.wall + row.match.wall]
            figures += [max(row.ingest.peak, row.match.peak), row.n_pairs, row.n_files, row.n_bytes / 1e6]
            print(
                *(f"{figure:>12.0f}" for figure in (n_pages, n_sites, *figures)), f"{row.grown.cpu:>12.1f}", flush=True
            )


def measure(cases: Sequence[Case], folder: Path, sizes: Sequence[int], seed: int, workers: int) -> Row:
    """Return what the sites of some sizes cost."""
    archives, out = folder / "archives", folder / "run"
    if not archives.is_dir():
        archives.mkdir(parents=True)
        archive_sites(cases, sizes, archives, seed)
    more = folder / "more"
    more.mkdir(exist_ok=True)
    langs = ",".join(dict.fromkeys(lang for case in cases for lang in case.langs))
    options = ("--workers", str(workers), "-q")
    into, matching = ("-o", str(out), *options), ("match", str(out), "--langs", langs, *options)
    ingested, matched = run("ingest", str(archives), *into), run(*matching)
    files = [file for file in out.rglob("*") if file.is_file()]
    n_bytes = sum(file.stat().st_size for file in files)
    with (out / "pairs.tsv").open(encoding="utf-8") as lines:
        n_pairs = sum(1 for _ in lines) - 1
    if not any(more.iterdir()):
        _archive(more, "more", [(f"http://{_host(len(sizes))}/more.html", _page("en", ["One more page."], []))])
    again = run("ingest", str(more), "--add", *into), run(*matching)
    grown = Cost(sum(cost.cpu for cost in again), sum(cost.wall for cost in again))
    return Row(ingested, matched, grown, n_pairs, len(files), n_bytes)


def zipf_sizes(n_pages: int, n_sites: int) -> list[int]:
    """Return the pages of each site, in both languages together; the site of rank r has 1/r of those of the first.

    >>> zipf_sizes(100, 4)
    [48, 24, 16, 12]
    """
    shares = 1 / np.arange(1, n_sites + 1)
    pairs = np.maximum(1, np.round(shares / shares.sum() * n_pages / 2)).astype(int)
    return [2 * int(n) for n in pairs]


def archive_sites(cases: Sequence[Case], sizes: Sequence[int], folder: Path, seed: int) -> None:
    """Write the pages of made sites to archives, site after site; each is made from the blocks of one of the cases."""
    writer = WarcWriter(folder, "sites")
    for rank, size in enumerate(sizes, 1):
        side_a, side_b, _ = made_sides(cases[rank % len(cases)], size // 2, seed + rank)
        for url, body in [page for side in (side_a, side_b) for page in made_pages(side, _host(rank))]:
            _write(writer, url, body)
    writer.close()


def made_pages(side: Side, host: str) -> Iterator[tuple[str, bytes]]:
    """Yield the addresses and the bodies of one side; an address does not tell the number of the page's partner."""
    sign = 1 if side.lang == "en" else 2
    urls = [
        f"http://{host}/p/{(page * 7_919 + sign * 104_729) % 999_983}-{sign}.html" for page in range(len(side.urls))
    ]
    for page, url in enumerate(urls):
        targets = side.graph.indices[side.graph.indptr[page] : side.graph.indptr[page + 1]]
        yield url, _page(side.lang, side.blocks[page], [urls[target] for target in targets])


def _page(lang: str, blocks: Sequence[str], links: Sequence[str]) -> bytes:
    paragraphs = "\n".join(f"<p>{html.escape(block)}</p>" for block in blocks)
    anchors = "\n".join(f'<a href="{link}">{number}</a>' for number, link in enumerate(links))
    title = html.escape(blocks[0][:60] if blocks else "")
    text = f'<!doctype html>\n<html lang="{lang}"><title>{title}</title>\n<body>\n{paragraphs}\n{anchors}\n'
    return text.encode()


def _archive(folder: Path, prefix: str, pages: Sequence[tuple[str, bytes]]) -> None:
    writer = WarcWriter(folder, prefix)
    for url, body in pages:
        _write(writer, url, body)
    writer.close()


def _write(writer: WarcWriter, url: str, body: bytes) -> None:
    path = "/" + url.split("/", 3)[3]
    writer.write(url, f"GET {path} HTTP/1.1", [], 200, HEADERS, body, FETCHED)


def _host(rank: int) -> str:
    return f"site-{rank:05}.example"


if __name__ == "__main__":
    main()
