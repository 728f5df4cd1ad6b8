"""Chinese words: conversion to Simplified, segmentation by a dictionary, joining of lexicon entries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from twinlink.scripts import chinese_converter

_MOST_JOINED = 4  # words of a run of Chinese that may be one entry of a lexicon


def simplify_chinese(text: str) -> str:
    """Convert Traditional Chinese to Simplified, leaving everything else."""
    return str(chinese_converter("t2s").convert(text))


def simplify_japanese(text: str) -> str:
    """Convert Japanese characters to Simplified Chinese ones, leaving everything else.

    >>> simplify_japanese("環境 検索 発行")
    '环境 检索 发行'
    """
    return simplify_chinese(str(chinese_converter("jp2t").convert(text)))


def load_dictionary() -> None:
    """Load what `cut_chinese` needs: a process that is copied later loads it once for all copies."""
    import rjieba  # noqa: F401  (only Chinese needs it, and it takes .1 s)


def forget_dictionary() -> None:
    """Free the memory of what `cut_chinese` needs, 25 MB; it is loaded again when it is needed."""
    sys.modules.pop("rjieba", None)  # the module holds it


def cut_chinese(runs: Sequence[str]) -> Iterator[list[str]]:
    """Cut runs of Chinese into words, all in one call; yield those of each run."""
    import rjieba  # as `load_dictionary` does

    words = rjieba.cut(simplify_chinese("\n".join([*runs, ""])))
    start = 0
    for _ in runs:
        end = words.index("\n", start)
        yield words[start:end]
        start = end + 1


def join_heads(words: Sequence[str], heads: AbstractSet[str]) -> list[str]:
    """Join neighbouring words that are one head together, from the left, as many as possible."""
    result, start = [], 0
    while start < len(words):
        ends = range(min(len(words), start + _MOST_JOINED), start + 1, -1)
        end = next((end for end in ends if "".join(words[start:end]) in heads), start + 1)
        result.append("".join(words[start:end]))
        start = end
    return result
