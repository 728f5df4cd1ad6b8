"""Alignment of two texts: cases by hand for every shape, properties, and what is learned."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import (
    Text,
    TextPair,
    align_text_pairs,
    align_texts,
    expect,
    known_from_pairs,
    prepare_texts,
    scoring_of,
)
from twinlink.align.page_pair import align_pair, support
from twinlink.align.words.learned_lexicon import learned_lexicon
from twinlink.config.align import BitextSettings
from twinlink.errors import ShapeError

WORDS = [f"{a}{b}{c}" for a in "bdfgklmprt" for b in "aeiou" for c in ("nd", "st", "rk", "lm")]
RNG = random.Random(7)
DICTIONARY = dict(zip(WORDS, (w[::-1] + "o" for w in RNG.sample(WORDS, len(WORDS))), strict=True))


def sentence(rng, n):
    return rng.choices(WORDS, k=n)


def translated(words):
    return [DICTIONARY[word] for word in words]


def written(words):
    return " ".join(words).capitalize() + "."


def two_texts(shapes, seed=3, *, vary=False):
    """Write two texts of made-up languages whose beads have the given shapes."""
    rng = random.Random(seed)
    a, b, beads = [], [], []
    for da, db in shapes:
        words = sentence(rng, (rng.randint(3, 14) if vary else 6) * max(da, db))
        beads.append((tuple(range(len(a), len(a) + da)), tuple(range(len(b), len(b) + db))))
        for side, parts, text in ((a, da, words), (b, db, translated(words))):
            cuts = [round(k * len(text) / max(parts, 1)) for k in range(parts + 1)]
            side += [written(text[i:j]) for i, j in itertools.pairwise(cuts)]
    return a, b, beads


FRAME = [(1, 1)] * 60


@pytest.mark.parametrize("shape", [(1, 1), (1, 0), (0, 1), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3)])
def test_every_shape_is_found(shape):
    a, b, beads = two_texts([*FRAME, shape, *FRAME])
    if shape == (2, 2):  # two sentences that are said in another order
        b[60], b[61] = b[61], b[60]
    assert align_texts(a, b).beads == beads


def test_a_long_run_without_partner_is_left_out():
    a, b, beads = two_texts([*FRAME, *[(0, 1)] * 40, *FRAME])
    assert align_texts(a, b).beads == beads


def test_long_texts_are_aligned_in_a_band_as_in_whole(monkeypatch):
    shapes = random.Random(5).choices([(1, 1), (1, 2), (2, 1), (0, 1), (1, 0)], [8, 1, 1, 1, 1], k=150)
    a, b, beads = two_texts(shapes, vary=True)
    in_band = align_texts(a, b)
    monkeypatch.setattr("twinlink.align.page_pair.FULL_CELLS", 10**9)
    assert in_band.beads == align_texts(a, b).beads
    assert len({*in_band.beads} & {*beads}) > 0.85 * len(beads)


TEXTS = st.lists(st.text(alphabet="ab 1.é你", max_size=12), max_size=8)


@settings(max_examples=30)
@given(TEXTS, TEXTS)
def test_every_sentence_is_in_one_bead_in_order(a, b):
    found = align_texts(a, b, settings=BitextSettings(rounds=1))
    assert [i for side, _ in found.beads for i in side] == list(range(len(a)))
    assert [j for _, side in found.beads for j in side] == list(range(len(b)))
    assert np.all((found.posteriors >= 0) & (found.posteriors <= 1))
    assert np.all(np.isfinite(found.aligned.per_word))


def test_which_side_is_called_a_does_not_matter():
    a, b, _ = two_texts(random.Random(2).choices([(1, 1), (1, 2), (2, 1), (0, 1)], [6, 1, 1, 1], k=60))
    assert [(y, x) for x, y in align_texts(b, a).beads] == align_texts(a, b).beads


def test_equal_words_and_numbers_count_before_anything_is_learned():
    a = ["Eins zwei drei vier Everest.", "Sechs sieben 8848.", "Neun Expedition zehn."]
    b = ["Six seven 8848.", "Nine expéditions ten.", "One two three four Everest."]
    found = align_texts(a, [*b[2:], *b[:2]], settings=BitextSettings(rounds=1))
    assert found.beads == [((0,), (0,)), ((1,), (1,)), ((2,), (2,))]
    assert np.all(found.aligned.per_word > 0)


def test_a_lexicon_is_a_start_value():
    a, b, beads = two_texts([(1, 1), (1, 1), (0, 1), (1, 1), (1, 1), (1, 1)])
    lexicon = {word[:5]: {other[:5]: 1.0} for word, other in DICTIONARY.items()}
    one_round = BitextSettings(rounds=1)
    found = align_texts(a, b, lexicon=lexicon, settings=one_round)
    assert found.beads == beads
    assert found.posteriors.min() > align_texts(a, b, settings=one_round).posteriors.min() + 0.1


def test_words_are_learned_and_listed():
    a, b, _ = two_texts(FRAME * 3)
    entries = list(learned_lexicon(align_texts(a, b).known.words, {}, {}))
    assert len(entries) > 100
    right = [DICTIONARY[entry.word_a][:5] == entry.word_b for entry in entries[:100]]
    assert np.mean(right) > 0.95
    assert all(0 <= p <= 1 for entry in entries for p in (entry.b_given_a, entry.a_given_b))


def test_given_word_model_helps_and_is_not_changed():
    a, b, _ = two_texts(FRAME * 3)
    known = align_texts(a, b).known
    before = known.words.sums().counts.copy()
    c, d, beads = two_texts([(1, 1), (1, 1), (0, 1), (1, 1), (1, 1), (1, 1)], seed=11)
    found = align_texts(c, d, known=known)
    assert found.beads == beads
    assert found.posteriors.min() > align_texts(c, d).posteriors.min() + 0.1
    assert np.array_equal(known.words.sums().counts, before)


def test_sentence_pairs_warm_the_model():
    a, b, _ = two_texts(FRAME * 3)
    known = known_from_pairs(a, b)
    entries = list(learned_lexicon(known.words, {}, {}))
    assert np.mean([DICTIONARY[entry.word_a][:5] == entry.word_b for entry in entries[:100]]) > 0.95
    c, d, beads = two_texts([(1, 1), (1, 1), (0, 1), (1, 1), (1, 1), (1, 1)], seed=11)
    found = align_texts(c, d, known=known)
    assert found.beads == beads
    assert found.posteriors.min() > align_texts(c, d).posteriors.min() + 0.1
    with pytest.raises(ShapeError):
        known_from_pairs(a, b[1:])


def test_models_of_parts_are_one_model():
    scoring = scoring_of(BitextSettings())
    parts = []
    for seed in range(4):
        a, b, _ = two_texts(FRAME, seed=seed)
        pair = prepare_texts(TextPair(Text(a), Text(b)))
        empty = Knowledge.empty(len(scoring.shapes.names))
        aligned, links = align_pair(pair, empty, scoring)
        parts.append(expect(pair, aligned, links, len(scoring.shapes.names)))
    whole, first, second = (Knowledge.empty(len(scoring.shapes.names)) for _ in range(3))
    for part in parts:
        whole.add(part)
    for half, some in ((first, parts[:2]), (second, parts[2:])):
        for part in some:
            half.add(part)
    first.words.add(second.words.sums())
    assert first.words.place_a == whole.words.place_a
    assert np.array_equal(first.words.sums().pairs, whole.words.sums().pairs)
    assert first.words.sums().counts == pytest.approx(whole.words.sums().counts)


def test_memory_of_the_model_is_bounded():
    a, b, _ = two_texts(FRAME)
    pair = prepare_texts(TextPair(Text(a), Text(b)))
    scoring = scoring_of(BitextSettings())
    small = Knowledge.empty(len(scoring.shapes.names), max_pairs=50)
    aligned, links = align_pair(pair, small, scoring)
    small.add(expect(pair, aligned, links, len(scoring.shapes.names)))
    assert len(small.words.index().counts) <= 100


def test_support_tells_translations_from_other_texts():
    a, b, _ = two_texts(FRAME)
    known = align_texts(a, b).known
    scoring = scoring_of(BitextSettings())
    _, other, _ = two_texts(FRAME, seed=99)
    supports = [
        support(align_pair(prepare_texts(TextPair(Text(a), Text(side))), known, scoring)[0]) for side in (b, other)
    ]
    assert supports[0] > 0.9
    assert supports[1] < 0.5


@pytest.mark.parametrize(("a", "b"), [([], []), (["x"], []), ([], ["y", "z"])])
def test_a_text_without_sentences_has_no_partners(a, b):
    assert align_texts(a, b).beads == [((i,), ()) for i in range(len(a))] + [((), (j,)) for j in range(len(b))]


def test_very_long_line_is_not_learned_from_and_takes_no_memory():
    a, b, beads = two_texts([(1, 1)] * 5)
    wall = ["word " * 5000, "mot " * 5000]  # 25 million pairs of words
    found = align_texts([*a, wall[0]], [*b, wall[1]])
    assert found.beads == [*beads, ((5,), (5,))]
    assert len(found.known.words.sums().pairs) < 1000
    assert "word" not in {entry.word_a for entry in learned_lexicon(found.known.words, {}, {})}


def small_texts(n_texts: int, seed: int = 3) -> tuple[list[TextPair], list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Short texts of one language of ten words, a word for a word; a sentence of the second is left out in each."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(n_texts):
        words = rng.integers(0, 10, (6, 5))
        a = [" ".join("abcdefghij"[k] * 4 for k in sentence) + " ." for sentence in words]
        b = [" ".join("klmnopqrst"[k] * 4 for k in sentence) + " ." for sentence in words]
        pairs.append(TextPair(Text(a), Text([*b[:2], *b[3:]])))
    beads = [((0,), (0,)), ((1,), (1,)), ((2,), ()), ((3,), (2,)), ((4,), (3,)), ((5,), (4,))]
    return pairs, beads


def test_one_text_pair_of_a_list_is_aligned_as_two_texts():
    [pair], _ = small_texts(1)
    alone, [listed] = align_texts(pair.a.sentences, pair.b.sentences), align_text_pairs([pair])
    assert alone.beads == listed.beads
    assert alone.posteriors.tolist() == listed.posteriors.tolist()
    assert align_text_pairs([]) == []


def test_short_texts_are_aligned_with_the_words_of_all():
    pairs, beads = small_texts(12)
    together = align_text_pairs(pairs)
    alone = [align_texts(pair.a.sentences, pair.b.sentences) for pair in pairs]
    n_right = [sum(found.beads == beads for found in of_all) for of_all in (together, alone)]
    assert n_right[0] == 12 > n_right[1]
    assert all(found.known is together[0].known for found in together)


def test_the_order_of_the_texts_does_not_matter():
    pairs, _ = small_texts(5)
    assert [found.beads for found in align_text_pairs(pairs[::-1])][::-1] == [
        found.beads for found in align_text_pairs(pairs)
    ]


@pytest.mark.parametrize("blocks", [[0], [1, 0]])
def test_blocks_are_those_of_all_sentences_and_never_fall(blocks: list[int]) -> None:
    text = Text(["one", "two"], "en", blocks)
    with pytest.raises(ShapeError, match="blocks: expected"):
        align_text_pairs([TextPair(text, text)])


@pytest.mark.parametrize("text", ["A sentence.", b"abc", None, 5, (one for one in "ab"), [1, 2], ["a", None]])
def test_a_text_is_a_sequence_of_sentences(text: Any) -> None:
    with pytest.raises(TypeError, match="sentences: expected a sequence of texts"):
        align_texts(text, ["x"])


def test_sentences_may_be_an_array() -> None:
    assert align_texts(np.array(["a b"]), np.array(["c d"])).beads == [((0,), (0,))]  # type: ignore[arg-type]


def test_blocks_may_be_an_array() -> None:
    text = Text(["one", "two"], "en", np.array([0, 1]))
    (found,) = align_text_pairs([TextPair(text, text)])
    assert len(found.beads) == 2
