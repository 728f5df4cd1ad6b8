"""Equation (1) of WebMining: products worked out by hand, and the best alignment against a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.align.bead_shapes import SHAPES, BeadShapes
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, prepare_texts
from twinlink.align.page_pair import support
from twinlink.align.printed_score import align_printed, best_beads, printed_scores

ALPHA = 0.5


def test_the_score_is_the_product_of_equation_1() -> None:
    """f = (u, v, v), e = (x, y), m = 3, l = 2, α = .5.

    p(u|x) = .4, p(u|y) = .1, p(v|x) = .2, p(v|y) = .3, p(u|e_0) = .05, p(v|e_0) = .01:
    .5^1 · (.05 + .4 + .1) · (.01 + .2 + .3)² = .5 · .55 · .51².
    f alone .5^3 · .05 · .01², e alone .5^2.
    """
    f, e = np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]])
    words = np.array([[0.4, 0.2], [0.1, 0.3]])
    found = np.exp(printed_scores(f, e, words, np.array([0.05, 0.01]), ALPHA))
    assert found[1, 1] == pytest.approx(0.5 * 0.55 * 0.51**2)
    assert found[1, 0] == pytest.approx(0.5**3 * 0.05 * 0.01**2)
    assert found[0, 1] == pytest.approx(0.5**2)
    assert found[0, 0] == 1


def best_sum(scores: np.ndarray, i: int, j: int) -> float:
    """The same by plain recursion."""
    if i == 0 and j == 0:
        return 0.0
    ways = []
    if i and j:
        ways.append(best_sum(scores, i - 1, j - 1) + scores[i, j])
    if i:
        ways.append(best_sum(scores, i - 1, j) + scores[i, 0])
    if j:
        ways.append(best_sum(scores, i, j - 1) + scores[0, j])
    return float(max(ways))


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2**32))
def test_the_best_alignment_is_that_of_the_recursion(n: int, m: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(-5, 3, (n + 1, m + 1))
    beads, shapes = best_beads(scores)
    rows, columns = (np.where(shapes == k, 0, beads[:, at]) for k, at in ((2, 1), (1, 3)))
    assert scores[rows, columns].sum() == pytest.approx(best_sum(scores, n, m))
    assert beads[:, 0].tolist() == [0, *beads[:-1, 1].tolist()][: len(beads)]
    assert beads[:, 2].tolist() == [0, *beads[:-1, 3].tolist()][: len(beads)]
    assert (*beads[-1:, 1].tolist(), *beads[-1:, 3].tolist()) in {(n, m), ()}


def test_equal_words_align_and_support_pages() -> None:
    """Nothing has been learned: equal words, whose probability starts high, tell which sentences go together."""
    names = ["Aachen 1910 Berlin.", "Celle 1920 Dresden.", "Emden 1930 Fulda."]
    shapes = BeadShapes.of(SHAPES)

    def pages(a: list[str], b: list[str]) -> tuple[list[list[int]], float]:
        pair = prepare_texts(TextPair(Text(a, "", list(range(len(a)))), Text(b, "", list(range(len(b))))))
        aligned, _ = align_printed(pair, Knowledge.empty(len(shapes.names)), 0.8, 0.1)
        return aligned.beads.tolist(), support(aligned)

    beads, share = pages(names, [names[0], names[2]])
    assert beads == [[0, 1, 0, 1], [1, 2, 1, 1], [2, 3, 1, 2]]
    assert share == pytest.approx(4 / 5)
    assert pages([], names) == ([[0, 0, 0, 1], [0, 0, 1, 2], [0, 0, 2, 3]], 0)
    assert pages([], []) == ([], 0)


def test_the_threshold_is_a_probability_per_word() -> None:
    """The only word is the same on both sides: Pr = p(f|e_0) + p(f|e), above any threshold below it."""
    pair = prepare_texts(TextPair(Text(["Aachen"], "", [0]), Text(["Aachen"], "", [0])))
    known = Knowledge.empty(len(SHAPES))
    low, _ = align_printed(pair, known, 0.8, 0.01)
    high, _ = align_printed(pair, known, 0.8, 0.1)
    assert low.per_word - high.per_word == pytest.approx([np.log(10)])


def test_without_knowledge_one_sentence_looks_like_any_other() -> None:
    """Three words of equal frequency on each side: p(f|e) = 1/2 [f = e] + 1/2 · 1/3, p(f|e_0) = 1/3.

    Equal sentences: each word has 1/3 + (1/2 + 1/6) + 2/6 = 4/3. Other ones: 1/3 + 3 · 1/3 = 4/3, as nothing is known
    of their words and each p(f|e) is p(f).
    """
    texts = Text(["Aachen 1910 Berlin."], "", [0]), Text(["Gera 1950 Halle."], "", [0])
    known = Knowledge.empty(len(SHAPES))
    for other in texts:
        aligned, _ = align_printed(prepare_texts(TextPair(texts[0], other)), known, 0.8, 0.1)
        assert aligned.per_word == pytest.approx([np.log(4 / 3 / 0.1)])
