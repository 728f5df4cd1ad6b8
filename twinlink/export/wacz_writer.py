"""Writer of WACZ 1.1.1 packages: chosen pages of a run in one file, for ReplayWeb.page and other readers.

The package holds an archive (`WARC <https://iipc.github.io/warc-specifications/>`_, one gzip member per record), a
CDXJ index of it, the list of pages and a manifest with digests. A page is a ``resource`` record: its body as it was
read, without the headers of its transfer. Members that are compressed already are stored, so that a reader can load
single records.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec
from warcio.warcwriter import WARCWriter

from twinlink.files import replacing
from twinlink.version import __version__

__all__ = ["ArchivedPage", "index_key", "write_wacz"]

VERSION = "1.1.1"
_ARCHIVE = "pages.warc.gz"
_DEFLATED = zipfile.ZIP_DEFLATED
_STORED = zipfile.ZIP_STORED


class ArchivedPage(NamedTuple):
    """A page as it goes into the package."""

    url: str
    body: bytes
    charset: str
    fetched: datetime | None
    """When it was fetched; None: not known, the date of the package stands for it."""
    title: str
    facts: dict[str, Any]
    """Further keys of its line in the list of pages."""


@dataclass
class _Package:
    """A package in progress."""

    zip: zipfile.ZipFile
    created: datetime
    resources: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def member(self, path: str, compression: int) -> Iterator[_Counted]:
        """Write a file of the package, and list it in the manifest."""
        info = zipfile.ZipInfo(path, self.created.timetuple()[:6])
        info.compress_type = compression
        info.external_attr = 0o644 << 16
        with self.zip.open(info, "w", force_zip64=True) as raw:
            file = _Counted(cast("BinaryIO", raw))
            yield file
        self.resources.append(
            {"name": path.rpartition("/")[2], "path": path, "hash": file.digest(), "bytes": file.tell()}
        )

    def write(self, path: str, content: bytes) -> None:
        """Write a small file."""
        with self.member(path, _DEFLATED) as file:
            file.write(content)


class _Counted(io.RawIOBase):
    """A file to write to that knows its length and its digest."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._size = 0
        self._digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._digest.update(data)
        self._size += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._size

    def digest(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"


def write_wacz(
    pages: Iterable[ArchivedPage], path: Path, title: str, description: str = "", created: datetime | None = None
) -> int:
    """Write pages into a WACZ package, through a temporary name, and return their number.

    Parameters
    ----------
    pages : iterable of ArchivedPage
        In the order of the list of pages; no address twice.
    path : Path
        Of the package; its name should end in ``.wacz``.
    title, description : str
        For readers; the description may be Markdown.
    created : datetime, optional
        In UTC. Default: now.
    """
    created = (created or datetime.now(UTC)).replace(microsecond=0)
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as container:
        package = _Package(container, created)
        listed, index = _write_archive(package, pages)
        package.write("indexes/index.cdx", "".join(sorted(index)).encode())
        header = {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
        package.write("pages/pages.jsonl", _lines([header, *listed]))
        manifest = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": title,
            "description": description,
            "created": _moment(created),
            "software": f"twinlink {__version__}",
            **({"mainPageUrl": listed[0]["url"], "mainPageDate": listed[0]["ts"]} if listed else {}),
            "resources": list(package.resources),
        }
        content = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        package.write("datapackage.json", content)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
        package.write("datapackage-digest.json", msgspec.json.encode(digest))
    return len(listed)


def _write_archive(package: _Package, pages: Iterable[ArchivedPage]) -> tuple[list[dict[str, Any]], list[str]]:
    """Write the records, and return the lines of the list of pages and of the index."""
    listed: list[dict[str, Any]] = []
    index: list[str] = []
    with package.member(f"archive/{_ARCHIVE}", _STORED) as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.1")
        date = _moment(package.created)
        about = {"software": f"twinlink {__version__}", "format": "WARC file version 1.1"}
        writer.write_record(writer.create_warcinfo_record(_ARCHIVE, about))
        for page in pages:
            moment = date if page.fetched is None else _moment(page.fetched)
            start = file.tell()
            record = writer.create_warc_record(
                page.url,
                "resource",
                payload=io.BytesIO(page.body),
                length=len(page.body),
                warc_content_type=f"text/html; charset={page.charset}" if page.charset else "text/html",
                warc_headers_dict={"WARC-Date": moment},
            )
            writer.write_record(record)
            place = {"offset": start, "length": file.tell() - start}
            digest = record.rec_headers.get_header("WARC-Payload-Digest")
            index.append(_index_line(page.url, moment, digest, place))
            name = hashlib.sha256(page.url.encode()).hexdigest()[:16]
            facts = {"id": name, "url": page.url, "ts": moment, "title": page.title, "size": len(page.body)}
            listed.append({**facts, **page.facts})
    return listed, index


def _index_line(url: str, moment: str, digest: str, place: dict[str, int]) -> str:
    entry = {"url": url, "digest": digest, "mime": "text/html", **{name: str(n) for name, n in place.items()}}
    entry["filename"] = _ARCHIVE
    time = "".join(filter(str.isdigit, moment))
    return f"{index_key(url)} {time} {msgspec.json.encode(entry).decode()}\n"


def index_key(url: str) -> str:
    """Return the sort-friendly form of an address that an index of archives is sorted by (SURT).

    Host from right to left, also an IP address, without ``www`` and its number; all in lower case; parameters in order.

    >>> index_key("https://www.Example.org:8080/En/a.html?b=2&a=1")
    'org,example:8080)/en/a.html?a=1&b=2'
    """
    parts = urlsplit(url.lower())
    host = re.sub(r"^www\d*\.", "", parts.hostname or "").split(".")
    port = f":{parts.port}" if parts.port else ""
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{','.join(reversed(host))}{port}){parts.path or '/'}{'?' + query if query else ''}"


def _moment(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
