"""Results of a crawl, of reading pages, and of a match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from twinlink.cli.results.lexicons import LexiconsResult
from twinlink.cli.results.record import Count, Record
from twinlink.cli.results.sentences import SentencesResult
from twinlink.errors import EmptyMatchError, NothingFoundError, TwinlinkError
from twinlink.files import shell_word
from twinlink.language_names import meanings, name_of
from twinlink.run_files import CRAWL_REPORT, PAIRS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from twinlink.run import Run
    from twinlink.rundir.directory import RunDirectory
    from twinlink.spiders.crawling import CrawlProgress
    from twinlink.system.memory import Memory


_NAMED = 3
"""Maximum number of pairs of languages that a note names."""


class SiteResult(msgspec.Struct, frozen=True):
    """Progress of the crawl of one site."""

    site: str
    """The site."""
    pages: int
    """Pages fetched."""
    rejected: int
    """Addresses dropped."""
    queued: int
    """Addresses known and not fetched."""
    ended: str
    """Budget that ended it before all pages were fetched; empty for none."""


class CrawlResult(Record, frozen=True, kw_only=True):
    """`twinlink crawl`: fetched pages, and rejects by reason."""

    run: str
    """The run directory."""
    fetched: int
    """Pages in the archive."""
    rejected: int
    """Addresses dropped."""
    queued: int
    """Addresses known and not fetched."""
    rejects: dict[str, int]
    """Addresses dropped by reason, the most frequent first."""
    later: int
    """Those of them that the next call asks for again: their server was busy, or its robots.txt could not be read."""
    again: dict[str, int]
    """With ``--again``: pages by result."""
    end: str
    """``complete``; ``later``: servers were busy, and the next call asks them again; ``page-limit``: stopped at
    ``crawl.max_pages``; ``budget``: by limits of its sites."""
    n_sites: int
    """All sites, those of earlier calls with them."""
    n_without_pages: int
    """Those of them that gave no page: ``crawl.json`` says why."""
    sites: list[SiteResult]
    """The sites with the most pages, ten at most; ``crawl.json`` has all."""
    archives: str
    """Folder of the WARC files."""
    report: str
    """File with the counts of all sites."""

    @classmethod
    def of(cls, progress: CrawlProgress, out: Path) -> CrawlResult:
        """Make it from the report of the crawl."""
        from twinlink.spiders.frontier import LATER

        return cls(
            run=str(out),
            fetched=progress.fetched,
            rejected=progress.rejected,
            queued=progress.queued,
            rejects=dict(progress.reasons),
            later=sum(progress.reasons.get(reason, 0) for reason in LATER),
            again=dict(progress.again),
            end=progress.end,
            n_sites=progress.n_sites,
            n_without_pages=progress.n_without_pages,
            sites=[SiteResult(s.site, s.pages, s.rejected, s.queued, str(s.ended or "")) for s in progress.sites],
            archives=str(out / "warc"),
            report=str(out / CRAWL_REPORT),
        )


class IngestResult(Record, frozen=True, kw_only=True):
    """`twinlink ingest`: counts of the tables."""

    run: str
    """The run directory."""
    n_pages: int
    """Pages kept."""
    n_links: int
    """Links of kept pages."""
    n_rejects: int
    """What the crawl and the reading of its archives dropped."""
    rejects: list[Count]
    """The same by stage and reason."""
    tables: str
    """Folder of the tables."""
    why_none: str | None
    """Why there is no page; null where there are some."""

    @classmethod
    def of(cls, found: Run) -> IngestResult:
        """Count the rows of a run's tables."""
        from twinlink.match.counts import count_rejects, why_none
        from twinlink.tables import count_rows

        folder = found.path / "ingest"
        n_pages, rejects = count_rows(folder / "pages"), count_rejects(folder)
        return cls(
            run=str(found.path),
            n_pages=n_pages,
            n_links=count_rows(folder / "links"),
            n_rejects=sum(rejects.values()),
            rejects=[Count(stage, reason, n) for (stage, reason), n in sorted(rejects.items())],
            tables=str(folder),
            why_none=None if n_pages else why_none((), (), prefixes=found.config.ingest.url_prefixes),
        )

    def problem(self) -> TwinlinkError | None:
        """Return an error for no page at all."""
        if self.why_none is None:
            return None
        counted = "the reasons above count all that was dropped" if self.rejects else "the sources hold none"
        return NothingFoundError(f"0 pages: {self.why_none}; {counted}. Tables: {self.tables}")


