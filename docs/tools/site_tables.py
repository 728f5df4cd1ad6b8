"""Every table with its columns, as Markdown: read from the schemas that the package checks files against."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
from site_text import escaped

from twinlink import errors
from twinlink.tables import schemas as tables
from twinlink.wording import REASONS, SENTENCE_REASONS, reason_words

_SETTING = re.compile(r"[(](\w+)[)]")


def schemas() -> dict[str, pa.Schema]:
    """Return the schemas by the name of their table, in the order of `twinlink.tables.schemas`."""
    found = [each for each in vars(tables).values() if isinstance(each, pa.Schema)]
    return {each.metadata[b"table"].decode(): each for each in found}


def tables_page() -> str:
    """Return a section for each table, with its columns.

    >>> "## pairs" in tables_page()
    True
    """
    lines: list[str] = []
    for name, schema in schemas().items():
        lines += [f"## {name}", "", "| column | type | what it holds |", "|---|---|---|", *_rows(schema), ""]
    return "\n".join(lines)


def _rows(schema: pa.Schema) -> Iterator[str]:
    for field in schema:
        text = escaped(field.metadata[b"description"].decode())
        kind = str(field.type).replace("element: ", "").replace("item: ", "")
        yield f"| `{field.name}` | {_escaped(kind)}{', or null' if field.nullable else ''} | {text} |"


def _escaped(kind: str) -> str:
    return kind.replace("<", "\\<").replace(">", "\\>")


def exit_codes() -> str:
    """Return the exit codes and the errors behind them, as a table."""
    members = vars(errors).values()
    kinds = [each for each in members if isinstance(each, type) and issubclass(each, errors.TwinlinkError)]
    kinds.sort(key=lambda each: (each.exit_code, each.__mro__.index(Exception)))
    rows = [f"| {kind.exit_code} | `{kind.__name__}` | {(kind.__doc__ or '').splitlines()[0]} |" for kind in kinds]
    first, last = "| 0 | | all is well |", "| 130 | | stopped by Ctrl-C; the same command resumes where it stopped |"
    return "\n".join(["| code | error | |", "|---|---|---|", first, *rows, last])


def reasons() -> str:
    """Return the reasons of rejects with what they mean, as a table."""
    rows = [f"| `{name}` | {text} |" for name, text in REASONS.items()]
    rows += [
        f"| `{name}…` | {reason_words(name + 'NAME').replace('NAME', '…')} |"
        for name in ("http-", "filter-", "budget-")
    ]
    return "\n".join(["| reason | what it means |", "|---|---|", *rows])


def sentence_reasons() -> str:
    """Return the reasons why sentence pairs are not reported, as a table."""
    rows = [f"| `{name}` | {_SETTING.sub(_linked, text)} |" for name, text in SENTENCE_REASONS.items()]
    return "\n".join(["| reason | what it means |", "|---|---|", *rows])


def _linked(setting: re.Match[str]) -> str:
    return f"([`{setting[1]}`](settings.md#bitext-filters-{setting[1]}))"
