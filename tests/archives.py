"""Small archives on disk for tests, as other tools write them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from twinlink.toy import BASE, toy_site

DATE = "2026-01-02T03:04:05Z"
HTML = [("Content-Type", "text/html; charset=utf-8")]


def add_record(path: Path, kind: str, url: str, payload: bytes, packed: bool = True, **warc_headers: str) -> None:
    """Add a record to an archive; ``_`` in the name of a header stands for ``-``."""
    headers = {"WARC-Date": DATE, **{name.replace("_", "-"): value for name, value in warc_headers.items()}}
    with path.open("ab") as file:
        writer = WARCWriter(file, gzip=packed)
        record = writer.create_warc_record(
            url, kind, payload=io.BytesIO(payload), length=len(payload), warc_headers_dict=headers
        )
        writer.write_record(record)


def respond(
    path: Path,
    url: str,
    body: bytes,
    status: str = "200 OK",
    headers: Iterable[tuple[str, str]] = HTML,
    packed: bool = True,
    kind: str = "response",
    **warc_headers: str,
) -> None:
    """Add the answer of a server to an archive."""
    head = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1").to_bytes()
    add_record(path, kind, url, head + body, packed, **warc_headers)


def captures(path: Path, kinds: Iterable[str] = ("response", "resource", "revisit")) -> list[tuple[str, int, int]]:
    """Return address, place and length of the records of an archive, as another library sees them."""
    found = []
    with path.open("rb") as file:
        iterator = ArchiveIterator(file)
        for record in iterator:
            start = iterator.get_record_offset()
            url = record.rec_headers.get_header("WARC-Target-URI")
            iterator.read_to_end()
            if record.rec_type in set(kinds):
                found.append((url, start, iterator.get_record_length()))
    return found


def write_cdxj(path: Path, archives: Iterable[Path], **changes: str) -> Path:
    """Write an index of archives beside it."""
    lines = []
    for archive in archives:
        for url, start, length in captures(archive):
            entry = {"url": url, "offset": str(start), "length": str(length), "filename": archive.name, **changes}
            lines.append(f"{url} 20260102030405 {json.dumps(entry)}\n")
    path.write_text("".join(sorted(lines)), encoding="utf-8")
    return path


def write_wacz(path: Path, archives: Iterable[Path], pages: Iterable[str] = (), pack: int = zipfile.ZIP_STORED) -> Path:
    """Write a WACZ file: archives, list of pages, description."""
    with zipfile.ZipFile(path, "w", pack) as container:
        for archive in archives:
            container.write(archive, f"archive/{archive.name}")
        lines = [{"format": "json-pages-1.0", "id": "pages"}, *({"url": url, "title": "t"} for url in pages)]
        container.writestr("pages/pages.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
        container.writestr("datapackage.json", json.dumps({"profile": "data-package", "wacz_version": "1.1.1"}))
    return path


def cache_member(url: str, body: bytes, status: int = 200, **fields: str) -> tuple[str, bytes, bytes]:
    """Return one answer as HTTrack's cache has it: name, headers, content. Of a field ``X_Save`` stands for X-Save."""
    addr, _, path = url.removeprefix("http://").partition("/")
    given = {name.replace("_", "-"): value for name, value in fields.items()}
    headers = {
        "X-In-Cache": "1",
        "X-StatusCode": str(status),
        "X-StatusMessage": "OK",
        "X-Size": str(len(body)),
        "Content-Type": "text/html",
        "X-Addr": addr,
        "X-Fil": f"/{path}",
        **given,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    return url, f"HTTP/1.1 {status} OK\r\n{lines}".encode(), body


def write_cache(folder: Path, members: Iterable[tuple[str, bytes, bytes]]) -> Path:
    """Write HTTrack's cache: headers in the extra fields of the local headers alone, as zlib's minizip puts them."""
    path = folder / "hts-cache" / "new.zip"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as cache:
        for name, headers, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.extra = headers
            cache.writestr(info, content)
            info.extra = b""  # not in the central directory
    return path


def write_saved(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write path → bytes below ``folder``."""
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    return folder


def pack_members(data: Iterable[bytes]) -> bytes:
    """Pack each piece as a gzip member of its own."""
    return b"".join(gzip.compress(piece, mtime=0) for piece in data)


def write_toy_archive(path: Path, hosts: Iterable[str] = (BASE,)) -> Path:
    """Write the toy site into an archive, once for each host."""
    for host in hosts:
        for url, html in toy_site().pages.items():
            respond(path, url.replace(BASE, host), html.replace(BASE, host).encode())
    return path
