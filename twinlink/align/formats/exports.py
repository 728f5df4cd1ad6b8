"""Segments for other programs: TMX 1.4b, TSV in Bitextor's order, Moses pairs, JSON Lines. All are streamed."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import msgspec
from lxml import etree

from twinlink.config.align import Compression
from twinlink.files import replacing
from twinlink.inputs import ANY_FILE, InputFile, open_input
from twinlink.system.packed import zstd_module

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = re.compile(r"\s+")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Row(NamedTuple):
    """One pair to write."""

    url_a: str
    url_b: str
    source: str
    target: str
    probability: float
    kind: str = "1-1"
    per_word: float = 0.0
    site: str = ""
    chance: float | None = None
    held_out: float = 0.0
    block_a: int = -1
    start_a: int = 0
    end_a: int = 0
    block_b: int = -1
    start_b: int = 0
    end_b: int = 0

    @property
    def score(self) -> float:
        """The chance to be a translation; where that is not known, the one among all alignments of the two pages."""
        return self.probability if self.chance is None else self.chance


ENDINGS: dict[Compression, str] = {"": "", "gzip": ".gz", "zstd": ".zst"}
"""What the name of a compressed file ends in."""


@contextmanager
def open_for_writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file through a temporary name, compressed as its name ends: `ENDINGS` (the same bytes at any time).

    A compressed file has a checksum, so that readers notice damage.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                yield cast("BinaryIO", packed)
        elif path.suffix == ".zst":
            zstd = zstd_module()
            options = {zstd.CompressionParameter.compression_level: 9, zstd.CompressionParameter.checksum_flag: 1}
            with zstd.ZstdFile(raw, "wb", options=options) as packed:
                yield cast("BinaryIO", packed)
        else:
            yield raw


@contextmanager
def open_for_reading(path: Path, expected: InputFile = ANY_FILE) -> Iterator[BinaryIO]:
    """Open a file, decompressed as its name ends: `ENDINGS`; a damaged one gives an `OSError`."""
    with open_input(path, expected) as raw:
        if path.suffix == ".gz":
            with _os_error_for(zlib.error):
                yield cast("BinaryIO", gzip.GzipFile("", "rb", fileobj=raw))
        elif path.suffix == ".zst":
            with _os_error_for(zstd_module().ZstdError):
                yield cast("BinaryIO", zstd_module().ZstdFile(raw, "rb"))
        else:
            yield raw


@contextmanager
def _os_error_for(damage: type[Exception]) -> Iterator[None]:
    """Raise an `OSError` for a library's error of damaged data, and for data that end early."""
    try:
        yield
    except (damage, EOFError) as error:
        raise OSError(str(error)) from error


def write_tmx(rows: Iterable[Row], file: BinaryIO, langs: tuple[str, str], version: str, created: datetime) -> int:
    """Write a translation memory, and return the number of units.

    Parameters
    ----------
    rows : iterable of Row
    file : binary file
    langs : pair of str
        BCP 47, with script where it matters.
    version : str
        Of twinlink, as the creation tool's.
    created : datetime
        In UTC.

    Notes
    -----
    A unit has the properties ``score`` (`Row.score`), ``x-probability``, ``x-per-word`` and ``x-kind``; each side names
    its page as ``source-document``, as Bitextor does. Characters that XML 1.0 cannot hold are left out.
    """
    date = f"{created:%Y%m%dT%H%M%SZ}"
    header = {
        "creationtool": "twinlink",
        "creationtoolversion": version,
        "segtype": "sentence",
        "o-tmf": "twinlink",
        "adminlang": "en",
        "srclang": langs[0],
        "datatype": "plaintext",
        "creationdate": date,
    }
    number = 0
    with etree.xmlfile(file, encoding="utf-8") as xml:
        xml.write_declaration()
        xml.write_doctype('<!DOCTYPE tmx SYSTEM "tmx14.dtd">')
        with xml.element("tmx", version="1.4"):
            xml.write(etree.Element("header", header))
            with xml.element("body"):
                for row in rows:
                    number += 1
                    xml.write("\n", _unit(row, number, langs, date))
    return number


def _unit(row: Row, number: int, langs: tuple[str, str], date: str) -> Any:
    unit = etree.Element("tu", tuid=str(number), creationdate=date)
    _add(unit, "prop", f"{row.score:.4f}", type="score")
    _add(unit, "prop", f"{row.probability:.4f}", type="x-probability")
    _add(unit, "prop", f"{row.per_word:.4f}", type="x-per-word")
    _add(unit, "prop", row.kind, type="x-kind")
    for lang, url, text in zip(langs, (row.url_a, row.url_b), (row.source, row.target), strict=True):
        side = etree.SubElement(unit, "tuv", {_LANG: lang})
        _add(side, "prop", url, type="source-document")
        _add(side, "seg", text)
    return unit


def _add(parent: Any, name: str, text: str, **attributes: str) -> None:
    etree.SubElement(parent, name, attributes).text = without_illegal(text)


def without_illegal(text: str) -> str:
    r"""Return a text without the characters that XML 1.0 cannot hold.

    >>> without_illegal("a\fb\tc")
    'ab\tc'
    """
    return _ILLEGAL.sub("", text)


def write_tsv(rows: Iterable[Row], file: BinaryIO) -> int:
    """Write ``url1 url2 src trg score per_word`` in tab-separated columns with a header line, the order of Bitextor."""
    number = 0
    with _text(file) as text:
        text.write("url1\turl2\tsrc\ttrg\tscore\tper_word\n")
        for row in rows:
            number += 1
            cells = (row.url_a, row.url_b, row.source, row.target, f"{row.score:.4f}", f"{row.per_word:.4f}")
            text.write("\t".join(map(_one_line, cells)) + "\n")
    return number


def write_moses(rows: Iterable[Row], source: BinaryIO, target: BinaryIO) -> int:
    """Write two files of one sentence per line, line by line translations of each other."""
    number = 0
    with _text(source) as text_a, _text(target) as text_b:
        for row in rows:
            number += 1
            text_a.write(_one_line(row.source) + "\n")
            text_b.write(_one_line(row.target) + "\n")
    return number


def write_jsonl(rows: Iterable[Row], file: BinaryIO, langs: tuple[str, str]) -> int:
    """Write one JSON object per line, with all there is about a pair: the fields of `Row`, its score, and languages."""
    number = 0
    for row in rows:
        number += 1
        more = {"score": row.score, "lang_a": langs[0], "lang_b": langs[1]}
        file.write(msgspec.json.encode({**row._asdict(), **more}) + b"\n")
    return number


@contextmanager
def _text(file: BinaryIO) -> Iterator[io.TextIOWrapper]:
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n")
    try:
        yield text
    finally:
        text.flush()
        text.detach()


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
