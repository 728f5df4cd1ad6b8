"""The whole job and its stages: mine, crawl, ingest, match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.options import (
    Add,
    AsJson,
    BaseUrl,
    Cluster,
    ConfigFile,
    Contact,
    Exclude,
    Forget,
    Include,
    Inputs,
    Labels,
    Langs,
    Lexicons,
    MaxPages,
    MaxSitePages,
    Method,
    MinPrecision,
    MinProbability,
    NWorkers,
    Out,
    Quiet,
    Replace,
    RunPath,
    Seeds,
    Settings,
    SiteBy,
    UrlPrefixes,
    Verbose,
)
from twinlink.cli.output import command, print_result
from twinlink.cli.runs import opened, workers_of, working
from twinlink.cli.settings import crawl_options, match_options, more_seeds, settings_of
from twinlink.errors import ConfigError
from twinlink.system.late_imports import load_late

__all__ = ["crawl", "ingest", "match", "mine"]

ALL_STAGES = ("crawl", "ingest", "match")


def mine(
    out: Out,
    inputs: Inputs = [],  # noqa: B006  (typer reads the default, nothing changes it)
    langs: Langs = "",
    base_url: BaseUrl = "",
    lexicon: Lexicons = [],  # noqa: B006
    site_by: SiteBy = "",
    url_prefix: UrlPrefixes = [],  # noqa: B006
    seeds: Seeds = None,
    contact: Contact = "",
    include: Include = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    max_pages: MaxPages = None,
    max_site_pages: MaxSitePages = None,
    method: Method = None,
    min_probability: MinProbability = None,
    min_precision: MinPrecision = None,
    labels: Labels = None,
    align: Annotated[bool, typer.Option("--align", help="Align the sentences of the pairs, too.")] = False,
    add: Add = False,
    replace: Replace = False,
    workers: NWorkers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Crawl or read sites, match their pages and write the pairs: the whole job.

    Run the same command again to resume after a stop; finished work is not repeated. RUN stores its settings; a later
    call need not repeat them. Sources other than those of RUN are refused unless --add or --replace is given.

    Example: twinlink mine https://www.example.gov.hk -o RUN --langs en,zh
    """
    from twinlink.language_names import check_two

    at_work = workers_of(workers, cluster)
    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix}
    given |= crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    given |= match_options(langs, lexicon, method, min_probability, min_precision, labels)
    settings = settings_of(None if replace else out, config, set_, given, forget)
    check_two(settings.config.langs)

    load_late()
    # They take a second to load, for which a wrong setting need not wait.
    from twinlink.cli.results.pages import PairsResult
    from twinlink.cli.results.sentences import SentencesResult
    from twinlink.jobs.mine import mine_stages
    from twinlink.jobs.origin import source_mode

    how = source_mode(add=add, replace=replace)
    with (
        explaining_no_pair(as_json, quiet),
        working(out, quiet, settings, (*ALL_STAGES, *["align"] * align), verbose=verbose) as (run, report),
    ):
        addresses = [*inputs, *more_seeds(seeds)]
        note = mine_stages(addresses, run, settings.config, report, how, align=align, workers=at_work)
    sentences = SentencesResult.of(out, settings.config.bitext.min_score) if align else None
    memory = None if cluster else settings.config.memory
    result = PairsResult.of(opened(out), settings.config.langs, sentences, memory, note)
    print_result(result, as_json, quiet, [command("review", out)])


