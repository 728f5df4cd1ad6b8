"""Charts of the experiments as SVG files, drawn with the parts of the report's charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from twinlink.review.charts.charts import Curve, dumbbells, histogram, lines
from twinlink.review.charts.charts import Series as Bins
from twinlink.review.charts.svg import HEIGHT, WIDTH, Alternative, Frame, document, element, line, standalone, ticks

Floats = npt.NDArray[np.float64]
Axis = tuple[str, tuple[float, float]]
"""Label and range of an axis."""
STYLES = ("", "a", "b", "good", "bad", "doubt")
"""Styles of the curves of a picture; more curves cannot be told apart."""


def save_lines(
    path: Path,
    title: str,
    curves: Mapping[str, tuple[Floats, Floats]],
    x: Axis,
    y: Axis,
    y_text: Callable[[float], str] = "{:g}".format,
) -> None:
    """Draw at most six curves, each with its points ``(x, y)``."""
    drawn = [Curve(name, *points, style) for (name, points), style in zip(curves.items(), STYLES, strict=False)]
    told = "; ".join(f"{each.label}: {each.y[0]:.3g} to {each.y[-1]:.3g}" for each in drawn)
    picture = lines(_said(path, title, told), drawn, x[0], y[0], x[1], y[1], x_text="{:g}".format, y_text=y_text)
    _save(path, standalone(picture, [(each.style, each.label) for each in drawn]))


def save_dumbbells(path: Path, title: str, named: tuple[str, str], rows: Mapping[str, tuple[float, float]]) -> None:
    """Draw two values between 0 and 1 for each row: a quiet dot and a full one, called as ``named``."""
    low, high = (np.array([pair[k] for pair in rows.values()]) for k in range(2))
    told = "; ".join(f"{name} {a:.3f} and {b:.3f}" for name, (a, b) in rows.items())
    picture = dumbbells(_said(path, title, told), list(rows), low, high, label_width=190)
    _save(path, standalone(picture, [("quiet", named[0]), ("", named[1])]))


def save_histogram(path: Path, title: str, values: Floats, n_bins: int, labels: tuple[str, str]) -> None:
    """Draw the counts of values in bins of equal width."""
    counts, edges = np.histogram(values, n_bins)
    told = f"{len(values)} values from {edges[0]:.2f} to {edges[-1]:.2f}"
    picture = histogram(_said(path, title, told), edges, [Bins("", counts.astype(np.float64))], *labels)
    _save(path, standalone(picture))


def save_points(
    path: Path,
    title: str,
    points: Mapping[str, tuple[Floats, Floats]],
    x: Axis,
    y: Axis,
    limits: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
) -> None:
    """Draw one or two sets of points ``(x, y)``, the second in another colour, and straight lines from end to end."""
    frame = Frame.of(x[1], y[1])
    marks = [[(value, f"{value:g}") for value in ticks(*bounds, 5)] for _, bounds in (x, y)]
    parts = frame.axes(x[0], y[0], *marks)
    for (x1, y1), (x2, y2) in limits:
        parts.append(line(frame.x(x1), frame.y(y1), frame.x(x2), frame.y(y2), "axis"))
    for (horizontal, vertical), style in zip(points.values(), ("", "bad"), strict=False):
        for a, b in zip(horizontal.tolist(), vertical.tolist(), strict=True):
            parts.append(element("circle", cx=frame.x(a), cy=frame.y(b), r=2.5, class_=f"point {style}".strip()))
    told = ", ".join(f"{len(values[0])} {name}" for name, values in points.items())
    picture = document(_said(path, title, told), WIDTH, HEIGHT, parts)
    _save(path, standalone(picture, list(zip(("", "bad"), points, strict=False)) if len(points) > 1 else ()))


def _said(path: Path, title: str, told: str) -> Alternative:
    return Alternative(path.stem, title, told)


def _save(path: Path, drawn: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawn, encoding="utf-8")
