"""All settings: one frozen record for each algorithm, put together in `Config`.

Settings come from a TOML file (`Config.load`) and from overrides over it (`Config.override`), e.g. the command line's.
A name that does not exist or a value out of its range is refused with the place where it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from twinlink.config.align import BitextSettings
from twinlink.config.baselines import BitextorSettings, ModelSettings, UrlRuleSettings, WebminingSettings
from twinlink.config.discovery import DiscoverySettings
from twinlink.config.patterns import PatternSettings
from twinlink.config.recover import RecoverSettings
from twinlink.config.settings import Natural, Positive, Settings, Unit, choices, plain, too_large
from twinlink.config.sites import RankingSettings
from twinlink.config.toml import parse_toml
from twinlink.errors import ConfigError
from twinlink.inputs import Expected, read_input_text

__all__ = [
    "EVIDENCE",
    "CandidateSettings",
    "Config",
    "CrawlSettings",
    "EtsSettings",
    "IngestSettings",
    "InternalSettings",
    "LanguageSettings",
    "MatchSettings",
    "WeighingSettings",
]


_FILE = Expected("cannot be read", "no such settings file", ConfigError, 2**20)

SiteBy = Literal["domain", "host", "path"]


class CrawlSettings(Settings, frozen=True):
    """How pages are fetched."""

    order: Literal["pairs", "breadth"] = "pairs"
    """What is fetched first: likely partners of fetched pages, the wanted languages in balance, so that a budget yields
    many pairs; or breadth first. A crawl to the end fetches the same pages."""
    langs: tuple[str, ...] = ()
    """Wanted languages. With them pages in others are not expanded before all else is fetched, and the languages are
    kept in balance. A run fills in its own; empty: only links and addresses say what may be a pair."""
    site_by: SiteBy = "domain"
    """What one site is: the registered domain (Public Suffix List), the host, or the folder of the start page."""
    include: tuple[str, ...] = ()
    """Regular expressions, searched for in addresses: only those that one of them fits are fetched. Empty: all."""
    exclude: tuple[str, ...] = ()
    """Regular expressions: addresses that one of them fits are not fetched (`excluded`). Start pages always are."""
    max_pages: Positive = 100_000
    """Pages fetched at most, all sites together; the end is reported."""
    max_site_pages: Positive | None = None
    """Pages fetched at most of one site (`budget-pages`). Default: no limit of its own, as with the next two."""
    max_site_bytes: Positive | None = None
    """A site ends once this much was received of it, as transferred (`budget-bytes`)."""
    max_site_minutes: Annotated[float, Meta(gt=0)] | None = None
    """A site ends this long after its first request (`budget-minutes`); pauses between runs do not count."""
    max_site_listed: Positive = 1_000_000
    """Addresses read in the sitemaps of one site, where a sitemap counts for 100 at least, and an index within an index
    for 1,000; its other sitemaps are not asked for (`sitemap-budget`). The default: ten languages of the pages that
    ``max_pages`` lets in."""
    max_site_listed_bytes: Positive = 512 * 2**20
    """The same in bytes of these sitemaps, unpacked: ten of the largest that the protocol allows."""
    max_site_address_bytes: Positive = 128 * 2**20
    """Characters of the addresses of one site that are kept, and of their keys: further links are dropped
    (`too-many-links`). The default has room for 900,000 addresses of 70 characters; the ledger then takes 450 MB."""
    max_depth: Natural = 50
    """Links followed from a start page at most."""
    max_page_bytes: Positive = 10 * 2**20
    """A larger body is cut off and rejected (`too-large`), before and after decompression."""
    parse_seconds: Annotated[float, Meta(gt=0)] = 20.0
    """Processor time that unpacking and parsing one page may take (`parse-timeout`). The slowest pages of 10
    MB that were made to be slow take 1.2 s on a machine of 2023."""
    max_trap_chain: Positive = 30
    """Links followed in a row between addresses that differ in their query or date alone (a calendar)."""
    delay: Annotated[float, Meta(ge=0)] | None = None
    """Seconds between requests to a host. Default: 0.25, and none on loopback."""
    concurrency: Positive = 4
    """Requests in flight to one host."""
    autothrottle: bool = True
    """Slow down when the server does (Scrapy's AutoThrottle)."""
    timeout: Annotated[float, Meta(gt=0)] = 30.0
    """Seconds until an answer counts as failed."""
    max_crawl_delay: Annotated[float, Meta(ge=0)] = 30.0
    """A longer Crawl-delay in robots.txt counts as this many seconds: more than search engines keep to."""
    retries: Natural = 2
    """Further tries after a time-out, a reset connection or one of 500, 502, 503, 504, 408, 429."""
    obey_robots: bool = True
    """Keep to robots.txt."""
    obey_meta_robots: bool = True
    """Keep to ``noindex`` (the page is rejected) and ``nofollow`` (its links are) of ``<meta name=robots>`` and of
    X-Robots-Tag."""
    obey_rel_nofollow: bool = False
    """Follow no link with ``rel=nofollow``. Off: it asks search engines not to rank, forbids nobody to read, and stands
    on many language switches."""
    sitemaps: bool = True
    """Look for pages in the sitemaps that robots.txt names, and in /sitemap.xml."""
    again: bool = False
    """Ask again for all that was asked for, when the crawl has come to its end: pages only if they have changed, as far
    as the server can tell; what is gone is dropped, what cannot be reached now stays. A stopped crawl first goes on."""
    allow_private: bool = False
    """Fetch from private, loopback and link-local addresses, too. Without it only a start page's own host may have such
    an address, and only when its name says so (an IP address, ``localhost``, a name without a dot, ``.local`` …)."""
    browser: Literal["auto", "never", "always"] = "auto"
    """Build pages in a browser (extra ``browser``, and Chromium): those that are empty without their scripts, none, or
    all. Where there is no browser, ``auto`` counts the pages that need one (`needs-browser`), and a later run that has
    one fetches them."""
    browser_sites: tuple[str, ...] = ()
    """Hosts, and domains with all their hosts, whose pages are all built in the browser, unless it is ``never``."""
    browser_path: str = ""
    """The browser to use: a path or a command. Empty: Chromium or Chrome, where they are installed."""
    contact: Annotated[str, Meta(pattern=r"^[\x20-\x7e]*$")] = ""
    """Your mail or web address: site owners find it in the User-Agent."""
    user_agent: Annotated[str, Meta(pattern=r"^[\x20-\x7e]*$")] = "twinlink (parallel page finder; contact not set)"
    """Name that the crawler gives itself; its first word is the one that robots.txt is searched for."""


class IngestSettings(Settings, frozen=True):
    """How archives and folders are read."""

    base_url: str = ""
    """Address that a mirror folder's top stands for; empty: recovered from the files where they say it."""
    url_prefixes: tuple[str, ...] = ()
    """Read only pages whose address begins with one of these (`https://www.example.org/en/`; without a scheme: http and
    https). Of an archive's index (CDX, CDXJ), only their records are read. Empty: all."""
    site_by: SiteBy = "domain"
    """As in `CrawlSettings`; ``path`` counts as ``host``."""
    max_page_bytes: Positive = 10 * 2**20
    """A larger page is rejected (`too-large`)."""
    parse_seconds: Annotated[float, Meta(gt=0)] = 20.0
    """As in `CrawlSettings`, for pages of more than a megabyte (`parse-timeout`)."""


class LanguageSettings(Settings, frozen=True):
    """How the language of a page is found."""

    min_letters: Natural = 10
    """A page with fewer letters has no language (`und`)."""
    boilerplate_share: Unit = 0.1
    """A block that stands on more than this share of a site's pages says nothing about one page's language."""
    min_score: Unit = 0.2
    """A page whose language is less sure than this has none (`und`): a probability, or CLD2's share of the words."""


class CandidateSettings(Settings, frozen=True):
    """Which pairs are looked at: never all of them."""

    per_page: Positive = 20
    """Candidates kept for each page, in each direction (trial figures: `docs/methods.md`)."""
    products_per_page: Positive = 200_000
    """Products of two term weights that the search for candidates may take for each page, on average: bounds its time.
    The most frequent terms are left out for it. The six sites of `docs/results.md` need 100,000 at most: nothing
    changes there."""
    memory: Positive | None = None
    """Megabytes that the candidates of two languages may take: ``per_page`` is lowered until they fit. Default: no
    limit."""


class InternalSettings(Settings, frozen=True):
    """S_in = β·S_cb + (1-β)·S_struct."""

    content: Literal["tsim_idf", "tsim", "bits", "cosine"] = "tsim_idf"
    """Form of S_cb: STRAND tsim (WebMining eq. 2), with idf-weighted words or plain, BITS (eq. 3) from both sides, or
    the idf-weighted cosine. Best or equal on five of the six sites of `docs/results.md`."""
    structure: Literal["indel", "lcs_max"] = "indel"
    """Normaliser of S_struct: 2·LCS/(n+m), or LCS/max(n, m)."""
    beta: Unit = 0.6
    """Weight of content (Liu et al., Figure 2)."""
    shared_tokens: Literal["all", "numbers", "none"] = "all"
    """Which words count as translations of themselves: those that both languages write alike (numbers, names, Latin
    words in non-Latin text), numbers only, or none."""


class EtsSettings(Settings, frozen=True):
    """ETS = (1-α)·S_in + α·S_ext, iterated (Liu et al., Algorithms 1 and 2)."""

    alpha: Unit = 0.6
    """Weight of links (Liu et al., Figure 4)."""
    rounds: Natural = 3
    """Rounds at most (Liu et al., Figure 3)."""
    tolerance: Annotated[float, Meta(ge=0)] = 0.0
    """Stop when no score moved by more than this."""
    neighbours: Literal["in", "out", "both"] = "both"
    """Pages that link here, pages linked from here, or both. The paper does not say."""
    rarity: bool = False
    """Whether a neighbour that many pages have counts for less. Not in the paper; `docs/results.md` shows what it is
    worth."""


Evidence = Literal[
    "content",
    "learned",
    "contrast",
    "structure",
    "ets",
    "external",
    "order",
    "length",
    "direct",
    "hreflang",
    "pattern",
]

EVIDENCE: tuple[Evidence, ...] = (
    "content",
    "learned",
    "contrast",
    "structure",
    "ets",
    "external",
    "order",
    "length",
    "direct",
    "hreflang",
    "pattern",
)
"""Kinds of evidence that are weighed by default (`twinlink.match.methods.weighed`)."""


class WeighingSettings(Settings, frozen=True):
    """How evidence is weighed on the site at hand."""

    evidence: tuple[Evidence, ...] = EVIDENCE
    """Kinds of evidence to use; leave some out to see what they are worth."""
    alpha: Unit | None = None
    """α of the ETS that is one kind of evidence. Default: .4 with structure, .7 without: weak evidence wants more of
    its neighbours."""
    rounds: Natural = 3
    """Rounds of learning after the first one, fewer where they change nothing. Trials: after three the scores move by
    .005 at most, but for look-alikes; further ones follow while they make more pairs sure, unless this is 0."""
    ridge: Annotated[float, Meta(gt=0)] = 1e-4
    """Penalty on large weights, a candidate. Trials from 1e-6 (too sure of itself) to 3e-3 (drops a third of the right
    pairs)."""


class MatchSettings(Settings, frozen=True):
    """How pairs are chosen."""

    method: Literal["weighed", "liu2014", "jangeldin", "webmining", "bitextor2010", "urls"] = "weighed"
    """Evidence weighed on the site at hand; the fixed weights of Liu et al.; structure alone, as Jangeldin &
    Assylbekov, WebMining and Bitextor (2010) have it; or URL patterns that content does not contradict."""
    lexicons: tuple[str, ...] = ()
    """Lexicon files: TSV, CC-CEDICT, FreeDict (dictd) or MUSE, plain or compressed; which column is which language is
    found on the site. ``auto`` stands for the dictionaries that are installed for the languages at hand."""
    max_pairs: Natural | None = None
    """MAX_P of Liu et al., Algorithm 3. Default: no limit."""
    min_score: Unit | None = None
    """MIN_SIM of Algorithm 3, instead of a least probability. A raw score means another thing on every site."""
    min_probability: Unit = 0.5
    """Least probability of a pair that is handed out: ½ makes the expected F1 largest."""
    labels: bool = False
    """Heed what people said of pairs in `twinlink review`: accepted pairs come out, rejected ones never (`label`), and
    method ``weighed`` learns from both."""
    min_precision: Unit | None = None
    """Hand out the longest list, most probable pairs first, whose expected precision is not below this."""
    other_langs: Natural = 2
    """Languages beside the wanted ones that are matched with these as witnesses, where the wanted ones leave doubt."""
    internal: InternalSettings = InternalSettings()
    ets: EtsSettings = EtsSettings()
    weighing: WeighingSettings = WeighingSettings()
    candidates: CandidateSettings = CandidateSettings()
    patterns: PatternSettings = PatternSettings()
    url_rule: UrlRuleSettings = UrlRuleSettings()
    bitextor: BitextorSettings = BitextorSettings()
    webmining: WebminingSettings = WebminingSettings()
    models: ModelSettings = ModelSettings()


ConfigT = TypeVar("ConfigT", bound="Config")


class Config(Settings, frozen=True):
    """Everything that a run depends on.

    Examples
    --------
    >>> Config().override({"langs": ["en", "zh"], "match.ets.alpha": 0.3}).match.ets.alpha
    0.3
    >>> Config().override({"match.ets.alpha": 3})
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: settings: match.ets.alpha: expected a number <= 1.0
    """

    langs: tuple[str, ...] = ()
    """Wanted languages, by code or name (`zh-TW`, `zho`, `Chinese`; `zh` includes `zh-Hant` and `zh-Hans`). Each means
    the closest language that a site has. Empty: the two most frequent on each site."""
    crawl: CrawlSettings = CrawlSettings()
    ingest: IngestSettings = IngestSettings()
    language: LanguageSettings = LanguageSettings()
    match: MatchSettings = MatchSettings()
    bitext: BitextSettings = BitextSettings()
    recover: RecoverSettings = RecoverSettings()
    ranking: RankingSettings = RankingSettings()
    discover: DiscoverySettings = DiscoverySettings()

    @classmethod
    def load(cls, path: Path, base: Config | None = None) -> Config:
        """Read a TOML file; what it does not name is as in ``base``, by default the default."""
        try:
            named = parse_toml(read_input_text(path, _FILE), str(path))
        except TOMLDecodeError as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from error
        return _convert(named if base is None else _merged(msgspec.to_builtins(base), named), str(path))

    def override(self, values: Mapping[str, Any]) -> Config:
        """Return a copy with some values replaced; keys are dotted names such as ``match.ets.alpha``."""
        tree = msgspec.to_builtins(self)
        for name, value in values.items():
            *parents, leaf = name.split(".")
            node = tree
            for parent in parents:
                node = node.get(parent) if isinstance(node, dict) else None
            if not isinstance(node, dict) or leaf not in node:
                raise ConfigError(f"settings: no setting {name!r}; {_meant(name, msgspec.to_builtins(self))}")
            node[leaf] = value
        return _convert(tree, "settings")

    def to_toml(self) -> str:
        """Return the settings as a TOML text that `load` reads back; settings without a value are left out."""
        import tomli_w

        return tomli_w.dumps(_without_none(msgspec.to_builtins(self)))


def _merged(tree: dict[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of settings with some of them changed."""
    changed = {
        name: _merged(tree[name], value) if isinstance(value, dict) and isinstance(tree.get(name), dict) else value
        for name, value in named.items()
    }
    return {**tree, **changed}


def _convert(tree: dict[str, Any], where: str) -> Config:
    if name := too_large(tree):
        raise ConfigError(f"{where}: {name}: expected a number of at most 18 digits")
    try:
        config = msgspec.convert(tree, Config)
    except msgspec.ValidationError as error:
        allowed = ", ".join(choice or "''" for choice in choices(Config, str(error)))
        raise ConfigError(f"{where}: {plain(str(error))}" + (f"; choose from {allowed}" if allowed else "")) from error
    return _with_languages(config, where)


def _with_languages(config: Config, where: str) -> Config:
    """Read the languages that the settings name."""
    if not config.langs and not config.crawl.langs:
        return config  # what reads them takes its time to load
    from twinlink.language_names import read_languages

    try:
        langs, of_crawl = read_languages(config.langs), read_languages(config.crawl.langs, "crawl.langs")
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return msgspec.structs.replace(config, langs=langs, crawl=msgspec.structs.replace(config.crawl, langs=of_crawl))


def _meant(name: str, tree: dict[str, Any]) -> str:
    """Return what to do about a setting that there is not: the one that is named almost so, or where all stand."""
    near = get_close_matches(name, _names(tree), n=1)
    return f"did you mean {near[0]}?" if near else "the file config.toml of a run has them all"


def _names(tree: Mapping[str, Any], before: str = "") -> list[str]:
    """Return the names of all settings, with dots."""
    names: list[str] = []
    for name, value in tree.items():
        names += _names(value, f"{before}{name}.") if isinstance(value, dict) else [before + name]
    return names


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    return {k: _without_none(v) if isinstance(v, dict) else v for k, v in tree.items() if v is not None}
