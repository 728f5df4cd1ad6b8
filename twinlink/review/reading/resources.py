"""Style sheets and pictures of a run's pages: an index of its archives, built once and kept in the run."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.files import replacing
from twinlink.ingest.stage import ingest_settings, source_paths
from twinlink.review.reading.background import is_ending, start_thread
from twinlink.review.records import Resource
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import file_digest
from twinlink.sources.resources import MirrorResources, StoredResource, archive_files, find_resources, read_resource
from twinlink.urls import normalise, page_id

RESOURCES_NAME = "review/resources.parquet"
"""File of a run with the index of style sheets and pictures."""

_PATIENCE = 1.5  # seconds that the first request waits for the index; later requests find the rest
_DIGEST = b"sources"
_SCHEMA = pa.schema(
    [
        pa.field("key", pa.int64(), nullable=False, metadata={"description": "hash of the address, as page_id"}),
        pa.field("file", pa.string(), nullable=False, metadata={"description": "file that contains it"}),
        pa.field("archive", pa.string(), nullable=False, metadata={"description": "archive within that file"}),
        pa.field("offset", pa.int64(), nullable=False, metadata={"description": "start of its record"}),
    ],
)


class PageResources:
    """Reads style sheets and pictures by their addresses, for `Snapshot.resource`; nothing is fetched.

    The first request starts a pass over the archives, in the background if it takes long; until it ends, nothing is
    found in them. The index is kept in the run and rebuilt when the archives have changed. A mirror needs no index.

    Parameters
    ----------
    run : RunDirectory
        If the archives it was ingested from are gone, nothing is found.
    patience : float
        Seconds that a call waits for the index.
    """

    def __init__(self, run: RunDirectory, patience: float = _PATIENCE) -> None:
        self._run = run
        self._patience = patience
        self._guard = threading.Lock()
        self._reading: threading.Thread | None = None
        self._table: pa.Table | None = None
        self._keys = np.zeros(0, np.int64)

    def __call__(self, url: str) -> Resource | None:
        """Return the style sheet or picture at an address; None: there is none."""
        address = normalise(url)
        if address is None:
            return None
        found = self._in_archives(address)
        for mirror in self._mirrors if found is None else ():
            found = found or mirror.read(address)
        return None if found is None else Resource(found.content, found.content_type)

    def _in_archives(self, url: str) -> StoredResource | None:
        table = self._ready()
        if table is None:
            return None
        key = page_id(url)
        row = int(np.searchsorted(self._keys, key))
        if row >= len(self._keys) or self._keys[row] != key:
            return None
        file, archive, offset = (table[name][row].as_py() for name in ("file", "archive", "offset"))
        return read_resource(self._run.path / file, archive, offset)

    def _ready(self) -> pa.Table | None:
        """Return the index; None: it is not complete yet."""
        with self._guard:
            if self._table is None and self._reading is None:
                self._reading = start_thread(self._read)
                self._reading.join(self._patience)
            return self._table

    def _read(self) -> None:
        table = self._load() or self._make()
        if table is not None:
            self._keys = table["key"].to_numpy()
            self._table = table

    @cached_property
    def _mirrors(self) -> list[MirrorResources]:
        settings = ingest_settings(self._run)
        folders = [path for path in source_paths(self._run) if path.is_dir() and not archive_files(path)]
        return [MirrorResources(folder, settings.base_url, settings.max_page_bytes) for folder in folders]

    @cached_property
    def _files(self) -> list[Path]:
        """Archives of the run and of its sources; the run's own by relative name, since a run may be moved."""
        own = [path.relative_to(self._run.path) for path in (*self._run.archives(), *self._run.part_archives())]
        return own + [file.resolve() for source in source_paths(self._run) for file in archive_files(source)]

    @cached_property
    def _digest(self) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        for file in self._files:
            with suppress(OSError):
                digest.update(file_digest(self._run.path / file, str(file)).encode("utf-8", "surrogateescape") + b"\0")
        return digest.hexdigest().encode()

    def _load(self) -> pa.Table | None:
        """Return the stored index; None: there is none, or the archives have changed since."""
        try:
            table = pq.read_table(self._run.path / RESOURCES_NAME)
        except (OSError, pa.ArrowException):
            return None
        metadata = table.schema.metadata or {}
        is_ours = table.schema.equals(_SCHEMA) and metadata.get(_DIGEST) == self._digest
        return table if is_ours else None

    def _make(self) -> pa.Table | None:
        """Build the index; of several captures of an address, the last one counts. None: the review ended meanwhile."""
        rows = {key: (file, archive, offset) for key, file, archive, offset in self._found()}
        if is_ending():  # some are missing
            return None
        keys = sorted(rows)
        columns = [keys, *([rows[key][place] for key in keys] for place in range(3))]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=_SCHEMA.with_metadata({_DIGEST: self._digest}))
        self._keep(table)
        return table

    def _found(self) -> Iterator[tuple[int, str, str, int]]:
        for file in self._files:
            for found in find_resources(self._run.path / file, is_ending):
                yield page_id(found.url), str(file), found.archive, found.offset

    def _keep(self, table: pa.Table) -> None:
        """Store the index; if the run cannot be written to, it stays in memory."""
        target = self._run.path / RESOURCES_NAME
        with suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target, str(threading.get_native_id())) as temporary:
                pq.write_table(table, temporary, compression="zstd")
