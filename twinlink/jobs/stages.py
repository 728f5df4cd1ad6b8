"""The stages of the jobs: crawl, ingest, match, align, patterns, report. Each is skipped when done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from twinlink.config import Config
from twinlink.errors import InputError
from twinlink.ingest.stage import ingest, source_paths
from twinlink.jobs.origin import SourceMode, entering
from twinlink.jobs.outlook import Outlook
from twinlink.language_names import check_two
from twinlink.languages import UNDETERMINED
from twinlink.progress import Report
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remember
from twinlink.rundir.side_results import make_side_run
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.system.workers import Workers

ALL_CORES = Workers()
_ALL = 2**53
_N_SHOWN = 3  # reasons and languages shown while a crawl runs


def silent(stage: str, done: int, total: int | None, detail: str = "") -> None:
    """Report nothing."""


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
    outlook = Outlook()

    def on_progress(progress: CrawlProgress) -> None:
        if progress.fetched > seen[0]:
            remember(run, own or config, "crawl")
        seen[0] = progress.fetched
        report("crawl", progress.fetched, outlook.expected_pages(progress, settings), _crawl_detail(progress))

    settings = config.crawl if config.crawl.langs else replace(config.crawl, langs=config.langs)
    progress = crawl(urls, run.path, settings, on_progress, pause or run.pause_file)
    remember(run, own or config, "crawl")
    run.publish()
    return progress


def crawl_alone(
    urls: Sequence[str], run: RunDirectory, config: Config, report: Report = silent, how: SourceMode = "same"
) -> CrawlProgress:
    """Run the stage as a separate job, which also remembers the wanted languages."""
    with entering(run, urls, [], config, how) as (place, _):
        progress = crawl_stage(urls, place, config, report, run.pause_file)
        remember(place, config, "langs")
    return progress


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
    workers: Workers = ALL_CORES,
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
        how = partial(report, "ingest"), config, executor, meanwhile
        ingest(run, paths, config.ingest, *how, site_by=config.crawl.site_by)


def ingest_alone(
    paths: Sequence[Path],
    run: RunDirectory,
    config: Config,
    report: Report = silent,
    how: SourceMode = "same",
    workers: Workers = ALL_CORES,
) -> None:
    """Run the stage as a separate job; without paths, the sources of the run are read again."""
    with entering(run, [], paths, config, how) as (place, sources):
        ingest_stage(sources, place, config, report, workers)


def shapes_stage(run: RunDirectory, report: Report = silent) -> None:
    """Linearise the pages of the run, unless that is done."""
    from twinlink.ingest.shapes import linearise_pages

    linearise_pages(run, lambda done: report("shapes", done, None))


def align_stage(run: RunDirectory, config: Config, report: Report = silent, workers: Workers = ALL_CORES) -> None:
    """Align the sentences of the run's page pairs."""
    from twinlink.align.formats.sentence_pairs import PairFile
    from twinlink.align.stage import align_run

    lexicons = [Path(name) for name in config.bitext.lexicons or config.match.lexicons]
    warm = [PairFile.of(text) for text in config.bitext.warm]

    with workers.executor(run.path, config.memory) as executor:
        align_run(
            run, config.bitext, lexicons, warm=warm, executor=executor, on_pairs=partial(report, "align"), config=config
        )


def match_stage(run: RunDirectory, config: Config, report: Report = silent, workers: Workers = ALL_CORES) -> None:
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


def match_again(
    run: RunDirectory,
    target: Path,
    place: AbstractContextManager[tuple[RunDirectory, Report]],
    config: Config,
    workers: Workers = ALL_CORES,
) -> None:
    """Match the pages of a run again, and bring its report up to date.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    target : Path
        The run, or the folder of a further match of it (`twinlink.rundir.side_results.side_path`): it gets the pairs.
    place : context manager
        Locks the target, and gives it and what takes the progress.
    config : Config
    workers : Workers, optional
    """
    with ExitStack() as stack:
        if target != run.path:  # nobody may change the pages meanwhile
            make_side_run(stack.enter_context(RunDirectory.held(run.path, run.tell)), target.name)
        directory, report = stack.enter_context(place)
        match_stage(directory, config, report, workers)
        if directory.report_file.exists():  # it would still show the earlier pairs
            report_stage(directory)


def patterns_stage(run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Learn the URL patterns of the run's sites."""
    from twinlink.patterns.stage import learn_run

    learn_run(run, config, partial(report, "patterns"))


def report_stage(run: RunDirectory) -> Path:
    """Write the report of the run, unless it is up to date."""
    from twinlink.review.report.stage import refresh_report

    return refresh_report(run)