class PairsResult(Record, frozen=True, kw_only=True):
    """`twinlink mine` and `twinlink match`: the pairs, and every page that is in no pair."""

    run: str
    """The run directory."""
    n_pages: int
    """Pages kept."""
    languages: dict[str, int]
    """Pages by language, the most frequent first."""
    meant: dict[str, dict[str, int]]
    """Languages that the wanted ones include, with other tags: each with its number of sites. Empty: none found."""
    lexicons: LexiconsResult | None
    """With ``--lexicon auto``: the dictionaries that were found."""
    rejects: list[Count]
    """Rejects by stage and reason."""
    filters: dict[str, int]
    """Candidates by the filter that rejected them; ``kept`` passed all. Empty for a method without filters."""
    n_pairs: int
    """Page pairs reported."""
    expected_precision: float | None
    """Their expected precision; null where some have no probability, and without pairs."""
    expected_interval: tuple[float, float] | None
    """Ends of the 90 % interval of the precision; null where there is no expected one, and for other methods."""
    n_without_probability: int
    """Pairs without a probability: all of a method that gives none, and some that labels added."""
    pairs: str
    """File of the pairs."""
    report: str | None
    """The report, where there is one."""
    why_none: str | None
    """Why there is no pair; null where there are some."""
    sentences: SentencesResult | None = None
    """With ``--align``: as of `twinlink align`."""
    ended: str | None = None
    """How a match without a pair ended that left the earlier pairs in place; null for any other."""
    notes: list[str] = msgspec.field(default_factory=list)
    """In sentences: what the method cannot do on these sites, which of them are expected to need more memory than
    ``run.memory`` allows, why the report was not written, that the crawl has gone on since its pages were read, and
    which languages were taken where none was wanted and a site has more than two."""

    @classmethod
    def of_none(cls, error: EmptyMatchError) -> PairsResult:
        """Make it from the counts of a match without a pair, which did not replace an earlier one."""
        run, counts = error.run, error.counts
        return cls(
            run=str(run),
            n_pages=counts.n_pages,
            languages=dict(counts.languages),
            meant={},
            lexicons=None,
            rejects=[Count(stage, reason, n) for (stage, reason), n in counts.rejects.items()],
            filters=dict(counts.filters),
            n_pairs=0,
            expected_precision=None,
            expected_interval=None,
            n_without_probability=0,
            pairs=str(run / PAIRS_FILE),
            report=None,
            why_none=error.why,
            ended=str(error),
            notes=[*filter(None, [_unread(run)])],
        )

    @classmethod
    def of(
        cls,
        found: Run,
        langs: Sequence[str],
        sentences: SentencesResult | None = None,
        memory: Memory | None = None,
        note: str = "",
    ) -> PairsResult:
        """Make it from a run that was matched in the languages ``langs``, as the user wrote them, within ``memory``.

        ``note`` is what the command has to say besides.
        """
        from twinlink.evaluation.expected import expected_precision
        from twinlink.match.counts import count_match, why_none
        from twinlink.match.expected_memory import too_large
        from twinlink.rundir.directory import RunDirectory
        from twinlink.tables import PAIRS, iter_parts, read_table

        directory = RunDirectory(found.path)
        folder = directory.stage_folder("match")
        pairs = read_table(folder / "pairs", PAIRS, ("lang_a", "lang_b", "probability", "risk"))
        n_pairs, n_unknown = len(pairs), pairs["probability"].null_count
        expected = expected_precision(pairs["probability"].to_numpy(), pairs["risk"].to_numpy())
        counts = count_match(directory, folder)
        no_candidates = _without_candidates(directory, counts.candidates)
        too_much = too_large(list(iter_parts(directory.path / "ingest" / "pages")), memory) if memory else ""
        report, unread = directory.report_file, _unread(found.path)
        why = why_none(counts.languages, langs, counts.reasons, no_candidates, found.config.ingest.url_prefixes)
        return cls(
            run=str(found.path),
            n_pages=counts.n_pages,
            languages=dict(counts.languages),
            meant=_meant(folder, langs),
            lexicons=LexiconsResult.of_stage(found.path / "match"),
            rejects=[Count(stage, reason, n) for (stage, reason), n in counts.rejects.items()],
            filters=dict(counts.filters),
            n_pairs=n_pairs,
            expected_precision=None if expected is None else expected.precision,
            expected_interval=None if expected is None else expected.interval,
            n_without_probability=n_unknown,
            pairs=str(directory.pairs_file),
            report=str(report) if report.is_file() else None,
            why_none=None if n_pairs else why,
            sentences=sentences,
            notes=[
                *filter(None, (no_candidates if n_pairs or why != no_candidates else "", too_much, note, unread)),
                *([] if langs else _chosen(pairs, counts.languages)),
            ],
        )

    def problem(self) -> TwinlinkError | None:
        """Return an error for no pair at all, and for no sentence pair where they were wanted."""
        if self.why_none is None:
            return None if self.sentences is None else self.sentences.problem()
        if self.ended is not None:
            return NothingFoundError(self.ended)
        counted = "The reasons above count every page; tables" if self.rejects else "Tables"
        return NothingFoundError(f"0 pairs: {self.why_none}. {counted}: {self.run}")

    def remedy(self) -> tuple[str | Path, ...]:
        """Return the match of the two most frequent languages, where other ones were wanted."""
        there = [lang for lang in self.languages if lang != "und"][:2]
        from twinlink.match.counts import NOT_THERE

        is_other = self.why_none is not None and self.why_none.startswith(NOT_THERE)
        return ("match", Path(self.run), "--langs", ",".join(sorted(there))) if is_other and len(there) == 2 else ()

    def advice(self) -> str:
        """Return how to get pages of a language that the run lacks, or sites that have two."""
        from twinlink.match.counts import APART, NOT_THERE, ONE_LANGUAGE

        if self.why_none == APART:
            return _of_sites_apart(Path(self.run))
        if self.why_none is None or not (NOT_THERE in self.why_none or ONE_LANGUAGE in self.why_none):
            return ""
        lacking = next((tag for tag, langs in self.meant.items() if not langs), "")
        run = Path(self.run)
        return "\n".join(filter(None, (_of_chosen_language(run), _of_missing_language(run, lacking))))


