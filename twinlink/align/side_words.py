"""Language of a sentence by the word frequencies of the pages on each side.

A sentence is short, and a technical one is full of names: CLD2 takes both sides of 877 sentence pairs of a manual in
English and French for one language; of 45 drawn from them, none is. The word frequencies of the pages are more
reliable: a word counts for the side on which it is more frequent.
"""

from __future__ import annotations

import math

from twinlink.align.tokens import Tokenizer
from twinlink.align.words.model import WordModel

__all__ = ["SideWords"]

LEAST_ODDS = 3.0
"""Log odds from which a sentence is said to be in a language, 20 to 1. On six sites, of the sentences of more
than 40 characters that are kept .989 to 1.000 are said to be in the language of their side, at most .001 in the
other."""


class SideWords:
    """Words of both sides and how frequent they are.

    Parameters
    ----------
    words : WordModel
        Contains the words of all pages.
    langs : pair of str
        Languages of a and b.
    tokenizer : Tokenizer
        The one that the model's words come from.
    """

    def __init__(self, words: WordModel, langs: tuple[str, str], tokenizer: Tokenizer) -> None:
        self._places = words.place_a, words.place_b
        self._seen = words.seen_a.tolist(), words.seen_b.tolist()
        self._langs, self._tokenizer = langs, tokenizer
        self._totals = [max(1.0, sum(seen)) for seen in self._seen]
        self._least = 1 / max(self._totals)

    def language(self, text: str) -> str:
        """Return the language of a text, empty if its words do not decide."""
        odds = self.odds(text)
        return "" if abs(odds) < LEAST_ODDS else self._langs[odds < 0]

    def odds(self, text: str) -> float:
        """Return ``Σ_w log (p(w | a) / p(w | b))`` over the different words of a text that any page has.

        The same amount is added to the relative frequencies of both sides: where one side has many more words than the
        other, a word of one side only would else count for the other.
        """
        words = {word for lang in self._langs for word in self._tokenizer.split(text, lang)}
        shares = ([self._share(side, word) for side in (0, 1)] for word in sorted(words))
        return sum(math.log((a + self._least) / (b + self._least)) for a, b in shares if a + b)

    def _share(self, side: int, word: str) -> float:
        place = self._places[side].get(self._tokenizer.key(word, self._langs[side]), -1)
        return 0.0 if place < 0 else self._seen[side][place] / self._totals[side]
