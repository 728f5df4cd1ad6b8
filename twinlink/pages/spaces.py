"""White space, control and invisible characters in the texts of a page, and their normal form."""

from __future__ import annotations

import re
import unicodedata

from twinlink.scripts import INVISIBLE

CONTROL = re.compile(rf"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff{INVISIBLE}]")
_LONG_TEXT = 2**20


def collapse(text: str) -> str:
    """Put one space for each run of white space (no-break and ideographic spaces too), remove `CONTROL`; `composed`."""
    text = text.strip()
    # All white space but the plain space is unprintable.
    return composed(text if text.isprintable() and "  " not in text else _clean(_spaced(text)))


def composed(text: str) -> str:
    """Return a text in normal form NFC; most are, and are returned as they are."""
    return unicodedata.normalize("NFC", text)


def _spaced(text: str) -> str:
    """Put one space for each run of white space, and none at either end."""
    if len(text) <= _LONG_TEXT:
        return " ".join(text.split())
    # In pieces: as objects of their own, all words of a long text would take up ten times its size.
    parts: list[str] = []
    ends_word = False
    for start in range(0, len(text), _LONG_TEXT):
        part = text[start : start + _LONG_TEXT]
        words = " ".join(part.split())
        if words:
            parts += [" "] if parts and (ends_word or part[0].isspace()) else []
            parts.append(words)
        ends_word = part[-1].isspace() or (ends_word and not words)
    return "".join(parts)


def _clean(text: str) -> str:
    return text if text.isprintable() else " ".join(CONTROL.sub("", text).split())
