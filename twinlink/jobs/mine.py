"""The mining job: crawl addresses, read paths, match. Each stage is skipped when done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from twinlink.config import Config, IngestSettings
from twinlink.config.crawl import CrawlSettings
from twinlink.errors import InputError, TwinlinkError
from twinlink.ingest.stage import ingest, source_paths
from twinlink.jobs.origin import Means, entering
from twinlink.language_names import check_two
from twinlink.languages import UNDETERMINED, base_language
from twinlink.progress import Report
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remember
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.system.workers import Workers
from twinlink.urls import normalise

__all__ = [
    "align_stage",
    "crawl_alone",
    "crawl_stage",
    "ingest_alone",
    "ingest_stage",
    "match_stage",
    "mine_stages",
    "patterns_stage",
    "rank_stage",
    "report_stage",
    "shapes_stage",
    "split_inputs",
]

EVERYBODY = Workers()
_ALL = 2**53
_N_SHOWN = 3  # reasons and languages shown while a crawl runs


def silent(stage: str, done: int, total: int | None, detail: str = "") -> None:
    """Report nothing."""


def split_inputs(inputs: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Separate addresses from paths.

    >>> split_inputs(["https://www.example.org", "."])
    (['https://www.example.org/'], [PosixPath('.')])

    Raises
    ------
    InputError
        If an address is of another scheme than http and https, or there is no such path.
    """
    urls: list[str] = []
    paths: list[Path] = []
    for text in inputs:
        if "://" in text:
            url = normalise(text)
            if url is None:
                raise InputError(f"{text}: not a usable address; expected http://HOST/… or https://HOST/…")
            urls.append(url)
        elif _exists(text):
            paths.append(Path(text))
        elif _looks_like_host(text):
            raise InputError(f"{text}: no such file or folder; if a site is meant, write https://{text}")
        else:
            raise InputError(f"{text or repr(text)}: no such file or folder; expected a URL, a WARC file or a folder")
    return urls, paths


