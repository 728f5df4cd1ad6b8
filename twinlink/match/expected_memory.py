"""Memory that the match of a site is expected to take, and what to do where ``run.memory`` does not allow it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from twinlink.system.memory import PROGRAM_BYTES, Memory, in_words
from twinlink.tables import part_folder, part_like, table_bytes

MEMORY_FACTOR = 20
"""Bytes that a match takes for each byte of a site's tables, uncompressed: 3 to 20 in trials on five sites."""


def expected_bytes(part: Path) -> int:
    """Return what the match of a site is expected to take beside the program, given the part of its pages."""
    links = part_like(part_folder(part).parent / "links", part)
    return MEMORY_FACTOR * (table_bytes(part) + table_bytes(links))


def too_large(parts: Sequence[Path], memory: Memory) -> str:
    """Return a sentence about sites that are expected to need more than all of the memory; empty if there is none.

    Parameters
    ----------
    parts : sequence of Path
        Parts of the pages of all sites.
    memory : Memory
    """
    room = memory.beside(0)
    large = {part: n_bytes for part in parts if (n_bytes := expected_bytes(part)) > room}
    if not large:
        return ""
    first = max(large, key=lambda part: large[part])
    others = f" ({len(large) - 1} more of the sites need more, too)" if len(large) > 1 else ""
    return (
        f"the match of {first.stem} is expected to take up to {in_words(large[first])}, and run.memory allows"
        f" {in_words(room)}{others}. It is tried all the same; if the system runs out of memory, use a machine with"
        f" more of it (--set run.memory={in_words(large[first] + PROGRAM_BYTES).replace(' ', '')}), or read less of"
        " the site (--set ingest.url_prefixes=…, or ingest.site_by=host where it has several hosts)"
    )
