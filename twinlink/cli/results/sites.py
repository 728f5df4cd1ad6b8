"""Results about sites: their URL patterns, recovered pages, and the ranking of other sites."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from twinlink.cli.results.record import Record

if TYPE_CHECKING:
    from twinlink.recover.guessing import SiteGuesses
    from twinlink.rundir.directory import RunDirectory

__all__ = ["GuessedAddress", "GuessesResult", "PatternsResult", "RankResult", "RecoveredResult", "Rule", "Site"]

SHOWN = 10
"""Rules and sites that are shown; the tables have all."""
REASONS = 3
"""Features that are shown of a site: those that moved its place most."""


class Rule(msgspec.Struct, frozen=True):
    """A URL pattern of some of the sites."""

    rule: str
    """What stands for what in addresses, e.g. ``/en/ ↔ /tc/``."""
    verdict: str
    """``credible`` or ``rescued`` (by what other sites teach)."""
    n_pages: int
    """Pages with a partner by it."""
    n_sites: int
    """Sites of the run that have it."""
    credibility: float
    """Its credibility C(p) on these sites. The column ``global`` of the table has that of its key, to which the other
    patterns with the same two sides and imported libraries contribute."""


class PatternsResult(Record, frozen=True, kw_only=True):
    """`twinlink patterns`: the patterns that count, the most frequent first."""

    run: str
    """The run directory."""
    rules: list[Rule]
    """The most frequent ones, ten at most."""
    n_rules: int
    """All that count."""
    verdicts: dict[str, int]
    """Patterns by verdict: ``credible``, ``rescued``, ``weak``."""
    n_bilingual: int
    """Sites with a pattern that counts."""
    n_sites: int
    """All sites."""
    n_crowded: int
    """Places in addresses in which more of them differ than are compared (``match.patterns.max_group``)."""
    patterns: str
    """File of all patterns."""
    exported: str | None = None
    """With ``--export``: the library that was written."""
    n_exported: int | None = None
    """With ``--export``: its keys."""

    @classmethod
    def of(cls, run: RunDirectory, exported: Path | None = None, n_exported: int | None = None) -> PatternsResult:
        """Count what stage `patterns` found."""
        from twinlink.patterns.stage import PATTERNS_FILE, n_crowded
        from twinlink.tables import PATTERNS, iter_parts, read_table

        folder = run.stage_folder("patterns")
        verdicts: Counter[str] = Counter()
        pages: Counter[tuple[str, str]] = Counter()
        sites: Counter[tuple[str, str]] = Counter()
        credibility: defaultdict[tuple[str, str], float] = defaultdict(float)
        n_sites = n_bilingual = 0
        for part in iter_parts(folder / "patterns"):
            rows = read_table(part, PATTERNS).to_pylist()
            verdicts.update(row["verdict"] for row in rows)
            strong = [row for row in rows if row["verdict"] != "weak"]
            n_sites, n_bilingual = n_sites + 1, n_bilingual + bool(strong)
            for row in strong:
                key = (row["rule"], row["verdict"])
                pages[key] += row["n_pages"]
                sites[key] += 1
                credibility[key] += row["local"] * row["n_pages"]
        return cls(
            run=str(run.path),
            rules=[Rule(*key, n, sites[key], credibility[key]) for key, n in pages.most_common(SHOWN)],
            n_rules=len(pages),
            verdicts={verdict: verdicts[verdict] for verdict in ("credible", "rescued", "weak")},
            n_bilingual=n_bilingual,
            n_sites=n_sites,
            n_crowded=n_crowded(run),
            patterns=str(folder / PATTERNS_FILE),
            exported=None if exported is None else str(exported),
            n_exported=n_exported,
        )


class Site(msgspec.Struct, frozen=True):
    """A site that may be worth a crawl."""

    rank: int
    """Its place, from 1."""
    site: str
    """The site."""
    score: float
    """How promising it is."""
    reasons: dict[str, float]
    """The features that moved it most, and by how much."""
    words: list[str]
    """These features in words."""
    n_equal: int
    """Candidates with exactly this score, itself included."""


class RankResult(Record, frozen=True, kw_only=True):
    """`twinlink rank`: the best candidates, each with its reasons."""

    run: str
    """The run directory."""
    best: list[Site]
    """The best candidates, ten at most."""
    n_crawled: int
    """Sites that are crawled."""
    n_candidates: int
    """Sites that are linked to and not crawled."""
    n_not_public: int = 0
    """Sites that are linked to and not tried: IP addresses, names of a local network, names that nobody can have."""
    sites: str
    """File of all sites."""
    weights: str
    """File of the learned weights."""
    exported: str | None = None
    """With ``--export``: the file of the graph of sites."""

    @classmethod
    def of(cls, run: RunDirectory, exported: Path | None = None) -> RankResult:
        """Make it from the table of stage `rank`."""
        import pyarrow.compute as pc

        from twinlink.sites.features import FEATURES, feature_words
        from twinlink.sites.stage import MODEL_FILE, SITES_FILE, TABLE_FILE
        from twinlink.tables import SITES, read_table

        folder = run.stage_folder("rank")
        table = read_table(folder / TABLE_FILE, SITES)
        best = []
        of_candidates = table.filter(pc.equal(table["state"], "candidate"))
        equal = Counter(of_candidates["ours"].to_pylist())
        for row in table.slice(0, SHOWN).to_pylist():
            if row["state"] != "candidate":
                break
            parts = sorted(((row[f"by_{name}"], name) for name in FEATURES), key=lambda part: -abs(part[0]))
            reasons = {name: part for part, name in parts[:REASONS] if part}
            words = [feature_words(name, row[name]) for name in reasons]
            best.append(Site(row["rank"], row["site"], row["ours"], reasons, words, equal[row["ours"]]))
        states = Counter(table["state"].to_pylist())
        return cls(
            run=str(run.path),
            best=best,
            n_crawled=states["crawled"],
            n_candidates=states["candidate"],
            n_not_public=states["not-public"],
            sites=str(folder / SITES_FILE),
            weights=str(folder / MODEL_FILE),
            exported=None if exported is None else str(exported),
        )


class GuessedAddress(msgspec.Struct, frozen=True):
    """An address that a URL pattern makes."""

    url: str
    """The address."""
    rule: str
    """The pattern."""
    credibility: float
    """How credible it is."""
    page: str
    """The page whose partner it may be."""


class GuessesResult(Record, frozen=True, kw_only=True):
    """`twinlink recover --dry-run`: the addresses that would be requested."""

    run: str
    """The run directory."""
    addresses: list[GuessedAddress]
    """The best first on each site."""
    n_linked: int
    """Predicted addresses that pages link to, and that were never fetched: a crawl requests them, not `recover`."""

    @classmethod
    def of(cls, run: Path, sites: Iterable[SiteGuesses]) -> GuessesResult:
        """Name what `twinlink.recover.stage.open_guesses` yields."""
        addresses, n_linked = [], 0
        for site in sites:
            addresses += [
                GuessedAddress(guess.url, guess.rule, guess.credibility, guess.page) for guess in site.guesses
            ]
            n_linked += len(site.linked)
        return cls(run=str(run), addresses=addresses, n_linked=n_linked)


class RecoveredResult(Record, frozen=True, kw_only=True):
    """`twinlink recover`: the outcome of the addresses."""

    run: str
    """The run directory."""
    n_tried: int
    """Requested addresses."""
    n_made_up: int
    """Addresses requested to learn how the site responds to addresses of pages that do not exist."""
    n_found: int
    """Pages found."""
    rules: dict[str, int]
    """Pages found by pattern, ten patterns at most."""
    not_taken: dict[str, int]
    """Requested addresses that are no such page, by outcome."""
    not_asked: dict[str, int]
    """Addresses that were not requested, by reason."""
    tried: str
    """File of all addresses."""
    over_network: bool = False
    """Whether the run was read from files, so that the partners of its pages were requested over the network."""

    @classmethod
    def of(cls, run: RunDirectory, *, over_network: bool = False) -> RecoveredResult:
        """Count the outcomes of stage `recover`."""
        from twinlink.recover.guessing import NOT_ASKED
        from twinlink.recover.stage import TRIED, TRIED_FILE
        from twinlink.tables import RECOVERED, read_table

        folder = run.stage_folder("recover")
        table = read_table(folder / TRIED, RECOVERED)
        counts = Counter(table["outcome"].to_pylist())
        found, made_up = counts.pop("found", 0), counts.pop("made-up", 0)
        rules = Counter(row["rule"] for row in table.to_pylist() if row["outcome"] == "found")
        not_taken = {outcome: n for outcome, n in counts.most_common() if outcome not in NOT_ASKED}
        return cls(
            run=str(run.path),
            n_tried=found + sum(not_taken.values()),
            n_made_up=made_up,
            n_found=found,
            rules=dict(rules.most_common(SHOWN)),
            not_taken=not_taken,
            not_asked={outcome: n for outcome, n in counts.most_common() if outcome in NOT_ASKED},
            tried=str(folder / TRIED_FILE),
            over_network=over_network,
        )
