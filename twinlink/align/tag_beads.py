"""Beads by tags: the sentences of two pages, put together as the tag aligner puts their text blocks together.

This is method ``tagaligner`` of stage `align`. The paper aligns whole text blocks. Here two blocks with the same number
of sentences give one bead for each two sentences, and any other two blocks one bead. The words of the beads are scored
with the learned word model, so that the filters can judge them; the alignment does not depend on words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from twinlink.align.bead_shapes import BeadShapes
from twinlink.align.held_out import held_out_scores
from twinlink.align.knowledge import Knowledge
from twinlink.align.outlines import TAG_CATEGORIES
from twinlink.align.page_pair import Aligned, PagePair
from twinlink.align.tag_aligner import Outline, align_blocks
from twinlink.align.tokens import Tokenizer
from twinlink.align.words.model import Links, links_of
from twinlink.config.align import TagAlignerSettings

__all__ = ["aligned_by_tags", "beads_of_blocks", "block_pairs"]

Ints = NDArray[np.int64]
BlockTexts = tuple[Sequence[str], Sequence[str]]


def block_pairs(
    outlines: tuple[Outline, Outline] | None,
    blocks: BlockTexts,
    langs: tuple[str, str],
    settings: TagAlignerSettings,
    tokenizer: Tokenizer,
) -> Ints:
    """Return the text blocks of two pages that correspond, shape (pairs, 2).

    Parameters
    ----------
    outlines : two Outline, or None
        None where it is not known where the blocks stand among the tags: then their lengths alone decide.
    blocks : two sequences of str
        Text blocks of each page.
    langs : two str
    settings : TagAlignerSettings
    tokenizer : Tokenizer
        Counts the words of a block, if lengths are in words.
    """
    given = outlines or (_without_tags(blocks[0]), _without_tags(blocks[1]))
    if settings.unit == "words":
        given = (
            _in_words(given[0], blocks[0], langs[0], tokenizer),
            _in_words(given[1], blocks[1], langs[1], tokenizer),
        )
    return align_blocks(*given, TAG_CATEGORIES, settings)


def _without_tags(blocks: Sequence[str]) -> Outline:
    return Outline(np.full(len(blocks), -1, np.int64), np.array([len(block) for block in blocks], np.int64))


def _in_words(outline: Outline, blocks: Sequence[str], lang: str, tokenizer: Tokenizer) -> Outline:
    sizes = outline.sizes.copy()
    sizes[outline.kinds < 0] = [sum(1 for _ in tokenizer.split(block, lang)) for block in blocks]
    return outline._replace(sizes=sizes)


def beads_of_blocks(of_a: Ints, of_b: Ints, pairs: Ints) -> Ints:
    """Return the beads of two pages, every sentence in just one.

    Parameters
    ----------
    of_a, of_b : int64
        Block of each sentence, never falling.
    pairs : int64, shape (pairs, 2)
        Blocks that correspond; both columns rise.

    Returns
    -------
    int64, shape (beads, 4)
        First and end sentence of a, first and end sentence of b, in order.

    Examples
    --------
    Blocks 0 of two sentences each, block 1 of a alone, and blocks 2 and 1 of two sentences and of one:

    >>> beads_of_blocks(np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1]), np.array([[0, 0], [2, 1]])).tolist()
    [[0, 1, 0, 1], [1, 2, 1, 2], [2, 3, 2, 2], [3, 5, 2, 3]]
    """
    beads: list[tuple[int, int, int, int]] = []
    i = j = 0
    starts, ends = (
        [np.searchsorted(blocks, column, side) for blocks, column in zip((of_a, of_b), pairs.T, strict=True)]
        for side in ("left", "right")
    )
    for first_a, end_a, first_b, end_b in zip(starts[0], ends[0], starts[1], ends[1], strict=True):
        if first_a == end_a or first_b == end_b:  # a block without a sentence has no partner
            continue
        beads += _alone(i, int(first_a), j, int(first_b))
        if end_a - first_a == end_b - first_b:
            beads += [(int(first_a) + k, int(first_a) + k + 1, int(first_b) + k, int(first_b) + k + 1)
                      for k in range(int(end_a - first_a))]  # fmt: skip
        else:
            beads.append((int(first_a), int(end_a), int(first_b), int(end_b)))
        i, j = int(end_a), int(end_b)
    beads += _alone(i, len(of_a), j, len(of_b))
    return np.array(beads, np.int64).reshape(-1, 4)


def _alone(i: int, i_end: int, j: int, j_end: int) -> list[tuple[int, int, int, int]]:
    """Return the beads of sentences without partner."""
    return [(k, k + 1, j, j) for k in range(i, i_end)] + [(i_end, i_end, k, k + 1) for k in range(j, j_end)]


def aligned_by_tags(
    pair: PagePair, known: Knowledge, shapes: BeadShapes, pairs: Ints
) -> tuple[Aligned, tuple[Links, Links]]:
    """Align the sentences of two pages by their blocks, and score their words.

    Parameters
    ----------
    pair : PagePair
    known : Knowledge
        What has been learned so far; may be empty.
    shapes : BeadShapes
    pairs : int64, shape (pairs, 2)
        See `block_pairs`.

    Returns
    -------
    aligned : Aligned
        The probability of each bead is 1: the tag aligner knows one alignment. A bead of a shape that ``shapes`` do not
        have counts as 1-1.
    links : pair of Links
        As of `twinlink.align.page_pair.align_pair`.
    """
    a, b = pair.a, pair.b
    links = links_of(known.words, a.vocabulary, b.vocabulary, a.seen, b.seen, pair.like)
    beads = beads_of_blocks(a.blocks, b.blocks, pairs)
    names = {name: number for number, name in enumerate(shapes.names)}
    sizes = zip((beads[:, 1] - beads[:, 0]).tolist(), (beads[:, 3] - beads[:, 2]).tolist(), strict=True)
    kinds = np.array([names.get(f"{n}-{m}", names["1-1"]) for n, m in sizes], np.int64)
    found = Aligned(beads, kinds, np.ones(len(beads)), np.zeros(len(beads)))
    return replace(found, per_word=held_out_scores(pair, found, links, taught=False)), links
