"""The page test of WebMining (section 2.3): by their sentences, are two pages translations of each other.

The sentences of two pages are aligned with a word model that is learned on the way. The share of them that stand in
beads whose words speak for each other (`twinlink.align.page_pair.support`) tells. The model learns in the paper's
order: strict filters first. The teachers are one-to-one pairs, the surest first; the first ones are believed, each
later one teaches only if it passes the test by what the model knows then. All pairs are tested with what all taught.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from twinlink.align.cognates import likeness
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import expect, first_batches, fresh, scoring_of
from twinlink.align.page_pair import Aligned, PagePair, align_pair, prepare_side, support
from twinlink.align.page_pair import Side as Sentences
from twinlink.align.printed_score import align_printed
from twinlink.align.sentences import split_blocks
from twinlink.align.words.model import Links
from twinlink.config.align import BitextSettings
from twinlink.config.baselines import WebminingSettings
from twinlink.match.evidence import Side
from twinlink.text.stems import stem
from twinlink.text.words import tokenize

__all__ = ["PageTest"]

Positions = npt.NDArray[np.integer]
_REPORTS = 50
"""How often the pairs tested so far are reported."""


class PageTest:
    """Tests pairs of pages of two languages of a site.

    Parameters
    ----------
    side_a, side_b : Side
    settings : BitextSettings, optional
    max_sentences : int, optional
        Sentences looked at of a longer page: its first ones. Bounds time.
    printed : WebminingSettings, optional
        Align by equation (1), with its α and threshold. Default: by lengths and log ratios.
    """

    def __init__(
        self,
        side_a: Side,
        side_b: Side,
        settings: BitextSettings | None = None,
        max_sentences: int = 60,
        printed: WebminingSettings | None = None,
    ) -> None:
        self._settings = settings or BitextSettings()
        self._scoring = scoring_of(self._settings)
        self._size = len(self._scoring.shapes.names)
        self._sides = side_a, side_b
        self._max_sentences = max_sentences
        self._printed = printed
        self._pages: tuple[dict[int, Sentences], dict[int, Sentences]] = {}, {}

    def supports(
        self,
        rows: Positions,
        columns: Positions,
        teachers: Sequence[tuple[int, int]],
        on_tested: Callable[[npt.NDArray[np.float64]], None] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return the support of some pairs, 0 to 1; that of pages without text is 0.

        Parameters
        ----------
        rows, columns : arrays of int, one length
            Numbers of the pages of either side.
        teachers : sequence of pairs of int
            One-to-one pairs to learn from, the surest first.
        on_tested : callable, optional
            Called now and then with the supports so far, NaN for the pairs that are not tested.
        """
        known = self._learn(teachers)
        supports = np.full(len(rows), np.nan)
        often = max(1, len(rows) // _REPORTS)
        for number, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            supports[number] = support(self._aligned(self._pair(a, b), known)[0])
            if on_tested is not None and number % often == 0:
                on_tested(supports)
        return supports

    def _aligned(self, pair: PagePair, known: Knowledge) -> tuple[Aligned, tuple[Links, Links]]:
        if self._printed is None:
            return align_pair(pair, known, self._scoring)
        return align_printed(pair, known, self._printed.alpha, self._printed.min_word_probability)

    def _learn(self, teachers: Sequence[tuple[int, int]]) -> Knowledge:
        known = fresh(None, self._settings)
        least = 0.0
        for batch in first_batches(len(teachers), self._settings.batch):
            taught = []
            for number in batch:
                pair = self._pair(*teachers[number])
                aligned, links = self._aligned(pair, known)
                if support(aligned) >= least:
                    taught.append(expect(pair, aligned, links, self._size))
            for expected in taught:
                known.add(expected)
            least = self._settings.filters.min_support
        return known

    def _pair(self, row: int, column: int) -> PagePair:
        a, b = self._page(0, row), self._page(1, column)
        return PagePair(a, b, likeness(a.vocabulary, b.vocabulary))

    def _page(self, number: int, page: int) -> Sentences:
        """Return the sentences of a page; they are split once."""
        pages, side = self._pages[number], self._sides[number]
        if page not in pages:
            sentences = split_blocks(side.blocks[page], side.lang)[: self._max_sentences]
            texts = [one.text for one in sentences]
            words = [[stem(word, side.lang) for word in tokenize(text, side.lang)] for text in texts]
            pages[page] = prepare_side(texts, words, [one.block for one in sentences])
        return pages[page]