def _unread(run: Path) -> str:
    """Return a sentence if the crawl of a run has gone on since its pages were read."""
    from twinlink.ingest.stage import is_behind_crawl
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.side_results import main_run

    place = main_run(run)
    if not is_behind_crawl(RunDirectory(place)):
        return ""
    return f"the crawl has gone on since its pages were read; to read them: twinlink ingest -o {shell_word(place)}"


def _of_missing_language(run: Path, lacking: str) -> str:
    """Return how to get pages of a language: from another start page, or for saved pages from another folder."""
    from twinlink.jobs.origin import origin_of
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.side_results import main_run

    place = main_run(run)
    add = f"--add -o {shell_word(place)}"
    if origin_of(RunDirectory(place)).starts:
        return (
            "note: if no page links to the other language, add the address where it starts:"
            f" twinlink mine ADDRESS {add}"
        )
    others = f"pages in {name_of(lacking)}" if lacking else "pages in another language"
    return f"note: if {others} are in another folder or archive, add it: twinlink mine FOLDER {add}"


def _of_chosen_language(run: Path) -> str:
    """Return what to do where a site seems to choose the language by what a browser sends; empty elsewhere."""
    from twinlink.ingest.stage import source_paths
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.side_results import main_run
    from twinlink.sources.language_choice import language_choice
    from twinlink.sources.warc import ARCHIVE_NAME

    directory = RunDirectory(main_run(run))
    archives = (path for path in source_paths(directory) if ARCHIVE_NAME.search(path.name) and path.is_file())
    sign = language_choice([*directory.archives(), *archives])
    if sign is None:
        return ""
    header = sign.header or "Accept-Language: …"
    return (
        f"note: a site seems to choose the language by what a browser sends ({sign.text}), but an address counts once,"
        f" in one language; save each language into a folder of its own (wget -r -k --header '{header}'), and mine the"
        " folder around them with --base-url"
    )


def _of_sites_apart(run: Path) -> str:
    """Return how sites that have one language each become one site."""
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.remembered import remembered

    if remembered(RunDirectory(run)).crawl.site_by != "domain":
        return "note: with --site-by domain all hosts of a registered domain are one site"
    return (
        "note: no --site-by makes one site of several registered domains; the pages of one folder are one site if it is"
        " read with --base-url"
    )


def _without_candidates(directory: RunDirectory, candidates: Mapping[str, int]) -> str:
    """Return on which sites the method of a match has no candidates because of their addresses; else nothing."""
    from twinlink.config import MatchSettings
    from twinlink.match.counts import without_candidates

    signature = directory.read_signature("match")
    settings = msgspec.convert(signature.settings.get("match", {}) if signature else {}, MatchSettings)
    return without_candidates(settings, candidates)


def _chosen(pairs: pa.Table, languages: Iterable[str]) -> list[str]:
    """Return which languages were taken where none was wanted and sites may have more than two."""
    from twinlink.languages import UNDETERMINED

    if len({*languages} - {UNDETERMINED}) <= 2 or not len(pairs):
        return []
    counted = pairs.group_by(["lang_a", "lang_b"]).aggregate([([], "count_all")]).sort_by([("count_all", "descending")])
    named = [f"{row['lang_a']}-{row['lang_b']} ({row['count_all']})" for row in counted.to_pylist()]
    shown = ", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")
    return [f"pairs of {shown}: the two most frequent languages of each site; --langs chooses others"]


def _meant(folder: Path, wanted: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return what the wanted languages mean on the sites of a match."""
    from twinlink.tables import LANGUAGES, iter_parts, read_table

    parts = iter_parts(folder / "languages") if wanted else ()
    tables = (read_table(part, LANGUAGES, ("lang",)) for part in parts)
    return meanings(wanted, [table["lang"].unique().to_pylist() for table in tables])
