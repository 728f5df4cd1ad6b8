"""Bilingual pages: every text block in two of the wanted languages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import log

import numpy as np

from twinlink.language.identify import count_scripts, guess_language
from twinlink.scripts import split_units

EXAMINE_SECONDS = 2e-4
"""What a page takes to be read block by block, in trials on four sites."""
_MIN_SHARE = 0.3
"""Minimum share of the words in each of the two languages."""
_MIN_WORDS = 1.2
"""A block with fewer words has no language of its own. Headings count: in a page that says all twice they are two."""
_MIN_BLOCKS = 8
_MIN_CHANGES = 0.9
"""Part of the blocks after which the language changes. Half translated pages have about a half."""
_MAX_SPREAD = 0.4
"""Maximum standard deviation of log(length / length of its translation): .2 to .4 in translations, 1 by chance."""
_MIXED_SCORE = 0.7
"""Maximum share of the words in the first language, by CLD2."""


def may_be_bilingual(scripts: Mapping[str, float], score: float) -> bool:
    """Return whether to examine a page block by block: its words are in two scripts, or CLD2 is in doubt."""
    total = sum(scripts.values())
    large = [count for count in scripts.values() if count >= _MIN_SHARE * total]
    return len(large) > 1 or (total > 0 and score <= _MIXED_SCORE)


def is_bilingual(blocks: Sequence[str], languages: Collection[str]) -> bool:
    """Return whether a page alternates between two languages.

    Eight blocks of two words or more are in one of the two, each language has three tenths of their words, the language
    changes after nine of ten blocks, and what stands side by side has the lengths of translations. A page that was
    translated in part does not change so regularly.

    Parameters
    ----------
    blocks : sequence of str
        The page's own text, in order.
    languages : collection of str
        Base languages to look for (``zh``, not ``zh-Hant``).

    Examples
    --------
    >>> notice = ["The office is closed on all public holidays.", "辦事處於所有公眾假期休息，不便之處敬請原諒。"]
    >>> is_bilingual(notice * 4, ["en", "zh"]), is_bilingual(notice[:1] * 4 + notice[1:] * 4, ["en", "zh"])
    (True, False)
    """
    runs: list[tuple[str, float]] = []
    unchanged, most = 0, (1 - _MIN_CHANGES) * (len(blocks) - 1)
    for language, size in map(language_and_size, blocks):
        if language not in languages:
            continue
        if runs and runs[-1][0] == language:
            runs[-1] = language, runs[-1][1] + size
            unchanged += 1
        else:
            runs.append((language, size))
        if unchanged > most or len({name for name, _ in runs[-3:]}) > 2:
            return False
    if len(runs) + unchanged < _MIN_BLOCKS or unchanged > (1 - _MIN_CHANGES) * (len(runs) + unchanged - 1):
        return False
    sizes = [size for _, size in runs]
    share = sum(sizes[::2]) / sum(sizes)
    return min(share, 1 - share) >= _MIN_SHARE and _keeps_its_ratio(sizes)


@lru_cache(maxsize=2**13)  # headings and code are repeated on many pages
def language_and_size(block: str) -> tuple[str, float]:
    """Return the language of a block by itself, empty if it is too short to have one, and its number of words."""
    words = count_scripts(split_units(block))
    size = sum(words.values())
    return (guess_language(words, block).language if size >= _MIN_WORDS else ""), size


def _keeps_its_ratio(runs: Sequence[float]) -> bool:
    ratios = [log(one / other) for one, other in zip(runs[::2], runs[1::2], strict=False)]
    return float(np.std(ratios)) <= _MAX_SPREAD
