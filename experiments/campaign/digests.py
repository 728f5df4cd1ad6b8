"""What a stage has made, as one digest: equal where the results are, whatever the times and places in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from twinlink.spiders.ledger import ledger_again, ledger_rejects
from twinlink.tables import LINKS, PAGES, RECOVERED, REJECTS, read_table

__all__ = ["digest_of"]

_PLACES = ("source", "offset", "fetched")  # of a page: where and when it was written


def digest_of(stage: str, run: Path) -> str:
    """Return the digest of what a stage has made in a run."""
    text = "\n".join(sorted(_WAYS[stage](run)))
    return sha256(text.encode()).hexdigest()


def _crawled(run: Path) -> Iterator[str]:
    """Yield each page with its digest, as often as it is in the archives; and what was dropped."""
    for archive in sorted((run / "warc").glob("*.warc.gz")):
        with archive.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.raw_stream.read()
                if record.rec_type in ("response", "revisit"):
                    headers = record.rec_headers
                    yield f"{headers['WARC-Target-URI']}\t{headers['WARC-Payload-Digest']}"
    for reject in ledger_rejects(run):
        yield f"{reject.url}\t{reject.reason}"


def _visited(run: Path) -> Iterator[str]:
    """Yield what the visit came to, and each page once, with its last digest."""
    yield json.dumps(ledger_again(run))
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
