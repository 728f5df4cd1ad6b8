"""Colours on a terminal, unless they are switched off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO

_LABELS = {"note": "yellow", "paused": "yellow", "next": "cyan"}
"""Styles of the first word of a line, up to a colon."""
# What moves the cursor, rings, ends a line, or turns the direction of writing: text of others must not do that to a
# terminal.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Styled(str):
    """A line of text that knows the styles of its parts.

    Parameters
    ----------
    *parts : str or tuple of str
        A text, or a text and its rich style.

    Examples
    --------
    >>> Styled(("5", "bold"), " pairs")
    '5 pairs'
    """

    __slots__ = ("parts",)

    parts: tuple[tuple[str, str], ...]

    def __new__(cls, *parts: str | tuple[str, str]) -> Styled:
        """Join the parts."""
        pairs = tuple((part, "") if isinstance(part, str) else part for part in parts)
        line = super().__new__(cls, "".join(text for text, _ in pairs))
        line.parts = pairs
        return line


def wants_colours(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Return whether a stream gets colours: NO_COLOR forbids them, FORCE_COLOR wants them, else terminals have them."""
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
    r"""Return a line with the styles of its parts or of its label, and its control characters written out.

    >>> coloured(Styled(("5", "bold"), " pairs → run/pairs.tsv"))
    '\x1b[1m5\x1b[0m pairs → run/pairs.tsv'
    >>> coloured("next: twinlink review run")
    '\x1b[36mnext\x1b[0m: twinlink review run'
    """
    from rich.style import Style

    if not isinstance(line, Styled):
        label, colon, rest = line.partition(":")
        line = Styled((label, _LABELS.get(label, "")), colon + rest)
    return "".join(Style.parse(style).render(visible(text)) if style else visible(text) for text, style in line.parts)
