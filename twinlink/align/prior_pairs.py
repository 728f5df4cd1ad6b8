"""Learning from given sentence pairs before a run's own pages are aligned."""

from __future__ import annotations

from collections.abc import Sequence

from twinlink.align.formats.sentence_pairs import PairFile, is_tmx, read_sentence_pairs
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import known_from_pairs
from twinlink.align.tokens import Tokenizer
from twinlink.config.align import BitextSettings
from twinlink.errors import InputError
from twinlink.text.stems import stem
from twinlink.text.words import tokenize

__all__ = ["SITE_TOKENIZER", "warm_knowledge"]

SITE_TOKENIZER = Tokenizer(tokenize, stem)
"""Words and stems as in the matcher."""

Langs = tuple[str, str]


def warm_knowledge(
    files: Sequence[PairFile],
    langs: Sequence[Langs],
    settings: BitextSettings,
    tokenizer: Tokenizer = SITE_TOKENIZER,
) -> dict[Langs, Knowledge | None]:
    """Learn from files of sentence pairs, for each two languages by themselves; None: no pair is in these.

    Raises
    ------
    InputError
        If a file cannot be read or has no pair in any two of the languages; or does not say which two it is in, and
        there are several.
    """
    if len(langs) > 1:
        for file in files:
            if not file.langs and not is_tmx(file.path):
                raise InputError(
                    f"{file.path}: its languages are not known; write --warm {'-'.join(langs[0])}={file.path}"
                )
    found: dict[Langs, list[tuple[str, str]]] = {two: [] for two in langs}
    for file in files:
        before = sum(map(len, found.values()))
        for two in langs:
            found[two].extend(read_sentence_pairs(file, two))
        if langs and sum(map(len, found.values())) == before:
            raise InputError(f"{file.path}: no sentence pair in {' or '.join(map('-'.join, langs))}")
    return {two: _learned(pairs, two, settings, tokenizer) for two, pairs in found.items()}


def _learned(
    pairs: Sequence[tuple[str, str]], langs: Langs, settings: BitextSettings, tokenizer: Tokenizer
) -> Knowledge | None:
    if not pairs:
        return None
    a, b = zip(*pairs, strict=True)
    return known_from_pairs(a, b, langs=langs, settings=settings, tokenizer=tokenizer)