def crawl(
    out: Out,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Start addresses.")] = [],  # noqa: B006
    again: Annotated[
        bool, typer.Option("--again", help="Fetch all pages of RUN again; unchanged ones are not transferred.")
    ] = False,
    add: Add = False,
    replace: Replace = False,
    seeds: Seeds = None,
    langs: Langs = "",
    site_by: SiteBy = "",
    contact: Contact = "",
    include: Include = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    max_pages: MaxPages = None,
    max_site_pages: MaxSitePages = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Fetch sites into WARC files.

    With --again, a finished crawl is repeated, from its own start addresses unless others are given. A later call may
    name further start addresses beside those of RUN; one that names only new sites needs --add.

    Example: twinlink crawl https://www.example.gov.hk -o RUN --max-pages 2000
    """
    given = crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    given |= {"langs": langs, "crawl.again": again or None}
    settings = settings_of(None if replace else out, config, set_, given, forget)

    from twinlink.cli.results.pages import CrawlResult
    from twinlink.jobs.origin import source_mode, split_inputs
    from twinlink.jobs.stages import crawl_alone

    how = source_mode(add=add, replace=replace)
    with working(out, quiet, settings, ("crawl", "langs"), verbose=verbose) as (run, report):
        addresses, paths = split_inputs([*urls, *more_seeds(seeds)])
        if paths:
            raise ConfigError(f"{paths[0]}: `twinlink crawl` takes addresses; read files with `twinlink ingest`")
        progress = crawl_alone(addresses, run, settings.config, report, how)
    print_result(CrawlResult.of(progress, out), as_json, quiet, [command("ingest", "-o", out)])


def ingest(
    out: Out,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Archives or folders.")] = [],  # noqa: B006
    base_url: BaseUrl = "",
    url_prefix: UrlPrefixes = [],  # noqa: B006
    site_by: SiteBy = "",
    add: Add = False,
    replace: Replace = False,
    workers: NWorkers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Read archives, mirror folders and the run's own crawl into tables.

    Archives are WARC and ARC files, WACZ packages, CDX and CDXJ indexes beside their archives, and lists of
    tab-separated addresses and files. Mirrors may be made by wget or HTTrack. Without PATH, the sources of RUN are read
    again.

    Example: twinlink ingest mirror/ --base-url https://www.example.gov.hk -o RUN
    """
    load_late()
    from twinlink.cli.results.pages import IngestResult
    from twinlink.jobs.origin import source_mode
    from twinlink.jobs.stages import ingest_alone

    how, at_work = source_mode(add=add, replace=replace), workers_of(workers, cluster)
    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix, "crawl.site_by": site_by}
    settings = settings_of(None if replace else out, config, set_, given, forget)
    with working(out, quiet, settings, ("ingest",), verbose=verbose) as (run, report):
        ingest_alone(paths, run, settings.config, report, how, at_work)
    print_result(IngestResult.of(opened(out)), as_json, quiet, [command("match", out)])


def match(
    run: RunPath,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="NAME", help="Keep RUN's own pairs, and put the new ones into RUN/matches/NAME."
        ),
    ] = None,
    langs: Langs = "",
    lexicon: Lexicons = [],  # noqa: B006
    method: Method = None,
    min_probability: MinProbability = None,
    min_precision: MinPrecision = None,
    labels: Labels = None,
    workers: NWorkers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Match the pages of a run that has been ingested.

    RUN remembers the settings. If no pair is found or an error occurs, RUN is not changed.

    With -o, the result and its settings are kept in RUN/matches/NAME. All later commands accept this folder as a run,
    and `twinlink compare` shows where it differs.

    Example: twinlink match RUN --langs en,zh --min-precision 0.95
    """
    wanted = match_options(langs, lexicon, method, min_probability, min_precision, labels)
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.side_results import side_path

    target = run if out is None else side_path(run, out)
    settings = settings_of(target if target.is_dir() else run, config, set_, wanted, forget)

    load_late()
    from twinlink.cli.results.pages import PairsResult
    from twinlink.jobs.stages import match_again

    at_work = workers_of(workers, cluster)
    opened(run)
    with explaining_no_pair(as_json, quiet):
        place = working(target, quiet, settings, ("match",), verbose=verbose)
        match_again(RunDirectory(run), target, place, settings.config, at_work)
    then = command("compare", run, target) if out else command("align", run)
    memory = None if cluster else settings.config.memory
    print_result(PairsResult.of(opened(target), settings.config.langs, memory=memory), as_json, quiet, [then])


@contextmanager
def explaining_no_pair(as_json: bool, quiet: bool) -> Iterator[None]:
    """Say what a match without a pair has counted; what the run had stays."""
    from twinlink.errors import EmptyMatchError, NothingFoundError

    try:
        yield
    except NothingFoundError as error:
        from twinlink.cli.results.pages import PairsResult

        if not isinstance(error, EmptyMatchError):
            raise
        print_result(PairsResult.of_none(error), as_json, quiet)
