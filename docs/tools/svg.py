"""A small drawing that becomes an SVG file: shapes and text on a card, with a title and a description for readers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["ACCENT", "BAD", "INK", "MUTED", "PALE", "SIDE_A", "SIDE_B", "Drawing", "shade"]

GROUND, INK, MUTED, PALE = "#ffffff", "#1b2a33", "#5b6a72", "#dfe5e8"
ACCENT, SIDE_A, SIDE_B, BAD = "#00796b", "#1f5fa8", "#9a5b00", "#b3261e"


class Drawing:
    """Shapes in pixels, the origin at the top left; the card is white, so that it can be read on any page."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 13,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """Write a line of text; y is its base line."""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>'
            f"{escape(text)}</text>"
        )

    def rect(
        self, x: float, y: float, w: float, h: float, *, fill: str, stroke: str = "none", width: float = 1
    ) -> None:
        """Draw a rectangle."""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" fill="{fill}" stroke="{stroke}"'
            f' stroke-width="{_n(width)}"/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, colour: str = MUTED, width: float = 1, dash: str = ""
    ) -> None:
        """Draw a straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{colour}"'
            f' stroke-width="{_n(width)}"{dashes}/>'
        )

    def path(self, points: Sequence[tuple[float, float]], *, colour: str, width: float = 2, dash: str = "") -> None:
        """Draw a line through points."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        places = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )

    def dot(self, x: float, y: float, r: float, *, fill: str, stroke: str = "none") -> None:
        """Draw a circle."""
        self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" fill="{fill}" stroke="{stroke}"/>')

    def cross(self, x: float, y: float, r: float, *, colour: str) -> None:
        """Draw an x, told from a dot without its colour."""
        self.line(x - r, y - r, x + r, y + r, colour=colour, width=1.5)
        self.line(x - r, y + r, x + r, y - r, colour=colour, width=1.5)

    def axes(
        self,
        box: tuple[float, float, float, float],
        x_ticks: Sequence[tuple[float, str]],
        y_ticks: Sequence[tuple[float, str]],
    ) -> None:
        """Draw two axes with ticks at pixels, and faint lines across."""
        left, top, right, bottom = box
        for y, label in y_ticks:
            self.line(left, y, right, y, colour=PALE)
            self.text(left - 6, y + 4, label, size=11, colour=MUTED, anchor="end")
        for x, label in x_ticks:
            self.line(x, bottom, x, bottom + 4)
            self.text(x, bottom + 17, label, size=11, colour=MUTED, anchor="middle")
        self.line(left, bottom, right, bottom)
        self.line(left, top, left, bottom)

    def svg(self) -> str:
        """Return the drawing as an SVG document."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
            f' height="{self.height}" role="img" aria-labelledby="title description"'
            ' font-family="system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Noto Sans CJK TC, sans-serif">'
        )
        card = f'<rect width="{self.width}" height="{self.height}" rx="6" fill="{GROUND}"/>'
        said = f'<title id="title">{escape(self.title)}</title><desc id="description">{escape(self.description)}</desc>'
        return "\n".join([head, said, card, *self._parts, "</svg>", ""])


def shade(value: float) -> str:
    """Return a colour between white (0) and the accent (1)."""
    low, high = (255, 255, 255), (0, 121, 107)
    mixed = (round(a + (b - a) * min(max(value, 0.0), 1.0)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _n(value: float) -> str:
    """Return a number as short as it is exact enough: the same on every machine."""
    return f"{round(float(value), 1):g}"
