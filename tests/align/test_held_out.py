"""Beads scored without what they taught, against those of the same pages with every partner withheld."""

from __future__ import annotations

import numpy as np
import pytest

from twinlink.align.held_out import held_out_scores
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, align_texts, expect, fresh, prepare_texts, scoring_of, teaching
from twinlink.align.page_pair import align_otherwise, align_pair
from twinlink.align.words.model import links_of
from twinlink.config.align import BitextSettings

SETTINGS = BitextSettings()
SCORING = scoring_of(SETTINGS)
# No word stands in two sentences but in the last two: what the others know of their words they have taught themselves.
A = ["zar gilo nemu", "kovi tapa ruso", "beni lodu sika", "fara mezi", "fara hugo"]
B = ["ebul ot vrap", "inda yeko umtu", "oxal grie pluc", "wint jaap", "wint slak"]


def aligned_pair(a, b, known: Knowledge | None = None):
    pair = prepare_texts(TextPair(Text(a), Text(b)))
    known = known or align_texts(a, b).known
    return pair, known, *align_pair(pair, known, SCORING)


def test_bead_is_not_scored_by_words_learned_from_itself():
    pair, _, aligned, links = aligned_pair(A, B)
    assert aligned.beads.tolist() == [[k, k + 1, k, k + 1] for k in range(5)]
    with_own = held_out_scores(pair, aligned, links, taught=False)
    alone = held_out_scores(pair, aligned, links)
    assert with_own == pytest.approx(aligned.per_word, abs=1e-4)  # nothing taken off: what the kernel of the band says
    assert (alone <= with_own + 1e-9).all()
    assert alone[:3] == pytest.approx(0, abs=0.05)  # nobody else has met their words
    assert (alone[3:] > 0.15).all()  # fara: wint has been seen elsewhere


def test_it_is_the_model_without_the_bead():
    """Taking a bead off again gives what a model says that never met it."""
    pair = prepare_texts(TextPair(Text(A), Text(B)))
    known = align_texts(A, B).known
    aligned, links = align_pair(pair, known, SCORING)
    expected = expect(pair, aligned, links, len(SCORING.shapes.names))
    model = fresh(None, SETTINGS)
    model.add(expected)
    links = links_of(model.words, pair.a.vocabulary, pair.b.vocabulary, pair.a.seen, pair.b.seen, pair.like)
    scores = held_out_scores(pair, aligned, links)
    part = aligned.beads[:, 0] != 3
    kept = type(aligned)(aligned.beads[part], aligned.shapes[part], aligned.posteriors[part], aligned.per_word[part])
    without = fresh(None, SETTINGS)
    first = align_pair(pair, known, SCORING)[1]
    without.add(expect(pair, kept, first, len(SCORING.shapes.names)))
    bare = links_of(without.words, pair.a.vocabulary, pair.b.vocabulary, pair.a.seen, pair.b.seen, pair.like)
    # What the bead taught is counted by the links at hand, here those of one round later: alike, not equal.
    assert scores[3] == pytest.approx(held_out_scores(pair, aligned, bare, taught=False)[3], abs=0.15)


def test_with_every_partner_withheld_no_sentence_keeps_its_partner():
    pair, known, aligned, links = aligned_pair(A, B)
    other = align_otherwise(pair, known, SCORING, links, aligned)
    together = {(i, j) for i, i_end, j, j_end in aligned.beads for i in range(i, i_end) for j in range(j, j_end)}
    there = {(i, j) for i, i_end, j, j_end in other.beads for i in range(i, i_end) for j in range(j, j_end)}
    assert not together & there
    assert sorted(i for first, end, _, _ in other.beads for i in range(first, end)) == list(range(5))
    assert sorted(j for _, _, first, end in other.beads for j in range(first, end)) == list(range(5))


@pytest.mark.parametrize(("a", "b"), [([], []), (A, []), ([], B)])
def test_empty_texts(a, b):
    pair, known, aligned, links = aligned_pair(a, b)
    assert held_out_scores(pair, aligned, links).tolist() == [0.0] * len(aligned.beads)
    other = align_otherwise(pair, known, SCORING, links, aligned)
    assert other.beads.tolist() == aligned.beads.tolist()


def test_copies_teach_nothing():
    a = ["The harbour is closed today.", "zar gilo nemu kovi", "Ubuntu"]
    b = ["The harbour is closed today.", "ebul ot vrap inda", "Ubuntu"]
    pair, _, aligned, _ = aligned_pair(a, b, fresh(None, SETTINGS))
    assert teaching(pair, aligned).tolist() == [False, True, True]  # a name alone is no copy
    sums = align_texts(a, b).known.words.sums()
    taught = {(sums.words_a[row], sums.words_b[column]) for row, column in zip(sums.rows, sums.columns, strict=True)}
    assert ("zar", "ebul") in taught
    assert not any("harbo" in two for two in taught)


def test_held_out_scores_are_the_same_with_the_sides_swapped():
    pair, _, aligned, links = aligned_pair(A, B)
    turned = prepare_texts(TextPair(Text(B), Text(A)))
    beads = np.ascontiguousarray(aligned.beads[:, [2, 3, 0, 1]])
    swapped = type(aligned)(beads, aligned.shapes, aligned.posteriors, aligned.per_word)
    scores = held_out_scores(pair, aligned, links)
    assert np.allclose(held_out_scores(turned, swapped, links[::-1]), scores, atol=1e-6)
