"""Linearised pages of a site folder, for the structural methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from twinlink.pages.linearise import PageShape, linearise

__all__ = ["file_of", "first_half", "read_pages"]

Tokens = npt.NDArray[np.int32]


def read_pages(site: Path, urls: Sequence[str]) -> list[PageShape]:
    """Read and linearise the pages of some addresses; ``site`` is the mirror folder that stands for their host."""
    return [_shape(file_of(site, url).read_bytes()) for url in urls]


def _shape(body: bytes) -> PageShape:
    page = linearise(body)
    return PageShape(page.tokens, page.words, len(body))


def file_of(site: Path, url: str) -> Path:
    """Return the file of an address in a mirror folder."""
    path = unquote(urlsplit(url).path, errors="surrogateescape").removeprefix("/")
    return site / (path + "index.html" if path.endswith("/") or not path else path)


def first_half(page: PageShape) -> PageShape:
    """Return a page without the second half of its texts and their tags, as if it were half translated.

    The tokens are cut after the middle text, and open tags are closed, as the parser does for truncated HTML.
    The size in bytes is reduced in proportion to the number of tokens.

    Examples
    --------
    >>> page = PageShape(np.array([-1, -5, 8, -6, -5, 7, -6, -2], np.int32), np.array([2, 1], np.int32), 80)
    >>> half = first_half(page)
    >>> half.tokens.tolist(), half.words.tolist(), half.n_bytes
    ([-1, -5, 8, -6, -2], [2], 50)
    """
    texts = np.flatnonzero(page.tokens > 0)
    n_kept = (len(texts) + 1) // 2
    kept = page.tokens[: texts[n_kept - 1] + 1] if n_kept else page.tokens
    tokens = np.concatenate([kept, _ends(kept)])
    return PageShape(tokens, page.words[:n_kept], round(page.n_bytes * len(tokens) / max(1, len(page.tokens))))


def _ends(tokens: Tokens) -> Tokens:
    """Return the end tag of each tag that is open after some tokens, innermost first."""
    ends: list[int] = []
    for token in tokens[tokens < 0].tolist():
        if token % 2:  # the code of a start tag is odd, and that of its end tag one less
            ends.append(token - 1)
        elif ends and ends[-1] == token:
            ends.pop()
    return np.array(ends[::-1], np.int32)
