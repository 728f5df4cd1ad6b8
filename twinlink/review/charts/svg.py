"""Parts of charts: SVG elements, scales, axes, and the text alternative.

Colours are classes of ``base.css``; no ``style`` attribute is used, since the policy of the pages forbids it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

import msgspec
from lxml import etree
from markupsafe import Markup

from twinlink.review.templating import clean, static_text

WIDTH, HEIGHT = 460, 270


class Alternative(msgspec.Struct, frozen=True):
    """The text alternative of a chart."""

    name: str
    """Unique on its page; letters, digits and hyphens."""
    title: str
    description: str


def element(tag: str, content: str = "", **attributes: object) -> str:
    """Return an SVG element; ``content`` is SVG. Names that Python reserves get a trailing underscore.

    >>> element("rect", x=1.25, class_="bar a")
    '<rect x="1.2" class="bar a"/>'
    """
    given = "".join(f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"' for name, value in attributes.items())
    return f"<{tag}{given}>{content}</{tag}>" if content else f"<{tag}{given}/>"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(clean(str(value)))


def words(x: float, y: float, text: str, anchor: str = "start", class_: str = "label", **attributes: object) -> str:
    """Return a text element; ``anchor`` is start, middle or end."""
    return element("text", written(text), x=float(x), y=float(y), text_anchor=anchor, class_=class_, **attributes)


def written(text: str) -> str:
    """Return a text, escaped, as the content of an SVG element; never empty."""
    return escape(clean(text)) or " "


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def document(
    alternative: Alternative, width: int, height: int, body: Iterable[str], class_: str = "plot", role: str = "img"
) -> Markup:
    """Return an SVG document with its text alternative; charts with links need the role ``group``."""
    name = alternative.name
    head = element("title", written(alternative.title), id=f"{name}-title")
    head += element("desc", written(alternative.description), id=f"{name}-desc")
    made = element(
        "svg",
        head + "".join(body),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        role=role,
        aria_labelledby=f"{name}-title {name}-desc",
        class_=class_,
    )
    return Markup(made)  # noqa: S704 - all texts in it went through `escape`


def standalone(picture: Markup, legend: Sequence[tuple[str, str]] = ()) -> str:
    """Return a chart as an SVG file, with colours, a background and the legend below.

    Parameters
    ----------
    picture : Markup
        A chart that `document` made.
    legend : sequence of (str, str)
        Class and label of each part.
    """
    root = etree.fromstring(picture)
    _, _, width, height = (float(part) for part in root.get("viewBox", "").split())
    whole = height + _LEGEND_STEP * len(legend) + (10 if legend else 0)
    root.attrib.update({"viewBox": f"0 0 {width:g} {whole:g}", "width": f"{width:g}", "height": f"{whole:g}"})
    style = etree.Element("style")
    style.text = _chart_styles()
    root.insert(0, style)
    root.insert(3, etree.fromstring(element("rect", width=width, height=whole, class_="ground")))  # below all marks
    for number, (class_, label) in enumerate(legend):
        y = height + _LEGEND_STEP * number
        mark = element("rect", x=70, y=y, width=12, height=12, class_=f"bar {class_}".strip())
        root.extend(etree.fromstring(text) for text in (mark, words(90, y + 11, label)))
    return etree.tostring(root, encoding="unicode") + "\n"


_LEGEND_STEP = 20
_VARIABLE = re.compile(r"(--[\w-]+):\s*([^;]+);")


def _chart_styles() -> str:
    """Return the rules for charts from ``base.css``, with the colours for light backgrounds instead of variables.

    Some programs that show SVG files do not support CSS variables.
    """
    sheet = static_text("base.css")
    values = dict(_VARIABLE.findall(sheet.partition("}")[0]))
    rules = [line for line in sheet.splitlines() if line.startswith("svg.plot")]
    rules += ["svg.plot { max-width: none; width: auto; }", "svg.plot .ground { fill: var(--surface); }"]
    return re.sub(r"var\((--[\w-]+)\)", lambda found: values[found[1]], "\n".join(rules))


class Scale(msgspec.Struct, frozen=True):
    """A linear scale that maps ``low`` to ``start`` and ``high`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value, limited to the scale."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values from ``low`` to ``high``, at most about ``most``.

    >>> ticks(0, 100), ticks(0, 0.5, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.0, 0.2, 0.4])
    """
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 5) if factor * power >= rough * 0.999), 10 * power)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Frame(msgspec.Struct, frozen=True):
    """The plot area of a chart with two axes."""

    x: Scale
    y: Scale

    @classmethod
    def of(cls, x: tuple[float, float], y: tuple[float, float], width: int = WIDTH, height: int = HEIGHT) -> Frame:
        """Return a plot area for two ranges of values, with margins for labels."""
        return cls(Scale(*x, 70, width - 28), Scale(*y, height - 50, 16))

    def axes(
        self,
        x_label: str,
        y_label: str,
        x_ticks: Sequence[tuple[float, str]],
        y_ticks: Sequence[tuple[float, str]],
    ) -> list[str]:
        """Return grid lines and labels."""
        left, right, bottom = self.x.start, self.x.end, self.y.start
        parts = []
        for value, text in y_ticks:
            y = self.y(value)
            parts += [line(left, y, right, y, "grid"), words(left - 7, y + 5, text, "end")]
        for value, text in x_ticks:
            x = self.x(value)
            parts += [line(x, bottom, x, bottom + 5, "axis"), words(x, bottom + 21, text, "middle")]
        parts.append(line(left, bottom, right, bottom, "axis"))
        parts.append(words((left + right) / 2, bottom + 43, x_label, "middle"))
        middle = (self.y.start + self.y.end) / 2
        parts.append(words(14, middle, y_label, "middle", transform=f"rotate(-90 14 {middle:.0f})"))
        return parts

    def path(self, x: Iterable[float], y: Iterable[float]) -> str:
        """Return the points of a polyline."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(x, y, strict=True))
