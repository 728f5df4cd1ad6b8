"""Alternating alignment and learning: expected counts, and rounds over one or many pairs of texts.

Incremental EM as in WebMining, section 2.3: in the first round the model learns after each batch of pairs, so that the
later ones are aligned with the words of the earlier; in each further round all pairs are aligned with the model of the
round before, and the counts are gathered again. Counts are summed in the order of the pairs, so the result does not
depend on the number of processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.align.bead_shapes import SHAPES, BeadShapes
from twinlink.align.knowledge import ExpectedCounts, Knowledge
from twinlink.align.lengths import LengthModel
from twinlink.align.page_pair import Aligned, PagePair, Scoring, align_pair, prepare
from twinlink.align.tokens import ANY_LANGUAGE, Tokenizer
from twinlink.align.words.model import Links, WordSums, count_links, links_of
from twinlink.config.align import BitextSettings
from twinlink.errors import ShapeError

__all__ = [
    "Alignment",
    "Text",
    "TextPair",
    "align_text_pairs",
    "align_texts",
    "expect",
    "first_batches",
    "fresh",
    "known_from_pairs",
    "prepare_texts",
    "scoring_of",
    "teaching",
]

TEACHING_POSTERIOR = 0.3
"""Minimum posterior of a bead to learn from. Our choice."""


COPY_SHARE = 0.8
"""Share of the words that are on both sides above which a bead is a copy. Our choice."""
COPY_WORDS = 4
"""Words of a side from which a bead may be a copy: a name alone stays as it is in a translation too."""

WARM_PAIRS = 2_000
"""Number of sentence pairs per batch."""


class Text(NamedTuple):
    """Sentences of one text."""

    sentences: Sequence[str]
    lang: str = ""
    blocks: Sequence[int] | None = None
    """Block that each sentence stands in, never falling. None: all in one."""


class TextPair(NamedTuple):
    """Two texts that may be translations of each other."""

    a: Text
    b: Text


class Alignment(msgspec.Struct, frozen=True):
    """Beads of two texts."""

    aligned: Aligned
    known: Knowledge
    """What was learned, including the lexicon."""

    @property
    def beads(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Sentence numbers of both sides of each bead, in order."""
        return [(tuple(range(i, i_end)), tuple(range(j, j_end))) for i, i_end, j, j_end in self.aligned.beads.tolist()]

    @property
    def posteriors(self) -> NDArray[np.float64]:
        """Chance of each bead among all ways to align the two texts."""
        return self.aligned.posteriors


def scoring_of(settings: BitextSettings) -> Scoring:
    """Return how beads are scored under some settings."""
    return Scoring(BeadShapes.of(SHAPES), settings.word_weight, settings.block_weight, settings.anchor_weight)


def prepare_texts(
    pair: TextPair,
    tokenizer: Tokenizer = ANY_LANGUAGE,
    lexicon: Mapping[str, Mapping[str, float]] | None = None,
    anchors: NDArray[np.int64] | None = None,
) -> PagePair:
    """Split the sentences of two texts into words, and number these; see `twinlink.align.page_pair.prepare`.

    Raises
    ------
    TypeError
        If the sentences of a text are no sequence of texts.
    """
    for text in pair:
        _check_sentences(text.sentences)
    a, b = pair
    words_a, words_b = (
        [
            [tokenizer.key(word, text.lang) for word in tokenizer.split(sentence, text.lang)]
            for sentence in text.sentences
        ]
        for text in pair
    )
    of_a, of_b = ([0] * len(text.sentences) if text.blocks is None else text.blocks for text in pair)
    return prepare(a.sentences, b.sentences, words_a, words_b, blocks=(of_a, of_b), lexicon=lexicon, anchors=anchors)


def _check_sentences(sentences: object) -> None:
    expected = "sentences: expected a sequence of texts, one for each sentence"
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Sized) or not isinstance(sentences, Iterable):
        raise TypeError(f"{expected}; got {type(sentences).__name__}")
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise TypeError(f"{expected}; got {type(sentence).__name__} at place {number}")


