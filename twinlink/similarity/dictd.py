"""Dictionaries in dictd's form, as FreeDict and Debian's ``dict-*`` packages have them.

``NAME.index`` has lines ``headword TAB offset TAB length``, the numbers in base 64; they point into ``NAME.dict`` (or
``NAME.dict.dz``, which is gzip). Entries are free text for readers: head, pronunciation and part of speech in the
first line, below it the senses, glosses separated by commas, and notes.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from twinlink.errors import LexiconError

_DIGITS: Mapping[str, int] = {
    digit: value for value, digit in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_ABOUT = re.compile("00-?database")  # headwords of entries about the dictionary itself
_ABOUT_BYTES = re.compile(_ABOUT.pattern.encode())
_TITLE = re.compile("00-?database-?short\t")
_LONGEST_TITLE = 1_000
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>")
_PRONOUNCED = re.compile(r"/[^/]*/")
_MARK = re.compile(r"(?:\s*(?:\d+[.)]|[a-zа-я]\)|_\w+\.))+", re.IGNORECASE)  # 1.  2)  а)  _n.
_PARTS = re.compile("[,;]")
_AFTER_HEAD = re.compile(r"\n| [/<\[(]|,")
_SIGNS = re.compile(r"[\W_]+")
_NOT_A_SENSE = re.compile(r"\s*(?:Synonym|Antonym|Note:|see\b.*:|\"|=)", re.IGNORECASE)


def dictd_files(path: Path) -> tuple[Path, Path] | None:
    """Return the index and the dictionary file that a path belongs to, or None if its name is not that of a dictd file.

    Raises
    ------
    LexiconError
        If one of the two files is missing.
    """
    stem = re.sub(r"\.(?:index|dict|dict\.dz)$", "", str(path))
    index = Path(stem + ".index")
    if stem == str(path) or (path.suffix == ".dict" and not index.exists()):
        return None  # en-fr.dict alone may be any list of words
    found = [file for file in (Path(stem + ".dict.dz"), Path(stem + ".dict")) if file.exists()]
    if path.exists() and not index.exists():
        raise LexiconError(f"{path}: a dictionary of dictd needs its index {index.name} in the same folder")
    if path.exists() and not found:
        raise LexiconError(f"{path}: an index of dictd needs {Path(stem).name}.dict.dz in the same folder")
    return index, found[0] if found else path


def dictd_entries(index: str, data: bytes, path: Path) -> Iterator[tuple[str, str]]:
    """Yield each head with each of its glosses.

    Parameters
    ----------
    index : str
        Content of the ``.index`` file.
    data : bytes
        Content of the ``.dict`` file, decompressed.
    path : Path
        Of the index, for messages.

    Raises
    ------
    LexiconError
        If a line of the index is malformed or points outside the dictionary, or the text is not UTF-8.
    """
    for number, line in enumerate(index.split("\n"), 1):
        if not line.strip():
            continue
        head, *place = line.rstrip("\r").split("\t")
        try:
            start, length = (_decode(digits) for digits in place[:2])
            text = data[start : start + length].decode("utf-8")
        except UnicodeDecodeError:
            raise LexiconError(f"{path}: line {number}: the entry of {head!r} is not UTF-8") from None
        except (KeyError, ValueError):
            raise LexiconError(
                f"{path}: line {number}: expected headword TAB offset TAB length (base 64), got {line[:60]!r}"
            ) from None
        if start + length > len(data):
            raise LexiconError(
                f"{path}: line {number}: the entry of {head!r} ends beyond the dictionary's {len(data)} bytes"
            )
        if head.strip() and not _ABOUT.match(head):
            written = _head(text, head.strip())
            for gloss in glosses_of(text):
                yield written, gloss


def count_heads(index: Path) -> int:
    """Return the number of headwords in an index, duplicates included."""
    with index.open("rb") as file:
        return sum(1 for line in file if line.strip() and not _ABOUT_BYTES.match(line))


def dictd_title(index: Path, dictionary: Path) -> str:
    """Return the title of a dictionary; empty if it has none.

    Raises
    ------
    LexiconError
        If it cannot be read.
    """
    try:
        with index.open(encoding="utf-8", errors="replace") as lines:
            places = next((line.split("\t")[1:3] for line in lines if _TITLE.match(line)), None)
        if places is None:
            return ""
        start, length = map(_decode, (place.strip() for place in places))
        with gzip.open(dictionary) if dictionary.suffix == ".dz" else dictionary.open("rb") as file:
            file.seek(start)
            return file.read(min(length, _LONGEST_TITLE)).decode("utf-8", "replace")
    except (OSError, EOFError, ValueError, KeyError, zlib.error) as error:
        raise LexiconError(f"{index}: not a readable dictionary ({error})") from error


def glosses_of(text: str) -> list[str]:
    r"""Return the glosses of an entry, without numbers of senses, labels, notes and cross-references.

    Examples
    --------
    >>> glosses_of("bordel /bɔʀdɛl/ <n, masc>\n1. brothel\n2. bawdy, whorehouse (slang)\n   Synonyms: {lupanar}\n")
    ['brothel', 'bawdy', 'whorehouse']
    """
    first, *senses = text.strip().split("\n")
    if not senses:
        senses = [_PRONOUNCED.sub(" ", first).partition("  ")[2]]
    found = []
    for line in senses:
        if _NOT_A_SENSE.match(line):
            continue
        glosses = (gloss.strip(" :") for gloss in _PARTS.split(_MARK.sub("", _without_asides(line), count=1)))
        found += [gloss for gloss in glosses if gloss and gloss[0] not in "=_"]
    return list(dict.fromkeys(found))


def _head(text: str, key: str) -> str:
    """Return the headword as spelled in the entry: most indexes leave out apostrophes and hyphens.

    >>> _head("s'évanouir /sevanwiʀ/ <vi>", "sévanouir")
    "s'évanouir"
    """
    written = _AFTER_HEAD.split(text, maxsplit=1)[0].strip()
    return written if _SIGNS.sub("", written).lower() == _SIGNS.sub("", key).lower() else key


def _without_asides(line: str) -> str:
    """Remove text in brackets of any kind, nested ones included."""
    n_found = 1
    while n_found:
        line, n_found = _ASIDE.subn(" ", line)
    return line


def _decode(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 64 + _DIGITS[digit]
    return value
