"""Outlines: pages as sequences of tags and text blocks, the input of the tag aligner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twinlink.align.tag_aligner import Outline, category_of
from twinlink.pages.tags import BLOCK, SKIPPED, TAG_CODES

TAG_CATEGORIES: NDArray[np.int64] = np.array([*map(category_of, TAG_CODES), category_of("")], np.int64)
"""Category of each tag code, the last one that of all tags without a code."""

_REST = len(TAG_CODES)
_BREAKS = frozenset(TAG_CODES[tag] for tag in BLOCK)
_SILENT = frozenset(TAG_CODES[tag] for tag in (*SKIPPED, "title"))  # their content is in no block


def outline_of(tokens: NDArray[np.int32], blocks: Sequence[str]) -> Outline | None:
    """Place the blocks of a page among its tags.

    Start tags are taken, those inside a line that linearising leaves out excepted; a block stands where its first text
    does.

    Parameters
    ----------
    tokens : int32
        Linearised page, see `twinlink.pages.linearise`.
    blocks : sequence of str
        Column ``blocks`` of the same page.

    Returns
    -------
    Outline or None
        None where the tokens do not have as many blocks: nothing is known then of where they stand.

    Examples
    --------
    >>> from twinlink.pages.linearise import linearise
    >>> page = linearise(b"<p>One <br> line<p>Two")
    >>> outline_of(page.tokens, ["One line", "Two"]).sizes.tolist()
    [0, 0, 0, 8, 0, 0, 3]
    """
    kinds: list[int] = []
    is_open, silent = False, 0
    for token in tokens.tolist():
        code = (-token - 1) // 2
        if token > 0:
            if not (is_open or silent):
                kinds.append(-1)
                is_open = True
        elif code in _SILENT:
            silent += 1 if token % 2 else -1
        elif not silent:
            if token % 2:
                kinds.append(min(code, _REST))
            is_open = is_open and code not in _BREAKS
    found = np.array(kinds, np.int64)
    texts = np.flatnonzero(found < 0)
    if len(texts) != len(blocks):
        return None
    sizes = np.zeros(len(found), np.int64)
    sizes[texts] = [len(block) for block in blocks]
    return Outline(found, sizes)
