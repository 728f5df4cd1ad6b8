"""Small sources of every kind, and the pages that must be read from each while it is intact."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.archives import HTML, cache_member, captures, respond, write_cache, write_cdxj, write_saved, write_wacz

__all__ = ["BODIES", "MAKERS", "URL", "Sample", "Unit"]

URL = "http://www.example.org/"
BODIES = [
    f"<!DOCTYPE html><meta charset=big5><title>{n}</title><p>頁 {n}{' words' * 5 * n}</p><a href=/{n + 1}>x</a>".encode(
        "big5"
    )
    for n in range(8)
]


@dataclass(frozen=True)
class Unit:
    """One page of a source."""

    whole: bytes
    """The bytes that make it: as long as they are in the file, it is read."""
    mark: bytes
    """The bytes that show that it was there: as long as they are in the file, it is read or counted."""


@dataclass(frozen=True)
class Sample:
    """A source, and the file of it that is damaged."""

    source: Path
    file: Path
    units: Mapping[str, Unit]
    """By address."""
    base_url: str = ""
    frame: tuple[bytes, ...] = ()
    """Bytes without which no page is sure, at places that must stay the same: what a packed file says of itself."""

    size: int | None = None
    """The length without which no page is sure."""
    end: int | None = None
    """Where whole records end to count: what damage has moved out of an archive within the file is not in it."""

    def whole(self, data: bytes) -> set[str]:
        """Return the addresses whose pages a damaged file must still give."""
        if self.size not in (None, len(data)) or not all(part in data for part in self.frame):
            return set()
        return {url for url, unit in self.units.items() if unit.whole in data[: self.end]}

    def marked(self, data: bytes) -> set[str]:
        """Return the addresses whose pages a damaged file must give or count."""
        return {url for url, unit in self.units.items() if unit.mark in data}


def archive(folder: Path, name: str) -> Path:
    """Write an archive of plain, chunked, packed and repeated answers; the same bytes each time."""
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
    """Return the records that have a page of their own; ``from_start``: each with all that is before it."""
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
    """Write an archive of the older kind."""
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
    # An archive of this kind says in its first lines what it is, and has no mark at which a reader could begin again.
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
    if packed:  # one stream: what is behind damage in it cannot be had
        frame = (data[:start], directory)
        return Sample(path, path, {url: Unit(data[:end], data[:end]) for url in units}, frame=frame, size=len(data))
    # The directory says at which byte its members begin: bytes that are missing or too many move all of them.
    return Sample(path, path, units, frame=(data[:60], directory), size=len(data), end=end)


def _undated(path: Path, packed: bool) -> Path:
    """Write a packed file anew, without the times of its members: the same bytes each time."""
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
        return Sample(index, inner, _records(inner, from_start=True))  # an index says where a record begins
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
"""Each writes a source into an empty folder."""
