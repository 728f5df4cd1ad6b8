"""Regular expressions, compiled where they are first needed: one with large ranges of characters takes .006 s."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["expression"]


@cache
def expression(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled.

    >>> expression("[0-9]+").findall("4 of 12")
    ['4', '12']
    """
    return re.compile(pattern)
