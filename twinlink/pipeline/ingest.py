"""Stage `ingest`: documents of any source go in, the tables pages, links and rejects come out, one file a site.

Pages become parts of tables as they are parsed, and the parts go to disk when they are large together: memory grows
with the number of kept pages' addresses, not with their text. At the end each site's parts are sorted by address: the
same pages give the same tables, whatever source and order they came in.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.config import IngestSettings
from twinlink.pipeline.parts import Parts, Rows
from twinlink.rundir import RunDirectory, Signature, file_digest, site_file, write_text
from twinlink.spiders.documents import Document
from twinlink.spiders.ledger import LEDGER_NAME, ledger_rejects, ledger_summary
from twinlink.spiders.parser import ParsedPage, parse_page
from twinlink.spiders.sources import read_path, source_files
from twinlink.spiders.urls import join, normalise, page_id, site_of
from twinlink.tables import LINKS, PAGES, REJECTS, Reject, write_table

__all__ = ["ingest", "read_source"]

SOURCES_NAME = "sources.txt"
"""File of the stage that names what was read besides the run's own crawl, one path a line."""
SPOOLED_PAGES = 2_000  # pages held as Python objects before they become a part: some 20 MB of text
MAX_REDIRECTS = 10  # followed when a link is resolved; as in the crawl

_INDEX = re.compile(r"/(?:index|default|home)\.[a-z]{2,5}$", re.IGNORECASE)


def ingest(
    run: RunDirectory,
    sources: Iterable[Path],
    settings: IngestSettings,
    on_page: Callable[[int], None] | None = None,
) -> Signature:
    """Read ``sources`` (and what the run's own crawl fetched) into the run's tables.

    Parameters
    ----------
    run : RunDirectory
        Where the tables go.
    sources : iterable of Path
        What `read_source` reads: archives and their indexes, lists, folders of archives, mirror folders.
    settings : IngestSettings
        How they are read.
    on_page : callable, optional
        Called with the number of documents read so far.

    Returns
    -------
    Signature
        Of the result, whether it was made now or found done.

    Raises
    ------
    InputError
        If a source does not exist or holds neither archives nor pages.
    """
    sources = list(sources)
    paths = [*run.archives(), *sources]
    signature = Signature.of("ingest", {"ingest": settings}, list(_inputs(run, sources)))
    if run.is_done(signature):
        return signature
    with run.writing(signature) as folder:
        spool = _Spool(folder, settings)
        for reject in ledger_rejects(run.path):
            spool.reject_of_crawl(reject)
        for path in paths:
            for item in read_source(path, settings):
                spool.add(item)
                if on_page:
                    on_page(spool.count)
        spool.finish()
        write_text(folder / SOURCES_NAME, "".join(f"{path.resolve()}\n" for path in sources))
        run.discard_match()
    return signature


def read_source(path: Path, settings: IngestSettings) -> Iterator[Document | Reject]:
    """Yield the documents of one source, see `twinlink.spiders.sources.read_path`."""
    return read_path(path, settings.max_page_bytes, settings.base_url, settings.url_prefixes)


def _inputs(run: RunDirectory, sources: Sequence[Path]) -> Iterator[str]:
    """Yield what the tables depend on; the run's own files by their names alone, for a run may be moved."""
    yield ",".join([*PAGES.names, *LINKS.names])
    for archive in run.archives():
        yield file_digest(archive, archive.name)
    if (run.path / LEDGER_NAME).is_file():
        yield str(ledger_summary(run.path))
    own = run.path.resolve()
    for path in sources:
        holds_run = own != path.resolve() and own.is_relative_to(path.resolve())
        for file, target in _resolved(source_files(path)):
            if not (holds_run and target.is_relative_to(own)):
                yield file_digest(file, str(target))


