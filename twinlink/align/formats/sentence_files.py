"""Text files of sentences, one per line, and of beads: ``[0]:[0]`` or ``[1, 2]:[1]``, as in Bleualign."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from twinlink.errors import InputError
from twinlink.inputs import InputFile, read_input, read_input_text

_LINE_END = re.compile(r"\r\n|[\r\n]")
_CONTROLS = re.compile("[\t\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_PROBLEM = "cannot be read as text with one sentence per line"
_FILE = InputFile(_PROBLEM, f"{_PROBLEM} (no such file)")
_NOT_UTF_8 = "not UTF-8; convert the file, e.g. with iconv"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Bead = tuple[tuple[int, ...], tuple[int, ...]]
_BEAD_FILE = InputFile("cannot be read as a file of beads")
_BEAD = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\]")


class Line(NamedTuple):
    """A line that is not blank."""

    number: int
    """Of the file, from 0, blank lines counted."""
    text: str


def read_lines(path: Path) -> list[Line]:
    r"""Read the lines of a text file that are not blank: UTF-8, with or without byte order mark, or UTF-16 with one.

    Lines end in ``\n``, ``\r\n`` or ``\r`` and in nothing else, so that they are numbered as other programs number
    them. Tabs and the separators of Unicode become spaces.

    Raises
    ------
    InputError
        If the file cannot be read, is in another encoding, or holds NUL characters.
    """
    raw = read_input(path, _FILE)
    encoding = "utf-16" if raw.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].decode(encoding, "ignore").count("\n") + 1
        wrong = f"damaged UTF-16 ({error.reason})" if encoding == "utf-16" else _NOT_UTF_8
        raise InputError(f"{path}:{line}: {_PROBLEM}: {wrong}") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}:{line}: {_PROBLEM}: contains NUL characters; UTF-16 without a byte order mark?")
    lines = (_CONTROLS.sub(" ", line).strip() for line in _LINE_END.split(text))
    return [Line(number, line) for number, line in enumerate(lines) if line]


def bead_lines(beads: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Iterator[str]:
    """Yield the line of each bead.

    >>> list(bead_lines([((0,), (0, 1)), ((), (2,))]))
    ['[0]:[0, 1]', '[]:[2]']
    """
    for a, b in beads:
        yield f"{list(a)}:{list(b)}"


def read_beads(path: Path) -> list[Bead]:
    """Read a file of beads; empty lines and what follows a second colon (a score) are left out.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no bead.
    """
    lines = read_input_text(path, _BEAD_FILE).splitlines()
    return [_bead(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _bead(line: str, where: str) -> Bead:
    match = _BEAD.match(line.strip())
    if not match:
        raise InputError(f"{where}: expected a bead like [0]:[0, 1], got {line[:60]!r}")
    a, b = (tuple(int(number) for number in part.replace(",", " ").split()) for part in match.groups())
    return a, b
