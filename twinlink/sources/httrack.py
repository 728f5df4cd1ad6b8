"""HTTrack's cache: the pages of a mirror as the server sent them, with their addresses and headers.

``hts-cache/new.zip`` has one member per response. Its name is the address; the headers stand in the local header of the
member, as its extra field (HTTrack's own ``htscache.c``); its content is the body before HTTrack converted the links.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, urlsplit

from twinlink.pages.decoding import is_html
from twinlink.rejects import Reject
from twinlink.sources.documents import REDIRECTS, Document, status_of
from twinlink.sources.files import UnusableError, locate
from twinlink.sources.zips import BROKEN, open_zip
from twinlink.urls import normalise

CACHE_NAME = "hts-cache/new.zip"

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_IS_UTF8 = 0x800  # flag of a member: its name is UTF-8
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_BROKEN = (OSError, *BROKEN)
_MAX_LIST_BYTES = 2**25  # a member has some 150 bytes there: 200,000 pages


def has_cache(folder: Path) -> bool:
    """Return whether a mirror folder has HTTrack's cache."""
    try:
        return locate(CACHE_NAME, folder).is_file()
    except (UnusableError, OSError):
        return False


def cache_refused(folder: Path) -> Reject | None:
    """Return a reject for a cache that a link leads to, outside of the mirror; None for any other, and for none."""
    try:
        locate(CACHE_NAME, folder)
    except UnusableError as error:
        return Reject(CACHE_NAME, "ingest", error.reason, error.detail)
    return None


def read_cache(folder: Path, max_page_bytes: int) -> Iterator[Document | Reject]:
    """Yield the pages and redirects of a mirror's cache, and a reject for each response that is neither.

    Parameters
    ----------
    folder : Path
        The mirror: the folder that ``hts-cache`` lies in.
    max_page_bytes : int
        Largest page.

    Yields
    ------
    Document or Reject
        Documents have their Content-Type, and no time. Pages whose body is not in the cache are left out: their files
        are. Rejects as for archives; a cache that cannot be read is one ``damaged-record``.
    """
    path = folder / CACHE_NAME
    try:
        with path.open("rb") as file, open_zip(file, _MAX_LIST_BYTES) as cache:
            for info in cache.infolist():
                yield from _read_member(cache, file, info, max_page_bytes)
    except _BROKEN as error:
        yield Reject(CACHE_NAME, "ingest", "damaged-record", f"cannot be read as a zip ({error})")


def read_cached(folder: Path, offset: int, max_page_bytes: int) -> Document | None:
    """Return the page whose member starts at a place in the cache; None: there is none, or no cache."""
    path = folder / CACHE_NAME
    try:
        with path.open("rb") as file, open_zip(file, _MAX_LIST_BYTES) as cache:
            found = (info for info in cache.infolist() if info.header_offset == offset)
            items = (item for info in found for item in _read_member(cache, file, info, max_page_bytes))
            return next((item for item in items if isinstance(item, Document)), None)
    except _BROKEN:
        return None


def _read_member(
    cache: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo, limit: int
) -> Iterator[Document | Reject]:
    address = _address(info)
    url = normalise(address)
    if url is None or urlsplit(url).path == "/robots.txt":
        if url is None and address.startswith("http"):
            yield Reject(address, "ingest", "bad-url")
        return
    headers = _headers(file, info)
    status = status_of(headers.get("x-statuscode", ""))
    if status is None:
        yield Reject(url, "ingest", "damaged-record", "no status in HTTrack's cache")
        return
    answer = _answer(url, status, headers, info)
    if isinstance(answer, Document) and not answer.location:
        yield from _page(cache, info, answer, headers.get("x-in-cache") == "1", limit)
    else:
        yield answer


def _answer(url: str, status: int, headers: dict[str, str], info: zipfile.ZipInfo) -> Document | Reject:
    """Return a redirect, a page without its body, or a reject, according to the headers."""
    location = headers.get("location", "")
    if status in REDIRECTS and location:
        return Document(url, status, "", "", location, b"", None, CACHE_NAME, info.header_offset)
    if status != 200:
        return Reject(url, "ingest", f"http-{status}")
    content_type, charset = headers.get("content-type", ""), headers.get("x-charset", "")
    if not is_html(content_type, b"<html>"):
        return Reject(url, "ingest", "not-html", content_type)
    if content_type and charset and "charset" not in content_type.lower():
        content_type = f"{content_type}; charset={charset}"
    return Document(url, 200, content_type, "", "", b"", None, CACHE_NAME, info.header_offset)


def _page(
    cache: zipfile.ZipFile, info: zipfile.ZipInfo, page: Document, is_here: bool, limit: int
) -> Iterator[Document | Reject]:
    if not is_here:
        return
    try:
        with cache.open(info) as member:
            body = member.read(limit + 1)
    except _BROKEN as error:
        yield Reject(page.url, "ingest", "damaged-record", str(error))
        return
    if len(body) > limit:
        yield Reject(page.url, "ingest", "too-large", f"more than {limit} bytes")
    elif not is_html(page.content_type, body):
        yield Reject(page.url, "ingest", "not-html", page.content_type)
    else:
        yield Document(page.url, 200, page.content_type, "", "", body, None, page.source, page.offset)


def _address(info: zipfile.ZipInfo) -> str:
    """Return the address that names a member; zipfile decodes its bytes as if in DOS's encoding."""
    name = info.orig_filename
    if not info.flag_bits & _IS_UTF8:
        name = quote(name.encode("cp437", "replace"), safe=_ASCII)
    return name if "://" in name or not name[:1].isalnum() else f"http://{name}"


def _headers(file: BinaryIO, info: zipfile.ZipInfo) -> dict[str, str]:
    """Return the headers of a response by their names in lower case; the first of each counts."""
    file.seek(info.header_offset)
    head = file.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size:
        return {}
    _, name_length, extra_length = _LOCAL_HEADER.unpack(head)
    file.seek(name_length, 1)
    headers: dict[str, str] = {}
    for line in file.read(extra_length).decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers
