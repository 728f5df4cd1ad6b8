"""Two texts prepared for the kernels, and their alignment with the current statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.align.bands import Band, first_band, full_band, next_band, touches, turned
from twinlink.align.bead_shapes import BeadShapes
from twinlink.align.cognates import Likeness, likeness
from twinlink.align.kernels import best_path, explain_words, length_scores, path_sums, span_scores, spans_of, withhold
from twinlink.align.knowledge import Knowledge
from twinlink.align.lengths import fit_alone
from twinlink.align.words.model import SHARE, Links, links_of
from twinlink.errors import ShapeError

__all__ = ["Aligned", "PagePair", "Scoring", "Side", "align_pair", "prepare", "prepare_side", "support"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Scores = NDArray[np.float32]

FULL_CELLS = 10_000
"""Texts of up to 100 by 100 sentences are searched completely; longer ones in a band."""

SUPPORTING_POSTERIOR = 0.5
"""Minimum posterior of a bead that counts in `support`."""


class Side(msgspec.Struct, frozen=True):
    """The sentences of one text."""

    lengths: Floats
    """Characters of each, at least 1."""
    blocks: Ints
    """Block that each stands in, never falling."""
    words: NDArray[np.int32]
    """Words of all sentences, one sentence after the other, numbers into the vocabulary."""
    ends: Ints
    """0, and where the words of each sentence end."""
    vocabulary: list[str]
    seen: Floats
    """How often each word stands in the text."""

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.lengths)


class PagePair(msgspec.Struct, frozen=True):
    """Two texts and their cognates."""

    a: Side
    b: Side
    like: Likeness
    anchors: Ints | None = None
    """Blocks that go together by the tags, see `twinlink.align.tag_aligner`: shape (pairs, 2)."""


class Scoring(NamedTuple):
    """Settings of the scores of beads."""

    shapes: BeadShapes
    word_weight: float
    block_weight: float
    anchor_weight: float = 0.0


class Aligned(msgspec.Struct, frozen=True):
    """Beads of two texts, in order, every sentence in just one."""

    beads: Ints
    """First and end sentence of a, first and end sentence of b: shape (beads, 4)."""
    shapes: Ints
    """Number of each bead's shape; a run without partner is cut into single sentences and keeps its number."""
    posteriors: Floats
    """Chance of each bead among all ways to align the two texts, 0 to 1."""
    per_word: Floats
    """How well the words of a bead explain each other: mean log of p(word | other side)/p(word), 0 without partner."""

    @property
    def two_sided(self) -> NDArray[np.bool_]:
        """Beads with sentences on both sides."""
        return (self.beads[:, 1] > self.beads[:, 0]) & (self.beads[:, 3] > self.beads[:, 2])


def prepare(
    sentences_a: Sequence[str],
    sentences_b: Sequence[str],
    words_a: Sequence[Sequence[str]],
    words_b: Sequence[Sequence[str]],
    *,
    blocks: tuple[Sequence[int], Sequence[int]] | None = None,
    lexicon: Mapping[str, Mapping[str, float]] | None = None,
    anchors: Ints | None = None,
) -> PagePair:
    """Number the words of two texts and find those that look alike.

    Parameters
    ----------
    sentences_a, sentences_b : sequences of str
    words_a, words_b : sequences of sequences of str
        Words of each sentence.
    blocks : two sequences of int, optional
        Block that each sentence stands in. Default: all in one.
    lexicon : mapping of mappings, optional
        Words of a, their translations in b, and the probability of each.
    anchors : int64, shape (pairs, 2), optional
        Blocks of a and of b that go together; no block stands in two.

    Raises
    ------
    ShapeError
        If there are not as many words or blocks as sentences, or blocks fall.
    """
    of_a, of_b = blocks or ([0] * len(sentences_a), [0] * len(sentences_b))
    a, b = prepare_side(sentences_a, words_a, of_a), prepare_side(sentences_b, words_b, of_b)
    return PagePair(a, b, likeness(a.vocabulary, b.vocabulary, lexicon), anchors)


def prepare_side(sentences: Sequence[str], words: Sequence[Sequence[str]], blocks: Sequence[int]) -> Side:
    """Number the words of one text, see `prepare`."""
    for given, name in ((words, "words"), (blocks, "blocks")):
        if len(given) != len(sentences):
            raise ShapeError(f"{name}: expected those of {len(sentences)} sentences, got {len(given)}")
    if (np.diff(blocks) < 0).any():
        raise ShapeError("blocks: expected numbers that never fall, got some that do")
    place: dict[str, int] = {}
    numbers = [place.setdefault(word, len(place)) for sentence in words for word in sentence]
    lengths = np.array([max(len(sentence.strip()), 1) for sentence in sentences], np.float64)
    ends = np.cumsum([0, *(len(sentence) for sentence in words)], dtype=np.int64)
    seen = np.bincount(np.array(numbers, np.int64), minlength=len(place)).astype(np.float64)
    return Side(lengths, np.array(blocks, np.int64), np.array(numbers, np.int32), ends, list(place), seen)


def align_pair(
    pair: PagePair, known: Knowledge, scoring: Scoring, before: Aligned | None = None
) -> tuple[Aligned, tuple[Links, Links]]:
    """Align two texts by lengths and words, see `twinlink.align.lengths` and `twinlink.align.words.model`.

    Parameters
    ----------
    pair : PagePair
    known : Knowledge
        What has been learned so far; may be empty.
    scoring : Scoring
    before : Aligned, optional
        An alignment of the same texts: only cells near it are searched, unless the path leaves them.

    Returns
    -------
    aligned : Aligned
    links : pair of Links
        Translation probabilities between the words, for `twinlink.align.words.model.count_links`.
    """
    a, b = pair.a, pair.b
    links = links_of(known.words, a.vocabulary, b.vocabulary, a.seen, b.seen, pair.like)
    if not (len(a) and len(b)):
        return _without_partner(len(a), len(b), scoring.shapes), links
    width = 0
    while True:
        band = _band(pair, before, width)
        aligned = _align_in(pair, known, scoring, links, band)
        if not touches(band, aligned.beads) or band.n_cells == (len(a) + 1) * (len(b) + 1):
            return aligned, links
        width = max(2 * width, 64)


def _band(pair: PagePair, before: Aligned | None, width: int) -> Band:
    n, m = len(pair.a), len(pair.b)
    if n * m <= FULL_CELLS and before is None:
        return full_band(n, m)
    if before is not None:
        return next_band(before.beads, n, m, max(width, 16))
    return first_band(_rare_alike(pair), n, m, max(width, 30))


def _rare_alike(pair: PagePair) -> Ints:
    """Sentences that share a word which stands just once on either side: shape (pairs, 2)."""
    a, b, like = pair.a, pair.b, pair.like
    once = (a.seen[like.words_a] == 1) & (b.seen[like.words_b] == 1) & (like.values > 0.9)
    at_a, at_b = (_places_of_words(side) for side in (a, b))
    return np.stack([at_a[like.words_a[once]], at_b[like.words_b[once]]], axis=1)


def _places_of_words(side: Side) -> Ints:
    """Sentence in which each word stands (the last, if in several)."""
    places = np.zeros(len(side.vocabulary), np.int64)
    places[side.words] = np.repeat(np.arange(len(side)), np.diff(side.ends))
    return places


def align_otherwise(
    pair: PagePair, known: Knowledge, scoring: Scoring, links: tuple[Links, Links], found: Aligned
) -> Aligned:
    """Align two texts once more, with the partner of every sentence withheld: what comes out is wrong.

    As good as a wrong bead gets on these two pages, with all that chooses it. Parameters as of `align_pair`, with what
    that returned.
    """
    if not (len(pair.a) and len(pair.b)):
        return found
    return _align_in(pair, known, scoring, links, _band(pair, found, 16), found)


def _align_in(
    pair: PagePair,
    known: Knowledge,
    scoring: Scoring,
    links: tuple[Links, Links],
    band: Band,
    withheld: Aligned | None = None,
) -> Aligned:
    a, b, shapes = pair.a, pair.b, scoring.shapes
    mean = None if known.lengths.weight else float(np.log(b.lengths.sum() / a.lengths.sum()))
    scores = length_scores(
        _sums(a.lengths),
        _sums(b.lengths),
        _sums(fit_alone(a.lengths)),
        _sums(fit_alone(b.lengths)),
        shapes.array,
        shapes.log_priors(known.shapes),
        known.lengths.array(mean),
        a.blocks,
        b.blocks,
        scoring.block_weight,
        *_partner_blocks(pair),
        scoring.anchor_weight,
        *band,
    )
    other, order = turned(band)
    most_a, most_b = shapes.most
    gains_b = explain_words(a.words, a.ends, b.words, b.ends, *links[0][:4], *band, most_a, SHARE)
    gains_a = explain_words(b.words, b.ends, a.words, a.ends, *links[1][:4], *other, most_b, SHARE)
    gains = gains_b, gains_a, order
    span_scores(scores, scoring.word_weight, *gains, shapes.array, *band)
    if withheld is not None:
        withhold(scores, withheld.beads[withheld.two_sided], shapes.array, *band)
    return _decode(scores, gains, pair, shapes, band)


def _partner_blocks(pair: PagePair) -> tuple[Ints, Ints]:
    """Block of the other text that each sentence should be aligned with, -1 where unknown."""
    if pair.anchors is None:
        return np.full(len(pair.a), -1), np.full(len(pair.b), -1)
    return _partner_of(pair.a.blocks, *pair.anchors.T), _partner_of(pair.b.blocks, *pair.anchors.T[::-1])


def _partner_of(blocks: Ints, own: Ints, other: Ints) -> Ints:
    partner = np.full(max(blocks.max(initial=-1), own.max(initial=-1)) + 1, -1)
    partner[own] = other
    return partner[blocks]


def _decode(
    scores: Scores, gains: tuple[Scores, Scores, Ints], pair: PagePair, shapes: BeadShapes, band: Band
) -> Aligned:
    """Choose the beads whose chances add up to most, each counted with its sentences.

    The probability of a bead is its share among all alignments, weighted by exp of their scores (forward-backward).
    This maximises the expected number of right beads, unlike the best single alignment.
    """
    _, worth = path_sums(scores, shapes.array, *band)
    sizes = shapes.array.sum(axis=1).astype(np.float32)
    worth *= sizes
    _, chosen = best_path(worth, shapes.array, *band)
    steps = shapes.array[chosen]
    ends = np.cumsum(steps, axis=0)
    cells = band.start[ends[:, 0]] + ends[:, 1] - band.low[ends[:, 0]]
    beads = np.stack([ends[:, 0] - steps[:, 0], ends[:, 0], ends[:, 1] - steps[:, 1], ends[:, 1]], axis=1)
    n_words = np.diff(pair.a.ends[beads[:, :2]])[:, 0] + np.diff(pair.b.ends[beads[:, 2:]])[:, 0]
    per_word = 2 * spans_of(beads, *gains, *band) / np.maximum(n_words, 1)
    posteriors = np.minimum(worth[cells, chosen].astype(np.float64) / sizes[chosen], 1.0)
    return _cut_runs(Aligned(beads, chosen, posteriors, per_word))


def _cut_runs(aligned: Aligned) -> Aligned:
    """Cut runs of sentences without partner into single ones."""
    sizes = np.where(aligned.two_sided, 1, np.diff(aligned.beads[:, :2])[:, 0] + np.diff(aligned.beads[:, 2:])[:, 0])
    which = np.repeat(np.arange(len(sizes)), sizes)
    offset = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    beads = aligned.beads[which].copy()
    for first in (0, 2):
        run = ~aligned.two_sided[which] & (beads[:, first + 1] > beads[:, first])
        beads[run, first] += offset[run]
        beads[run, first + 1] = beads[run, first] + 1
    return Aligned(beads, aligned.shapes[which], aligned.posteriors[which], aligned.per_word[which])


def support(aligned: Aligned) -> float:
    """Return the share of the sentences of both pages that are in beads supported by their words.

    WebMining's test of a page pair by its sentences: below some share the two pages are not translations.
    """
    sizes = (aligned.beads[:, 1] - aligned.beads[:, 0]) + (aligned.beads[:, 3] - aligned.beads[:, 2])
    good = aligned.two_sided & (aligned.per_word > 0) & (aligned.posteriors >= SUPPORTING_POSTERIOR)
    return float(sizes[good].sum() / max(sizes.sum(), 1))


def _without_partner(n: int, m: int, shapes: BeadShapes) -> Aligned:
    i, j = np.arange(n + m) * (n > 0), np.arange(n + m) * (m > 0)
    beads = np.stack([i, i + (n > 0), j, j + (m > 0)], axis=1).astype(np.int64)
    kind = shapes.names.index("1-0" if n else "0-1")
    return Aligned(beads, np.full(n + m, kind), np.ones(n + m), np.zeros(n + m))


def _sums(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])
