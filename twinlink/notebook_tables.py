"""HTML tables for notebooks, in the notebook's own colours.

Colours are those of the text around, at most mixed with transparency, so that light and dark notebooks both work. There
is no script, no style sheet and no picture; without the styles (as on some sites that show notebooks) every number is
still there. All that comes from pages is escaped, and held apart where it is written from right to left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

LEFT = "text-align:left;vertical-align:top"
WRAPPED = f"{LEFT};overflow-wrap:anywhere"
MUTED = "opacity:.75"
WORDS = f"{LEFT};{MUTED};min-width:14em"
"""Style of a cell with a sentence: the bars beside it give way first, their numbers go below them."""


def bar(share: float, text: str = "") -> str:
    """Return a bar with its number; values are clipped to 0 to 1.

    >>> "width:50.0%" in bar(0.5), "0.5000" in bar(0.5)
    (True, True)
    """
    if math.isnan(share):
        return "<td></td>"
    width = 100 * min(1.0, max(0.0, share))
    filled = f'<span style="display:block;height:.6em;width:{width:.1f}%;background:currentColor;opacity:.55"></span>'
    frame = "display:inline-block;width:4em;border:1px solid currentColor;border-radius:2px;vertical-align:middle"
    return f'<td style="{LEFT}"><span aria-hidden="true" style="{frame}">{filled}</span> {text or f"{share:.4f}"}</td>'


def address(url: str) -> str:
    """Return a page's address as a link; only web addresses become links."""
    shown = f"<bdi>{escape(url)}</bdi>"
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" rel="noopener noreferrer" target="_blank">{shown}</a>'


def html_table(caption: str, head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of rows that are whole (``<td>…</td>``)."""
    titles = "".join(f'<th scope="col" style="{LEFT}">{escape(title)}</th>' for title in head)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table><caption style="{LEFT};{MUTED}">{caption}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def cell(html: object, style: str = LEFT) -> str:
    """Return a cell of a table; ``html`` is not escaped."""
    return f'<td style="{style}">{html}</td>'
