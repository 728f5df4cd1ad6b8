"""Stage `align`: sentence pairs from page pairs, with a word model learned during the alignment.

- a run: `align_run`
- many texts: `align_text_pairs`, `align_texts`: align and learn alternately; `prepare_texts`, `known_from_pairs`
- two texts: `align_pair` under a `Scoring`: lengths, words, look-alike words
- sentences: `split_blocks`, `split_block`
- filters: `judge_page`, `Segment`: select sentence pairs, with a reason for each that is not kept
- tags and texts: `align_blocks`: the tag aligner, block by block

Kernels take arrays and return arrays. Language-dependent code (how sentences split into words) is in a `Tokenizer`.
"""

from __future__ import annotations

from twinlink.align.filters import Segment, judge_page
from twinlink.align.learning import (
    Alignment,
    Text,
    TextPair,
    align_text_pairs,
    align_texts,
    known_from_pairs,
    prepare_texts,
)
from twinlink.align.page_pair import PagePair, Scoring, align_pair
from twinlink.align.sentences import Sentence, split_block, split_blocks
from twinlink.align.stage import align_run
from twinlink.align.tag_aligner import align_blocks
from twinlink.align.tokens import ANY_LANGUAGE, Tokenizer

__all__ = [
    "ANY_LANGUAGE",
    "Alignment",
    "PagePair",
    "Scoring",
    "Segment",
    "Sentence",
    "Text",
    "TextPair",
    "Tokenizer",
    "align_blocks",
    "align_pair",
    "align_run",
    "align_text_pairs",
    "align_texts",
    "judge_page",
    "known_from_pairs",
    "prepare_texts",
    "split_block",
    "split_blocks",
]
