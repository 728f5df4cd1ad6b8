"""The figures of the pages on methods, drawn from what the package computes on toy data.

``python docs/tools/figures.py`` writes them into docs/figures; a test compares them with what is there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parent))

from figures_of_pages import bitextor2010, jangeldin, webmining
from figures_of_sites import sites, url_patterns
from figures_of_texts import content, sentences, structure
from svg import ACCENT, BAD, INK, MUTED, PALE, SIDE_A, SIDE_B, Drawing, shade

from twinlink.config import EtsSettings
from twinlink.demo import write_site
from twinlink.graph.links import adjacency, neighbours
from twinlink.graph.matching import greedy_matching, optimal_matching
from twinlink.graph.propagation import enhanced_similarity
from twinlink.similarity.probabilities import probability_of_being_right
from twinlink.toy import toy_site

__all__ = ["draw_all"]

FOLDER = Path(__file__).resolve().parents[1] / "figures"
PAGES = "ABCDE"


def _toy_ets(rounds: int, alpha: float = 0.6) -> np.ndarray:
    site = toy_site()
    around = neighbours(adjacency(site.source, site.target, 5))
    settings = msgspec.structs.replace(EtsSettings(), alpha=alpha, rounds=rounds)
    return enhanced_similarity(site.internal, around, around, settings).scores.toarray()


def ets() -> Drawing:
    """S_in and ETS of the toy site as two matrices, the best of each row framed."""
    before, after = toy_site().internal.toarray(), _toy_ets(3)
    drawing = Drawing(
        640,
        320,
        "Similarity of the toy site's pages before and after links have their say",
        "Two tables of five English by five Chinese pages. By words and structure page C is most like page D', 0.45,"
        f" against {before[2, 2]:.2f} with C'. After three rounds of ETS, C is most like C', {after[2, 2]:.2f}, against"
        f" {after[2, 3]:.2f} with D'.",
    )
    for k, (name, matrix) in enumerate((("S_in: words and structure", before), ("ETS after three rounds", after))):
        _matrix(drawing, 46 + 310 * k, 62, matrix, name)
    return drawing


def _matrix(drawing: Drawing, left: float, top: float, matrix: np.ndarray, name: str) -> None:
    cell = 48
    drawing.text(left, top - 36, name, bold=True)
    for i, page in enumerate(PAGES[: len(matrix)]):
        drawing.text(left - 14, top + cell * i + 29, page, colour=SIDE_A, anchor="middle", bold=True)
        drawing.text(left + cell * i + cell / 2, top - 10, page + "'", colour=SIDE_B, anchor="middle", bold=True)
    for (i, j), value in np.ndenumerate(matrix):
        drawing.rect(left + cell * j, top + cell * i, cell, cell, fill=shade(value * 0.8), stroke="#ffffff")
        ink = "#ffffff" if value > 0.55 else INK
        drawing.text(left + cell * j + cell / 2, top + cell * i + 29, f"{value:.2f}", anchor="middle", colour=ink)
    for i, j in enumerate(matrix.argmax(axis=1)):
        drawing.rect(left + cell * j + 2, top + cell * i + 2, cell - 4, cell - 4, fill="none", stroke=INK, width=2.5)


def liu2014() -> Drawing:
    """ETS of page C with its partner and with its rival, by the weight of links."""
    alphas = np.linspace(0, 1, 21)
    right, wrong = np.array([[m[2, 2], m[2, 3]] for m in (_toy_ets(3, float(alpha)) for alpha in alphas)]).T
    turn = float(alphas[np.argmax(right > wrong)])
    left, top, width, height = 60, 40, 470, 200
    drawing = Drawing(
        640,
        300,
        "Similarity of page C with its partner and its rival, by the weight of links",
        f"Two lines over α from 0 to 1. At α = 0 the rival D' is ahead, {wrong[0]:.2f} against {right[0]:.2f}; from"
        f" about {turn:.2f} on the partner C' is; at the paper's 0.6 it is {right[12]:.2f} against {wrong[12]:.2f}.",
    )
    drawing.axes(
        (left, top, left + width, top + height),
        [(left + width * x, f"{x:.1f}") for x in np.linspace(0, 1, 6)],
        [(top + height * (1 - y), f"{y:.1f}") for y in np.linspace(0, 1, 6)],
    )
    for values, colour, dash, name in ((right, ACCENT, "", "C and C', right"), (wrong, BAD, "6 4", "C and D', wrong")):
        drawing.path(
            [(left + width * x, top + height * (1 - y)) for x, y in zip(alphas, values, strict=True)],
            colour=colour,
            dash=dash,
        )
        drawing.text(left + width + 8, top + height * (1 - values[-1]) + 4, name, size=12, colour=colour)
    x = left + width * 0.6
    drawing.line(x, top, x, top + height, dash="2 3")
    drawing.text(x + 4, top + 12, "the paper's α", size=11, colour=MUTED)
    drawing.text(left + width / 2, 290, "α, the weight of links", size=12, colour=MUTED, anchor="middle")
    drawing.text(left, 24, "ETS after three rounds", size=12, colour=MUTED)
    return drawing


def matching() -> Drawing:
    """Greedy and optimal matching of one small matrix."""
    scores = np.array([[0.9, 0.8, 0.1], [0.8, 0.1, 0.2], [0.3, 0.2, 0.6]], np.float32)
    found = [function(csr_array(scores)) for function in (greedy_matching, optimal_matching)]
    sums = [float(each.scores.sum()) for each in found]
    pairs = [[f"{PAGES[i]} {PAGES[j]}'" for i, j in zip(each.rows, each.columns, strict=True)] for each in found]
    drawing = Drawing(
        640,
        260,
        "Greedy and optimal one-to-one matching of the same scores",
        f"The same table of scores twice. Greedy takes the largest score first and ends with {', '.join(pairs[0])}, sum"
        f" {sums[0]:.1f}. Optimal takes {', '.join(pairs[1])}, sum {sums[1]:.1f}.",
    )
    for k, (name, each) in enumerate(zip(("greedy, the paper's Algorithm 3", "optimal"), found, strict=True)):
        left, top, cell = 60 + 310 * k, 70, 48
        drawing.text(left, 30, name, bold=True)
        for i in range(3):
            drawing.text(left - 14, top + cell * i + 29, PAGES[i], colour=SIDE_A, anchor="middle", bold=True)
            drawing.text(
                left + cell * i + cell / 2, top - 10, PAGES[i] + "'", colour=SIDE_B, anchor="middle", bold=True
            )
        for (i, j), value in np.ndenumerate(scores):
            drawing.rect(
                left + cell * j, top + cell * i, cell, cell, fill=PALE if value < 0.5 else "#e6f2f0", stroke="#ffffff"
            )
            drawing.text(left + cell * j + cell / 2, top + cell * i + 29, f"{value:.1f}", anchor="middle")
        for place, (i, j) in enumerate(zip(each.rows, each.columns, strict=True), 1):
            drawing.rect(
                left + cell * j + 2, top + cell * i + 2, cell - 4, cell - 4, fill="none", stroke=INK, width=2.5
            )
            drawing.text(left + cell * j + 8, top + cell * i + 15, str(place), size=10, colour=MUTED)
        drawing.text(left + 3 * cell + 14, top + 80, f"sum {sums[k]:.1f}", colour=MUTED)
    return drawing


def weighed() -> Drawing:
    """Log odds of chosen pairs, those of withheld ones, and what follows for the chance to be right."""
    rng = np.random.default_rng(1)
    wrong = rng.normal(-3, 1.4, 200)
    given = np.concatenate([rng.normal(3.5, 1.8, 150), rng.normal(-4, 1.4, 50)])
    chance = probability_of_being_right(given, wrong)
    order = np.argsort(given)
    half = float(given[order][np.argmax(chance[order] >= 0.5)])
    left, width = 60, 520
    drawing = Drawing(
        640,
        380,
        "From the scores of chosen and of withheld pairs to the chance of being right",
        "Above, two histograms of log odds: 200 chosen pairs with a hill at 3.5 and a small one at -4, and 200 pairs"
        " found with every partner withheld, all around -3. Below, the chance that a chosen pair is right: near 0 where"
        f" withheld pairs are as frequent, over one half from log odds of {half:.1f} on, near 1 further right.",
    )

    def at(log_odds: float) -> float:
        return left + width * (log_odds + 8) / 17

    edges = np.linspace(-8, 9, 35)
    for values, colour, name, y in (
        (given, ACCENT, "chosen pairs: f", 40),
        (wrong, BAD, "withheld: f₀, all wrong", 58),
    ):
        counts, _ = np.histogram(values, edges)
        heights = 150 * counts / 40
        drawing.path(
            [(at(x), 180 - h) for x, h in zip(np.repeat(edges, 2)[1:-1], np.repeat(heights, 2), strict=True)],
            colour=colour,
            dash="" if colour == ACCENT else "5 3",
        )
        drawing.text(left + width - 4, y, name, size=12, colour=colour, anchor="end")
    drawing.axes((left, 30, left + width, 180), [], [])
    drawing.axes(
        (left, 210, left + width, 340),
        [(at(x), f"{x:g}") for x in range(-8, 9, 2)],
        [(340 - 130 * y, f"{y:g}") for y in (0, 0.5, 1)],
    )
    drawing.path([(at(x), 340 - 130 * p) for x, p in zip(given[order], chance[order], strict=True)], colour=INK)
    drawing.line(at(half), 30, at(half), 340, dash="2 3")
    drawing.text(at(half) + 5, 330, "reported from here on", size=11, colour=MUTED)
    drawing.text(left + 6, 224, "P(right)", size=12, colour=MUTED)
    drawing.text(left + width / 2, 374, "log odds", size=12, colour=MUTED, anchor="middle")
    return drawing


def draw_all() -> dict[str, str]:
    """Return every figure as SVG, by the name of its file."""
    plain: Sequence[Callable[[], Drawing]] = (
        content,
        structure,
        ets,
        liu2014,
        matching,
        weighed,
        sentences,
        url_patterns,
        sites,
    )
    found = {each.__name__.replace("_", "-"): each().svg() for each in plain}
    with tempfile.TemporaryDirectory() as folder:
        demo = write_site(Path(folder) / "site")
        found |= {each.__name__: each(demo).svg() for each in (jangeldin, webmining, bitextor2010)}
    return {f"{name}.svg": text for name, text in found.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in draw_all().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
