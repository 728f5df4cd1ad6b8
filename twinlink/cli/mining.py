"""The whole job and its stages: mine, crawl, ingest, match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinlink.cli.options import (
    AsJson,
    BaseUrl,
    ConfigFile,
    Contact,
    Exclude,
    Include,
    Inputs,
    Labels,
    Langs,
    Lexicons,
    MaxPages,
    MaxSitePages,
    MethodName,
    MinPrecision,
    MinProbability,
    Out,
    Quiet,
    RunPath,
    Seeds,
    Settings,
    SiteBy,
    UrlPrefixes,
)
from twinlink.cli.saying import command, say
from twinlink.cli.settings import crawl_options, match_options, more_seeds, settings_of
from twinlink.cli.working import opened, working
from twinlink.errors import ConfigError

if TYPE_CHECKING:
    from twinlink.config import Config
    from twinlink.progress import Report
    from twinlink.rundir import RunDirectory

__all__ = ["crawl", "ingest", "match", "mine"]


def mine(
    inputs: Inputs,
    out: Out,
    langs: Langs = "",
    base_url: BaseUrl = "",
    lexicon: Lexicons = [],  # noqa: B006  (typer reads the default, nothing changes it)
    site_by: SiteBy = "",
    url_prefix: UrlPrefixes = [],  # noqa: B006
    seeds: Seeds = None,
    contact: Contact = "",
    include: Include = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    max_pages: MaxPages = None,
    max_site_pages: MaxSitePages = None,
    method: MethodName = None,
    min_probability: MinProbability = None,
    min_precision: MinPrecision = None,
    labels: Labels = None,
    align: Annotated[bool, typer.Option("--align", help="Align the sentences of the pairs, too.")] = False,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Crawl or read sites, match their pages, write the pairs: the whole job.

    Run the same command again after a stop: what is done is not done again. What RUN has fetched before stays in it.

    Example: twinlink mine https://www.example.gov.hk -o RUN --langs en,zh
    """
    from twinlink.wanted import check_two

    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix}
    given |= crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    given |= match_options(langs, lexicon, method, min_probability, min_precision, labels)
    settings = settings_of(None, config, set_, given)
    check_two(settings.langs)

    # They take a second to load, for which a wrong setting need not wait.
    from twinlink.pipeline.mine import mine_stages
    from twinlink.telling.pages import PairsTold
    from twinlink.telling.sentences import SentencesTold

    addresses = [*inputs, *more_seeds(seeds)]
    with working(out, quiet) as (run, report):
        mine_stages(addresses, run, settings, report)
        if align:
            _align(run, settings, report)
    sentences = SentencesTold.of(out) if align else None
    say(PairsTold.of(opened(out), sentences), as_json, quiet, [command("review", out)])


def crawl(
    out: Out,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Start addresses.")] = [],  # noqa: B006
    again: Annotated[
        bool, typer.Option("--again", help="Ask again for all that RUN has: only changed pages are sent anew.")
    ] = False,
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
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fetch sites into WARC files, and no more.

    With --again, a crawl that has come to its end is done again, with the settings that it had and, unless named, the
    addresses that it began at.

    Example: twinlink crawl https://www.example.gov.hk -o RUN --max-pages 2000
    """
    given = crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    settings = settings_of(
        out if again else None, config, set_, {"langs": langs, "crawl.again": again or None, **given}
    )

    from twinlink.pipeline.mine import crawl_stage, split_inputs
    from twinlink.telling.pages import CrawlTold

    addresses, paths = split_inputs([*urls, *more_seeds(seeds)])
    if paths:
        raise ConfigError(f"{paths[0]}: `twinlink crawl` takes addresses; read files with `twinlink ingest`")
    with working(out, quiet) as (run, report):
        progress = crawl_stage(addresses, run, settings, report)
    say(CrawlTold.of(progress, out), as_json, quiet, [command("ingest", "-o", out)])


def ingest(
    out: Out,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Archives or folders.")] = [],  # noqa: B006
    base_url: BaseUrl = "",
    url_prefix: UrlPrefixes = [],  # noqa: B006
    site_by: SiteBy = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Read archives, mirror folders and the run's own crawl into tables.

    Archives are WARC and ARC files, WACZ packages, CDX and CDXJ indexes beside their archives, and lists of
    tab-separated addresses and files. A mirror may be wget's or HTTrack's.

    Example: twinlink ingest mirror/ --base-url https://www.example.gov.hk -o RUN
    """
    from twinlink.pipeline.mine import ingest_stage
    from twinlink.telling.pages import IngestTold

    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix, "crawl.site_by": site_by}
    settings = settings_of(out, config, set_, given)
    with working(out, quiet) as (run, report):
        ingest_stage(paths, run, settings, report)
    say(IngestTold.of(opened(out)), as_json, quiet, [command("match", out)])


def match(
    run: RunPath,
    langs: Langs = "",
    lexicon: Lexicons = [],  # noqa: B006
    method: MethodName = None,
    min_probability: MinProbability = None,
    min_precision: MinPrecision = None,
    labels: Labels = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Match the pages of a run that has been ingested.

    Example: twinlink match RUN --langs en,zh --min-precision 0.95
    """
    wanted = match_options(langs, lexicon, method, min_probability, min_precision, labels)
    settings = settings_of(run, config, set_, wanted)

    from twinlink.pipeline.mine import match_stage
    from twinlink.pipeline.reporting import refresh_report
    from twinlink.telling.pages import PairsTold

    opened(run)
    with working(run, quiet) as (directory, report):
        match_stage(directory, settings, report)
        if directory.report_file.exists():  # it would go on telling of the earlier pairs
            refresh_report(directory)
    say(PairsTold.of(opened(run)), as_json, quiet, [command("align", run)])


def _align(run: RunDirectory, settings: Config, report: Report) -> None:
    """Align the sentences of a run that has just been matched."""
    from twinlink.pipeline.mine import align_stage
    from twinlink.pipeline.reporting import refresh_report

    align_stage(run, settings, [Path(name) for name in settings.match.lexicons], 1, report)
    refresh_report(run)
