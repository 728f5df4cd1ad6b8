"""Pages in a third language: a page that was never translated stands in one version of the site or the other."""

from __future__ import annotations

from collections.abc import Sequence

from twinlink.language.identify import CLEAR, guess_text
from twinlink.language.relatives import are_relatives
from twinlink.languages import UNDETERMINED, base_language

__all__ = ["is_in_third_language"]

LIKENESS = 0.7
"""Least `Guess.likeness` of a page in a third language: CLD2 takes a language that it does not know for one that it
knows. On seven sites with 3,200 pages in pairs, the six pages in a third language have .87 or more."""


def is_in_third_language(blocks: Sequence[str], langs: tuple[str, str]) -> bool:
    """Return whether the text of a page is without doubt in none of the two languages that are aligned.

    A page belongs to the version of the site that it stands in, whatever its text (`site_languages`): the manual of
    Apache has Portuguese pages among the English ones. Their sentences are those of no pair of these languages.

    Parameters
    ----------
    blocks : sequence of str
        Text blocks of the page.
    langs : tuple of str
        The languages of the two sides; a text in a relative of either is not in a third language.

    Examples
    --------
    >>> portuguese = ["Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de"
    ...     " consciência, devem agir uns para com os outros em espírito de fraternidade."] * 2
    >>> is_in_third_language(portuguese, ("en", "fr")), is_in_third_language(portuguese, ("en", "pt"))
    (True, False)
    """
    guess = guess_text("\n".join(blocks))
    if guess.language == UNDETERMINED or guess.strength < CLEAR or guess.likeness < LIKENESS:
        return False
    own = [base_language(lang) for lang in langs]
    return guess.language not in own and not any(are_relatives(guess.language, lang) for lang in own)
