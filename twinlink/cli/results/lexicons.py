"""The dictionaries that `--lexicon auto` has found, shown with a match or an alignment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from twinlink.similarity.lexicon_sets import LexiconRecord


class LexiconsResult(msgspec.Struct, frozen=True):
    """Installed dictionaries that a stage has used."""

    used: dict[str, int]
    """Dictionaries, and their numbers of head words."""
    unreadable: dict[str, str]
    """Dictionaries that cannot be read, each with the reason."""
    missing: dict[str, list[str]]
    """Pairs of languages without a dictionary (``en-fr``), and the Debian packages that have one."""

    @classmethod
    def of(cls, record: LexiconRecord) -> LexiconsResult:
        """Make it from a record."""
        return cls(used=record.used, unreadable=record.unreadable, missing=record.missing)

    @classmethod
    def of_stage(cls, folder: Path) -> LexiconsResult | None:
        """Return the dictionaries that a stage used; None if it did not look for dictionaries."""
        from twinlink.similarity.lexicon_sets import RECORD

        file = folder / RECORD
        return msgspec.json.decode(file.read_bytes(), type=cls) if file.is_file() else None
