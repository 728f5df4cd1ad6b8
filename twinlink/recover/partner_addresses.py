"""Guessed addresses of partners that nothing links to: URL patterns applied to an address (Zhang, Yao & Kit, 2.2).

A key ⟨english, tc_chi⟩ turns ``/tc_chi/a.htm`` into ``/english/a.htm`` and back. What may be replaced is what
`twinlink.patterns.learning` may find as a difference: tokens, letters of a token, a variable, a token in all its
places, or something that one of two addresses has more. Where a site's own pairs show the characters around the
key, it is applied only between these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from twinlink.languages import UNDETERMINED
from twinlink.patterns.changes import Change, Place, changes, plain
from twinlink.patterns.keys import Key, read_forms

__all__ = ["PartnerGuess", "Rule", "Variants", "guess_partners", "site_rule", "site_variants", "variants_of"]

SHOWN = 64
"""Number of pairs of a pattern from which its places are determined."""


class Rule(NamedTuple):
    """A key as it is applied on one site."""

    key: Key
    credibility: float
    """Probability that the guessed address is a partner, 0 to 1."""
    langs: tuple[str, str] = ("", "")
    """Language of the pages on its source side and on its target side, empty: not known."""
    places: tuple[frozenset[Place], frozenset[Place]] | None = None
    """Where it stands when the source becomes the target, and when the target becomes the source; None: anywhere, but
    then nothing is put in or left out."""
    written: tuple[str, str] = ("", "")
    """Its two sides as the site writes them; empty: small letters, or capitals where the other side has them."""
    name: str = ""
    """The rule as people read it."""


class Variants(NamedTuple):
    """How else a site may write the address of a page."""

    document: str = ""
    """Name of the default document that folders' addresses stand for; empty: none is seen."""
    host: str = ""
    """Host that the site uses with and without ``www.``; empty: there is none."""


NO_VARIANTS = Variants()


class PartnerGuess(NamedTuple):
    """An address at which the partner of a page may be."""

    url: str
    page: int
    """Number of the page."""
    rule: int
    """Number of the rule."""
    back: bool
    """Whether its target was replaced by its source."""
    lang: str
    """Language that it should have; empty: not known."""
    credibility: float


def site_rule(
    key: Key,
    credibility: float,
    pairs: Iterable[tuple[str, str]],
    site: str,
    langs: tuple[str, str] = ("", ""),
    name: str = "",
    variants: Variants = NO_VARIANTS,
) -> Rule:
    """Return a key as a site's own pairs show it: between which characters it stands, and how it is written.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Addresses that it pairs, the source's first; the first `SHOWN` are used.
    site : str
    langs : (str, str)
        Languages of its two sides.
    name : str
        The rule as people read it.
    variants : Variants
        See `site_variants`.
    """
    shown = [pair for _, pair in zip(range(SHOWN), pairs, strict=False)]
    made: list[tuple[bool, Change, str]] = []
    for back in (False, True):
        for pair in shown:
            page, partner = pair[::-1] if back else pair
            bases = variants_of(page, variants)
            made.extend((back, each, partner) for base in bases for each in changes(base, site, key, back=back))
    form_of = read_forms([*(each.url for _, each, _ in made), *(partner for *_, partner in made)]).form_of.tolist()
    places: tuple[set[Place], set[Place]] = (set(), set())
    written: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for k, (back, change, partner) in enumerate(made):
        if form_of[k] == form_of[k + len(made)]:
            places[back].add(change.place)
            side = (key.source if back else key.target).strip("*")
            written[back].update([side] if change.url == partner else _written(change.url, partner, side))
    most = ["".join(text for text, _ in counts.most_common(1)) for counts in written]
    return Rule(key, credibility, langs, (frozenset(places[0]), frozenset(places[1])), (most[1], most[0]), name)


def guess_partners(
    urls: Sequence[str],
    langs: Sequence[str],
    rules: Sequence[Rule],
    site: str,
    has_partner: Sequence[Collection[str]],
    per_page: int = 3,
) -> list[PartnerGuess]:
    """Guess the addresses of missing partners, the most credible first.

    Parameters
    ----------
    urls, langs : sequence of str
        The site's pages and their languages (``und``, empty: not known). No address of theirs is guessed.
    rules : sequence of Rule
    site : str
    has_partner : sequence of collections of str
        Languages in which each page has a partner already. A rule whose language is not known, or that the site does
        not show, is not applied to a page that has any.
    per_page : int
        Guesses for a page and a language at most.

    Returns
    -------
    list of PartnerGuess
        Each address once, for its most credible reason: rules that the site shows come first, then by credibility.
    """
    order = sorted(range(len(rules)), key=lambda k: (rules[k].places is None, -rules[k].credibility, rules[k].key))
    variants = site_variants(urls)
    found: list[PartnerGuess] = []
    for number in order:
        for page, (url, lang, has) in enumerate(zip(urls, langs, has_partner, strict=True)):
            found.extend(_guesses(url, page, lang, has, rules[number], number, site, variants))
    return _first_ones(found, urls, per_page)


