"""Selection of guessed addresses to request, round by round, from a site's pages and patterns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from twinlink.config import Config
from twinlink.config.recover import RecoverSettings
from twinlink.languages import UNDETERMINED
from twinlink.match.sides import SitePages
from twinlink.match.site import page_languages
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.kernels import TOKEN
from twinlink.patterns.keys import Key
from twinlink.patterns.library import PatternLibrary, read_libraries, read_library
from twinlink.patterns.stage import LIBRARY, paired_by_patterns
from twinlink.recover.error_pages import made_up, shape_of
from twinlink.recover.partner_addresses import Rule, guess_partners, site_rule, site_variants
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import LEDGER_NAME, Answer, FrontierReader, Guessed
from twinlink.tables import LANGUAGES, LINKS, PAGES, PAIRS, PATTERNS, is_part, iter_parts, part_like, read_table
from twinlink.urls import normalise, page_id, page_key

NOT_ASKED = ("over-budget", "given-up", "not-needed", "linked")
"""Outcomes of guesses that are not requested."""


class Known(NamedTuple):
    """Addresses that need no request."""

    fetched: Collection[str]
    """Keys of those requested by the run's crawl."""
    linked: Collection[str]
    """Keys of those that pages link to, or that the crawl has in its queue."""
    pages: Mapping[int, str]
    """The site's pages by number."""

    def holds(self, url: str) -> bool:
        """Return whether the run knows an address."""
        key = page_key(url)
        return page_id(url) in self.pages or key in self.fetched or key in self.linked


class SiteGuesses(NamedTuple):
    """Guesses for one site."""

    site: str
    guesses: list[Guessed]
    """Best first."""
    linked: list[Guessed]
    """Guesses that pages link to, left to the crawl."""


class _Learned(NamedTuple):
    """Patterns of the run, and those of other sites."""

    rows: Mapping[str, list[dict[str, object]]]
    """Patterns of each site that are used."""
    pairs: Mapping[str, list[tuple[str, str]]]
    """Partners of each address by patterns, with their rules."""
    others: Mapping[Key, float]
    """Keys that are credible on other sites."""
    langs: Mapping[Key, tuple[str, str]]
    """Their most frequent languages in this run."""


def guess_run(run: RunDirectory, config: Config) -> Iterator[SiteGuesses]:
    """Yield for each site of a run, with stage `patterns` done, the addresses at which partners may be missing."""
    learned, keys = _learned(run, config), crawled_keys(run)
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        yield _guess_site(run, part, config, learned, keys)


def crawled_keys(run: RunDirectory) -> tuple[set[str], set[str]]:
    """Return the keys of the addresses that the run's crawl has requested, and of all that it knows."""
    if not (run.path / LEDGER_NAME).is_file():
        return set(), set()
    with FrontierReader(run.path) as frontier:
        return frontier.keys("requested"), frontier.keys("all")


def known_of(run: RunDirectory, part: Path, keys: tuple[set[str], set[str]]) -> Known:
    """Return what is known of the addresses of a site, given `crawled_keys`."""
    pages = read_table(part, PAGES, ("page_id", "url"))
    links = read_table(part_like(run.path / "ingest" / "links", part), LINKS, ("target_url",))["target_url"]
    linked = {page_key(url) for url in links.unique().to_pylist()}
    numbers = pages["page_id"].to_pylist()
    return Known(keys[0], linked | keys[1], dict(zip(numbers, pages["url"].to_pylist(), strict=True)))


