"""The pause file: an empty file pauses work until it is removed, one with a number for that many seconds.

A review renews a short pause while a reviewer looks at pairs. So work does not wait for a closed browser or a
server that was killed: neither can take its pause back, and a lock, which the server would hold, outlives the browser.
The file is all there is: no process is stopped by a signal, and whoever waits ends by Ctrl-C or a kill as at any time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from twinlink.files import write_text

LEASE_SECONDS = 150
"""Duration of one pause; browsers run timers of hidden pages only once a minute."""

_MOST_DIGITS = 6
_LOOK_SECONDS = 0.2


class Pause:
    """Cached test for a pause: while there is none, the file is looked for a few times per second only.

    Parameters
    ----------
    file : Path
        The file that asks for a pause.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._next_look = 0.0
        self._waits = False

    def waits(self) -> bool:
        """Return whether there is a pause."""
        now = time.monotonic()
        if self._waits or now >= self._next_look:
            self._next_look = now + _LOOK_SECONDS
            self._waits = waits(self.file)
        return self._waits


def waits(file: Path) -> bool:
    """Return whether a pause file exists, and its time is not over."""
    seconds = _seconds(file)
    if seconds is None:
        return file.exists()
    try:
        age = time.time() - file.stat().st_mtime
    except OSError:
        return False
    return abs(age) <= seconds  # the clock may have been set back


def is_lease(file: Path) -> bool:
    """Return whether the pause is limited in time."""
    return _seconds(file) is not None


def ask(file: Path) -> None:
    """Request a pause until it is cancelled.

    Raises
    ------
    OSError
        If the file cannot be written; by the others as well.
    """
    _write(file, "")


def take_back(file: Path) -> None:
    """Cancel the pause."""
    file.unlink(missing_ok=True)


def hold(file: Path, seconds: int = LEASE_SECONDS) -> None:
    """Request a pause of some seconds from now, unless a longer one is active."""
    if is_lease(file) or not file.exists():
        _write(file, str(seconds))


def let_go(file: Path) -> None:
    """Cancel a pause that is limited in time; an unlimited pause stays."""
    if is_lease(file):
        take_back(file)


def _seconds(file: Path) -> int | None:
    """Return the duration in a file; None: unlimited, or no file."""
    with suppress(OSError, UnicodeDecodeError):
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_MOST_DIGITS + 2).strip()
        if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
            return int(text)
    return None


def _write(file: Path, text: str) -> None:
    """Write atomically: an empty intermediate file would request an unlimited pause."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
