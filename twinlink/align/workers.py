"""Tasks of the workers of stage `align`: align page pairs, count, extract segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from twinlink.align.filters import Segment, judge, pair_key
from twinlink.align.held_out import held_out_scores
from twinlink.align.knowledge import ExpectedCounts, Knowledge
from twinlink.align.learning import Text, TextPair, expect, prepare_texts, scoring_of
from twinlink.align.page_languages import is_in_third_language
from twinlink.align.page_pair import Aligned, PagePair, align_otherwise, align_pair, support
from twinlink.align.page_pairs import PairTexts
from twinlink.align.prior_pairs import SITE_TOKENIZER
from twinlink.align.sentences import Sentence, split_blocks
from twinlink.align.tag_beads import aligned_by_tags, block_pairs
from twinlink.align.words.learned_lexicon import count_forms
from twinlink.align.words.model import Links
from twinlink.config.align import BitextSettings
from twinlink.system.workers import Shared
from twinlink.tables import SEGMENT

WORDS = "words"
"""The last reason of `twinlink.align.filters.judge`: a segment that has it passes all other filters."""
Forms = Counter[tuple[int, str, str]]
"""How often each word stands on either side: side, key, form."""
Prior = Mapping[str, Mapping[str, float]]


class Work(msgspec.Struct, frozen=True):
    """Input of every task of a round, besides its pages."""

    langs: tuple[str, str]
    settings: BitextSettings
    known: Shared[tuple[Knowledge, Prior]]
    """What is known, and the lexicon."""


class AlignedPage(msgspec.Struct, frozen=True):
    """Result of the last round on two pages."""

    segments: list[Segment]
    sentences: tuple[int, int]
    support: float
    wrong: list[tuple[bytes, float]]
    """Sentence pairs that come out when the kept ones are withheld: key, `Segment.held_out`."""
    is_foreign: bool = False
    """Whether one of the pages is in a third language."""


class _Found(NamedTuple):
    sides: tuple[list[Sentence], list[Sentence]]
    prepared: PagePair
    aligned: Aligned
    links: tuple[Links, Links]


def expect_pages(work: Work, pairs: list[PairTexts]) -> list[ExpectedCounts]:
    """Align some pages and return the expected counts."""
    n_shapes = len(scoring_of(work.settings).shapes.names)
    found = (_align(work, pair) for pair in pairs)
    return [expect(one.prepared, one.aligned, one.links, n_shapes) for one in found]


def align_pages(work: Work, pairs: list[PairTexts]) -> tuple[list[AlignedPage], Forms]:
    """Align some pages, and count the forms of their words."""
    pages = []
    forms: Forms = Counter()
    for pair in pairs:
        found = _align(work, pair)
        held_out = held_out_scores(found.prepared, found.aligned, found.links)
        segments = list(_segments(pair, found.sides, found.aligned, held_out.tolist()))
        sizes = len(found.sides[0]), len(found.sides[1])
        is_foreign = any(is_in_third_language(blocks, work.langs) for blocks in (pair.blocks_a, pair.blocks_b))
        wrong = list(_wrong(work, pair, found))
        pages.append(AlignedPage(segments, sizes, support(found.aligned), wrong, is_foreign))
        for number, (sentences, lang) in enumerate(zip(found.sides, work.langs, strict=True)):
            counted = count_forms([sentence.text for sentence in sentences], lang, SITE_TOKENIZER)
            forms.update({(number, *key): count for key, count in counted.items()})
    return pages, forms


def _align(work: Work, pair: PairTexts) -> _Found:
    known, prior = work.known.load()
    sides = split_blocks(pair.blocks_a, work.langs[0]), split_blocks(pair.blocks_b, work.langs[1])
    texts = TextPair(
        *(
            Text([one.text for one in sentences], lang, [one.block for one in sentences])
            for sentences, lang in zip(sides, work.langs, strict=True)
        )
    )
    scoring, by_tags = scoring_of(work.settings), work.settings.method == "tagaligner"
    anchors = None
    if pair.outlines or by_tags:
        blocks = pair.blocks_a, pair.blocks_b
        anchors = block_pairs(pair.outlines, blocks, work.langs, work.settings.tags, SITE_TOKENIZER)
    prepared = prepare_texts(texts, SITE_TOKENIZER, prior, anchors)
    if by_tags and anchors is not None:
        return _Found(sides, prepared, *aligned_by_tags(prepared, known, scoring.shapes, anchors))
    return _Found(sides, prepared, *align_pair(prepared, known, scoring))


def _wrong(work: Work, pair: PairTexts, found: _Found) -> Iterator[tuple[bytes, float]]:
    """Yield what comes out of the two pages when every sentence's partner is withheld, and passes the filters.

    The filter for words is left out. It reads `Segment.per_word`, a score by a model that has learned from the segment;
    nothing has been learned from these, so that the same threshold would be much stricter for them.
    """
    known, _ = work.known.load()
    other = align_otherwise(found.prepared, known, scoring_of(work.settings), found.links, found.aligned)
    held_out = held_out_scores(found.prepared, other, found.links, taught=False)
    for segment in _segments(pair, found.sides, other, held_out.tolist()):
        if judge(segment, work.settings.filters, known.lengths) in (SEGMENT, WORDS):
            yield pair_key(segment.source, segment.target), segment.held_out


def _segments(
    pair: PairTexts, sides: tuple[list[Sentence], list[Sentence]], aligned: Aligned, held_out: Sequence[float]
) -> Iterator[Segment]:
    scores = zip(aligned.posteriors.tolist(), aligned.per_word.tolist(), held_out, strict=True)
    for (i, i_end, j, j_end), numbers in zip(aligned.beads.tolist(), scores, strict=True):
        places = [_place(sides[0][i:i_end]), _place(sides[1][j:j_end])]
        source, target = (
            blocks[block][start:end] if block >= 0 else ""
            for blocks, (block, start, end) in zip((pair.blocks_a, pair.blocks_b), places, strict=True)
        )
        yield Segment(source, target, f"{i_end - i}-{j_end - j}", *numbers, *places[0], *places[1])


def _place(sentences: Sequence[Sentence]) -> tuple[int, int, int]:
    """Block, start and end of some sentences of one block."""
    return (sentences[0].block, sentences[0].start, sentences[-1].end) if sentences else (-1, 0, 0)
