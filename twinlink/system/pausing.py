"""The file that asks for a pause: empty, it asks until it is removed; with a number in it, for so many seconds.

Whoever looks at each pair asks for a short pause again and again. So nothing waits for a review that has gone away:
neither for a closed browser, nor for a server that was killed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from twinlink.files import write_text

__all__ = ["LEASE_SECONDS", "Pause", "ask", "hold", "is_lease", "let_go", "take_back", "waits"]

LEASE_SECONDS = 150
"""For how long one look holds work up; browsers let the clock of a page that is not seen tick once a minute."""

_MOST_DIGITS = 6
_LOOK_SECONDS = 0.2


class Pause:
    """Whether work has to wait, for who asks again and again: the file is looked at a few times per second.

    Parameters
    ----------
    file : Path
        The file that asks for a pause.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._next_look = 0.0
        self._waits = False

    def waits(self) -> bool:
        """Return whether there is a pause."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_SECONDS
            self._waits = waits(self._file)
        return self._waits


def waits(file: Path) -> bool:
    """Return whether there is a file that asks for a pause, and its time is not over."""
    seconds = _seconds(file)
    if seconds is None:
        return file.exists()
    try:
        age = time.time() - file.stat().st_mtime
    except OSError:
        return False
    return abs(age) <= seconds  # the clock may have been set back


def is_lease(file: Path) -> bool:
    """Return whether it asks for some time only."""
    return _seconds(file) is not None


def ask(file: Path) -> None:
    """Ask for a pause until it is taken back.

    Raises
    ------
    OSError
        If the file cannot be written; by the others as well.
    """
    _write(file, "")


def take_back(file: Path) -> None:
    """Ask no more."""
    file.unlink(missing_ok=True)


def hold(file: Path, seconds: int = LEASE_SECONDS) -> None:
    """Ask for some seconds from now, unless somebody asks for longer."""
    if is_lease(file) or not file.exists():
        _write(file, str(seconds))


def let_go(file: Path) -> None:
    """Ask no more for some seconds; a pause that was asked for without an end stays."""
    if is_lease(file):
        take_back(file)


def _seconds(file: Path) -> int | None:
    """Return for how long a file asks; None: without an end, or it is not there."""
    with suppress(OSError, UnicodeDecodeError):
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_MOST_DIGITS + 2).strip()
        if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
            return int(text)
    return None


def _write(file: Path, text: str) -> None:
    """Write it as a whole: one that was emptied but not written yet would ask without an end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
