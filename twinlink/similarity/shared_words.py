"""Terms of two languages that stand for the same words, though they are not equal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.similarity.affordable import pages_with
from twinlink.similarity.lexicon import LEAST_COGNATE
from twinlink.text.words import TermTable

__all__ = ["shared_words_matrix"]

_MOST = 0.1  # share of the pages; what is on more are common words, or a menu in one language on pages in both
_ROUNDING = 1e-5  # of the sum of a term's shares


def shared_words_matrix(a: TermTable, b: TermTable) -> csr_array:
    """Return the chance that an occurrence of a term and one of another term are the same word in Latin letters.

    It complements `identity_matrix`: the stems of a name differ where languages are stemmed in different ways. The
    English one of ``hunspell`` is ``hunspel``, the Slovak one ``hunsp``. A stem of many words, of which one is shared
    by accident, has a low weight. Terms on more than a tenth of the pages of their language are left out.

    Returns
    -------
    csr_array of float32, shape (len(a.vocabulary), len(b.vocabulary)), values in (0, 1]
        Only for words that differ from their term in one of the languages.

    Examples
    --------
    >>> from twinlink.text.word_counts import count_words
    >>> others = [[] for _ in range(20)]
    >>> a, b = count_words([["Hunspell"], *others], "en"), count_words([["Hunspell"], ["hunspellu"], *others], "sk")
    >>> a.vocabulary, b.vocabulary, shared_words_matrix(a, b).toarray().tolist()
    (['hunspel'], ['hunsp'], [[0.5]])
    """
    number_a, terms_a, shares_a = _words_of(a)
    number_b, terms_b, shares_b = _words_of(b)
    found = [
        (number_a[word], number_b[word])
        for word in dict.fromkeys([*a.forms.words, *b.forms.words])  # other words are equal terms
        if len(word) >= LEAST_COGNATE and word in number_a and word in number_b
    ]
    of_a, of_b = np.array(found, dtype=np.int64).reshape(-1, 2).T
    chances = (shares_a[of_a] * shares_b[of_b]).astype(np.float32)
    matrix = csr_array((chances, (terms_a[of_a], terms_b[of_b])), shape=(len(a.vocabulary), len(b.vocabulary)))
    matrix.eliminate_zeros()
    return matrix


def _words_of(table: TermTable) -> tuple[Mapping[str, int], NDArray[np.integer], NDArray[np.floating]]:
    """Number the words of a language, those that are their own terms first; return the term of each, and its share.

    The share is 0 for words that cannot be shared.
    """
    vocabulary, forms = table.vocabulary, table.forms
    own = 1 - np.bincount(forms.terms, forms.shares, minlength=len(vocabulary))
    own[own < _ROUNDING] = 0.0  # the term is no word itself
    number = {word: k for k, word in enumerate([*vocabulary, *forms.words])}
    terms = np.concatenate([np.arange(len(vocabulary)), forms.terms])
    is_rare = pages_with(table.counts) <= _MOST * table.counts.shape[0]
    return number, terms, np.concatenate([own, forms.shares]) * is_rare[terms]
