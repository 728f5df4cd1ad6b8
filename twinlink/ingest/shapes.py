"""Stage `shapes`: the linearised form of every page of a run, for the methods that compare structure.

The tables of `ingest` do not contain it, because the default method does not need it. The sources are read again
when a method needs it, and the same pages are selected by address and digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.config import IngestSettings
from twinlink.errors import InputError, MissingStageError
from twinlink.ingest.page_spool import body_digest
from twinlink.ingest.stage import ingest_settings, own_folder, read_source, source_paths
from twinlink.pages.linearise import Linearised, PageShape, linearise
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.sources.documents import Document
from twinlink.sources.warc import Exchanges
from twinlink.tables import PAGES, SHAPES, Reject, iter_parts, named_part, part_like, part_writer, read_table
from twinlink.urls import normalise, page_id

__all__ = ["ShapeTable", "linearise_pages", "read_shapes"]

TABLE = "tokens"
"""Folder of the table below the stage's."""
ShapeTable = Mapping[int, PageShape]
"""Shape of each page by its page_id."""


def linearise_pages(run: RunDirectory, on_page: Callable[[int], None] | None = None) -> None:
    """Linearise every page of a run that has been ingested, unless that is done.

    Parameters
    ----------
    run : RunDirectory
        Its sources are read with the settings of `ingest`.
    on_page : callable, optional
        Called with the number of documents read so far.

    Raises
    ------
    InputError
        If the sources do not hold the run's pages any more.
    """
    tables = run.stage_folder("ingest")
    signature = _signature(run)
    if run.is_done(signature):
        return
    parts = list(iter_parts(tables / "pages"))
    wanted = _wanted(parts)
    with run.writing(signature) as folder:
        shapes: dict[int, Linearised] = {}
        for done, (number, document) in enumerate(_documents(run), 1):
            if number not in shapes and wanted.get(number) == body_digest(document.body):
                shapes[number] = linearise(document.body, document.content_type)
            if on_page:
                on_page(done)
        _check_complete(len(wanted) - len(shapes), tables)
        with part_writer() as writer:
            for part in parts:
                writer.write([_table(part, shapes)], SHAPES, part_like(folder / TABLE, part))


def read_shapes(run: RunDirectory, part_name: str) -> ShapeTable:
    """Return the shapes of the pages of one site, by the name of its part.

    Raises
    ------
    MissingStageError
        If the pages have not been linearised since they were ingested.
    """
    if not run.is_done(_signature(run)):
        raise MissingStageError(
            f"{run.path}: its pages are not linearised yet; run `twinlink match` with --method, or linearise_pages"
        )
    shapes = read_table(named_part(run.stage_folder("shapes") / TABLE, part_name), SHAPES)
    pages = read_table(named_part(run.stage_folder("ingest") / "pages", part_name), PAGES, ("page_id", "bytes"))
    sizes = dict(zip(pages["page_id"].to_pylist(), pages["bytes"].to_pylist(), strict=True))
    numbers = shapes["page_id"].to_pylist()
    columns = zip(numbers, _rows(shapes["tokens"]), _rows(shapes["words"]), strict=True)
    return {number: PageShape(tokens, words, sizes[number]) for number, tokens, words in columns}


def _signature(run: RunDirectory) -> Signature:
    return Signature.of("shapes", {}, [str(run.read_signature("ingest"))])


def _wanted(parts: list[Path]) -> dict[int, str]:
    """Return the digest of each page of the run."""
    pages = (read_table(part, PAGES, ("page_id", "digest")) for part in parts)
    return {
        number: digest
        for table in pages
        for number, digest in zip(table["page_id"].to_pylist(), table["digest"].to_pylist(), strict=True)
    }


def _documents(run: RunDirectory) -> Iterator[tuple[int, Document]]:
    """Yield the pages of the run's sources with their page_id."""
    for item in _items([*run.archives(), *source_paths(run)], ingest_settings(run), own_folder(run)):
        if isinstance(item, Document) and not item.location and (url := normalise(item.url)) is not None:
            yield page_id(url), item


def _items(paths: Sequence[Path], settings: IngestSettings, without: Path) -> Iterator[Document | Reject]:
    exchanges = Exchanges(settings.max_page_bytes)
    for path in paths:
        if not path.exists():
            raise InputError(
                f"{path}: not found, but methods that compare structure read the pages again; put it back, or"
                " run `twinlink ingest` on where it is now"
            )
        yield from read_source(path, settings, exchanges, without)
    yield from exchanges.finish()


def _check_complete(n_missing: int, tables: Path) -> None:
    if n_missing:
        raise InputError(
            f"{tables}: {n_missing} of its pages are no longer in their sources; run `twinlink ingest` again"
        )


def _table(part: Path, shapes: Mapping[int, Linearised]) -> pa.Table:
    numbers = read_table(part, PAGES, ("page_id",))["page_id"]
    of_site = [shapes[number] for number in numbers.to_pylist()]
    return pa.table(
        {
            "page_id": numbers,
            "tokens": pa.array([shape.tokens for shape in of_site], pa.list_(pa.int32())),
            "words": pa.array([shape.words for shape in of_site], pa.list_(pa.int32())),
        }
    )


def _rows(column: pa.ChunkedArray) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """Return the lists of a column as arrays."""
    whole = column.combine_chunks()
    starts = np.cumsum(pc.list_value_length(whole).to_numpy(zero_copy_only=False))
    return np.split(whole.flatten().to_numpy().astype(np.int32), starts[:-1]) if len(whole) else []
