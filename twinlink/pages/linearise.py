"""Linearisation of pages into tags and text lengths, for the structural methods (STRAND and its successors).

Rules of Jangeldin & Assylbekov (section 3.1, and the code that their numbers came from):

- a start tag gives [START:tag], an end tag [END:tag], the text between two of them [Chunk:length];
- ``script`` and ``style`` are removed with their content;
- tags inside a line give no token and leave the text whole: a b strong i em font span nobr sup sub meta link acronym;
  so does ``option``. ``a`` and ``option`` part the words before, inside and after them like a space;
- attributes, comments and declarations give nothing.

`br` is an ordinary tag here and so ends a chunk. It is often counted among the tags that act as a space, but only so do
the numbers of the paper come out: on its mfa.kz pages 105 pairs without any difference and a mean L_d of -0.0177 (as a
space: 107 and -0.0182), and 167 and 53 pairs found by its two ways of clustering.

The characters of a chunk are counted after each run of white space has become one space and that at either end is
gone. The paper's Figure 2 counts none of the spaces (23 for ``The Republic of Kazakhstan``, here 26); its results do,
for without spaces the mean L_d of these pages is 0.002.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from twinlink.expressions import expression
from twinlink.pages.content import TooDeepError
from twinlink.pages.parser import run_parser
from twinlink.pages.spaces import collapse
from twinlink.pages.tags import OTHER_TAG, TAG_CODES
from twinlink.scripts import SINGLE_CHARACTERS

_VANISHING = frozenset(("script", "style"))
_INLINE = frozenset("a b strong i em font span nobr sup sub meta link acronym option".split())
_SPACE = frozenset(("a", "option"))

_UNSPACED = f"[{SINGLE_CHARACTERS}]"
_PUNCTUATION = re.compile("[\u3000-\u3004\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")
_FIRST_UNSPACED = "\u0e01"


class PageShape(NamedTuple):
    """Linearised page (`twinlink.pages.linearise`) and its size."""

    tokens: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    n_bytes: int
    """Size of the page's body."""


class Linearised(msgspec.Struct, frozen=True, eq=False):
    """A linearised page."""

    tokens: NDArray[np.int32]
    """In document order: k > 0 for [Chunk:k], k characters; -(2c+1) for [START:tag] and -(2c+2) for [END:tag], where
    c is the tag's code of `twinlink.pages.tags.TAG_CODES`, or `OTHER_TAG`. Never 0."""
    words: NDArray[np.int32]
    """Words of each chunk in order: what stands between white space; where the text is written without spaces (Han,
    Kana, Thai, Lao, Khmer, Myanmar, Tibetan), each character of it, whose punctuation counts nothing. At least 1."""
    cut: bool
    """True if the rest of the page was not read because it nests too deeply."""


def linearise(body: bytes, content_type: str = "") -> Linearised:
    """Linearise an HTML page. It never fails: any bytes give a page, perhaps an empty one.

    The parser supplies what a page leaves out, and that gives tokens like what stands in the page: html and body
    around everything, head around a title or meta elements, an end for each tag, also for those that have none (br,
    img, hr). So a fragment is compared as the page that a browser makes of it. Text in ``noscript`` counts, for we run
    no scripts, and so does the title.

    Parameters
    ----------
    body : bytes
        The page as served, content encoding (gzip …) removed.
    content_type : str, optional
        The response's header of this name, which may name the encoding, see `twinlink.pages.decoding.decode`.

    Examples
    --------
    >>> page = linearise(b"<p>Hello <b>big</b>   world</p><hr>")
    >>> from twinlink.pages.tags import TAG_CODES
    >>> html, body, p, hr = (TAG_CODES[tag] for tag in ("html", "body", "p", "hr"))
    >>> start, end = (lambda tag: -(2 * tag + 1)), (lambda tag: -(2 * tag + 2))
    >>> page.tokens.tolist() == [
    ...     start(html), start(body), start(p), 15, end(p), start(hr), end(hr), end(body), end(html)
    ... ]
    True
    >>> page.words.tolist()
    [3]
    """
    page, cut, _ = run_parser(body, content_type, _TokenBuilder)
    return Linearised(np.array(page.tokens, np.int32), np.array(page.words, np.int32), cut)


class _TokenBuilder:
    """Target of the parser: gathers tokens and the words of chunks."""

    def __init__(self, max_depth: int) -> None:
        self.tokens: list[int] = []
        self.words: list[int] = []
        self._texts: list[str] = []  # texts of the chunk so far
        self.data = self._texts.append  # called for each text
        self._depth = 0
        self._max_depth = max_depth
        self._vanishing = 0  # depth of the element that vanishes, 0 for none
        self._mark = 0  # texts before it

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        self._depth += 1
        if self._depth > self._max_depth:
            raise TooDeepError
        if self._vanishing:
            return
        if tag in _VANISHING:
            self._vanishing, self._mark = self._depth, len(self._texts)
        elif tag in _INLINE:
            self._part_words(tag)
        else:
            self._end_chunk()
            self.tokens.append(-2 * TAG_CODES.get(tag, OTHER_TAG) - 1)

    def end(self, tag: str) -> None:
        """Take an end tag; the parser supplies those that the page lacks."""
        depth = self._depth
        self._depth -= 1
        if self._vanishing:
            if self._vanishing == depth:
                self._vanishing = 0
                del self._texts[self._mark :]
        elif tag in _INLINE:
            self._part_words(tag)
        else:
            self._end_chunk()
            self.tokens.append(-2 * TAG_CODES.get(tag, OTHER_TAG) - 2)

    def close(self) -> None:
        """Finish the page."""
        if self._vanishing:
            self._vanishing = 0
            del self._texts[self._mark :]
        self._end_chunk()

    def _part_words(self, tag: str) -> None:
        if tag in _SPACE:
            self._texts.append(" ")

    def _end_chunk(self) -> None:
        if self._texts:
            text = collapse("".join(self._texts))
            self._texts.clear()
            if text:
                self.tokens.append(len(text))
                self.words.append(_count_words(text))


def _count_words(text: str) -> int:
    if max(text) < _FIRST_UNSPACED:
        return text.count(" ") + 1
    spaced, characters = expression(_UNSPACED).subn(" ", _PUNCTUATION.sub(" ", text))
    return max(1, characters + len(spaced.split()))