def expect(pair: PagePair, aligned: Aligned, links: tuple[Links, Links], n_shapes: int) -> ExpectedCounts:
    """Count lengths, shapes and word pairs of an alignment, each bead weighted by its probability."""
    sure = teaching(pair, aligned)
    beads, weights = aligned.beads[sure], aligned.posteriors[sure]
    sums_a, sums_b = (np.concatenate([[0.0], np.cumsum(side.lengths)]) for side in (pair.a, pair.b))
    lengths = LengthModel.of(
        sums_a[beads[:, 1]] - sums_a[beads[:, 0]], sums_b[beads[:, 3]] - sums_b[beads[:, 2]], weights
    )
    shapes = np.bincount(aligned.shapes, aligned.posteriors, n_shapes).astype(np.float64)
    a, b = pair.a, pair.b
    keys, counts = count_links(a.words, a.ends, b.words, b.ends, beads, weights, *links)
    return ExpectedCounts(lengths, shapes, WordSums(a.vocabulary, b.vocabulary, a.seen, b.seen, keys, counts))


def teaching(pair: PagePair, aligned: Aligned) -> NDArray[np.bool_]:
    """Return the beads to learn words and lengths from: the probable ones, without untranslated copies.

    A copy has most of its words on both sides; a page that is half in the other language would teach that words
    translate to themselves.
    """
    sure = aligned.two_sided & (aligned.posteriors > TEACHING_POSTERIOR)
    in_a = {word: number for number, word in enumerate(pair.a.vocabulary)}
    as_a = np.array([in_a.get(word, -1) for word in pair.b.vocabulary], np.int64)
    for n in np.flatnonzero(sure):
        i, i_end, j, j_end = aligned.beads[n]
        a = pair.a.words[pair.a.ends[i] : pair.a.ends[i_end]]
        b = as_a[pair.b.words[pair.b.ends[j] : pair.b.ends[j_end]]]
        sure[n] = not _is_copy(a.tolist(), b.tolist())
    return sure


def _is_copy(a: list[int], b: list[int]) -> bool:
    """Return whether two sequences of words are nearly the same ones; of fewer than `COPY_WORDS` any may be."""
    if len(a) + len(b) < 2 * COPY_WORDS:
        return False
    return 2 * (Counter(a) & Counter(b)).total() > COPY_SHARE * (len(a) + len(b))


def first_batches(n_pairs: int, first: int) -> Iterator[range]:
    """Yield the pairs of each batch of the first round: ``first`` pairs, then as many as all before.

    >>> list(first_batches(50, 8))
    [range(0, 8), range(8, 16), range(16, 32), range(32, 50)]
    """
    start, end = 0, first
    while start < n_pairs:
        yield range(start, min(end, n_pairs))
        start, end = end, 2 * end


def align_texts(
    a: Sequence[str],
    b: Sequence[str],
    *,
    langs: tuple[str, str] = ("", ""),
    settings: BitextSettings | None = None,
    lexicon: Mapping[str, Mapping[str, float]] | None = None,
    tokenizer: Tokenizer = ANY_LANGUAGE,
    known: Knowledge | None = None,
    on_round: Callable[[int, Aligned], None] | None = None,
) -> Alignment:
    """Align the sentences of two texts without further resources.

    Parameters
    ----------
    a, b : sequences of str
        One sentence each; may be empty.
    langs : pair of str
        Passed to ``tokenizer``.
    settings, lexicon, tokenizer, known
        See `align_text_pairs`.
    on_round : callable, optional
        Called after each round with its number and alignment.

    Returns
    -------
    Alignment

    Examples
    --------
    >>> a = ["Das Wetter ist heute schön .", "Everest 8848 m .", "Ende ."]
    >>> b = ["Le temps est beau aujourd' hui .", "Everest 8848 m .", "Fin ."]
    >>> align_texts(a, b).beads
    [((0,), (0,)), ((1,), (1,)), ((2,), (2,))]
    """
    pair = TextPair(Text(a, langs[0]), Text(b, langs[1]))

    def show(number: int, _: int, aligned: Aligned) -> None:
        if on_round:
            on_round(number, aligned)

    [found] = align_text_pairs(
        [pair], settings=settings, lexicon=lexicon, tokenizer=tokenizer, known=known, on_pair=show
    )
    return found


