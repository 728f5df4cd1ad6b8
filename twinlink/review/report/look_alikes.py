"""Section of the report on near-duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twinlink.review.report.data import Column, ReportData, Section, Table, records, total
from twinlink.review.templating import count

__all__ = ["look_alikes_section"]

MAX_GROUPS = 100
"""Groups shown: the largest."""


def look_alikes_section(data: ReportData) -> Section | None:
    """Return a table of the groups of near-duplicates, the largest first; None: no groups."""
    groups = data.look_alikes
    if not len(groups):
        return None
    n_pages, n_paired = total(groups["n_pages"]), total(groups["n_paired"])
    is_repeated = len(groups.group_by(["lang", "facing_lang"]).aggregate([])) > 2  # three languages: two of each page
    text = (
        f"{count(n_pages)} pages{' (each counted once for every other language)' if is_repeated else ''} are"
        f" near-duplicates of others in their language. They form {count(len(groups))}"
        f" {'group' if len(groups) == 1 else 'groups'}, and {count(n_paired)} of them are in a pair. Errors are most"
        " likely between the pages of a group; the review lists the other pages of each group."
    )
    shown = groups.sort_by([("n_pages", "descending")]).slice(0, MAX_GROUPS)
    several = len(groups["site"].unique()) > 1
    columns = [
        Column("Language", "tight"),
        Column("Pages", "count", "pages of the group"),
        Column("In a pair", "count"),
        Column("Doubtful", "count", "their pairs are too doubtful to be reported"),
        Column("Without partner", "count"),
        Column("Faces", "tight", "the group in the other language with most of its pairs or candidates"),
        Column("Example", "page"),
        Column("Its partner", "page"),
        *([Column("Site", "code")] if several else []),
    ]
    rows = [tuple(_row(row, several, data.example_titles)) for row in records(shown)]
    caption = f"Groups, the largest first: {count(len(shown))} of {count(len(groups))}"
    table = Table(caption, columns, rows, is_tall=len(rows) > 15)
    return Section("look-alikes", "Near-duplicates", "Near-duplicates", [text], tables=[table])


def _row(row: Any, several: bool, titles: Mapping[str, str]) -> Iterator[Any]:
    n_facing = int(row.n_facing)
    yield row.lang
    yield int(row.n_pages)
    yield int(row.n_paired)
    yield int(row.n_doubtful)
    yield int(row.n_pages - row.n_paired - row.n_doubtful)
    yield f"{row.facing_lang}: {f'{count(n_facing)} pages' if n_facing else 'no group'}"
    yield row.url, titles.get(row.url, ""), row.lang
    yield (row.partner, titles.get(row.partner, ""), row.facing_lang) if row.partner else None
    if several:
        yield row.site
