"""Chart of the rounds of site discovery: outcomes of the sites that each tried, and the pairs so far.

It is an SVG file written by hand: bars and a line need no plotting library, and every browser shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa

from twinlink.files import write_text

__all__ = ["PLOT_FILE", "draw_rounds", "rounds_svg"]

PLOT_FILE = "discover.svg"

_PARTS = (
    ("added", "added", "#1b7837"),
    ("one_language", "not bilingual", "#bdbdbd"),
    ("refused", "refused by robots.txt", "#fdae61"),
    ("dead", "dead", "#d73027"),
    ("unreadable", "errors, moved, empty", "#762a83"),
)
_LEFT, _TOP, _HEIGHT, _STEP, _BAR = 60, 30, 220, 70, 36
_LINE = "#2166ac"
_FONT = 'font-family="sans-serif" font-size="12"'


def draw_rounds(table: pa.Table, path: Path) -> None:
    """Write the picture of a table `twinlink.tables.ROUNDS`."""
    write_text(path, rounds_svg(table.to_pylist()))


def rounds_svg(rows: Sequence[dict[str, Any]]) -> str:
    """Return the picture as SVG.

    One bar per round (left axis: share of the sites that it tried; below it the sites added and tried), and the
    pairs of
    all sites so far (right axis).
    """
    width, height = _LEFT + max(1, len(rows)) * _STEP + 240, _TOP + _HEIGHT + 45
    most_pairs = max((row["all_pairs"] for row in rows), default=0) or 1
    right = _LEFT + max(1, len(rows)) * _STEP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_FONT}>',
        '<rect width="100%" height="100%" fill="white"/>',
        *_axis(_LEFT, 100, "end", "% of tried", "black"),
        *_axis(right, most_pairs, "start", "pairs so far", _LINE),
    ]
    for number, row in enumerate(rows):
        parts += _bar(_LEFT + number * _STEP + (_STEP - _BAR) // 2, row)
    points = [
        (_LEFT + number * _STEP + _STEP // 2, _TOP + _HEIGHT * (1 - row["all_pairs"] / most_pairs))
        for number, row in enumerate(rows)
    ]
    path = " ".join(f"{x},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    parts += [f'<circle cx="{x}" cy="{y:.1f}" r="3" fill="{_LINE}"/>' for x, y in points]
    for number, (_, label, colour) in enumerate(_PARTS):
        y = _TOP + 20 * number
        parts.append(f'<rect x="{right + 75}" y="{y}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(right + 93, y + 10, label))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(x: int, row: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of a round's bar, from below."""
    y = float(_TOP + _HEIGHT)
    tried = sum(row[name] for name, *_ in _PARTS) or 1
    for name, label, colour in _PARTS:
        height = _HEIGHT * row[name] / tried
        y -= height
        yield (
            f'<rect x="{x}" y="{y:.1f}" width="{_BAR}" height="{height:.1f}" fill="{colour}">'
            f"<title>round {row['round']}: {row[name]} {escape(label)}</title></rect>"
        )
    yield _text(x + _BAR // 2, _TOP + _HEIGHT + 18, f"round {row['round']}", "middle")
    yield _text(x + _BAR // 2, _TOP + _HEIGHT + 34, f"{row['added']} of {row['tried']}", "middle")


def _axis(x: int, most: int, anchor: str, label: str, colour: str) -> Iterator[str]:
    """Yield an axis with four steps."""
    yield f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{_TOP + _HEIGHT}" stroke="{colour}"/>'
    aside = -6 if anchor == "end" else 6
    for step in range(5):
        y = _TOP + _HEIGHT * (1 - step / 4)
        yield _text(x + aside, int(y) + 4, f"{most * step / 4:,.0f}", anchor, colour)
    yield _text(x, _TOP - 12, label, "middle", colour)


def _text(x: int, y: int, text: str, anchor: str = "start", colour: str = "black") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
