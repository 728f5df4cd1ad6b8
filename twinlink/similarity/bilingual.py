"""Pages that say everything twice: block by block in two of the wanted languages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from math import log
from statistics import pstdev

from twinlink.similarity.identify import count_scripts, identify_text
from twinlink.similarity.scripts import split_units

__all__ = ["is_bilingual", "may_be_bilingual"]

_MIN_SHARE = 0.25
"""Part of the words that each of the two languages has at least."""
_MIN_WORDS = 5
"""A block with fewer words has no language of its own."""
_MIN_BLOCKS = 6
_MIN_CHANGES = 0.8
"""Part of the blocks after which the language changes. Half translated pages have about a half."""
_MAX_SPREAD = 0.5
"""Standard deviation of log(length / length of its translation) at most: .2 to .4 in translations, 1 by chance."""
_MIXED_SCORE = 0.85
"""Part of the words that the first language has at most, by CLD2."""


def may_be_bilingual(scripts: Mapping[str, float], score: float) -> bool:
    """Tell whether it is worth to look at a page block by block: its words are of two scripts, or CLD2 is in doubt."""
    total = sum(scripts.values())
    large = [count for count in scripts.values() if count >= _MIN_SHARE * total]
    return len(large) > 1 or (total > 0 and score <= _MIXED_SCORE)


def is_bilingual(blocks: Sequence[str], languages: Collection[str]) -> bool:
    """Tell whether a page alternates between two languages.

    Of its blocks of five words or more, six at least are in one of the two, each language has a quarter of their words,
    the language changes after four of five blocks, and what stands side by side has the lengths of translations. A page
    that was translated in part does not change so regularly.

    Parameters
    ----------
    blocks : sequence of str
        The page's own text, in order.
    languages : collection of str
        Base languages that are looked for (``zh``, not ``zh-Hant``).

    Examples
    --------
    >>> notice = ["The office is closed on all public holidays.", "辦事處於所有公眾假期休息，不便之處敬請原諒。"]
    >>> is_bilingual(notice * 3, ["en", "zh"]), is_bilingual(notice[:1] * 3 + notice[1:] * 3, ["en", "zh"])
    (True, False)
    """
    named = [(language, size) for language, size in map(_language_and_size, blocks) if language in languages]
    words: dict[str, float] = {}
    for language, size in named:
        words[language] = words.get(language, 0.0) + size
    first_two = sorted(words, key=lambda name: (-words[name], name))[:2]
    order = [(language, size) for language, size in named if language in first_two]
    if len(order) < _MIN_BLOCKS or len(first_two) < 2 or words[first_two[1]] < _MIN_SHARE * sum(words.values()):
        return False
    runs = [sum(size for _, size in run) for _, run in groupby(order, key=lambda block: block[0])]
    return len(runs) - 1 >= _MIN_CHANGES * (len(order) - 1) and _keeps_its_ratio(runs)


def _language_and_size(block: str) -> tuple[str, float]:
    size = sum(count_scripts(split_units(block)).values())
    return (identify_text(block)[0].partition("-")[0] if size >= _MIN_WORDS else ""), size


def _keeps_its_ratio(runs: Sequence[float]) -> bool:
    ratios = [log(one / other) for one, other in zip(runs[::2], runs[1::2], strict=False)]
    return pstdev(ratios) <= _MAX_SPREAD
