"""Site discovery, a loop: crawl sites, pair their pages, rank linked sites, probe the best, add bilingual ones.

After Zhang, Yao & Kit (section 2.3), with a probe of each candidate before it is crawled. Each step is a stage that
is skipped when done, or ends with a file of `twinlink.rundir.rounds`, so the loop can be resumed at any point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from twinlink.config import Config
from twinlink.errors import InputError, RunError
from twinlink.files import write_text
from twinlink.jobs.origin import leaving_nothing, origin_of
from twinlink.jobs.probing import ProbeResult, failure, fetch, fetched_sites, is_added, probe, sites_to_retry
from twinlink.jobs.ranking import rank_stage
from twinlink.jobs.stages import ingest_stage, match_stage, patterns_stage, silent
from twinlink.jobs.start_pages import is_open, start_pages
from twinlink.language.stage import identify_pages
from twinlink.language_names import check_two
from twinlink.languages import canonical_language
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.keys import Key
from twinlink.patterns.library import read_libraries, read_library
from twinlink.patterns.stage import LIBRARY, paired_by_patterns
from twinlink.progress import Report
from twinlink.review.charts.rounds import rounds_file
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remember
from twinlink.rundir.rounds import PLOT_FILE, Chosen, Rounds
from twinlink.rundir.side_results import check_own_pages
from twinlink.sites.stage import TABLE_FILE
from twinlink.spiders.scope import Scope
from twinlink.tables import PAGES, PAIRS, PATTERNS, PROBES, SITES, iter_parts, read_table
from twinlink.urls import SiteBy, site_of

__all__ = ["discover"]

OnRound = Callable[[dict[str, int]], None]


def discover(
    seeds: Sequence[str],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    on_round: OnRound | None = None,
) -> pa.Table:
    """Grow a list of sites.

    Round 0 crawls a budget of each seed site, pairs pages, and ranks the sites that they link to. Each further round
    probes the best ``discover.top`` of those with a few pages, adds the ones that are bilingual, crawls them, and pairs
    and ranks again. Results of probes are kept; no call probes a site twice. One that was down (no response, 5xx,
    robots.txt unreachable) is a candidate again in later calls, until it was tried three times. The run is an ordinary
    one, of all sites that were added; the column ``round`` of its pages says which round brought them.

    Parameters
    ----------
    seeds : sequence of str
        Normalised addresses of the seed sites, in any order; none: those that the loop was begun with.
    run : RunDirectory
        Gets the loop's own files below ``RUN/discover``, see `twinlink.rundir.rounds`. A loop that was stopped or
        killed is resumed; more rounds can be added later.
    config : Config
        ``discover`` says how; ``crawl``, ``match.patterns`` and ``ranking`` hold for the stages.
    report : callable, optional
        Takes the progress of the stages.
    on_round : callable, optional
        Called with the row of each round that ends, as in the table.

    Returns
    -------
    pa.Table
        `twinlink.tables.ROUNDS`, a row per round. It ends early when no candidate is left.

    Raises
    ------
    InputError
        If there are no seeds, neither given nor of a loop that was begun.
    RunError
        If the pages of ``run`` were read from files, or its loop was begun with other seeds or settings of ``discover``
        than now; ``rounds``, ``skip`` and ``only`` may change.
    CrawlError
        If not one seed could be fetched.
    """
    rounds = Rounds(run)
    seeds = _seeds(seeds, rounds)
    check_two(config.langs)
    if not rounds.is_begun:
        _check_own(run, seeds, config)
    with leaving_nothing(run):
        rounds.begin(_begun(seeds, config))
        seeds = rounds.seeds()  # in the order of the first call
        _play_rounds(_Loop(seeds, run, rounds, config, report), rounds, config.discover.rounds, on_round)
    _show(rounds)  # a kill may have come between a round's end and its tables
    return rounds.table()


def _seeds(given: Sequence[str], rounds: Rounds) -> Sequence[str]:
    """Return the seeds, those of a loop that was begun if none are given."""
    seeds = given or rounds.seeds()
    if not seeds:
        raise InputError("no seeds: expected at least one address of a site")
    return seeds


def _play_rounds(loop: _Loop, rounds: Rounds, last: int, on_round: OnRound | None) -> None:
    """Run the rounds that are not done yet; stop early when no candidate is left."""
    for number in range(last + 1):
        if rounds.is_done(number):
            continue
        row = loop.play(number)
        if row is None:
            return
        rounds.count(number, row)
        _show(rounds)
        if on_round is not None:
            on_round(row)


def _check_own(run: RunDirectory, seeds: Sequence[str], config: Config) -> None:
    """Refuse a run whose pages come from other sources, which the loop would mix or replace."""
    check_own_pages(run)
    known = origin_of(run)
    sites = Scope(known.starts, config.crawl)
    if known.paths:
        raise RunError(f"{run.path}: its pages were read from files ({known}); use another run directory")
    if known.starts and not any(sites.site(seed) for seed in seeds):
        raise RunError(f"{run.path}: was crawled from {known}, not from these seeds; use another run directory")


def _show(rounds: Rounds) -> None:
    """Write the tables and the picture of all rounds again."""
    rounds.write_tables()
    write_text(rounds.folder / PLOT_FILE, rounds_file(rounds.table()))


def _begun(seeds: Sequence[str], config: Config) -> dict[str, Any]:
    """Return what all rounds of a loop have in common."""
    settings = msgspec.to_builtins(config.discover)
    for later in ("rounds", "skip", "only"):  # they may change while the loop continues
        del settings[later]
    shared = {
        "langs": [canonical_language(tag) for tag in config.langs],
        "site_by": config.crawl.site_by,
        "seeds": list(seeds),
    }
    return {**{f"discover.{name}": value for name, value in settings.items()}, **shared}


class _Loop:
    """Runs rounds; all state is on disk."""

    def __init__(self, seeds: Sequence[str], run: RunDirectory, rounds: Rounds, config: Config, report: Report) -> None:
        self._seeds, self._rounds, self._config, self._report = seeds, rounds, config, report
        self._run = RunDirectory(run.path)  # silent: no message that each round rebuilds the tables
        self._site_by = _site_by(config)
        budget = config.crawl.max_site_pages or config.discover.site_pages
        self._limited = config.override({"crawl.max_site_pages": budget})
        self._first = next(number for number in count() if not rounds.is_done(number))  # of this call

    def play(self, number: int) -> dict[str, int] | None:
        """Run a round; None if there is no candidate."""
        chosen = self._rounds.chosen(number)
        if chosen is None:
            chosen = self._candidates() if number else self._seed_sites()
            if not chosen:
                return None
            self._rounds.choose(number, chosen)
        if number and self._rounds.verdicts(number) is None:
            self._rounds.judge(number, self._probed(number, chosen))
        self._crawl(number)
        if self._rounds.verdicts(number) is None:
            self._rounds.judge(number, self._fetched(number, chosen))
        self._pair()
        return self._row(number)

    def _seed_sites(self) -> list[Chosen]:
        starts: dict[str, list[str]] = {}
        for seed in self._seeds:
            starts.setdefault(site_of(seed, self._site_by), []).append(seed)
        return [Chosen(site, tuple(urls)) for site, urls in starts.items()]

    def _candidates(self) -> list[Chosen]:
        """Return the best sites that are linked to and have not been tried, or were down in an earlier call."""
        rank_stage(self._run, self._config, self._report)
        settings = self._config.discover
        columns = ("site", "state", "rank", settings.score)
        table = read_table(self._run.stage_folder("rank") / TABLE_FILE, SITES, columns)
        private = self._config.crawl.allow_private
        again = sites_to_retry(self._rounds.all_verdicts().to_pylist(), self._first)
        rows = [
            row
            for row in table.to_pylist()
            if (row["state"] == "candidate" or row["site"] in again) and is_open(row["site"], settings, private)
        ]
        rows.sort(key=lambda row: (-row[settings.score], row["rank"]))
        best = {row["site"]: row[settings.score] for row in rows[: settings.top]}
        starts = start_pages(self._run.stage_folder("ingest") / "links", best.keys(), settings.starts)
        return [Chosen(site, starts[site], place, score) for place, (site, score) in enumerate(best.items(), 1)]

    def _probed(self, number: int, chosen: Iterable[Chosen]) -> pa.Table:
        """Probe the candidates of a round."""
        starts = {each.site: each.starts for each in chosen}
        folder = self._rounds.of(number) / "probe"
        known = self._run.stage_folder("ingest") / "pages"
        found = probe(starts, folder, self._config, self._credible_keys(), self._report, self._run.pause_file, known)
        tries = Counter(self._rounds.all_verdicts()["site"].to_pylist())
        told = {
            site: each._replace(reason=f"{each.reason}; tried {tries[site] + 1} times") if tries[site] else each
            for site, each in found.items()
        }
        return _verdict_table(number, chosen, told, self._config)

    def _fetched(self, number: int, chosen: Iterable[Chosen]) -> pa.Table:
        """Return the verdicts on the seeds, which are crawled without a probe, by whether they gave pages."""
        counts = fetched_sites(self._run)
        found = {}
        for each in chosen:
            n_pages = counts.get(each.site, {}).get("pages", 0)
            found[each.site] = ProbeResult("seed", "", n_pages) if n_pages else failure(counts.get(each.site, {}))
        return _verdict_table(number, chosen, found, self._config)

    def _credible_keys(self) -> Mapping[Key, float]:
        """Return the URL keys that the sites so far, and imported libraries, vouch for."""
        settings = self._config.match.patterns
        library = read_libraries(settings.libraries)
        library.merge(read_library(self._run.stage_folder("patterns") / LIBRARY))
        return credible_keys(library, settings)

    def _crawl(self, number: int) -> None:
        """Crawl all sites that were added up to this round; those of earlier rounds are done."""
        addresses = list(self._seeds)
        for earlier in range(1, number + 1):
            verdicts, chosen = self._rounds.verdicts(earlier), self._rounds.chosen(earlier)
            assert verdicts is not None, "a round ends with verdicts"
            assert chosen is not None, "and begins with those whom it tries"
            added = {row["site"] for row in verdicts.to_pylist() if row["added"]}
            addresses += [url for each in chosen if each.site in added for url in each.starts]
        fetch(addresses, self._run, self._limited, self._report, own=self._config)
        remember(self._run, self._config, "discover")

    def _pair(self) -> None:
        """Bring pages into tables, pair them, and rank the sites around."""
        ingest_stage([], self._run, self._config, self._report)
        if self._config.discover.pairs == "match":
            match_stage(self._run, self._config, self._report)
        elif self._config.discover.languages:
            identify_pages(self._run, lambda done, total: self._report("languages", done, total))
        patterns_stage(self._run, self._config, self._report)
        rank_stage(self._run, self._config, self._report)

    def _row(self, number: int) -> dict[str, int]:
        """Return the row of a finished round."""
        verdicts = self._rounds.verdicts(number)
        assert verdicts is not None, "it has been played"
        tried = verdicts.to_pylist()
        pages, pairs = self._pages(), self._pairs()
        own = {row["site"] for row in tried if row["added"]}
        outcomes = [row["verdict"] for row in tried]
        states = read_table(self._run.stage_folder("rank") / TABLE_FILE, SITES, ("state",))["state"].to_pylist()
        return {
            "round": number,
            "tried": len(tried),
            "added": len(own & pages.keys()),
            "one_language": sum(row["pages"] > 0 and not row["added"] and not row["copy_of"] for row in tried),
            "copies": sum(row["copy_of"] != "" for row in tried),
            "refused": outcomes.count("refused"),
            "dead": outcomes.count("dead"),
            "unreadable": sum(each in ("errors", "moved", "empty") for each in outcomes),
            "with_pairs": len(own & pairs.keys()),
            "pages": sum(pages.get(site, 0) for site in own),
            "pairs": sum(pairs.get(site, 0) for site in own),
            "sites": len(pages),
            "all_pages": sum(pages.values()),
            "all_pairs": sum(pairs.values()),
            "patterns": self._n_patterns(),
            "candidates": states.count("candidate"),
        }

    def _pages(self) -> dict[str, int]:
        return _count_sites(self._run.stage_folder("ingest") / "pages", PAGES)

    def _pairs(self) -> dict[str, int]:
        """Return the number of pairs of each site that has some."""
        if self._config.discover.pairs == "match":
            return _count_sites(self._run.stage_folder("match") / "pairs", PAIRS)
        counts: dict[str, int] = {}
        for url, _, _ in paired_by_patterns(self._run):
            site = site_of(url, self._site_by)
            counts[site] = counts.get(site, 0) + 1
        return counts

    def _n_patterns(self) -> int:
        keys: set[tuple[str, str]] = set()
        for part in iter_parts(self._run.stage_folder("patterns") / "patterns"):
            rows = read_table(part, PATTERNS, ("source", "target", "verdict")).to_pylist()
            keys.update((row["source"], row["target"]) for row in rows if row["verdict"] != "weak")
        return len(keys)


def _count_sites(folder: Path, schema: pa.Schema) -> dict[str, int]:
    """Count the rows of a table, a file per site, by site."""
    parts = (read_table(part, schema, ("site",))["site"] for part in iter_parts(folder))
    return {sites[0].as_py(): len(sites) for sites in parts if len(sites)}


def _site_by(config: Config) -> SiteBy:
    """Return what a site is once it is in tables, where folders count as hosts."""
    return "domain" if config.crawl.site_by == "domain" else "host"


def _verdict_table(number: int, chosen: Iterable[Chosen], found: Mapping[str, ProbeResult], config: Config) -> pa.Table:
    """Return what was made of a round's sites as rows of `PROBES`."""
    rows = []
    for each in chosen:
        made = found[each.site]
        added = is_added(made, config.discover) if number else made.has_pages
        rows.append(
            {
                "round": number,
                "site": each.site,
                "verdict": made.verdict,
                "added": added,
                "reason": made.reason,
                "place": each.place,
                "score": each.score,
                "start": each.starts[0],
                "pages": made.pages,
                "langs": made.langs,
                "credibility": made.credibility,
                "rule": made.rule,
                "pairs": made.pairs,
                "copy_of": made.copy_of,
            }
        )
    return pa.Table.from_pylist(rows, schema=PROBES)
