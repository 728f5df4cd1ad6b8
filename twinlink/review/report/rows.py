"""Rows of the report's tables as HTML. Functions, since a macro for each cell takes five times as long.

As in templates, texts are escaped and addresses linked by `href`; the template that gets the rows takes out unfit
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from twinlink.review.templating import count, decimal, href, percent, shortened

UNKNOWN = "<td>–</td>"
UNKNOWN_NUMBER = '<td class="n" data-v="">–</td>'


def rows_html(kinds: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """Return the rows of a table.

    Parameters
    ----------
    kinds : sequence of str
        Kind of each column, see `twinlink.review.report.data.Kind`.
    rows : sequence
        Values of each row; None: not known.
    """
    columns = [_cells(kind, values) for kind, values in zip(kinds, zip(*rows, strict=True), strict=bool(rows))]
    lines = (f"<tr>{''.join(cells)}</tr>\n" for cells in zip(*columns, strict=True))
    return Markup("".join(lines))  # noqa: S704 - each cell has escaped its text


def _cells(kind: str, values: Sequence[Any]) -> list[str]:
    cell = _CELLS.get(kind, _text)
    unknown = UNKNOWN_NUMBER if kind in ("count", "share", "decimal") else UNKNOWN
    return [unknown if value is None else cell(value) for value in values]


def _count(value: Any) -> str:
    return f'<td class="n" data-v="{escape(value)}">{count(value)}</td>'


def _share(value: float) -> str:
    return f'<td class="n" data-v="{decimal(value, 5)}">{escape(percent(value))}</td>'


def _decimal(value: float) -> str:
    return f'<td class="n" data-v="{decimal(value, 5)}">{decimal(value)}</td>'


def _bar(value: tuple[float, float, str]) -> str:
    number, share, style = value
    of_class = f' class="{escape(style)}"' if style else ""
    rect = f'<rect{of_class} width="{decimal(100 * share, 1)}" height="10"/>'
    meter = f'<svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{rect}</svg>'
    return f'<td class="bar" data-v="{escape(number)}">{meter}{count(number)}</td>'


def _tight(value: str) -> str:
    return f'<td class="tight"><bdi>{escape(shortened(value, 60))}</bdi></td>'


def _langs(value: tuple[str, str]) -> str:
    return f'<td class="tight">{escape(value[0])} – {escape(value[1])}</td>'


def _review(value: str) -> str:
    return f'<td><a href="{escape(value)}">Judge</a></td>'


def _words(value: str) -> str:
    return f'<td class="words">{escape(value)}</td>'


def _code(value: str) -> str:
    return f'<td class="url"><bdi>{escape(shortened(value, 100))}</bdi></td>'


def _page(value: Sequence[str]) -> str:
    url, title, lang, canonical, *_ = *value, "", ""
    of_lang = f' lang="{escape(lang)}"' if lang else ""
    named = f"<bdi{of_lang}>{escape(shortened(title, 100))}</bdi><br>" if title else ""
    beside = f"canonical: <bdi>{escape(shortened(canonical, 90))}</bdi>" if canonical else ""
    last = f'<br><span class="small muted">{beside}</span>' if beside else ""
    return f'<td class="url">{named}{_address(url)}{last}</td>'


def _address(url: str) -> str:
    target, shown = href(url), escape(shortened(url, 90) or url)
    if target:
        return f'<a dir="auto" rel="noreferrer" href="{escape(target)}">{shown}</a>'
    return f"<bdi>{shown}</bdi>"


def _text(value: str) -> str:
    of_class = ' class="words"' if len(value) > 20 else ""
    return f"<td{of_class}><bdi>{escape(shortened(value, 200))}</bdi></td>"


_CELLS: Mapping[str, Callable[[Any], str]] = {
    "count": _count, "share": _share, "decimal": _decimal, "bar": _bar, "tight": _tight, "langs": _langs,
    "review": _review, "words": _words, "code": _code, "page": _page,
}  # fmt: skip