def _exists(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except OSError:  # a name too long, a folder that may not be looked into
        return False


def _looks_like_host(text: str) -> bool:
    named = "." in text or text.startswith("localhost")
    return named and normalise(f"http://{text}") is not None and not text.startswith((".", "/"))


def mine_stages(
    inputs: Sequence[str],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    how: Means = "same",
    *,
    align: bool = False,
    workers: Workers = EVERYBODY,
) -> str:
    """Run all stages for ``inputs`` (addresses, archives, folders) in ``run``; return why there is no report, or "".

    Parameters
    ----------
    inputs : sequence of str
        Addresses, archives, folders.
    run : RunDirectory
    config : Config
    report : callable, optional
    how : {"same", "add", "replace"}
        Relation of the inputs to the sources of an existing run, see `twinlink.jobs.origin`.
    align : bool
        Whether to align the sentences of the pairs.
    workers : Workers, optional
        By default one process per core. The result is the same.
    """
    urls, paths = split_inputs(inputs)
    if not urls and not paths:
        raise InputError("no sources: expected at least one address, archive or folder")
    _check_match(config)
    if workers.cluster:  # a wrong address is found before hours of crawling
        with workers.executor(run.path):
            pass
    with entering(run, urls, paths, config, how) as (place, sources):
        if urls:
            crawl_stage(urls, place, config, report, run.pause_file)
        ingest_stage(sources, place, config, report, workers, partial(_load_match, config.langs))
        match_stage(place, config, report, workers)
        if place is not run:
            _check_replacement(place, config.langs)
        if align:
            _show(place, report)  # so that an error does not leave the report of the earlier pairs
            align_stage(place, config, report, workers)
        _load_parts(place, config, report)
    return _show(run, report)


def _load_parts(run: RunDirectory, config: Config, report: Report) -> None:
    """Fetch style sheets and pictures of the pages of pairs; a failure does not affect the results."""
    if config.crawl.page_parts == "none":
        return
    from twinlink.jobs.page_parts import fetch_page_parts

    try:
        fetch_page_parts(run, config, report)
    except TwinlinkError as error:
        report("page parts", 0, None, f"not fetched: {error}")


def _load_match(langs: Sequence[str]) -> None:
    """Load what the match of many pages in some languages needs, and the report."""
    import scipy.sparse.csgraph  # noqa: F401  (for groups of near-duplicates)

    import twinlink.match.stage
    import twinlink.review.report.stage  # noqa: F401

    if "zh" in map(base_language, langs):
        from twinlink.text.chinese import load_dictionary

        load_dictionary()


def _show(run: RunDirectory, report: Report) -> str:
    """Write the report; a failure does not affect the results, and is returned."""
    report("report", 0, None, "drawing")
    try:
        report_stage(run)
    except TwinlinkError as error:
        report("report", 0, None, f"not written: {error}")
        return f"the report was not written: {error}"
    return ""


def _check_match(config: Config) -> None:
    """Check the input of `match` now, to report errors before hours of crawling."""
    check_two(config.langs)
    if config.match.lexicons:
        from twinlink.similarity.lexicon_files import read_lexicon
        from twinlink.similarity.lexicon_sets import named_files

        for path in named_files(config.match.lexicons):
            read_lexicon(path)
    if config.match.method != "weighed":
        from twinlink.match.methods.registry import check_cut
        from twinlink.patterns.library import read_libraries

        check_cut(config.match)
        read_libraries(config.match.patterns.libraries)


def _check_replacement(place: RunDirectory, langs: Sequence[str]) -> None:
    """Refuse to replace a run by one without pairs."""
    from twinlink.match.counts import count_match, why_none
    from twinlink.match.pairs_file import EmptyMatchError, n_pairs

    folder = place.stage_folder("match")
    if not n_pairs(folder):
        counts = count_match(place, folder)
        why = why_none(counts.languages, langs, counts.reasons)
        ended = f"The run is unchanged; the new result is in {place.path}"
        raise EmptyMatchError(place.path, ended, counts, why)


def report_stage(run: RunDirectory) -> Path:
    """Write the report of the run, unless it is up to date."""
    from twinlink.review.report.stage import refresh_report

    return refresh_report(run)


def crawl_stage(
    urls: Sequence[str],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    pause: Path | None = None,
    own: Config | None = None,
) -> CrawlProgress:
    """Fetch the sites of ``urls``; resumes an earlier call.

    Parameters
    ----------
    urls : sequence of str
        Start pages.
    run : RunDirectory
    config : Config
    report : callable, optional
    pause : Path, optional
        The file that asks for a pause; by default the run's own.
    own : Config, optional
        What the run remembers instead of ``config``: from the first page on that is fetched with it, for then there is
        something to go on with.
    """
    seen = [_ALL]

    def on_progress(progress: CrawlProgress) -> None:
        if progress.fetched > seen[0]:
            remember(run, own or config, "crawl")
        seen[0] = progress.fetched
        report("crawl", progress.fetched, _expected_pages(progress, settings), _crawl_detail(progress))

    settings = config.crawl if config.crawl.langs else replace(config.crawl, langs=config.langs)
    progress = crawl(urls, run.path, settings, on_progress, pause or run.pause_file)
    remember(run, own or config, "crawl")
    run.publish()
    return progress


def crawl_alone(
    urls: Sequence[str], run: RunDirectory, config: Config, report: Report = silent, how: Means = "same"
) -> CrawlProgress:
    """Run the stage as a separate job, which also remembers the wanted languages."""
    with entering(run, urls, [], config, how) as (place, _):
        progress = crawl_stage(urls, place, config, report, run.pause_file)
        remember(place, config, "langs")
    return progress


def _expected_pages(progress: CrawlProgress, settings: CrawlSettings) -> int:
    """Return the number of pages that a crawl will have fetched: all known ones, within its budgets."""
    known = progress.fetched + progress.queued
    of_sites = known if settings.max_site_pages is None else progress.n_sites * settings.max_site_pages
    return max(progress.fetched, min(known, settings.max_pages, of_sites))


def _crawl_detail(progress: CrawlProgress) -> str:
    """Return a short summary of a crawl so far."""
    parts = [*filter(None, [progress.wait]), f"queued {progress.queued}"]
    if progress.rejected:
        reasons = list(progress.reasons.items())[:_N_SHOWN]
        parts.append(f"rejected {progress.rejected} ({_counts(reasons)})")
    if declared := [(lang, n) for lang, n in progress.langs.items() if lang != UNDETERMINED]:
        parts.append(f"declared {_counts(declared[:_N_SHOWN])}")
    if progress.n_sites > 1:
        parts.append(f"{progress.n_sites} sites")
    if progress.ended:
        parts.append(f"{sum(progress.ended.values())} ended by budget ({_counts(progress.ended.items())})")
    return " · ".join(parts)


def _counts(items: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in items)


def ingest_stage(
    paths: Sequence[Path],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    workers: Workers = EVERYBODY,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Read the crawl's archives and ``paths`` into tables; ``meanwhile`` is that of `twinlink.ingest.stage.ingest`.

    Raises
    ------
    InputError
        If there is neither a path nor an archive.
    """
    if not paths and not run.archives():
        raise InputError(f"nothing to read: {run.path} has no crawl in it, and no WARC file or folder is given")
    known = source_paths(run)
    gone = [path for path in paths if not path.exists() and path.resolve() in known]
    if gone:
        raise InputError(
            f"{gone[0]}: was read into {run.path} and no longer exists; put it back, or rebuild the run with --replace"
        )
    with workers.executor(run.path, config.memory, helps=True) as executor:
        ingest(run, paths, _ingest_settings(config), partial(report, "ingest"), config, executor, meanwhile)


def ingest_alone(
    paths: Sequence[Path],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    how: Means = "same",
    workers: Workers = EVERYBODY,
) -> None:
    """Run the stage as a separate job; without paths, the sources of the run are read again."""
    with entering(run, [], paths, config, how) as (place, sources):
        ingest_stage(sources, place, config, report, workers)


def shapes_stage(run: RunDirectory, report: Report = silent) -> None:
    """Linearise the pages of the run, unless that is done."""
    from twinlink.ingest.shapes import linearise_pages

    linearise_pages(run, lambda done: report("shapes", done, None))


def _ingest_settings(config: Config) -> IngestSettings:
    return config.override({"ingest.site_by": config.crawl.site_by}).ingest


def align_stage(run: RunDirectory, config: Config, report: Report = silent, workers: Workers = EVERYBODY) -> None:
    """Align the sentences of the run's page pairs."""
    from twinlink.align.formats.sentence_pairs import PairFile
    from twinlink.align.stage import align_run

    lexicons = [Path(name) for name in config.bitext.lexicons or config.match.lexicons]
    warm = [PairFile.of(text) for text in config.bitext.warm]

    with workers.executor(run.path, config.memory) as executor:
        align_run(
            run, config.bitext, lexicons, warm=warm, executor=executor, on_pairs=partial(report, "align"), config=config
        )


def match_stage(run: RunDirectory, config: Config, report: Report = silent, workers: Workers = EVERYBODY) -> None:
    """Match all sites of the run; linearise its pages first if the method needs that."""
    # They take a second to load, for which the other stages need not wait.
    from twinlink.match.methods.registry import METHODS, check_cut
    from twinlink.match.stage import match

    check_two(config.langs)
    check_cut(config.match)
    if METHODS[config.match.method].reads_shapes:
        shapes_stage(run, report)
    with workers.executor(run.path, config.memory) as executor:
        match(run, config, partial(report, "match"), executor=executor)


def patterns_stage(run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Learn the URL patterns of the run's sites."""
    from twinlink.patterns.stage import learn_run

    learn_run(run, config, partial(report, "patterns"))


def rank_stage(run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Rank the sites that the run's pages link to; those that a round of `discover` turned down are no candidates."""
    from twinlink.rundir.rounds import turned_down
    from twinlink.sites.stage import rank

    rank(run, config, turned_down(run), partial(report, "rank"), partial(report, "host graph"))
