"""A dropped page or pair with its reason, as crawl and sources report it: they need no tables, and so no pyarrow."""

from __future__ import annotations

from typing import NamedTuple


class Reject(NamedTuple):
    """One dropped page or pair, with its reason: a row of `twinlink.tables.REJECTS`."""

    url: str
    stage: str
    reason: str
    detail: str = ""
