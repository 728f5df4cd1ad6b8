"""Colours for a terminal, and none where they are not wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO

__all__ = ["coloured", "visible", "wants_colours"]

BOLD, YELLOW, CYAN, END = "\x1b[1m", "\x1b[33m", "\x1b[36m", "\x1b[0m"
_COUNT = re.compile(r"^(\d+)(?= )|(?<=precision )(\d[.]\d+)|(?<=recall )(\d[.]\d+)|(?<=F1 )(\d[.]\d+)")
_WARNING = re.compile(r"^(note|paused|twinlink: error|twinlink: stopped)(?=[:;])")
_NEXT = re.compile(r"^next(?=:)")
# What moves the cursor, rings, or turns the direction of writing: text of others must not do that to a terminal.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def wants_colours(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Tell whether a stream gets colours: NO_COLOR forbids them, FORCE_COLOR wants them, else terminals have them."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return environment.get("TERM") != "dumb" and stream.isatty()


def visible(text: str) -> str:
    r"""Return a text with its control characters written out.

    >>> visible("a\x1b[2Jb\u202e")
    'a\\x1b[2Jb\\u202e'
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def coloured(line: str) -> str:
    r"""Return a line with its counts bold, warnings yellow, and the next command cyan.

    >>> coloured("5 pairs → run/pairs.tsv")
    '\x1b[1m5\x1b[0m pairs → run/pairs.tsv'
    """
    line = _COUNT.sub(lambda found: f"{BOLD}{found[0]}{END}", line)
    line = _WARNING.sub(lambda found: f"{YELLOW}{found[0]}{END}", line)
    return _NEXT.sub(lambda found: f"{CYAN}{found[0]}{END}", line)