def _learned(run: RunDirectory, config: Config) -> _Learned:
    folder = run.stage_folder("patterns")
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    langs: dict[Key, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in read_table(folder / "patterns", PATTERNS).to_pylist():
        if row["verdict"] != "weak":
            rows[row["site"]].append(row)
            if row["source_lang"] and row["target_lang"]:
                langs[Key(row["source"], row["target"])][row["source_lang"], row["target_lang"]] += row["n_pages"]
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for a, b, rule in paired_by_patterns(run):
        pairs[a].append((b, rule))
    library = PatternLibrary()
    library.merge(read_libraries(config.match.patterns.libraries))
    library.merge(read_library(folder / LIBRARY))
    others = credible_keys(library, config.match.patterns) if config.recover.other_sites else {}
    return _Learned(rows, pairs, others, {key: counts.most_common(1)[0][0] for key, counts in langs.items()})


def _guess_site(
    run: RunDirectory, part: Path, config: Config, learned: _Learned, keys: tuple[set[str], set[str]]
) -> SiteGuesses:
    pages = read_table(part, PAGES, ("page_id", "site", "url"))
    site, urls = pages["site"][0].as_py(), pages["url"].to_pylist()
    langs = _languages(run, part, config)
    known = known_of(run, part, keys)
    rules = _rules(site, urls, learned, config.recover)
    has = _partners(run, part, pages, langs, learned)
    guesses: list[Guessed] = []
    left: list[Guessed] = []
    for guess in guess_partners(urls, langs, rules, site, has, config.recover.per_page):
        url = normalise(guess.url)
        if url is None or page_id(url) in known.pages or page_key(url) in known.fetched:
            continue
        name = _directed(rules[guess.rule], back=guess.back)
        lang = langs[guess.page] if langs[guess.page] != UNDETERMINED else ""
        made = Guessed(url, site, urls[guess.page], name, guess.credibility, guess.lang, lang)
        (left if page_key(url) in known.linked and not config.recover.linked else guesses).append(made)
    return SiteGuesses(site, guesses, left)


def _languages(run: RunDirectory, part: Path, config: Config) -> list[str]:
    """Return the language of each page: as stage `match` found it, else as it would."""
    found = part_like(run.path / "match" / "languages", part)
    if run.read_signature("match") is not None and is_part(found):
        table = read_table(found, LANGUAGES, ("page_id", "lang"))
        lang_of = dict(zip(table["page_id"].to_pylist(), table["lang"].to_pylist(), strict=True))
        numbers = read_table(part, PAGES, ("page_id",))["page_id"].to_pylist()
        return [lang_of.get(number, UNDETERMINED) for number in numbers]
    links = read_table(part_like(run.path / "ingest" / "links", part), LINKS)
    return page_languages(SitePages(read_table(part, PAGES), links), config)[0]


def _rules(site: str, urls: Sequence[str], learned: _Learned, settings: RecoverSettings) -> list[Rule]:
    """Return the site's own rules, then those of other sites."""
    rules = []
    variants = site_variants(urls)
    for row in learned.rows.get(site, ()):
        key, rule = Key(str(row["source"]), str(row["target"])), str(row["rule"])
        value = row["local"] if row["verdict"] == "credible" else row["mean"]
        assert isinstance(value, float)
        if value < settings.min_credibility:
            continue
        pairs = ((url, other) for url in urls for other, name in learned.pairs.get(url, ()) if name == rule)
        langs = str(row["source_lang"]), str(row["target_lang"])
        rules.append(site_rule(key, value, pairs, site, langs, rule, variants))
    own = {rule.key for rule in rules}
    for key, mean in learned.others.items():
        if key not in own and key.level == TOKEN and key.source and mean >= settings.min_credibility:
            rules.append(Rule(key, mean, learned.langs.get(key, ("", "")), name=f"{key.source} ↔ {key.target}"))
    return rules


def _partners(
    run: RunDirectory, part: Path, pages: pa.Table, langs: Sequence[str], learned: _Learned
) -> list[Collection[str]]:
    """Return the languages in which each page has a partner: by patterns, or by what stage `match` found."""
    urls = pages["url"].to_pylist()
    place = {url: k for k, url in enumerate(urls)}
    has: list[set[str]] = [set() for _ in urls]
    for url, k in place.items():
        for other, _ in learned.pairs.get(url, ()):
            has[k].add(langs[place[other]])
            has[place[other]].add(langs[k])
    found = part_like(run.path / "match" / "pairs", part)
    if run.read_signature("match") is not None and is_part(found):
        table = read_table(found, PAIRS, ("url_a", "url_b", "lang_a", "lang_b"))
        for row in table.to_pylist():
            for own, lang in (("url_a", "lang_b"), ("url_b", "lang_a")):
                if row[own] in place:
                    has[place[row[own]]].add(row[lang])
    return list(has)


def _directed(rule: Rule, *, back: bool) -> str:
    sides = rule.name.split(" ↔ ")
    return " → ".join(sides[::-1] if back else sides)


class _Tally:
    """Results of the guesses of one site so far."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.asked: set[str] = set()
        self.found: set[tuple[str, str]] = set()
        self.open: set[tuple[str, str]] = set()
        self.tried: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        self.shapes: set[object] = set()
        for answer in answers:
            guess = answer.guess
            self.asked.add(page_key(guess.url))
            if guess.kind == "probe":
                self.shapes.add(shape_of(guess.url))
                continue
            if not answer.outcome:
                self.open.add((guess.page, guess.lang))
            self.tried[guess.rule] += not guess.hops
            if answer.outcome == "found":
                self.found.add((guess.page, guess.lang))
                self.hits[guess.rule] += 1


def next_round(
    guesses: Sequence[Guessed], answers: Iterable[Answer], settings: RecoverSettings
) -> tuple[list[Guessed], dict[str, str]]:
    """Choose the next requests to a site.

    For each page and language, one guess is requested at a time, the best that is left, until one is found. A pattern
    that has found nothing yet gets ``trial`` tries. Wrong addresses are made up of the first guesses of each shape, and
    go first.

    Parameters
    ----------
    guesses : sequence of Guessed
        All of the site, best first.
    answers : iterable of Answer
        Earlier responses of the site.

    Returns
    -------
    chosen : list of Guessed
        Empty: no guess is left.
    others : dict
        Address → reason why it is not requested (`NOT_ASKED`), or an empty text: it has to wait.
    """
    so_far = _Tally(answers)
    chosen: list[Guessed] = []
    probes: list[Guessed] = []
    others: dict[str, str] = {}
    for guess in guesses:
        if page_key(guess.url) in so_far.asked:
            continue
        new = _probes(guess, so_far, settings)
        why = _why_not(guess, so_far, settings, len(so_far.asked) + 1 + len(new))
        if why is not None:
            others[guess.url] = why
            continue
        chosen.append(guess)
        probes.extend(new)
        so_far.shapes.update(shape_of(probe.url) for probe in new)
        so_far.asked.update(page_key(each.url) for each in (guess, *new))
        so_far.open.add((guess.page, guess.lang))
        so_far.tried[guess.rule] += 1
    return probes + chosen, others


def _why_not(guess: Guessed, so_far: _Tally, settings: RecoverSettings, n_asked: int) -> str | None:
    if (guess.page, guess.lang) in so_far.found:
        return "not-needed"
    if not so_far.hits[guess.rule] and so_far.tried[guess.rule] >= settings.trial:
        return "given-up"
    if (guess.page, guess.lang) in so_far.open:
        return ""
    return "over-budget" if n_asked > settings.max_site_addresses else None


def _probes(guess: Guessed, so_far: _Tally, settings: RecoverSettings) -> list[Guessed]:
    """Make up addresses of the shape of a guess, unless that has been done."""
    if shape_of(guess.url) in so_far.shapes or len(so_far.shapes) >= settings.max_shapes:
        return []
    keep = _values(guess.url) - _values(guess.page)
    urls = (made_up(guess.url, number, keep) for number in range(settings.probes))
    return [guess._replace(url=url, rule="", kind="probe") for url in urls]


def _values(url: str) -> set[str]:
    """Return the values of an address's variables."""
    return {variable.partition("=")[2] for variable in url.partition("?")[2].split("&")}
