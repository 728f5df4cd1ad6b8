"""Hostile and broken files, each with a command that reads its kind."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from experiments.campaign.inputs import OUTSIDE, Given, Input
from tests.archives import respond, write_wacz
from twinlink.spiders.frontier import LEDGER_NAME, FrontierReader
from twinlink.toy import BASE, write_toy


def _ingest(place: Given, source: Path) -> tuple[object, ...]:
    return ("ingest", source, "-o", place.folder / "out", "-q", "--base-url", "http://h.example.org")


def _zeros(suffix: str) -> Input:
    def make(place: Given) -> tuple[object, ...]:
        path = place.folder / f"zeros{suffix}"
        path.touch()
        os.truncate(path, 3 * 10**9)
        return _ingest(place, path)

    return Input(f"3 GB of zeros as {suffix}", make)


def _listed_pages(place: Given) -> tuple[object, ...]:
    inner = place.folder / "in.warc.gz"
    respond(inner, f"{BASE}/a", b"<p>page")
    path = write_wacz(place.folder / "many.wacz", [inner])
    inner.unlink()
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as container,
        container.open("pages/extraPages.jsonl", "w") as pages,
    ):
        for block in range(300):
            lines = (json.dumps({"url": f"{BASE}/{block}/{n}", "title": "t"}) for n in range(10_000))
            pages.write(("\n".join(lines) + "\n").encode())
    return _ingest(place, path)


_READERS: Mapping[str, Callable[[Given, Path], tuple[object, ...]]] = {
    "source": _ingest,
    "run": lambda place, path: ("match", path, "-q"),
    "lexicon": lambda place, path: ("match", place.run, "-q", "--lexicon", path),
    "settings": lambda place, path: ("match", place.run, "-q", "-c", path),
    "gold": lambda place, path: ("evaluate", place.run, "-q", "--gold", path),
    "seeds": lambda place, path: ("crawl", "-o", place.folder / "out", "-q", "--seeds", path),
    "library": lambda place, path: ("patterns", place.run, "-q", "--library", path),
    "warm": lambda place, path: ("align", place.run, "-q", "--warm", path),
    "text": lambda place, path: ("align", path, path),
    "pairs": lambda place, path: ("verify", path, "-q"),
    "common crawl": lambda place, path: ("rank", place.run, "-q", "--common-crawl", path),
}
"""Commands that read a file of the user."""


_REFUSED = frozenset({1, 2, 3})


def _pipe(reader: str, name: str) -> Input:
    def make(place: Given) -> tuple[object, ...]:
        path = place.folder / name
        os.mkfifo(path)
        return _READERS[reader](place, path)

    return Input(f"a pipe as {reader} ({name})", make, _REFUSED)


def _device(reader: str) -> Input:
    return Input(f"/dev/zero as {reader}", lambda place: _READERS[reader](place, Path("/dev/zero")), _REFUSED)


def _linked_device(reader: str, name: str) -> Input:
    def make(place: Given) -> tuple[object, ...]:
        path = place.folder / name
        path.symlink_to("/dev/zero")
        return _READERS[reader](place, path)

    return Input(f"a link to /dev/zero as {reader} ({name})", make, _REFUSED)


def _deep_mirror(place: Given) -> tuple[object, ...]:
    mirror = place.folder / "mirror"
    write_toy(mirror)
    here = os.open(mirror, os.O_RDONLY)
    for number in range(1_500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
        if number % 500 == 0:
            with os.fdopen(os.open("p.html", os.O_WRONLY | os.O_CREAT, dir_fd=here), "wb") as file:
                file.write(b"<title>x</title><p>deep page")
    os.close(here)
    return _ingest(place, mirror)


def _mirror_with(*names: str) -> Input:
    """Return a folder of pages that also contains pipes, symbolic links and unusual names."""

    def make(place: Given) -> tuple[object, ...]:
        (place.folder / "outside").mkdir()
        (place.folder / "outside" / "s.html").write_text(f"<title>x</title><p>{OUTSIDE}")
        mirror = place.folder / "mirror"
        write_toy(mirror)
        for name in names:
            _ODD[name](mirror)
        return _ingest(place, mirror)

    return Input(f"a mirror with {', '.join(names)}", make)


def _links_out(mirror: Path) -> None:
    (mirror / "out.html").symlink_to(mirror.parent / "outside" / "s.html")
    (mirror / "folder").symlink_to(mirror.parent / "outside")
    (mirror / "pw.html").symlink_to("/etc/passwd")


def _odd_names(mirror: Path) -> None:
    for name in (b"\x1b[2J\x07.html", b"\xff\xfe\x9b31m.html", b"new\nline.html"):
        (mirror / os.fsdecode(name)).write_text("<p>page")


def _linked_cache(mirror: Path) -> None:
    (mirror.parent / "outside" / "new.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    (mirror / "hts-cache").symlink_to(mirror.parent / "outside")


_ODD: Mapping[str, Callable[[Path], None]] = {
    "a pipe": lambda mirror: os.mkfifo(mirror / "pipe.html"),
    "links to devices": lambda mirror: (mirror / "zero.html").symlink_to("/dev/zero"),
    "links out of it": _links_out,
    "names with escapes": _odd_names,
    "a linked archive": lambda mirror: (mirror / "p.warc").symlink_to("/etc/passwd"),
    "a linked cache": _linked_cache,
}


def _listed_outside(place: Given) -> tuple[object, ...]:
    (place.folder / "s.html").write_text(f"<p>{OUTSIDE}")
    inner = place.folder / "list"
    inner.mkdir()
    (inner / "a.html").write_text("<p>page")
    (inner / "link.html").symlink_to(place.folder / "s.html")
    names = ("a.html", "../s.html", "/etc/passwd", "link.html", "\x1b[2J.html", "x" * 5_000)
    (inner / "x.tsv").write_text("".join(f"{BASE}/{n}\t{name}\n" for n, name in enumerate(names)))
    return _ingest(place, inner / "x.tsv")


def _escaped_archive(place: Given) -> tuple[object, ...]:
    path = place.folder / "a.warc"
    for number, name in enumerate(("a b\x1b[2J\x07", "\x1b]0;owned\x07 x", "\x9b31m y", "fine")):
        respond(path, f"{BASE}/{number}", f"<title>{name}</title><p>page {number}".encode(), packed=False)
        data = path.read_bytes()
        path.write_bytes(data.replace(f"{BASE}/{number}\r".encode(), f"{BASE}/{name}\r".encode("latin-1")))
    return _ingest(place, path)


_TABLES = ("ingest/pages", "ingest/links", "match/pairs", "match/languages")
_VERBS: Mapping[str, Callable[[Path], tuple[object, ...]]] = {
    "rank": lambda run: ("rank", run, "-q"),
    "recover --dry-run": lambda run: ("recover", run, "--dry-run", "-q"),
    "match": lambda run: ("match", run, "-q", "--langs", "en,zh", "--min-probability", "0.4"),
    "align": lambda run: ("align", run, "-q"),
    "patterns": lambda run: ("patterns", run, "-q"),
    "report": lambda run: ("report", run, "-q"),
    "explain": lambda run: ("explain", run, (run / "pairs.tsv").read_text().splitlines()[1].split("\t")[0]),
}
_BREAKS: Mapping[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "flipped": lambda data: bytes(byte ^ (n % 97 == 0) for n, byte in enumerate(data)),
    "empty": lambda data: b"",
}


def _damaged_table(verb: str, table: str, way: str) -> Input:
    def make(place: Given) -> tuple[object, ...]:
        for path in (place.run / table).glob("*.parquet"):
            path.write_bytes(_BREAKS[way](path.read_bytes()))
        return _VERBS[verb](place.run)

    return Input(f"{verb} with {table} {way}", make)


_ODD_VALUES = (
    "UPDATE frontier SET state = 'sleeping'",
    "UPDATE frontier SET url = x'ff00fe'",
    "UPDATE frontier SET depth = 'deep'",
    "UPDATE total SET queued = 'many'",
    "UPDATE sites SET done = NULL",
    "DELETE FROM total",
    "DROP TABLE frontier",
    "UPDATE notes SET value = '{'",
    "UPDATE bodies SET stop = -1",
    "UPDATE archives SET stop = 99999999",
    "UPDATE archives SET name = '../../x'",
    "UPDATE bodies SET archive = '/etc/passwd'",
    "UPDATE frontier SET urgency = 1e99",
    "UPDATE frontier SET key = zeroblob(1000000)",
    "PRAGMA user_version = 99",
    "UPDATE frontier SET url = char(27) || '[2J'",
)


def _odd_ledger(number: int, verb: str) -> Input:
    """Return a run whose ledger was changed by a statement, or damaged at random if there is no such statement."""

    def make(place: Given) -> tuple[object, ...]:
        ledger = place.run / LEDGER_NAME
        start = FrontierReader(place.run).starts()[0]
        if number < len(_ODD_VALUES):
            with closing(sqlite3.connect(ledger)) as db, db:
                db.execute("PRAGMA ignore_check_constraints = on")
                try:
                    db.execute(_ODD_VALUES[number])
                except sqlite3.Error:  # the schema correctly refuses it
                    ledger.write_bytes(b"no ledger")
        else:
            rng, data = random.Random(number), bytearray(ledger.read_bytes())
            for _ in range(200):
                data[rng.randrange(100, len(data))] = rng.randrange(256)
            ledger.write_bytes(bytes(data))
        return {
            "crawl": ("crawl", start, "-o", place.run, "-q"),
            "again": ("crawl", "-o", place.run, "-q", "--again", "--set", "crawl.retries=0"),
            "ingest": ("ingest", "-o", place.run, "-q"),
        }[verb]

    what = _ODD_VALUES[number] if number < len(_ODD_VALUES) else f"random bytes, {number}"
    return Input(f"{verb} with a ledger after: {what}", make, frozenset({0, 2, 3, 4, 5}))


_TOMLS: Mapping[str, bytes] = {
    "nested lists": b"x = " + b"[" * 100_000,
    "nested tables": b"x = " + b"{a = " * 50_000,
    "long keys": b".".join([b"a"] * 50_000) + b" = 1",
    "NULs": b"x = 1\0\n",
    "escapes": b"x\x1b[2J = 1",
    "a huge number": b"langs = " + b"9" * 100_000,
    "no UTF-8": b"\xff\xfe = 1",
    "a long string": b"langs = '" + b"x" * 3_000_000 + b"'",
}


def _toml(name: str, is_given: bool) -> Input:
    def make(place: Given) -> tuple[object, ...]:
        path = place.folder / "settings.toml" if is_given else place.run / "config.toml"
        path.write_bytes(_TOMLS[name])
        return ("match", place.run, "-q", *(("-c", path) if is_given else ()))

    return Input(f"{'settings' if is_given else 'config.toml'}: {name}", make, frozenset({2, 3}))


def _all() -> Iterator[Input]:
    yield from map(_zeros, (".warc", ".warc.gz", ".warc.zst", ".arc", ".wacz", ".cdx", ".cdxj", ".tsv"))
    yield Input("a WACZ of 3 million listed pages", _listed_pages)
    yield from (_pipe("source", name) for name in ("x.warc", "x.warc.gz", "x.wacz", "x.cdx", "x.tsv", "x"))
    yield from (_pipe(reader, "x.tsv") for reader in _READERS if reader != "source")
    yield from map(_device, _READERS)
    yield from (_linked_device("source", name) for name in ("x.warc", "x.wacz", "x.cdxj", "x.tsv"))
    yield Input("a mirror 1,500 folders deep", _deep_mirror)
    yield from (_mirror_with(name) for name in _ODD)
    yield Input("a list of files elsewhere", _listed_outside)
    yield Input("an archive with escapes", _escaped_archive)
    yield from (_damaged_table(verb, table, way) for verb in _VERBS for table in _TABLES for way in _BREAKS)
    yield from (_odd_ledger(number, "crawl") for number in range(len(_ODD_VALUES) + 8))
    yield from (_odd_ledger(number, "again") for number in range(0, len(_ODD_VALUES) + 8, 3))
    yield from (_odd_ledger(number, "ingest") for number in range(1, len(_ODD_VALUES) + 8, 3))
    yield from (_toml(name, is_given) for name in _TOMLS for is_given in (True, False))


INPUTS: tuple[Input, ...] = tuple(_all())
