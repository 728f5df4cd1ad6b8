"""Charts as SVG text, made from arrays, each with a text alternative."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from twinlink.review.charts.svg import (
    HEIGHT,
    WIDTH,
    Alternative,
    Frame,
    Scale,
    document,
    element,
    ticks,
    words,
    written,
)
from twinlink.review.templating import count, percent, shortened

__all__ = ["Bar", "Curve", "Series", "Stack", "bars", "dumbbells", "histogram", "lines", "stacks"]

Floats = npt.NDArray[np.float64]
ROW = 28
"""Height of a row in charts with named rows."""
MAX_POINTS = 240
"""Maximum number of points drawn per curve; more cannot be distinguished on a screen."""


class Series(msgspec.Struct, frozen=True):
    """Counts or shares in the bins of a histogram."""

    label: str
    values: Floats
    style: str = ""
    """A class of ``base.css``: a, b, quiet, good, bad, doubt."""


class Curve(msgspec.Struct, frozen=True):
    """A line through points; ``low`` and ``high`` are the ends of intervals at the points, if any."""

    label: str
    x: Floats
    y: Floats
    style: str = ""
    low: Floats | None = None
    high: Floats | None = None
    dots: bool = False
    is_step: bool = False


class Bar(msgspec.Struct, frozen=True):
    """A bar with its name on the left and its value on the right."""

    label: str
    value: float
    style: str = ""
    note: str = ""
    """Text on the right of the bar; by default the value."""


class Stack(msgspec.Struct, frozen=True):
    """A column of stacked parts."""

    label: str
    values: tuple[float, ...]
    line: float = 0.0
    """Value of the line at this column."""


def histogram(
    alternative: Alternative,
    edges: Floats,
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    as_share: bool = False,
) -> Markup:
    """Draw counts (or shares of each series) in bins; a later series covers an earlier one.

    Parameters
    ----------
    alternative : Alternative
    edges : ndarray of float, shape (n_bins + 1,)
        Increasing.
    series : sequence of Series, each with values of shape (n_bins,)
    x_label, y_label : str
    as_share : bool
        Whether the values are shares, written as per cent.
    """
    top = max((float(each.values.max(initial=0.0)) for each in series), default=0.0) or 1.0
    frame = Frame.of((float(edges[0]), float(edges[-1])), (0.0, top))
    as_text = _per_cent if as_share else count
    y_ticks = [(value, as_text(value)) for value in ticks(0.0, top, 5) if as_share or value == int(value)]
    parts = frame.axes(x_label, y_label, [(value, f"{value:g}") for value in ticks(edges[0], edges[-1])], y_ticks)
    for each in series:
        for k, value in enumerate(each.values.tolist()):
            left, right = frame.x(edges[k]), frame.x(edges[k + 1])
            parts.append(_column(frame, left + 0.5, right - left - 1, value, f"bar {each.style}".strip()))
    return document(alternative, WIDTH, HEIGHT, parts)


def _column(
    frame: Frame, x: float, width: float, value: float, class_: str, below: float = 0.0, title: str = ""
) -> str:
    if value <= 0:
        return ""
    y, bottom = frame.y(below + value), frame.y(below)
    height = max(bottom - y, 1.5)  # small values stay visible
    hint = element("title", written(title)) if title else ""
    return element("rect", hint, x=x, y=bottom - height, width=max(width, 0.6), height=height, class_=class_)


def _per_cent(share: float) -> str:
    return percent(share, 0)


def lines(
    alternative: Alternative,
    curves: Sequence[Curve],
    x_label: str,
    y_label: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    x_text: Callable[[float], str] = count,
    y_text: Callable[[float], str] = _per_cent,
    x_ticks: Sequence[float] | None = None,
) -> Markup:
    """Draw curves in one plane; a long curve is thinned out to `MAX_POINTS`."""
    frame = Frame.of(x_range, y_range)
    places = ticks(*x_range, 5) if x_ticks is None else x_ticks
    x_marks = [(value, x_text(value)) for value in places]
    parts = frame.axes(x_label, y_label, x_marks, [(value, y_text(value)) for value in ticks(*y_range, 5)])
    for curve in curves:
        parts += _curve(frame, curve)
    return document(alternative, WIDTH, HEIGHT, parts)


def _curve(frame: Frame, curve: Curve) -> list[str]:
    chosen = _thinned(len(curve.x))
    x, y = curve.x[chosen], curve.y[chosen]
    if curve.is_step:
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    parts = []
    if curve.low is not None and curve.high is not None:
        for at, low, high in zip(x.tolist(), curve.low[chosen].tolist(), curve.high[chosen].tolist(), strict=True):
            x0, y1, y2 = frame.x(at), frame.y(low), frame.y(high)
            whisker = f"M{x0 - 4:.1f} {y1:.1f}h8m-4 0V{y2:.1f}m-4 0h8"
            parts.append(element("path", d=whisker, class_=f"interval {curve.style}".strip()))
    parts.append(element("polyline", points=frame.path(x, y), class_=f"line {curve.style}".strip()))
    if curve.dots:
        parts += [
            element("circle", cx=frame.x(a), cy=frame.y(b), r=4, class_=f"dot {curve.style}".strip())
            for a, b in zip(x.tolist(), y.tolist(), strict=True)
        ]
    return parts


def _thinned(n: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(np.intp)) if n else np.zeros(0, np.intp)


def bars(alternative: Alternative, given: Sequence[Bar], width: int = WIDTH, label_width: int = 120) -> Markup:
    """Draw bars below each other; the longest fills the width."""
    step, thick = ROW, 15
    scale = Scale(0.0, max((bar.value for bar in given), default=0.0) or 1.0, label_width + 10, width - 84)
    parts = []
    for number, bar in enumerate(given):
        y = (step - thick) // 2 + number * step
        length = max(scale(bar.value) - scale.start, 1.5 if bar.value > 0 else 0.0)
        parts.append(words(label_width, y + 12, shortened(bar.label, label_width // 8), "end", "name"))
        if length:
            class_ = f"bar {bar.style}".strip()
            parts.append(element("rect", x=scale.start, y=y, width=length, height=thick, rx=2, class_=class_))
        parts.append(words(scale.start + length + 7, y + 12, bar.note or count(bar.value)))
    return document(alternative, width, max(len(given), 1) * step + 26, parts)


def dumbbells(
    alternative: Alternative,
    labels: Sequence[str],
    low: Floats,
    high: Floats,
    width: int = WIDTH,
    label_width: int = 120,
) -> Markup:
    """Draw two values between 0 and 1 per row: ``low`` as a quiet dot, ``high`` as a full one."""
    step = ROW
    scale = Scale(0.0, 1.0, label_width + 14, width - 20)
    bottom = len(labels) * step
    parts = []
    for value in ticks(0.0, 1.0, 5):
        x = scale(value)
        parts.append(element("line", x1=x, x2=x, y1=0, y2=bottom, class_="grid"))
        parts.append(words(x, bottom + 19, f"{value:g}", "middle"))
    for number, (label, one, other) in enumerate(zip(labels, low.tolist(), high.tolist(), strict=True)):
        y = number * step + step // 2
        parts.append(words(label_width, y + 5, label, "end", "name"))
        known = [(value, style) for value, style in ((one, "quiet"), (other, "full")) if not np.isnan(value)]
        if len(known) == 2:
            parts.append(element("line", x1=scale(one), x2=scale(other), y1=y, y2=y, class_="axis"))
        parts += [element("circle", cx=scale(value), cy=y, r=6, class_=f"end {style}") for value, style in known]
    return document(alternative, width, bottom + 26, parts)


def stacks(
    alternative: Alternative,
    columns: Sequence[Stack],
    named: Sequence[tuple[str, str]],
    y_label: str,
    line_label: str = "",
) -> Markup:
    """Draw stacked columns, and a line over them with its own axis, which begins at 0.

    Parameters
    ----------
    alternative : Alternative
    columns : sequence of Stack
        Each with one value per part.
    named : sequence of (str, str)
        Class and name of each part, from bottom to top.
    y_label, line_label : str
        Labels of the axes of the columns and of the line; without the latter no line is drawn.
    """
    right_room = 64 if line_label else 0
    top = max((sum(each.values) for each in columns), default=0.0) or 1.0
    plain = Frame.of((0.0, float(max(len(columns), 1))), (0.0, top))
    frame = Frame(Scale(plain.x.low, plain.x.high, plain.x.start, plain.x.end - right_room), plain.y)
    every = max(1, -(-len(columns) // 8))
    x_ticks = [(k + 0.5, each.label) for k, each in enumerate(columns) if k % every == 0]
    parts = frame.axes("round", y_label, x_ticks, [(v, count(v)) for v in ticks(0.0, top, 5) if v == int(v)])
    for k, each in enumerate(columns):
        width = (frame.x(k + 1) - frame.x(k)) * 0.6
        below = 0.0
        for value, (style, name) in zip(each.values, named, strict=True):
            class_, title = f"bar {style}".strip(), f"{each.label}: {count(value)} {name}"
            parts.append(_column(frame, frame.x(k + 0.2), width, value, class_, below, title))
            below += value
    if line_label:
        parts += _line_over(frame, [each.line for each in columns], line_label)
    return document(alternative, WIDTH, HEIGHT, parts)


def _line_over(frame: Frame, values: Sequence[float], label: str) -> list[str]:
    top = max(values, default=0.0) or 1.0
    over = Frame(frame.x, Scale(0.0, top, frame.y.start, frame.y.end))
    places = np.arange(len(values), dtype=np.float64) + 0.5
    right, middle = frame.x.end, (frame.y.start + frame.y.end) / 2
    parts = [words(right + 6, over.y(v) + 5, count(v)) for v in ticks(0.0, top, 5) if v == int(v)]
    parts.append(words(WIDTH - 10, middle, label, "middle", transform=f"rotate(90 {WIDTH - 10} {middle:.0f})"))
    curve = Curve(label, places, np.asarray(values, np.float64), dots=len(values) <= 40)
    return [*parts, *_curve(over, curve)]
