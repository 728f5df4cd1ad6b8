"""Small sources of every kind, and the pages that must be read from each while it is intact."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from tests.archives import HTML, cache_member, captures, respond, write_cache, write_cdxj, write_saved, write_wacz

__all__ = ["BODIES", "MAKERS", "URL", "Sample", "Unit"]

URL = "http://www.example.org/"
BODIES = [
    f"<!DOCTYPE html><meta charset=big5><title>{n}</title><p>頁 {n}{' words' * 5 * n}</p><a href=/{n + 1}>x</a>".encode(
        "big5"
    )
    for n in range(8)
]


class Unit(msgspec.Struct, frozen=True):
    """One page of a source."""

    whole: bytes
    """Bytes of the page: if the file contains them, the page must be read."""
    mark: bytes
    """Bytes that mark the page: if the file contains them, the page must be read or counted."""


class Sample(msgspec.Struct, frozen=True):
    """A source, and its file that is damaged."""

    source: Path
    file: Path
    units: Mapping[str, Unit]
    """Pages by address."""
    base_url: str = ""
    frame: tuple[bytes, ...] = ()
    """Bytes without which no page is required, at fixed positions: headers and directories of a compressed file."""

    size: int | None = None
    """Length without which no page is required."""
    end: int | None = None
    """End of the records: bytes that damage has moved behind the end of an inner archive do not belong to it."""

    def whole(self, data: bytes) -> set[str]:
        """Return the addresses whose pages must be read from a damaged file."""
        if self.size not in (None, len(data)) or not all(part in data for part in self.frame):
            return set()
        return {url for url, unit in self.units.items() if unit.whole in data[: self.end]}

    def marked(self, data: bytes) -> set[str]:
        """Return the addresses whose pages must be read from a damaged file or counted."""
        return {url for url, unit in self.units.items() if unit.mark in data}


def archive(folder: Path, name: str) -> Path:
    """Write an archive of plain, chunked, compressed and repeated responses; the same bytes each time."""
    path = folder / name
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODIES[0]), BODIES[0])
    squeezed = [*HTML, ("Content-Encoding", "gzip")]
    answers = [(str(number), body, HTML, "response") for number, body in enumerate(BODIES)]
    answers += [
        ("c", chunked, [*HTML, ("Transfer-Encoding", "chunked")], "response"),
        ("z", gzip.compress(BODIES[0], mtime=0), squeezed, "response"),
        ("r", b"", HTML, "revisit"),
    ]
    for number, (name_of, body, headers, kind) in enumerate(answers):
        known = {"WARC_Payload_Digest": f"sha1:{number % 10}", "WARC_Record_ID": f"<urn:uuid:{number:032}>"}
        respond(path, URL + name_of, body, headers=headers, packed=name.endswith(".gz"), kind=kind, **known)
    return path


def _warc(folder: Path, name: str) -> Sample:
    path = archive(folder, name)
    return Sample(path, path, _records(path))


def _records(path: Path, from_start: bool = False) -> dict[str, Unit]:
    """Return the records with a page; with ``from_start``, each with all bytes before it."""
    data = path.read_bytes()
    found = {}
    places = [*(start for _, start, _ in captures(path)), len(data)]
    for (url, start, _), end in zip(captures(path), places[1:], strict=True):
        record = data[start:end]
        mark = record[: len(record) // 2] if path.suffix == ".gz" else b"WARC-Target-URI: %b\r\n" % url.encode()
        if not url.endswith("r"):  # the revisit
            found[url] = Unit(data[:end] if from_start else record, mark)
    return found


def arc(folder: Path) -> Path:
    """Write an ARC file."""
    path = folder / "a.arc"
    path.write_bytes(b"filedesc://x 0.0.0.0 20010101000000 text/plain 40\n1 0 X\nURL IP-address Archive-date x y z\n\n")
    with path.open("ab") as file:
        for number, body in enumerate(BODIES):
            payload = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
            head = b"%b%d 1.2.3.4 20010203040506 text/html %d\n" % (URL.encode(), number, len(payload))
            file.write(head + payload + b"\n")
    return path


def _arc(folder: Path) -> Sample:
    path = arc(folder)
    data = path.read_bytes()
    starts = [found.start() for found in re.finditer(re.escape(URL.encode()) + rb"\d 1\.2\.3\.4", data)]
    ends = [*starts[1:], len(data)]
    # An ARC file is identified by its first lines only, and has no marks at which a reader could resume.
    units = {
        f"{URL}{n}": Unit(data[: ends[n]], data[start - 1 : start + 40]) for n, start in enumerate(starts)
    }  # fmt: skip
    return Sample(path, path, units)


def _wacz(folder: Path, packed: bool) -> Sample:
    inner = archive(folder, "in.warc" if packed else "in.warc.gz")
    path = _undated(write_wacz(folder / "a.wacz", [inner], [URL + "0"]), packed)
    units = _records(inner)
    data = path.read_bytes()
    inner.unlink()
    with zipfile.ZipFile(path) as container:
        start = container.start_dir
        end = container.infolist()[1].header_offset  # of the archive, the first member
    directory = data[start:]
    if packed:  # one stream: bytes after damage cannot be read
        frame = (data[:start], directory)
        return Sample(path, path, {url: Unit(data[:end], data[:end]) for url in units}, frame=frame, size=len(data))
    # The directory has the byte positions of the members, which missing or additional bytes shift.
    return Sample(path, path, units, frame=(data[:60], directory), size=len(data), end=end)


def _undated(path: Path, packed: bool) -> Path:
    """Write a ZIP file again without the times of its members, so that the bytes are the same each time."""
    with zipfile.ZipFile(path) as container:
        members = [(member.filename, container.read(member)) for member in container.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as container:
        for name, content in members:
            container.writestr(zipfile.ZipInfo(name), content, container.compression)
    return path


def _cdxj(folder: Path, damaged: str) -> Sample:
    inner = archive(folder, "data.warc.gz")
    index = write_cdxj(folder / "x.cdxj", [inner])
    if damaged == "archive":
        return Sample(index, inner, _records(inner, from_start=True))  # an index has the positions of the records
    lines = [line for line in index.read_bytes().splitlines(keepends=True) if not line.startswith(URL.encode() + b"r ")]
    units = {line.split(b" ")[0].decode(): Unit(b"\n" + line, b"\n" + line) for line in lines[1:]}
    return Sample(index, index, units)


def _cache(folder: Path) -> Sample:
    members = [cache_member(f"{URL}{number}", body) for number, body in enumerate(BODIES)]
    write_saved(folder, {"www.example.org/a.html": b"a"})
    return Sample(folder, write_cache(folder, members), {})


def _mirror(folder: Path) -> Sample:
    names = {f"{n}.html": body for n, body in enumerate(BODIES)}
    write_saved(folder / "site", {**names, "deep/er/x.html": BODIES[0]})
    units = {URL + name: Unit(b"", b"") for name in names if name != "3.html"}
    return Sample(folder / "site", folder / "site" / "3.html", units, URL)


def _listed(folder: Path) -> Sample:
    write_saved(folder, {"a.html": BODIES[0], "b.html": BODIES[1]})
    lines = [b"%ba%d\ta.html\n" % (URL.encode(), n) for n in range(20)]
    path = folder / "x.tsv"
    path.write_bytes(b"# list\n" + b"".join(lines))
    return Sample(path, path, {f"{URL}a{n}": Unit(b"\n" + line, b"\n" + line) for n, line in enumerate(lines)})


MAKERS: Mapping[str, Callable[[Path], Sample]] = {
    "WARC": lambda folder: _warc(folder, "a.warc"),
    "WARC.gz": lambda folder: _warc(folder, "a.warc.gz"),
    "ARC": _arc,
    "WACZ": lambda folder: _wacz(folder, packed=False),
    "WACZ, packed": lambda folder: _wacz(folder, packed=True),
    "CDXJ": lambda folder: _cdxj(folder, "index"),
    "CDXJ, its archive": lambda folder: _cdxj(folder, "archive"),
    "HTTrack": _cache,
    "mirror": _mirror,
    "list": _listed,
}
"""Functions that write a source into an empty folder."""
