"""Readers of lexicon files: TSV, CC-CEDICT, MUSE, dictd."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from twinlink.errors import LexiconError
from twinlink.inputs import InputFile, read_input
from twinlink.similarity.dictd import dictd_entries, dictd_files
from twinlink.system.packed import BZIP2, GZIP, XZ, PackedError, unpack

_PROBLEM = "not a readable lexicon file"
_FILE = InputFile(_PROBLEM, f"{_PROBLEM} (no such file)", LexiconError)
_EXPECTED = {
    "tsv": "head TAB translation [TAB probability]",
    "cedict": "Traditional Simplified [pin1 yin1] /gloss/gloss/",
    "muse": "two words with a space or TAB between them",
}
_CEDICT = re.compile(r"(?P<traditional>\S+) (?P<simplified>\S+) \[[^\]]*\] /(?P<glosses>.+)/\s*")
_MUSE = re.compile(r"\s*(\S+)[ \t]+(\S+)\s*")
_REFERENCE = re.compile(r"CL:|(?:\w+ )?variant of |see (?:also )?[^a-z]|abbr\. for |also (?:written|pr\.) |used in ")


class LexiconEntry(NamedTuple):
    """One line of a lexicon."""

    head: str
    translation: str
    weight: float = 1.0
    """Probability of the translation, in (0, 1]; 1 where the file gives none."""


class Lexicon(msgspec.Struct, frozen=True):
    """Entries of a bilingual lexicon; the languages of its columns are detected when it is used."""

    entries: tuple[LexiconEntry, ...]
    name: str = "lexicon"

    def __len__(self) -> int:
        return len(self.entries)


def read_lexicon(path: str | Path) -> Lexicon:
    """Read a lexicon file in UTF-8, plain or compressed (gzip, xz or bzip2, detected by its first bytes).

    Four formats are supported. dictd is detected by its name: either file of ``NAME.index`` and ``NAME.dict.dz`` (or
    ``NAME.dict``) may be given. The others are detected by the first entry:

    - TSV: ``head TAB translation [TAB probability]``;
    - CC-CEDICT: ``Traditional Simplified [pin1 yin1] /gloss/gloss/``;
    - MUSE: two words with a space between them (or a TAB).

    Empty lines and comments (``#`` first, and no TAB) are skipped, as are entries with an empty side.

    Raises
    ------
    LexiconError
        If the file cannot be read, a line is malformed (the message gives the line and the expected format), or
        there is no entry.
    """
    path = Path(path)
    dictd = dictd_files(path)
    if dictd is None:
        entries = tuple(_parse(_read_text(path), path))
    else:
        index, dictionary = dictd
        entries = tuple(
            LexiconEntry(*pair) for pair in dictd_entries(_read_text(index), _read_bytes(dictionary), index)
        )
    if not entries:
        expected = f"; expected lines of the form {_EXPECTED['tsv']}" if dictd is None else " with a translation"
        raise LexiconError(f"{path}: no entry{expected}")
    return Lexicon(entries, path.name)


def _read_bytes(path: Path) -> bytes:
    raw = read_input(path, _FILE)
    packing = next((packing for packing in (GZIP, XZ, BZIP2) if raw.startswith(packing.mark)), None)
    if packing is None:
        return raw
    try:
        plain = unpack(raw, _FILE.limit + 1, packing)
    except PackedError as error:
        raise LexiconError(f"{path}: {_PROBLEM} ({error})") from error
    if len(plain) > _FILE.limit:
        raise LexiconError(f"{path}: {_PROBLEM} (more than {_FILE.limit} bytes when unpacked)")
    return plain


def _read_text(path: Path) -> str:
    raw = _read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise LexiconError(f"{path}: line {line}: not UTF-8; convert the file, e.g. with iconv") from None


def _parse(text: str, path: Path) -> Iterator[LexiconEntry]:
    lines = (
        (number, line)
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)
        if line.strip() and ("\t" in line or not line.startswith("#"))
    )
    first = next(lines, None)
    if first is None:
        return
    form = _form(first[1])
    for number, line in chain([first], lines):
        try:
            entries = _FORMS[form](line)
        except ValueError as error:
            raise LexiconError(f"{path}: line {number}: expected {error}, got {line[:60]!r}") from None
        yield from (entry for entry in entries if entry.head and entry.translation)


def _form(line: str) -> str:
    """Detect the format of a file by its first entry."""
    if "\t" in line:
        return "tsv"
    return "cedict" if _CEDICT.fullmatch(line) else "muse" if _MUSE.fullmatch(line) else "tsv"


def _tsv(line: str) -> Iterable[LexiconEntry]:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) not in (2, 3):
        raise ValueError(_EXPECTED["tsv"])
    weight = _weight(fields[2]) if len(fields) == 3 else 1.0
    return [LexiconEntry(fields[0], fields[1], weight)]


def _weight(field: str) -> float:
    try:
        weight = float(field)
    except ValueError:
        weight = -1.0
    if not 0 < weight <= 1:
        raise ValueError("a probability in (0, 1] in the third column")
    return weight


def _cedict(line: str) -> Iterable[LexiconEntry]:
    match = _CEDICT.fullmatch(line)
    if match is None:
        raise ValueError(_EXPECTED["cedict"])
    glosses = (gloss.strip() for gloss in re.split("[/;]", match["glosses"]))
    heads = dict.fromkeys((match["traditional"], match["simplified"]))
    return [LexiconEntry(head, gloss) for gloss in glosses if not _REFERENCE.match(gloss) for head in heads]


def _muse(line: str) -> Iterable[LexiconEntry]:
    match = _MUSE.fullmatch(line)
    if match is None:
        raise ValueError(_EXPECTED["muse"])
    return [LexiconEntry(match[1], match[2])]


_FORMS: Mapping[str, Callable[[str], Iterable[LexiconEntry]]] = {"tsv": _tsv, "cedict": _cedict, "muse": _muse}
