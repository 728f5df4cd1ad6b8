"""What pages, and links to them, claim of their language, where CLD2 is likely to be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from twinlink.language.identify import (
    CLEAR,
    FAIRLY_CLEAR,
    KNOWN,
    LEAST_LEARNED,
    Guess,
    clear_pages,
    is_mixed,
    main_script,
)
from twinlink.language.naming import recognised
from twinlink.language.relatives import CONFUSED, are_relatives
from twinlink.language.site_text import SiteText
from twinlink.scripts import LATIN

__all__ = ["as_claimed", "claimed_languages", "often_claimed"]

_LIKE_ITSELF = 0.7
"""Likeness below which text may be in a language that CLD2 does not recognise, if it is claimed: Asturian is like
Spanish by .50 to .62 on 17 short pages."""

_FEW_LETTERS = 100
"""Letters up to which CLD2 may take one language of a site for another: "Authentification et autorisation" is English
to it, as are 7 of 73 titles of a French manual. Where a language can be learned, words decide on short pages, too: many
were left in the language of the source, under the claim of the template. Our choice, not tuned."""

_LEAST_CLAIMED = 0.05
"""Least share of the pages that claim one of the languages of a site. Our choice, not tuned."""

_Tags = frozenset[str]


def claimed_languages(site: SiteText) -> _Tags:
    """Return the languages that pages of a site claim, where several do; none where all claim the same one.

    Where none are wanted, they stand for the wanted ones: a claim that differs between pages does not come from
    a template.
    """
    found = often_claimed(Counter(claimed for claim in site.claimed for claimed in claim), len(site.claimed))
    return found if len(found) > 1 else _Tags()


def often_claimed(claims: Mapping[str, int], n_pages: int) -> _Tags:
    """Return the languages that enough pages claim to be one of the languages of a site.

    >>> sorted(often_claimed({"en": 60, "fr": 37, "de": 3}, 100))
    ['en', 'fr']
    """
    least = max(LEAST_LEARNED, _LEAST_CLAIMED * n_pages)
    return _Tags(language for language, n in claims.items() if n >= least)


def as_claimed(site: SiteText, guesses: Sequence[Guess], wanted: _Tags) -> list[Guess]:
    """Return the guesses, corrected by what the pages and links to them claim.

    - CLD2 confuses some languages in Latin script, whatever the length of the text. Of these, the claimed one is right.
      Where all their pages claim the same one, that may come from a template: then not if CLD2's language is wanted.
    - So is a claimed one that CLD2 does not recognise, if it is wanted or a relative of the language that CLD2 names,
      and the text is not much like that.
    - A page in doubt that claims a wanted language is not in another one that no page of the site claims: CLD2 finds
      many languages in lists of names. Nor is a page with few Latin letters in another one, if the site has too few
      clear pages in the claimed one to learn it from. Its words decide. Not if only one wanted language is claimed.
    """
    claims = [named | claimed for named, claimed in zip(site.named, site.claimed, strict=True)]
    on_site = _Tags().union(*claims)
    clear = clear_pages(guesses, FAIRLY_CLEAR)
    trusted = wanted if len(wanted & on_site) > 1 else _Tags()

    def read(guess: Guess, claim: _Tags, scripts: Mapping[str, float], letters: float) -> Guess:
        is_latin = main_script(scripts) == LATIN
        one = _confused(guess, claim, on_site, wanted) if is_latin else ""
        if one := one or _unrecognised(guess, claim, wanted):
            return guess._replace(language=one)
        if len(claim & trusted) != 1 or not _is_doubtful(guess, claim, scripts):
            return guess
        (claimed,) = claim & trusted
        is_open = is_latin and letters < _FEW_LETTERS and clear[claimed] < LEAST_LEARNED
        if guess.language in wanted | on_site and not is_open:
            return guess
        return guess._replace(language=claimed, strength=0.0)

    return list(map(read, guesses, claims, site.scripts, site.letters.tolist()))


def _confused(guess: Guess, claim: _Tags, on_site: _Tags, wanted: _Tags) -> str:
    """Return the claimed language that CLD2 takes for the one that it names; empty for none."""
    group = next((group for group in CONFUSED if guess.language in group), _Tags())
    is_believed = len(on_site & group) > 1 or guess.language not in wanted
    return min(claim & group) if len(claim & group) == 1 and is_believed else ""


def _unrecognised(guess: Guess, claim: _Tags, wanted: _Tags) -> str:
    """Return the claimed language that CLD2 does not recognise; empty for none, or if the text is in another one."""
    if guess.likeness >= _LIKE_ITSELF or claim <= {guess.language}:
        return ""
    may_be = [one for one in claim - recognised() if one in wanted or are_relatives(one, guess.language)]
    return may_be[0] if len(may_be) == 1 else ""


def _is_doubtful(guess: Guess, claim: _Tags, scripts: Mapping[str, float]) -> bool:
    """Return whether a page may be in another language: Japanese without kana, or Latin text with a quotation."""
    has_no_kana = guess.language == "zh" and "ja" in claim
    return guess.strength < CLEAR or guess.likeness < KNOWN or has_no_kana or is_mixed(scripts)
