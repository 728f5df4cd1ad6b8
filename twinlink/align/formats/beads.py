"""Beads as text: ``[0]:[0]`` or ``[1, 2]:[1]``, one per line, sentence numbers from 0, as Bleualign has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from twinlink.errors import InputError
from twinlink.inputs import Expected, read_input_text

__all__ = ["Bead", "bead_lines", "read_beads"]

Bead = tuple[tuple[int, ...], tuple[int, ...]]
_FILE = Expected("cannot be read as a file of beads")
_LINE = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\]")


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
    lines = read_input_text(path, _FILE).splitlines()
    return [_bead(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _bead(line: str, where: str) -> Bead:
    match = _LINE.match(line.strip())
    if not match:
        raise InputError(f"{where}: expected a bead like [0]:[0, 1], got {line[:60]!r}")
    a, b = (tuple(int(number) for number in part.replace(",", " ").split()) for part in match.groups())
    return a, b
