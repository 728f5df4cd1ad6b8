"""Pairs of a simulated web's sites, counted as Zhang, Yao & Kit do in Table 3: strong keys, weak keys, deep pages.

The patterns, their credibility, their rescue and the addresses of deep pages are the package's own; simulated here are
only the language finder (it errs) and the servers (some answer any address).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from experiments.simweb.asking import recovered
from experiments.simweb.listing import MiningSettings, Tally, list_site, tally_of, true_pairs, without
from experiments.simweb.world import World
from twinlink.config.patterns import PatternSettings
from twinlink.config.recover import RecoverSettings
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import SitePatterns
from twinlink.patterns.library import PatternLibrary

_NONE = Tally()


@dataclass
class Learned:
    """Patterns of hosts, learned for each host separately."""

    library: PatternLibrary = field(default_factory=PatternLibrary)
    patterns: dict[int, SitePatterns] = field(default_factory=dict)
    """Of each host."""
    langs: defaultdict[Key, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    """Languages of a key's sides, with numbers of pages."""

    def add(self, number: int, found: SitePatterns) -> None:
        """Add a host."""
        self.patterns[number] = found
        self.library.add(found)
        for each in found.patterns:
            if each.source_lang and each.target_lang:
                self.langs[each.key][each.source_lang, each.target_lang] += each.n_pages

    def keys(self, settings: PatternSettings) -> dict[Key, tuple[float, tuple[str, str]]]:
        """Return the keys credible on all hosts: mean credibility, and the languages of their sides."""
        return {
            key: (mean, self.langs[key].most_common(1)[0][0] if self.langs.get(key) else ("", ""))
            for key, mean in credible_keys(self.library, settings).items()
        }


def learn_hosts(world: World, hosts: Iterable[int], settings: MiningSettings, patterns: PatternSettings) -> Learned:
    """Learn the patterns of each host separately."""
    learned = Learned()
    for number in hosts:
        learned.add(number, list_site(world, number, settings).learned(patterns))
    return learned


class SeedMine(msgspec.Struct, frozen=True):
    """Results on a set of hosts."""

    baseline: Tally = _NONE
    """Pairs by keys credible on their site."""
    rescued: Tally = _NONE
    """Pairs added by the rescue of weak keys."""
    lost: Tally = _NONE
    """Pairs of the baseline lost by the rescue, because other keys took their pages."""
    deep: Tally = _NONE
    """Pairs with a page that nothing links to."""
    asked: int = 0
    """Addresses requested for deep pages, including made-up ones."""
    linked_pairs: int = 0
    """True pairs among the pages that a crawl gets."""
    all_pairs: int = 0
    """True pairs among all pages."""
    n_pages: int = 0
    """Pages that a crawl gets."""

    def plus(self, other: SeedMine) -> SeedMine:
        """Return the sum."""
        return SeedMine(
            self.baseline.plus(other.baseline),
            self.rescued.plus(other.rescued),
            self.lost.plus(other.lost),
            self.deep.plus(other.deep),
            self.asked + other.asked,
            self.linked_pairs + other.linked_pairs,
            self.all_pairs + other.all_pairs,
            self.n_pages + other.n_pages,
        )

    @property
    def total(self) -> Tally:
        """All reported pairs."""
        kept = self.baseline.plus(self.rescued).plus(self.deep)
        return Tally(kept.pairs - self.lost.pairs, kept.right - self.lost.right)


def mine_hosts(
    world: World,
    learned: Learned,
    settings: MiningSettings,
    patterns: PatternSettings,
    recover: RecoverSettings,
    *,
    again: bool,
) -> tuple[SeedMine, dict[int, float]]:
    """Mine hosts: strong keys, then the rescue of weak ones, then deep pages.

    Parameters
    ----------
    learned : Learned
        Patterns of the hosts, learned separately.
    patterns : PatternSettings
        ``rescue`` determines how weak keys are rescued.
    again : bool
        Learn each site again with the keys credible on all sites, as twinlink does; otherwise weak keys that
        were found are kept, as the paper does.

    Returns
    -------
    SeedMine
        Sum over all hosts.
    dict
        Credibility C(w) of each host.
    """
    keys = learned.keys(patterns)
    means = {key: mean for key, (mean, _) in keys.items()}
    mine, credibility = SeedMine(), {}
    for number, alone in learned.patterns.items():
        site = list_site(world, number, settings)
        found = site.learned(patterns, means) if again else alone.judged(means)
        before, after = site.used(alone), site.used(found)
        made, asked = recovered(world, site, found, keys, settings, recover)
        gold = [true_pairs(site.pages, linked=linked) for linked in (True, False)]
        parts = (before, without(after, before), without(before, after), made)
        strong, rescued, lost, deep = (tally_of(site.pages, pairs) for pairs in parts)
        mine = mine.plus(SeedMine(strong, rescued, lost, deep, asked, gold[0], gold[1], len(site.linked)))
        credibility[number] = found.credibility
    return mine, credibility
