"""Small dictionaries in dictd's real form."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

__all__ = ["base64", "write_dictd"]

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64(value: int) -> str:
    """Write a number as indexes have it."""
    return (base64(value // 64) if value >= 64 else "") + DIGITS[value % 64]


def write_dictd(index: Path, entries: Mapping[str, str], title: str = "", *, compressed: bool = True) -> Path:
    """Write an index and its dictionary: each head word with its translation, or its whole entry; return the index."""
    texts = {"00databaseinfo": "made by somebody\n", "00databaseshort": f"00-database-short\n     {title}\n"}
    texts |= {head: text if "\n" in text else f"{head} /x/ <n>\n1. {text}\n" for head, text in entries.items()}
    data, lines = b"", []
    for head, text in texts.items():
        lines.append(f"{head}\t{base64(len(data))}\t{base64(len(text.encode()))}\n")
        data += text.encode()
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_text("".join(lines), encoding="utf-8")
    index.with_suffix(".dict" + ".dz" * compressed).write_bytes(gzip.compress(data) if compressed else data)
    return index
