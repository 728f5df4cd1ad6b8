"""Settings of the recovery of deep pages: guessed addresses, numbers of requests, verdicts on responses."""

from __future__ import annotations

from twinlink.config.settings import Natural, Positive, Settings, Unit


class RecoverSettings(Settings, frozen=True):
    """Search for pages that nothing links to, by URL patterns (Zhang, Yao & Kit, section 2.2)."""

    min_credibility: Unit = 0.1
    """A pattern is applied if its local credibility C(p,w) is at least this (their threshold), or if other sites rescue
    it and its mean credibility there is."""
    other_sites: bool = True
    """Apply patterns of other sites (of the run, of ``match.patterns.libraries``) to pages without any partner, after
    those of the site: theirs does so with the whole collection. Only replaced tokens, ``/en/`` by ``/tc/``. Where the
    whole of one language is deep the site itself teaches no pattern."""
    per_page: Positive = 3
    """Maximum number of addresses tried per page and language, the most credible first."""
    max_site_addresses: Positive = 1_000
    """Maximum number of addresses requested per site, made-up ones included, over all calls (``over-budget``): some
    four minutes at the crawler's usual pace."""
    trial: Positive = 20
    """A pattern that found nothing in so many tries on a site is given up there (``given-up``)."""
    probes: Natural = 2
    """Addresses made up for each shape of address on a site, to learn its response to wrong addresses: the
    second shows what changes from response to response."""
    max_shapes: Positive = 8
    """Maximum number of shapes of address probed per site."""
    min_letters: Natural = 10
    """An answer with fewer letters beyond those of the site's error pages is one (``soft-404``): as many as a
    page needs to have a language."""
    linked: bool = False
    """Try also addresses that pages link to and that the run has not fetched. Off: a crawl gets them."""