def align_text_pairs(
    pairs: Sequence[TextPair],
    *,
    settings: BitextSettings | None = None,
    lexicon: Mapping[str, Mapping[str, float]] | None = None,
    tokenizer: Tokenizer = ANY_LANGUAGE,
    known: Knowledge | None = None,
    on_pair: Callable[[int, int, Aligned], None] | None = None,
) -> list[Alignment]:
    """Align the sentences of many text pairs of the same two languages; each is aligned with the words of all.

    In each round all pairs are aligned with what the round before learned from all of them. So a short text, which
    teaches few words itself, is aligned as well as a part of a long one.

    Parameters
    ----------
    pairs : sequence of TextPair
    settings : BitextSettings, optional
    lexicon : mapping of mappings, optional
        Words of a as the keys of ``tokenizer``, their translations in b, and the probability of each.
    tokenizer : Tokenizer
        Splits sentences into words.
    known : Knowledge, optional
        Statistics from other texts; used together with those of these, and not changed.
    on_pair : callable, optional
        Called after each alignment with the number of the round, that of the pair, and the alignment.

    Returns
    -------
    list of Alignment
        In the order of the pairs; ``known`` is the same of all.

    Examples
    --------
    >>> one = TextPair(Text(["Ein Haus .", "Der Berg ist hoch ."]), Text(["Une maison .", "La montagne est haute ."]))
    >>> other = TextPair(Text(["Der Berg ist hoch ."]), Text(["La montagne est haute ."]))
    >>> [found.beads for found in align_text_pairs([one, other])]
    [[((0,), (0,)), ((1,), (1,))], [((0,), (0,))]]
    """
    settings = settings or BitextSettings()
    scoring = scoring_of(settings)
    prepared = [prepare_texts(pair, tokenizer, lexicon) for pair in pairs]
    done: list[Aligned | None] = [None] * len(pairs)
    model = fresh(known, settings)
    for number in range(settings.rounds + 1):
        before, model = model, fresh(known, settings)
        for place, pair in enumerate(prepared):
            aligned, links = align_pair(pair, before, scoring, done[place])
            done[place] = aligned
            if on_pair:
                on_pair(number, place, aligned)
            model.add(expect(pair, aligned, links, len(scoring.shapes.names)))
    return [Alignment(aligned, model) for aligned in done if aligned is not None]


def known_from_pairs(
    a: Sequence[str],
    b: Sequence[str],
    *,
    langs: tuple[str, str] = ("", ""),
    settings: BitextSettings | None = None,
    tokenizer: Tokenizer = ANY_LANGUAGE,
) -> Knowledge:
    """Learn from existing sentence pairs: ``a[k]`` and ``b[k]`` are translations of each other.

    Words and lengths are learned, but not the shapes of beads, which pairs do not show. Memory is bounded like that
    of the word model.

    Raises
    ------
    ShapeError
        If the two sides differ in length.
    """
    if len(a) != len(b):
        raise ShapeError(f"sentence pairs: expected equally many sentences on both sides, got {len(a)} and {len(b)}")
    settings = settings or BitextSettings()
    scoring = scoring_of(settings)
    model = fresh(None, settings)
    for _ in range(settings.rounds):
        before, model = model, fresh(None, settings)
        for start in range(0, len(a), WARM_PAIRS):
            part = slice(start, start + WARM_PAIRS)
            pair = prepare_texts(TextPair(Text(a[part], langs[0]), Text(b[part], langs[1])), tokenizer)
            aligned = _one_by_one(len(pair.a))
            links = links_of(before.words, pair.a.vocabulary, pair.b.vocabulary, pair.a.seen, pair.b.seen, pair.like)
            expected = expect(pair, aligned, links, len(scoring.shapes.names))
            model.add(expected._replace(shapes=np.zeros(len(scoring.shapes.names))))
    return model


def _one_by_one(size: int) -> Aligned:
    """Beads of sentences that are known to go together."""
    places, one = np.arange(size, dtype=np.int64), np.ones(size)
    return Aligned(np.stack([places, places + 1, places, places + 1], axis=1), np.zeros(size, np.int64), one, one)


def fresh(known: Knowledge | None, settings: BitextSettings) -> Knowledge:
    """Return a new model that starts from given statistics."""
    model = Knowledge.empty(len(SHAPES), settings.max_word_pairs)
    if known is not None:
        model.add(ExpectedCounts(known.lengths, known.shapes, known.words.sums()))
    return model
