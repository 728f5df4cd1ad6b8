"""Tables of the sentences."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["PAGE_ALIGNMENTS", "SEGMENTS"]


def _column(name: str, kind: pa.DataType, text: str, *, null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"description": text})


SEGMENTS = pa.schema(
    [
        _column("site", pa.string(), "site of both pages"),
        _column("url_a", pa.string(), "page of the first language"),
        _column("url_b", pa.string(), "page of the second language"),
        _column("lang_a", pa.string(), "language of url_a, with script where it matters (zh-Hant)"),
        _column("lang_b", pa.string(), "language of url_b"),
        _column("source", pa.string(), "text of the first language, empty in a bead 0-1"),
        _column("target", pa.string(), "text of the second language, empty in a bead 1-0"),
        _column("kind", pa.string(), "sentences on each side of the bead: 1-1, 2-1 …"),
        _column("probability", pa.float32(), "chance of the bead among all ways to align the two pages"),
        _column("per_word", pa.float32(), "how well the words explain each other: mean log p(word | other)/p(word)"),
        _column("block_a", pa.int32(), "number of the block of url_a, -1: none"),
        _column("start_a", pa.int32(), "first character in that block"),
        _column("end_a", pa.int32(), "character after the last"),
        _column("block_b", pa.int32(), "number of the block of url_b, -1: none"),
        _column("start_b", pa.int32(), "first character in that block"),
        _column("end_b", pa.int32(), "character after the last"),
        _column("verdict", pa.string(), "segment, or the reason why it is not handed out"),
    ],
    metadata={"table": "segments"},
)

PAGE_ALIGNMENTS = pa.schema(
    [
        _column("site", pa.string(), "site of both pages"),
        _column("url_a", pa.string(), "page of the first language"),
        _column("url_b", pa.string(), "page of the second language"),
        _column("sentences_a", pa.int32(), "sentences of url_a"),
        _column("sentences_b", pa.int32(), "sentences of url_b"),
        _column("beads", pa.int32(), "beads with sentences on both sides"),
        _column("support", pa.float32(), "share of all sentences in beads whose words speak for each other"),
    ],
    metadata={"table": "page_alignments"},
)
