"""Figures of the methods that compare the structure of pages, drawn on the demo site."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from svg import ACCENT, BAD, MUTED, SIDE_A, SIDE_B, Drawing

from twinlink.baselines.alignment import align
from twinlink.baselines.distance_line import fit_line, shifted_partners
from twinlink.baselines.models.thresholds import find_threshold
from twinlink.baselines.tag_distance import fingerprint_differences, tag_distances, text_in_words, without_heading
from twinlink.demo import DemoSite
from twinlink.evaluation.gold import read_gold
from twinlink.pages.linearise import Linearised, linearise


def _pages(demo: DemoSite) -> tuple[list[Linearised], list[Linearised]]:
    """Return the two sides of the demo's known pairs, linearised."""
    pairs = sorted(read_gold(demo.gold).pairs)
    sides = [
        [linearise((demo.site / path.lstrip("/")).read_bytes()) for path in side] for side in zip(*pairs, strict=True)
    ]
    return sides[0], sides[1]


def _right_and_wrong(a: list[Linearised]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the known pairs and nearly as many wrong ones of about the same size, and which are right."""
    rows = np.arange(len(a))
    wrong = shifted_partners(rows, rows, np.array([len(page.tokens) for page in a]))
    first = len(wrong[0]) // 2  # each page with the partner of the next one; the rest is the other way round
    right = np.repeat([True, False], [len(rows), first])
    return np.concatenate([rows, wrong[0][:first]]), np.concatenate([rows, wrong[1][:first]]), right


def jangeldin(demo: DemoSite) -> Drawing:
    """P_d and L_d of right and wrong pairs, and the region that Algorithm 1 accepts."""
    a, b = _pages(demo)
    rows, columns, right = _right_and_wrong(a)
    found = align([page.tokens for page in a], [page.tokens for page in b], rows, columns)
    fit = find_threshold(found)
    inside = (found.cost_share < 0.2) & (np.abs(found.length_difference - fit.mean) < fit.threshold)
    left, top, width, height = 60, 40, 500, 250
    drawing = Drawing(
        640,
        350,
        "Right and wrong pairs of the demo site by P_d and L_d",
        f"{right.sum()} right pairs as dots, {(~right).sum()} wrong ones as crosses. The accepted region, P_d below 0.2"
        f" and L_d within {fit.threshold:.2f} of {fit.mean:.2f}, holds {inside[right].sum()} of the right and"
        f" {inside[~right].sum()} of the wrong ones.",
    )

    def place(cost: float, length: float) -> tuple[float, float]:
        return left + width * min(cost, 0.6) / 0.6, top + height * (1 - (length + 0.2) / 1.0)

    drawing.axes(
        (left, top, left + width, top + height),
        [(place(x, 0)[0], f"{x:.1f}") for x in np.linspace(0, 0.6, 7)],
        [(place(0, y)[1], f"{y:.1f}") for y in np.linspace(-0.2, 0.8, 6)],
    )
    low, high = place(0, fit.mean - fit.threshold)[1], place(0, fit.mean + fit.threshold)[1]
    drawing.rect(left, high, place(0.2, 0)[0] - left, low - high, fill="#e6f2f0", stroke=ACCENT)
    for cost, length, good in zip(found.cost_share, found.length_difference, right, strict=True):
        x, y = place(cost, float(np.clip(length, -0.2, 0.8)))
        drawing.dot(x, y, 3, fill=SIDE_A) if good else drawing.cross(x, y, 3, colour=BAD)
    drawing.text(place(0.2, 0)[0] + 6, high + 14, "accepted", size=12, colour=ACCENT)
    drawing.text(left, 24, "L_d, difference of the lengths of the texts", size=12, colour=MUTED)
    drawing.text(
        left + width / 2, 340, "P_d, share of the tokens without partner", size=12, colour=MUTED, anchor="middle"
    )
    drawing.dot(470, 20, 3, fill=SIDE_A)
    drawing.text(480, 24, "right", size=12)
    drawing.cross(530, 20, 3, colour=BAD)
    drawing.text(540, 24, "wrong", size=12)
    return drawing


def webmining(demo: DemoSite) -> Drawing:
    """Tag distances over the number of tags, and the line that is fitted."""
    a, b = _pages(demo)
    rows, columns, right = _right_and_wrong(a)
    words_a, words_b = ([text_in_words(page.tokens, page.words) for page in side] for side in (a, b))
    order = np.lexsort((columns, rows))
    pattern = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(a), len(b)))
    pattern.sort_indices()
    distances = np.empty(len(rows))
    distances[order] = tag_distances(words_a, words_b, pattern).data
    tags = np.array([max(np.sum(a[i].tokens < 0), np.sum(b[j].tokens < 0)) for i, j in zip(rows, columns, strict=True)])
    line = fit_line(tags, distances, right)
    under = distances <= line.at(tags)
    left, top, width, height = 60, 40, 500, 250
    x_top, y_top = 250.0, 40.0
    drawing = Drawing(
        640,
        350,
        "Tag distance of right and wrong pairs over the number of tags, with the fitted line",
        f"{right.sum()} right pairs as dots and {(~right).sum()} wrong ones as crosses. The line starts at"
        f" {line.intercept:.1f} and rises by {line.slope:.3f} a tag; {under[right].sum()} right and"
        f" {under[~right].sum()} wrong pairs lie on or under it."
        " Larger numbers than the axes have are drawn at their ends.",
    )

    def place(t: float, d: float) -> tuple[float, float]:
        return left + width * min(t, x_top) / x_top, top + height * (1 - min(d, y_top) / y_top)

    drawing.axes(
        (left, top, left + width, top + height),
        [(place(t, 0)[0], f"{t:.0f}") for t in np.linspace(0, x_top, 6)],
        [(place(0, d)[1], f"{d:.0f}") for d in np.linspace(0, y_top, 5)],
    )
    for t, d, good in zip(tags, distances, right, strict=True):
        x, y = place(t, d)
        drawing.dot(x, y, 3, fill=SIDE_A) if good else drawing.cross(x, y, 3, colour=BAD)
    drawing.path([place(0, line.intercept), place(x_top, float(line.at(x_top)))], colour=ACCENT)
    drawing.text(left, 24, "tag distance", size=12, colour=MUTED)
    drawing.text(left + width / 2, 340, "tags of the larger page", size=12, colour=MUTED, anchor="middle")
    drawing.dot(470, 20, 3, fill=SIDE_A)
    drawing.text(480, 24, "right", size=12)
    drawing.cross(530, 20, 3, colour=BAD)
    drawing.text(540, 24, "wrong", size=12)
    return drawing


def bitextor2010(demo: DemoSite) -> Drawing:
    """The fingerprints of one pair and of a wrong one."""
    del demo
    tags = {-1: "h1", -2: "/h1", -3: "p", -4: "/p", -5: "ul", -6: "/ul"}
    page = np.array([-1, 24, -2, -3, 180, -4, -3, 96, -4], np.int32)
    right = np.array([-1, 27, -2, -3, 205, -4, -3, 90, -4], np.int32)
    wrong = np.array([-1, 12, -2, -3, 40, -4, -5, -6], np.int32)
    pair = csr_array(np.ones((1, 1)))
    n = [
        int(fingerprint_differences([without_heading(page)], [without_heading(other)], pair, 0.3).data[0])
        for other in (right, wrong)
    ]
    drawing = Drawing(
        640,
        230,
        "Fingerprints of a page, of its partner and of another page",
        f"Three rows of tags and text lengths. The partner differs from the page in {n[0]} tokens, as texts that differ"
        f" by no more than t_b = 0.3 are alike; the other page differs in {n[1]}.",
    )
    for k, (name, tokens, colour) in enumerate(
        (("page", page, SIDE_A), ("its partner", right, SIDE_B), ("another", wrong, SIDE_B))
    ):
        y = 30 + 66 * k
        drawing.text(12, y + 22, name, size=12, colour=MUTED)
        for place, token in enumerate(tokens.tolist()):
            drawing.rect(100 + 48 * place, y, 42, 34, fill="#f3f6f7" if token < 0 else "#e6f2f0", stroke=colour)
            drawing.text(121 + 48 * place, y + 22, tags.get(token, str(token)), anchor="middle", bold=token > 0)
        if k:
            drawing.text(628, y + 22, f"{n[k - 1]} differences", size=12, anchor="end", bold=True)
    return drawing
