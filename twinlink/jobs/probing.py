"""Probing of candidate sites: fetch and judge a few pages of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinlink.config import Config
from twinlink.config.sites import DiscoverySettings
from twinlink.errors import CrawlError, MissingStageError, NothingFoundError
from twinlink.jobs.site_copies import SiteTexts, find_copies, texts_of_sites
from twinlink.jobs.stages import crawl_stage, ingest_stage, match_stage, silent
from twinlink.language.identify import identify_text
from twinlink.language.stage import MAX_LETTERS
from twinlink.languages import UNDETERMINED, base_language, languages_of_site
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import learn_patterns
from twinlink.progress import Report
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.spiders.frontier import LATER, Counts, FrontierReader, so_far
from twinlink.tables import PAGES, PAIRS, is_part, read_table

__all__ = ["ProbeResult", "failure", "fetch", "fetched_sites", "is_added", "look", "probe", "sites_to_retry"]

BILINGUAL, TWO_LANGUAGES, ONE_LANGUAGE, COPY = "bilingual", "two-languages", "one-language", "copy"

_REFUSED = frozenset(("robots", "robots-unreachable", "busy", "noindex", "nofollow", "private-address", "blocked-port"))
_DEAD = frozenset(("dns", "connection", "timeout", "tls"))
_PASSING = frozenset(("dns", "connection", "timeout", "http-408", "http-425", "http-429", *LATER))  # and http-5xx
_FOR_GOOD = _REFUSED - _PASSING
MAX_TRIES = 3
"""Times that a site is tried which is down. A choice: each try takes the place of another candidate in its round."""


class ProbeResult(NamedTuple):
    """Verdict on a site."""

    verdict: str
    """``bilingual``: a credible URL pattern between pages of two languages, or pairs of such pages by a match;
    ``two-languages``: neither; ``one-language``; ``copy``: it would be added, and another site has its text; or no page
    was to be had: ``refused`` (also after a few pages in one language), ``dead``, ``errors``, ``moved``, ``empty``."""
    reason: str
    pages: int = 0
    langs: str = ""
    credibility: float = 0.0
    rule: str = ""
    pairs: int = 0
    """Pairs of its probed pages by a match; 0 where none was needed."""
    copy_of: str = ""
    """Of a ``copy``: the site that has its text, which is in the run, or comes before it in the round."""

    @property
    def has_pages(self) -> bool:
        """Whether any page of it was fetched."""
        return self.pages > 0


def probe(
    starts: Mapping[str, Sequence[str]],
    folder: Path,
    config: Config,
    prior: Mapping[Key, float],
    report: Report = silent,
    pause: Path | None = None,
    known: Path | None = None,
) -> dict[str, ProbeResult]:
    """Fetch a few pages of each site, and judge it by them.

    Parameters
    ----------
    starts : mapping
        Sites, the best first, and the addresses that each is begun at.
    folder : Path
        Becomes a separate run; a probe that was stopped continues there.
    config : Config
        ``discover.probe_pages`` pages of each site are fetched, with the settings of ``crawl``. With
        ``discover.accept = "pairs"``, the pages of sites in two languages without a pattern are matched.
    prior : mapping
        URL keys that are known to be credible, and their mean credibility.
    report : callable, optional
    pause : Path, optional
        The file that asks for a pause; by default that of the probe's own run.
    known : Path, optional
        Table of pages of the sites so far; a site whose text one of them has is a copy.

    Returns
    -------
    dict
        A `ProbeResult` for each site.

    Raises
    ------
    CrawlError
        If the crawler failed; not when no site gave a page.
    """
    run = RunDirectory.create(folder)
    few = config.override({"crawl.max_site_pages": config.discover.probe_pages, "crawl.again": False})
    addresses = [url for urls in starts.values() for url in urls]
    try:
        fetch(addresses, run, few, report, "probe", pause)
    except CrawlError:
        counts = so_far(run.path, FrontierReader.counts, Counts())
        if counts.done or counts.queued + counts.flight:  # else no site gave a page, which is an answer, too
            raise
    if run.archives():
        ingest_stage([], run, few, _renamed(report, "probe"))
    fetched = fetched_sites(run)
    looks = {site: _look_at(site, run, fetched.get(site, {}), config, prior) for site in starts}
    if config.discover.accept == "pairs" and any(found.verdict == TWO_LANGUAGES for found in looks.values()):
        with suppress(NothingFoundError):
            match_stage(run, few, report)
            looks = {site: _with_pairs(found, site, run, config.discover) for site, found in looks.items()}
    return looks if config.discover.accept == "all" else _with_copies(looks, run, known, config)


def _with_copies(
    looks: Mapping[str, ProbeResult], run: RunDirectory, known: Path | None, config: Config
) -> dict[str, ProbeResult]:
    """Return the verdicts on sites; those that would be added, and whose text another site has, are copies of it."""
    texts = {site: _texts(site, run, config) for site, found in looks.items() if is_added(found, config.discover)}
    copies = find_copies(texts, texts_of_sites(known) if known else ())
    said = dict(looks)
    for site, (original, share) in copies.items():
        reason = f"{original} has {share:.0%} of its text; {looks[site].reason}"
        said[site] = looks[site]._replace(verdict=COPY, reason=reason, copy_of=original)
    return said


def _texts(site: str, run: RunDirectory, config: Config) -> SiteTexts:
    """Return the text blocks of a probed site's pages in each of its languages."""
    pages = read_table(site_file(run.path / "ingest" / "pages", site), PAGES, ("blocks",))["blocks"]
    langs = np.array(_languages(_first_letters(pages.to_pylist()), config.langs))
    return {lang: pages.filter(langs == lang) for lang in sorted({*langs.tolist()} - {UNDETERMINED})}


