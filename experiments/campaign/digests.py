"""The results of a stage, line by line: equal if the results are, regardless of times and places in files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from twinlink.spiders.frontier import FrontierReader
from twinlink.tables import LINKS, PAGES, RECOVERED, REJECTS, read_table

_PLACES = ("source", "offset", "fetched")  # columns of a page: where and when it was written


def made_by(stage: str, run: Path) -> Counter[str]:
    """Return the results of a stage in a run: lines with their counts."""
    return Counter(_WAYS[stage](run))


def difference(made: Counter[str], expected: Counter[str]) -> str:
    """Return the first differences of two results; empty if they are equal."""
    lines = [f"missing {line}" for line in expected - made] + [f"too many {line}" for line in made - expected]
    return "; ".join(line[:120] for line in sorted(lines)[:4]) + f" ({len(lines)} lines)" * bool(lines)


def _crawled(run: Path) -> Iterator[str]:
    """Yield each page with its digest, as often as it is in the archives, and the rejects."""
    for archive in sorted((run / "warc").glob("*.warc.gz")):
        with archive.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.raw_stream.read()
                headers = record.rec_headers
                is_robots = headers.get_header("WARC-Target-URI", "").endswith("/robots.txt")  # read again by each run
                if record.rec_type in ("response", "revisit") and not is_robots:
                    yield f"{headers['WARC-Target-URI']}\t{headers['WARC-Payload-Digest']}"
    for reject in FrontierReader(run).rejects():
        yield f"{reject.url}\t{reject.reason}"


def _visited(run: Path) -> Iterator[str]:
    """Yield the results of the visit, and each fetched address once."""
    yield json.dumps(FrontierReader(run).again())
    yield from set(_crawled(run))


def _ingested(run: Path) -> Iterator[str]:
    folder = run / "ingest"
    for name, schema in (("pages", PAGES), ("links", LINKS), ("rejects.parquet", REJECTS)):
        table = read_table(folder / name, schema)
        for row in table.drop_columns(list(_PLACES) if name == "pages" else []).to_pylist():
            yield json.dumps(row, default=str, sort_keys=True)


def _matched(run: Path) -> Iterator[str]:
    yield from (run / "pairs.tsv").read_text(encoding="utf-8").splitlines()


def _aligned(run: Path) -> Iterator[str]:
    for path in sorted((run / "align").rglob("*.tsv")):
        yield from path.read_text(encoding="utf-8").splitlines()


def _recovered(run: Path) -> Iterator[str]:
    for row in read_table(run / "recover" / "tried.parquet", RECOVERED).to_pylist():
        yield json.dumps(row, default=str, sort_keys=True)


def _discovered(run: Path) -> Iterator[str]:
    for name in ("discover/verdicts.tsv", "discover/rounds.tsv", "patterns/pairs.tsv"):
        yield from (run / name).read_text(encoding="utf-8").splitlines()


_WAYS: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "crawl": _crawled,
    "crawl --again": _visited,
    "ingest": _ingested,
    "match": _matched,
    "align": _aligned,
    "recover": _recovered,
    "discover": _discovered,
}
