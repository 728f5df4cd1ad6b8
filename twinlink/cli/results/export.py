"""Result of an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from twinlink.cli.results.record import Record

if TYPE_CHECKING:
    from twinlink.export import Exported


class ExportedFile(msgspec.Struct, frozen=True):
    """A file of an export."""

    path: str
    """The file."""
    n_bytes: int
    """Its size."""


class ExportResult(Record, frozen=True, kw_only=True):
    """`twinlink export`: the files, and how many page pairs are in them."""

    run: str
    """The run directory."""
    folder: str
    """Folder of the files."""
    n_pairs: int
    """Exported page pairs."""
    by_languages: dict[str, int]
    """Their number for each two languages, e.g. ``en-zh-Hant``."""
    files: list[ExportedFile]
    """The files that were written."""
    lost: list[str]
    """Pages that are not in the WACZ package, because the sources of the run no longer hold them."""

    @classmethod
    def of(cls, run: Path, exported: Exported) -> ExportResult:
        """Make it from what was written."""
        return cls(
            run=str(run),
            folder=str(exported.folder),
            n_pairs=sum(exported.n_pairs.values()),
            by_languages=exported.n_pairs,
            files=[ExportedFile(str(path), path.stat().st_size) for path in exported.files],
            lost=exported.lost,
        )