def _first_letters(pages: Sequence[Sequence[str]]) -> list[str]:
    """Return the beginning of the text of each page, by which its language is identified."""
    return [" ".join(blocks)[:MAX_LETTERS] for blocks in pages]


def _with_pairs(found: ProbeResult, site: str, run: RunDirectory, settings: DiscoverySettings) -> ProbeResult:
    """Return the verdict on a site in two languages without a URL pattern, by the pairs that a match found on it."""
    part = site_file(run.path / "match" / "pairs", site)
    if found.verdict != TWO_LANGUAGES or not is_part(part):
        return found
    pairs = read_table(part, PAIRS, ("url_a", "url_b")).to_pylist()
    share = len({url for pair in pairs for url in pair.values()}) / found.pages
    if len(pairs) < settings.min_pairs or share < settings.min_credibility:
        return found._replace(pairs=len(pairs), reason=f"{found.reason}; pairs by a match: {len(pairs)}")
    example = f"{pairs[0]['url_a']} ↔ {pairs[0]['url_b']}"
    reason = f"{found.langs}; {len(pairs)} pairs by a match of {found.pages} pages, such as {example}"
    return found._replace(verdict=BILINGUAL, reason=reason, pairs=len(pairs), credibility=share, rule="")


def fetch(
    addresses: Sequence[str],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    name: str = "crawl",
    pause: Path | None = None,
    own: Config | None = None,
) -> None:
    """Crawl as many pages as the sites' own limits allow: ``crawl.max_pages`` does not count.

    The run remembers ``own`` instead of ``config``, if it is given.
    """
    budget = (config.crawl.max_site_pages or config.discover.site_pages) * max(1, len(addresses))
    limits = {"crawl.max_pages": budget + so_far(run.path, FrontierReader.counts, Counts()).done}
    crawl_stage(addresses, run, config.override(limits), _renamed(report, name), pause, own or config)


def _renamed(report: Report, name: str) -> Report:
    return lambda stage, done, total, detail="": report(name if stage == "crawl" else stage, done, total, detail)


def fetched_sites(run: RunDirectory) -> dict[str, dict[str, Any]]:
    """Return the counts of a run's crawl for each site: ``pages``, ``redirects``, and ``rejects`` by reason."""
    try:
        return {row["site"]: row for row in FrontierReader(run.path).report()["sites"]}
    except MissingStageError:
        return {}


def _look_at(
    site: str, run: RunDirectory, counts: Mapping[str, Any], config: Config, prior: Mapping[Key, float]
) -> ProbeResult:
    part = site_file(run.path / "ingest" / "pages", site)
    if not is_part(part):
        return failure(counts)
    pages = read_table(part, PAGES, ("url", "blocks"))
    found = look(pages["url"].to_pylist(), _first_letters(pages["blocks"].to_pylist()), config, prior)
    rejects: Mapping[str, int] = counts.get("rejects", {})
    # A site that shut the crawler out after its first pages is not known to have one language.
    is_shut = found.verdict == ONE_LANGUAGE and sum(rejects.get(name, 0) for name in LATER) > found.pages
    return failure(counts) if is_shut and config.discover.accept != "all" else found


