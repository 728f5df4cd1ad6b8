"""URL patterns and sites: patterns, recover, rank, discover."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinlink.cli.options import (
    AsJson,
    ConfigFile,
    Contact,
    Exclude,
    Forget,
    Include,
    Langs,
    MaxSitePages,
    Out,
    Quiet,
    RunPath,
    Seeds,
    Settings,
    SiteBy,
    Verbose,
)
from twinlink.cli.output import command, echo, print_result
from twinlink.cli.runs import opened, working
from twinlink.cli.settings import crawl_options, settings_of

if TYPE_CHECKING:
    from twinlink.cli.results.sites import GuessesResult


def patterns(
    run: RunPath,
    library: Annotated[
        list[Path],
        typer.Option("--library", metavar="FILE", help="Pattern library of other sites (TSV, Parquet); repeatable."),
    ] = [],  # noqa: B006
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the patterns of this run alone to a library (TSV, Parquet)."),
    ] = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Learn the URL patterns of a run's sites: parts of addresses that correspond between languages.

    If the run has been matched, the languages of its pages are taken into account.

    Example: twinlink patterns RUN --library others.tsv --export mine.tsv
    """
    from twinlink.cli.results.sites import PatternsResult
    from twinlink.jobs.stages import patterns_stage
    from twinlink.patterns.library import check_library_path
    from twinlink.patterns.stage import export_library
    from twinlink.rundir.directory import check_target

    if export is not None:
        check_library_path(export)
        check_target(export)
    settings = settings_of(run, config, set_, {"match.patterns.libraries": library}, forget)
    opened(run)
    with working(run, quiet, settings, ("patterns",), verbose=verbose) as (directory, report):
        patterns_stage(directory, settings.config, report)
        n_keys = None if export is None else export_library(directory, export)
        result = PatternsResult.of(directory, export, n_keys)
    print_result(result, as_json, quiet, [command("recover", run, "--dry-run")])


def rank(
    run: RunPath,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the graph of sites, too: .graphml, .gexf, or .parquet (edge list)."),
    ] = None,
    host_graph: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="Vertices or edges file of Common Crawl's host graph, or a folder of them: more features; repeatable.",
        ),
    ] = [],  # noqa: B006
    common_crawl: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="The same files: adds links between the sites of the run; repeatable."),
    ] = [],  # noqa: B006
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Rank the sites that a run's pages link to, those that are most probably bilingual first.

    The credibility of crawled sites is taken from `twinlink patterns`, or else from the pairs of `twinlink match`.

    Example: twinlink rank RUN --export sites.graphml
    """
    from twinlink.cli.results.sites import RankResult
    from twinlink.jobs.ranking import rank_stage
    from twinlink.rundir.directory import check_target
    from twinlink.sites.export import check_export
    from twinlink.sites.stage import export_graph

    if export is not None:
        check_export(export)
        check_target(export)
    given = {"ranking.host_graph": host_graph, "ranking.graph.common_crawl": common_crawl}
    settings = settings_of(run, config, set_, given, forget)
    opened(run)
    with working(run, quiet, settings, ("rank",), verbose=verbose) as (directory, report):
        rank_stage(directory, settings.config, report)
        if export is not None:
            export_graph(directory, export, settings.config)
        result = RankResult.of(directory, export)
    print_result(result, as_json, quiet)


def recover(
    run: RunPath,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the addresses with pattern, credibility and page; fetch nothing.")
    ] = False,
    contact: Contact = "",
    max_site_addresses: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of addresses to try on one site.")
    ] = None,
    library: Annotated[
        list[Path],
        typer.Option("--library", metavar="FILE", help="Pattern library of other sites (TSV, Parquet); repeatable."),
    ] = [],  # noqa: B006
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Search for deep pages: partners that no page links to, at addresses predicted by the URL patterns of RUN.

    Found pages go into RUN's archive; `twinlink ingest` reads them. A repeated call tries no address twice.

    Example: twinlink recover RUN --dry-run
    """
    from twinlink.cli.results.sites import GuessesResult, RecoveredResult
    from twinlink.recover import stage

    given = {"crawl.contact": contact, "recover.max_site_addresses": max_site_addresses}
    settings = settings_of(run, config, set_, {"match.patterns.libraries": library, **given}, forget)
    opened(run)
    with working(run, quiet, settings, ("recover",), verbose=verbose) as (directory, report):
        if dry_run:
            guesses = GuessesResult.of(run, stage.open_guesses(directory, settings.config))
            print_result(guesses, as_json, quiet, [command("recover", run)] if guesses.addresses else [], raw=True)
            for line in _why_no_more(guesses):
                echo(line, err=True)
            return
        from_files = not stage.has_crawl(directory)
        if from_files and not as_json:
            echo(f"{run} was read from files: the partners of its pages are now fetched over the network")
        stage.recover(directory, settings.config, lambda done, total: report("recover", done, total))
        result = RecoveredResult.of(directory, over_network=from_files)
    steps = f"{command('ingest', '-o', run)} && {command('match', run)}"
    print_result(result, as_json, quiet, [steps] if result.n_found else [])


def _why_no_more(guesses: GuessesResult) -> Iterator[str]:
    """Yield what there is to say about the addresses that `recover` would not request."""
    if guesses.n_linked:
        yield f"not asked for: linked {guesses.n_linked}; crawl these pages first, or use --set recover.linked=true"
    elif not guesses.addresses:
        yield "0 addresses: no credible pattern predicts an unknown partner of a page"


def discover(
    out: Out,
    urls: Annotated[list[str], typer.Argument(metavar="SEED...", help="Addresses of sites, or files of them.")] = [],  # noqa: B006
    seeds: Seeds = None,
    rounds: Annotated[int | None, typer.Option(min=0, metavar="N", help="Rounds after the seeds. Default: 1.")] = None,
    top: Annotated[int | None, typer.Option(min=1, metavar="K", help="Sites tried per round. Default: 500.")] = None,
    langs: Langs = "",
    site_by: SiteBy = "",
    contact: Contact = "",
    include: Include = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    max_site_pages: MaxSitePages = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Grow a list of sites: crawl and match, rank the sites that they link to, probe the best, add the bilingual ones.

    Run the same command again to resume, or with more rounds to continue; the seeds need not be repeated. RUN belongs
    to its seeds; other seeds need another RUN.

    Example: twinlink discover seeds.txt -o RUN --rounds 3 --top 200 --langs en,zh
    """
    from twinlink.language_names import check_two

    given = {"langs": langs, "discover.rounds": rounds, "discover.top": top}
    given |= crawl_options(site_by, contact, include, exclude, None, max_site_pages)
    settings = settings_of(out, config, set_, given, forget)
    check_two(settings.config.langs)

    from twinlink.cli.results.discovery import DiscoveryResult, RoundResult
    from twinlink.jobs.discover import discover as discover_sites
    from twinlink.spiders.seeds import seeds_of

    def on_round(row: dict[str, int]) -> None:
        if not as_json:  # which has all rounds at the end
            print_result(RoundResult.of(row, out), as_json)

    with working(out, quiet, settings, ("discover",), verbose=verbose) as (run, report):
        addresses = seeds_of([*urls, *([str(seeds)] if seeds else [])])
        discover_sites(addresses, run, settings.config, report, on_round)
    print_result(DiscoveryResult.of(out, settings.config.discover.rounds), as_json, quiet)