def _guesses(
    url: str, page: int, lang: str, has: Collection[str], rule: Rule, number: int, site: str, variants: Variants
) -> Iterator[PartnerGuess]:
    for back in (False, True):
        own, wanted = rule.langs if not back else rule.langs[::-1]
        known = lang not in ("", UNDETERMINED)
        if known and wanted and _base(lang) == _base(wanted) and lang == wanted:
            continue
        if known and own and _base(own) != _base(lang):
            continue
        if has and (wanted in has or not wanted or rule.places is None):
            continue
        for guess in _applied(url, rule, site, variants, back=back):
            yield PartnerGuess(guess, page, number, back, wanted, rule.credibility)


def _applied(url: str, rule: Rule, site: str, variants: Variants, *, back: bool) -> Iterator[str]:
    """Yield the results of a rule for an address as it is, then for its variants."""
    places = rule.places[back] if rule.places else None
    old = rule.key.target if back else rule.key.source
    if places is None and not (rule.key.source and rule.key.target):
        return
    if not old.strip("*") and rule.places:  # what one side has more is not put in where it stands already
        there = rule.places[not back]
        if any(change.place in there for change in changes(url, site, rule.key, back=not back)):
            return
    for base in variants_of(url, variants):
        for change in changes(base, site, rule.key, back=back, written=rule.written[not back]):
            if places is None or change.place in places:
                yield _without_document(change.url, variants.document) if _is_folder(url) else change.url


def _first_ones(found: Sequence[PartnerGuess], urls: Sequence[str], per_page: int) -> list[PartnerGuess]:
    """Leave out known addresses, repeated guesses, and all but the first guesses per page and language."""
    form_of = read_forms([*urls, *(guess.url for guess in found)]).form_of.tolist()
    taken = set(form_of[: len(urls)]) | {-1}
    counts: Counter[tuple[int, str]] = Counter()
    kept = []
    for guess, form in zip(found, form_of[len(urls) :], strict=True):
        if form not in taken and counts[guess.page, guess.lang] < per_page:
            taken.add(form)
            counts[guess.page, guess.lang] += 1
            kept.append(guess)
    return kept


def site_variants(urls: Sequence[str]) -> Variants:
    """Return how else a site may write the addresses of its pages.

    >>> site_variants(["http://x.hk/en/", "http://www.x.hk/tc/index.htm", "http://tc.x.hk/a.htm"])
    Variants(document='index.htm', host='x.hk')
    """
    forms = read_forms(urls)
    folder = next((k for k, url in enumerate(urls) if _is_folder(url)), None)
    form = forms.part(int(forms.form_of[folder])) if folder is not None else ""
    return Variants(form.partition("?")[0].rpartition("/")[2], forms.host_of_both)


def variants_of(url: str, variants: Variants) -> list[str]:
    """Return an address as it is, with its default document, with ``www.``, and with both."""
    found = [url]
    if variants.document and _is_folder(url):
        found.append(_with_document(url, variants.document))
    scheme, mark, rest = url.partition("://")
    if variants.host and rest.startswith(variants.host) and rest[len(variants.host) :][:1] in ("", "/", "?"):
        found += [f"{scheme}{mark}www.{each[len(scheme + mark) :]}" for each in found]
    return found


def _written(made: str, partner: str, side: str) -> list[str]:
    """Return how a site writes a side that was put into an address of one form with the partner's; empty: as it is."""
    if len(made) != len(partner):
        return []
    at = [k for k in range(len(made)) if made[k] != partner[k]]
    if not at:
        return []
    start = made.rfind(side, 0, at[0] + len(side))
    end = start + len(side)
    inside = start >= 0 and start <= at[0] and at[-1] < end
    return [partner[start:end]] if inside and plain(partner[start:end]) == side else []


def _is_folder(url: str) -> bool:
    return url.partition("?")[0].endswith("/")


def _with_document(url: str, default: str) -> str:
    path, mark, query = url.partition("?")
    return f"{path}{default}{mark}{query}"


def _without_document(url: str, default: str) -> str:
    path, mark, query = url.partition("?")
    return f"{path.removesuffix(default) if path.endswith('/' + default) else path}{mark}{query}"


def _base(lang: str) -> str:
    return lang.partition("-")[0]