def look(urls: Sequence[str], texts: Sequence[str], config: Config, prior: Mapping[Key, float]) -> ProbeResult:
    """Judge a site by some of its pages.

    Examples
    --------
    >>> urls = [f"http://x.hk/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news")]
    >>> texts = ["Opening hours of the library"] * 2 + ["圖書館的開放時間和服務"] * 2
    >>> found = look(urls, texts, Config(), {})
    >>> found.verdict, found.langs, found.rule, found.credibility
    ('bilingual', 'en 2, zh 2', '/en/ ↔ /tc/', 1.0)
    """
    settings = config.discover
    langs = _languages(texts, config.langs)
    counts = Counter(lang for lang in langs if lang != UNDETERMINED)
    named = ", ".join(f"{lang} {n}" for lang, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    second = sorted(counts.values())[-2] if len(counts) > 1 else 0
    if second < max(1, settings.min_share * len(urls)):
        return ProbeResult(ONE_LANGUAGE, named or "no language found", len(urls), named)
    found = learn_patterns(urls, langs, config.match.patterns, prior)
    best = max(found.patterns, key=lambda each: each.credibility, default=None)
    if best is None or best.credibility < settings.min_credibility:
        credibility, rule = (best.credibility, best.rule) if best else (0.0, "")
        return ProbeResult(TWO_LANGUAGES, f"{named}; no credible URL pattern", len(urls), named, credibility, rule)
    reason = f"{named}; {best.rule} pairs {best.n_pages} of {len(urls)} pages"
    return ProbeResult(BILINGUAL, reason, len(urls), named, best.credibility, best.rule)


def _languages(texts: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the wanted language of each text, or its base language where none is wanted; ``und`` for others."""
    found = [identify_text(text)[0] for text in texts]
    if not wanted:
        return [base_language(lang) for lang in found]
    wanted_of = {lang: tag for tag, langs in languages_of_site(wanted, found).items() for lang in langs}
    return [wanted_of.get(lang, UNDETERMINED) for lang in found]


def failure(counts: Mapping[str, Any]) -> ProbeResult:
    """Return why a site gave no page, from the counts of its crawl.

    Examples
    --------
    >>> failure({"rejects": {"robots": 2}}).verdict, failure({"rejects": {"http-403": 1, "dns": 1}}).verdict
    ('refused', 'errors')
    >>> failure({"rejects": {"dns": 2}}).verdict, failure({"redirects": 1}).verdict, failure({}).verdict
    ('dead', 'moved', 'empty')
    """
    rejects: Mapping[str, int] = counts.get("rejects", {})
    reason = ", ".join(f"{name} {n}" for name, n in rejects.items())
    names = set(rejects)
    if names & _REFUSED:
        return ProbeResult("refused", reason)
    if names - _DEAD:
        return ProbeResult("errors", reason)
    if names:
        return ProbeResult("dead", reason)
    if counts.get("redirects"):
        return ProbeResult("moved", "it only redirects to other sites")
    return ProbeResult("empty", "no page in it")


def sites_to_retry(verdicts: Iterable[Mapping[str, Any]], before: int) -> set[str]:
    """Return the sites that were down in rounds before a given one, and were not tried since nor `MAX_TRIES` times.

    Parameters
    ----------
    verdicts : iterable of mapping
        Rows of `twinlink.tables.PROBES`, round by round.
    before : int
        Number of a round. The seeds, of round 0, are requested again by each crawl anyway.
    """
    last = {}
    tries: Counter[str] = Counter()
    for row in verdicts:
        last[row["site"]] = row
        tries[row["site"]] += 1
    return {
        site
        for site, row in last.items()
        if 0 < row["round"] < before and not row["pages"] and tries[site] < MAX_TRIES and _may_pass(row["reason"])
    }


def _may_pass(reason: str) -> bool:
    """Return whether a site without pages may have some later, by the reason that `failure` gives.

    >>> _may_pass("connection 2"), _may_pass("http-404 2, http-503 1"), _may_pass("robots 1, timeout 1"), _may_pass("")
    (True, True, False, False)
    """
    names = {each.rpartition(" ")[0] for each in reason.partition(";")[0].split(", ")}
    return not names & _FOR_GOOD and any(name in _PASSING or name.startswith("http-5") for name in names)


def is_added(found: ProbeResult, settings: DiscoverySettings) -> bool:
    """Return whether a candidate is to be crawled.

    >>> [is_added(ProbeResult(verdict, "", 5), DiscoverySettings()) for verdict in (TWO_LANGUAGES, BILINGUAL)]
    [False, True]
    """
    if settings.accept == "all":
        return found.has_pages
    wanted = (BILINGUAL, TWO_LANGUAGES) if settings.accept == "languages" else (BILINGUAL,)
    return found.verdict in wanted