def _resolved(files: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield each file and where it really is; what holds for its folder is looked up once."""
    folders: dict[Path, Path] = {}
    for file in files:
        folder = file.parent
        if folder not in folders:
            folders[folder] = folder.resolve()
        yield file, file.resolve() if file.is_symlink() else folders[folder] / file.name


def body_digest(body: bytes) -> str:
    """Return the digest of a page's body as `PAGES` has it."""
    return base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


class _Spool:
    """Collects rows by site in parts, and puts the parts together at the end."""

    def __init__(self, folder: Path, settings: IngestSettings) -> None:
        self.folder = folder
        self.settings = settings
        self.count = 0
        self._parts = Parts(folder / "parts")
        self._rows: dict[str, Rows] = {}
        self._n_rows = 0  # pages in them
        self._rejects: list[Reject] = []
        self._of_crawl: set[str] = set()
        self._seen: dict[int, str] = {}  # page_id → digest, of every kept page
        self._aliases: dict[int, int] = {}  # page_id of an address → page_id of what it stands for
        self._twins: dict[tuple[str, str], int] = {}  # (address without default document, digest) → page_id

    def add(self, item: Document | Reject) -> None:
        self.count += 1
        if isinstance(item, Reject):
            if item.url not in self._of_crawl:  # the crawl has counted its failed answers, which are in its archive too
                self.reject(item)
        elif item.location:
            self._add_redirect(item)
        else:
            self._add_page(item)

    def reject(self, reject: Reject) -> None:
        self._rejects.append(reject)

    def reject_of_crawl(self, reject: Reject) -> None:
        self._of_crawl.add(reject.url)
        self.reject(reject)

    def _add_redirect(self, document: Document) -> None:
        target = join(document.url, document.location)
        if document.offset >= 0:  # else it is another name of a saved file, not an answer of the server
            self.reject(Reject(document.url, "ingest", "redirect", target or document.location))
        if target:
            self._aliases.setdefault(page_id(document.url), page_id(target))

    def _add_page(self, document: Document) -> None:
        url = normalise(document.url)
        if url is None:
            return self.reject(Reject(document.url, "ingest", "bad-url"))
        if len(document.body) > self.settings.max_page_bytes:
            return self.reject(Reject(url, "ingest", "too-large", f"{len(document.body)} bytes"))
        digest = body_digest(document.body)
        number = page_id(url)
        if number in self._seen:
            return self.reject(
                Reject(url, "ingest", "duplicate-url", "same" if self._seen[number] == digest else "changed")
            )
        twin = self._twins.setdefault((_loose_key(url), digest), number)
        if twin != number:
            self._aliases[number] = twin
            return self.reject(Reject(url, "ingest", "duplicate-page", "another address of a default document or host"))
        page = parse_page(document.body, url, document.content_type, document.content_language)
        if not page.blocks and not page.links:
            return self.reject(Reject(url, "ingest", "empty-page"))
        if page.cut:
            self.reject(Reject(url, "ingest", "page-cut", "kept up to where its markup would take too long to read"))
        self._seen[number] = digest
        self._keep(document, page, number, digest)
        return None

    def _keep(self, document: Document, page: ParsedPage, number: int, digest: str) -> None:
        site = site_of(page.url, self.settings.site_by)
        row = {
            "page_id": number,
            "site": site,
            "url": page.url,
            "title": page.title,
            "blocks": page.blocks,
            "tags": page.tags,
            "images": page.images,
            "declared_lang": page.declared_lang,
            "charset": page.charset,
            "bytes": len(document.body),
            "digest": digest,
            "source": document.source,
            "offset": document.offset,
            "fetched": document.fetched.astimezone(UTC) if document.fetched else None,
            "round": 0,
        }
        self._rows.setdefault(site, Rows()).add(number, tuple(map(row.__getitem__, PAGES.names)), page.links)
        self._n_rows += 1
        if self._n_rows >= SPOOLED_PAGES:
            self._flush()

    def _flush(self) -> None:
        for site, rows in self._rows.items():
            self._parts.add(site, *rows.tables(self.settings.site_by))
        self._rows = {}
        self._n_rows = 0

    def finish(self) -> None:
        self._flush()
        for site in self._parts.sites():
            self._finish_site(site)
        rejects = pa.Table.from_pylist([reject._asdict() for reject in self._rejects], schema=REJECTS)
        write_table(
            rejects.sort_by([("url", "ascending"), ("reason", "ascending")]), REJECTS, self.folder / "rejects.parquet"
        )
        self._parts.remove()

    def _finish_site(self, site: str) -> None:
        pages, links = self._parts.take(site)
        pages = pages.sort_by("url")
        ranks = pc.index_in(links["source"], pages["page_id"])
        links = links.take(pa.array(np.argsort(ranks.to_numpy(), kind="stable")))
        links = links.set_column(
            links.column_names.index("target"), LINKS.field("target"), self._resolve(links["target"])
        )
        write_table(pages, PAGES, site_file(self.folder / "pages", site))
        write_table(links, LINKS, site_file(self.folder / "links", site))

    def _resolve(self, targets: pa.ChunkedArray) -> pa.ChunkedArray:
        """Follow redirects and aliases; what is not a kept page becomes null."""
        known, finals = self._finals
        return pc.take(finals, pc.index_in(targets, known))

    @cached_property
    def _finals(self) -> tuple[pa.Array, pa.Array]:
        """The page_id of every address that leads to a kept page, and that page's. Arrow keeps 64 bits beside nulls."""
        final = {number: number for number in self._seen}
        for alias in self._aliases:
            end = alias
            for _ in range(MAX_REDIRECTS):
                if end in self._seen or end not in self._aliases:
                    break
                end = self._aliases[end]
            if end in self._seen:
                final.setdefault(alias, end)
        return pa.array(final.keys(), pa.int64()), pa.array(final.values(), pa.int64())


def _loose_key(url: str) -> str:
    """Return an address without scheme, ``www.`` and default document: what often leads to one and the same page."""
    address, _, query = url.partition("://")[2].removeprefix("www.").partition("?")
    return f"{_INDEX.sub('/', address)}?{query}"
