"""The tables that stages exchange: one schema per table, checked on write and on read.

- schemas: `PAGES`, `LINKS`, `PAIRS` and so on; `Reject` is a row of `REJECTS`
- files: `write_table`, `read_table`, `iter_batches`, `iter_parts`, `tsv_lines`

A table is stored in Parquet files, one per site. The metadata of each file contain the descriptions of the columns;
``pyarrow.parquet.read_schema(path)`` prints them.
"""

from __future__ import annotations

from twinlink.rejects import Reject
from twinlink.tables.parquet import (
    GROUP_ROWS,
    SIX_DIGITS,
    check_table,
    columns_of,
    concat_tables,
    count_rows,
    iter_batches,
    iter_parts,
    open_table,
    read_table,
    readable,
    table_bytes,
    table_metadata,
    tsv_lines,
    write_table,
    write_tables,
)
from twinlink.tables.schemas import (
    CANDIDATES,
    CHECKS,
    EVIDENCE,
    FILTERS,
    LANGUAGES,
    LINKS,
    LOOK_ALIKES,
    PAGE_ALIGNMENTS,
    PAGE_PAIRS,
    PAGES,
    PAIRS,
    PATTERNS,
    PROBES,
    RECOVERED,
    REJECTS,
    ROUNDS,
    SEGMENT,
    SEGMENTS,
    SHAPES,
    SITES,
    VERDICTS,
    WEIGHTS,
)

__all__ = [
    "CANDIDATES",
    "CHECKS",
    "EVIDENCE",
    "FILTERS",
    "GROUP_ROWS",
    "LANGUAGES",
    "LINKS",
    "LOOK_ALIKES",
    "PAGES",
    "PAGE_ALIGNMENTS",
    "PAGE_PAIRS",
    "PAIRS",
    "PATTERNS",
    "PROBES",
    "RECOVERED",
    "REJECTS",
    "ROUNDS",
    "SEGMENT",
    "SEGMENTS",
    "SHAPES",
    "SITES",
    "SIX_DIGITS",
    "VERDICTS",
    "WEIGHTS",
    "Reject",
    "check_table",
    "columns_of",
    "concat_tables",
    "count_rows",
    "iter_batches",
    "iter_parts",
    "open_table",
    "read_table",
    "readable",
    "table_bytes",
    "table_metadata",
    "tsv_lines",
    "write_table",
    "write_tables",
]
