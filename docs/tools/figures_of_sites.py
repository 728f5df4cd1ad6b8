"""Figures of URL patterns and of the ranking of sites, drawn on addresses and links that are made up here."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from svg import ACCENT, INK, MUTED, PALE, SIDE_A, SIDE_B, Drawing

from twinlink.graph.ranking import seed_scores
from twinlink.patterns.learning import learn_patterns


def url_patterns() -> Drawing:
    """The keys of a made-up site with their local credibility, and the threshold."""
    host = "https://www.example.gov.hk"
    urls = [f"{host}/{lang}/page{k}.htm" for lang in ("en", "tc") for k in range(24)]
    urls += [f"{host}/form{k}{letter}.htm" for letter in "ec" for k in range(8)]
    urls += [f"{host}/map.php?lang={lang}&id={k}" for lang in ("en", "zh") for k in range(2)]
    urls += [f"{host}/news/{k}.htm" for k in range(16)]
    found = learn_patterns(urls)
    drawing = Drawing(
        640,
        90 + 46 * len(found.patterns),
        "Local credibility of the URL patterns of a made-up site",
        f"A site of {found.n_pages} addresses. "
        + "; ".join(
            f"{each.rule} pairs {each.n_pages} pages, C = {each.credibility:.2f}, {each.verdict}"
            for each in found.patterns
        )
        + ". The threshold is 0.1.",
    )
    left, width = 190, 380
    for k, each in enumerate(found.patterns):
        y = 50 + 46 * k
        drawing.text(left - 12, y + 19, each.rule, anchor="end")
        drawing.rect(left, y, width * each.credibility, 28, fill=ACCENT if each.verdict == "credible" else PALE)
        drawing.text(left + width * each.credibility + 8, y + 19, f"{each.credibility:.2f}  {each.verdict}", size=12)
    bottom = 50 + 46 * len(found.patterns)
    drawing.line(left + width * 0.1, 36, left + width * 0.1, bottom, colour=INK, dash="4 3")
    drawing.text(left + width * 0.1 + 4, 32, "0.1: below it a key is weak", size=11, colour=MUTED)
    drawing.text(left, bottom + 22, "C(p,w) = N(p,w)/|w|", size=12, colour=MUTED)
    return drawing


def sites() -> Drawing:
    """Four crawled sites, three others that they link to, and the three sums."""
    links = [(0, 1), (1, 0), (2, 0), (3, 0), (2, 1), (0, 4), (1, 4), (3, 5), (2, 5), (3, 6)]
    credibility = np.array([0.9, 0.7, 0.1, 0.05, 0, 0, 0])
    ends = np.array(links)
    matrix = csr_array((np.ones(len(links)), (ends[:, 0], ends[:, 1])), shape=(7, 7))
    found = seed_scores(matrix, credibility, np.arange(7) < 4)
    sums = (found.linkout_sum, found.pagerank_sum, found.weighted_sum)
    drawing = Drawing(
        640,
        330,
        "Crawled sites, the sites that they link to, and the paper's three scores",
        "Four crawled sites on the left with their credibility and PageRank, three sites outside on the right. "
        + " ".join(
            f"Site {name}: ΣLinkout {sums[0][k]:.0f}, ΣPR {sums[1][k]:.2f}, ΣPR·C {sums[2][k]:.2f}."
            for k, name in ((4, "x"), (5, "y"), (6, "z"))
        ),
    )
    places = [(130, 60), (130, 130), (130, 200), (130, 270), (400, 80), (400, 170), (400, 260)]
    for source, target in links:
        (x1, y1), (x2, y2) = places[source], places[target]
        inner = target < 4
        drawing.line(x1, y1, x2, y2, colour=PALE if inner else MUTED, width=2 if inner else 1.5)
    for k, (x, y) in enumerate(places):
        drawing.dot(x, y, 9 + 18 * float(found.pagerank.scores[k]), fill=SIDE_A if k < 4 else SIDE_B)
        drawing.text(x, y + 4, "abcdxyz"[k], anchor="middle", colour="#ffffff", bold=True)
        if k < 4:
            told = f"C {credibility[k]:.2f}  PR {found.pagerank.scores[k]:.2f}"
            drawing.text(12, y + 30, told, size=11, colour=MUTED)
        else:
            drawing.text(x + 30, y - 6, f"ΣLinkout {sums[0][k]:.0f}   ΣPR {sums[1][k]:.2f}", size=12)
            drawing.text(x + 30, y + 13, f"ΣPR·C {sums[2][k]:.2f}", size=12, bold=True)
    drawing.text(12, 24, "crawled", size=12, colour=SIDE_A, bold=True)
    drawing.text(360, 24, "outside: the next sites?", size=12, colour=SIDE_B, bold=True)
    return drawing
