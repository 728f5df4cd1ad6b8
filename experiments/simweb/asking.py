"""Deep pages of a simulated web: responses of its sites to guessed addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from experiments.simweb.listing import LANGS, Listing, MiningSettings, Pairs
from experiments.simweb.world import World
from twinlink.config.recover import RecoverSettings
from twinlink.patterns.kernels import TOKEN
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import SitePatterns
from twinlink.recover.guessing import next_round
from twinlink.recover.partner_addresses import Rule, guess_partners, site_rule
from twinlink.spiders.frontier import Answer, Guessed

_ANSWERS = 13  # stream of random numbers, beside those of the world
_APOLOGY = -1


class _Site:
    """Simulate the responses of a site, and accept those that look like the wanted page.

    A page is accepted if it is identified as the language that the pattern expects, or, if the pattern expects none, as
    a language other than that of the source page. Error pages with status 200 are in English.
    """

    def __init__(self, world: World, site: Listing, settings: MiningSettings) -> None:
        self._site, self._settings = site, settings
        self._rng = np.random.default_rng([world.settings.seed, _ANSWERS, site.number])
        self._is_soft = self._rng.random() < settings.soft
        self._place = {url: k for k, url in enumerate(site.pages.urls)}
        self.pairs: list[tuple[int, int]] = []

    def ask(self, guess: Guessed) -> Answer:
        """Return the outcome of a guess."""
        answer = self._place.get(guess.url)
        if guess.kind == "probe" or (answer is None and not self._is_soft):
            return _answer(guess, "missing")
        if answer is None and self._rng.random() >= self._settings.soft_missed:
            return _answer(guess, "soft-404")
        heard = self._site.heard
        said = "" if heard is None else heard[answer] if answer is not None else LANGS[0]
        if said not in ("", "und") and (said != guess.lang if guess.lang else said == guess.page_lang):
            return _answer(guess, "other-language")
        self.pairs.append((self._place[guess.page], _APOLOGY if answer is None else answer))
        return _answer(guess, "found")


def _answer(guess: Guessed, outcome: str) -> Answer:
    return Answer(guess, outcome, "", "done", "", "", "")


def recovered(
    world: World,
    site: Listing,
    found: SitePatterns,
    keys: Mapping[Key, tuple[float, tuple[str, str]]],
    settings: MiningSettings,
    recover: RecoverSettings,
) -> tuple[Pairs, int]:
    """Request the missing partners of a site's pages; return the pairs found and the number of requests.

    Parameters
    ----------
    keys : mapping
        Keys credible on all sites: mean credibility, and the languages of their sides.
    """
    urls, heard = site.crawled()
    rules = list(_rules(site.name, found, urls, keys, recover))
    if not rules:
        return _arrays([]), 0
    langs = heard or [""] * len(urls)
    has_partner: list[set[str]] = [set() for _ in urls]
    used = found.used() if found.patterns else np.zeros(0, np.bool_)
    for a, b in zip(found.sources[used].tolist(), found.targets[used].tolist(), strict=True):
        has_partner[a].add(langs[b])
        has_partner[b].add(langs[a])
    made = guess_partners(urls, langs, rules, site.name, has_partner, recover.per_page)
    known = ["" if lang == "und" else lang for lang in langs]
    guesses = [
        Guessed(
            each.url,
            site.name,
            urls[each.page],
            f"{each.rule} {each.back}",
            each.credibility,
            each.lang,
            known[each.page],
        )
        for each in made
    ]
    server, answers = _Site(world, site, settings), list[Answer]()
    while chosen := next_round(guesses, answers, recover)[0]:
        answers += map(server.ask, chosen)
    return _arrays(server.pairs), len(answers)


def _rules(
    site: str,
    found: SitePatterns,
    urls: Sequence[str],
    keys: Mapping[Key, tuple[float, tuple[str, str]]],
    recover: RecoverSettings,
) -> Iterator[Rule]:
    """Yield the site's credible and rescued patterns as rules, then those of other sites, as stage `recover` does."""
    for number, each in enumerate(found.patterns):
        value = each.credibility if each.verdict == "credible" else keys.get(each.key, (0.0,))[0]
        if each.verdict != "weak" and value >= recover.min_credibility:
            own = found.pattern_of == number
            pairs = zip(found.sources[own].tolist(), found.targets[own].tolist(), strict=True)
            shown = ((urls[a], urls[b]) for a, b in pairs)
            yield site_rule(each.key, value, shown, site, (each.source_lang, each.target_lang), each.rule)
    own_keys = {each.key for each in found.patterns if each.verdict != "weak"}
    for key, (mean, langs) in keys.items() if recover.other_sites else ():
        if key not in own_keys and key.level == TOKEN and key.source and mean >= recover.min_credibility:
            yield Rule(key, mean, langs)


def _arrays(pairs: Sequence[tuple[int, int]]) -> Pairs:
    """Return pairs as arrays; an error page counts as a pair of the page with itself, which is never right."""
    a = np.array([page for page, _ in pairs], np.int64)
    b = np.array([page if answer == _APOLOGY else answer for page, answer in pairs], np.int64)
    return np.minimum(a, b), np.maximum(a, b)
