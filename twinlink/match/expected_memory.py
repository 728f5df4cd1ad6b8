"""Memory that the match of a site is expected to take, and what to do where ``run.memory`` does not allow it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from twinlink.system.memory import PROGRAM_BYTES, Memory, in_words
from twinlink.tables import part_folder, part_like, table_bytes

SMALL_FACTOR = 20
"""Bytes that the match of a small site takes for each byte of its tables, uncompressed: 16 to 27 on seven real sites of
0.7 to 14 MB, 5 on two others."""
LARGE_FACTOR, LARGE_BYTES = 6, 150_000_000
"""Bytes that the match of a large site takes for each byte of its tables, and beside that: the least that covers the
sites of 9 to 14 MB (160 to 220 MB) and a made one of 64 MB (370 MB). What a match keeps goes to disk beyond a part of
``run.memory``, so that a made site of 2 GB took some 4 times as much with 8 GB."""


def expected_bytes(part: Path) -> int:
    """Return what the match of a site is expected to take beside the program, given the part of its pages."""
    n_bytes = table_bytes(part) + table_bytes(part_like(part_folder(part).parent / "links", part))
    return min(SMALL_FACTOR * n_bytes, LARGE_BYTES + LARGE_FACTOR * n_bytes)


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
        f" more of it (--set run.memory={-(-(large[first] + PROGRAM_BYTES) // 10**8) * 100}MB), or read less of"
        " the site (--set ingest.url_prefixes=…, or --set crawl.site_by=host where it has several hosts)"
    )
