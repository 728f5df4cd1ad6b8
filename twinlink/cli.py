"""The command line: every verb reads its options, calls the library, and says what came out and where."""

from __future__ import annotations

import io
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from twinlink.errors import ConfigError, InputError, RunError, TwinlinkError
from twinlink.judging import between, check_gold, gold_between, two_languages
from twinlink.telling import tell_crawl, tell_evaluation, tell_pairs, tell_segments, tell_verdicts, write_verdicts

if TYPE_CHECKING:
    from twinlink.config import Config
    from twinlink.progress import Report
    from twinlink.run import Run
    from twinlink.rundir import RunDirectory

__all__ = ["app", "main"]

app = typer.Typer(
    name="twinlink",
    help="Find pages that are translations of each other, and the sites that have them, by how pages link.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Method(StrEnum):
    """Names of the methods, as ``match.method`` has them."""

    WEIGHED = "weighed"
    LIU2014 = "liu2014"
    JANGELDIN = "jangeldin"
    WEBMINING = "webmining"
    BITEXTOR2010 = "bitextor2010"
    URLS = "urls"


class Verifier(StrEnum):
    """Names of what judges pairs, as `twinlink.pipeline.verify.VERIFIERS` has them."""

    STRAND = "strand"
    HC1 = "hc1"
    HC2 = "hc2"
    MIXTURE = "mixture"
    JANGELDIN = "jangeldin"
    WEBMINING = "webmining"
    BITEXTOR2010 = "bitextor2010"


Inputs = Annotated[list[str], typer.Argument(metavar="URL|PATH...", help="Start addresses, archives, folders.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="Run directory; made or resumed.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Langs = Annotated[str, typer.Option(help="Wanted languages, e.g. en,zh. Default: the two most frequent on each site.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", "-c", help="Settings file (TOML); options go over it.")]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Any setting, e.g. match.ets.alpha=0.3; repeatable."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
BaseUrl = Annotated[str, typer.Option(help="Address that a mirror folder's top stands for.")]
Lexicons = Annotated[
    list[Path], typer.Option("--lexicon", help="Bilingual lexicon (TSV, CC-CEDICT, FreeDict, MUSE); repeatable.")
]
SiteBy = Annotated[
    str, typer.Option(help="What one site is: domain (registered domain), host, or path (the start page's folder).")
]
Seeds = Annotated[Path | None, typer.Option(metavar="FILE", help="File of more start addresses, one a line.")]
Contact = Annotated[str, typer.Option(help="Your mail or web address, told to the sites that are crawled.")]
Include = Annotated[
    list[str], typer.Option("--include", metavar="REGEX", help="Fetch only addresses that this fits; repeatable.")
]
Exclude = Annotated[
    list[str], typer.Option("--exclude", metavar="REGEX", help="Do not fetch addresses that this fits; repeatable.")
]
MaxSitePages = Annotated[int | None, typer.Option(min=1, help="Pages fetched at most of one site.")]
UrlPrefixes = Annotated[
    list[str],
    typer.Option("--url-prefix", metavar="URL", help="Read only pages whose address begins so; repeatable."),
]
MaxPages = Annotated[int | None, typer.Option(min=1, help="Pages fetched at most.")]
MethodName = Annotated[
    Method | None,
    typer.Option("--method", help="How pairs are found: evidence weighed on the site (default), or as a paper has it."),
]
MinProbability = Annotated[
    float | None, typer.Option(min=0, max=1, help="Least probability of a pair that is handed out. Default: 0.5.")
]
MinPrecision = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Hand out as many pairs as keep the expected precision at this or above."),
]
GoldFile = Annotated[Path, typer.Option(help="Known pairs: two tab-separated addresses a line.")]

DEMO_RUN = Path("demo-run")
INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
STOPPED = "stopped; the same command goes on where it stopped"


def main() -> None:
    """Run the command line: errors of twinlink become one clear line and an exit code."""
    # Our matrices are small: more threads than one wait for each other, and on a busy machine that is most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an arrow where only ASCII can be shown, a name in Big5
    try:
        app(standalone_mode=True)
    except TwinlinkError as error:
        _end(f"error: {error}", error.exit_code)
    except OSError as error:  # a full disk, a file that may not be read
        _end(f"error: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}", RunError.exit_code)
    except KeyboardInterrupt:
        _end(STOPPED, INTERRUPTED)
    except SystemExit as ended:  # typer makes one of Ctrl-C
        if ended.code == INTERRUPTED:
            _end(STOPPED, INTERRUPTED)
        raise


def _end(message: str, code: int) -> NoReturn:
    print(f"twinlink: {message}", file=sys.stderr)
    sys.exit(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        from twinlink.rundir import twinlink_version

        typer.echo(f"twinlink {twinlink_version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find pages that are translations of each other, and the sites that have them, by how pages link."""


@app.command()
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
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Crawl or read sites, match their pages, write the pairs: the whole job.

    Run the same command again after a stop: what is done is not done again. What RUN has fetched before stays in it.

    Example: twinlink mine https://www.example.gov.hk -o RUN --langs en,zh
    """
    from twinlink.pipeline.mine import mine_stages

    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix}
    given |= _crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    given |= _match_options(langs, lexicon, method, min_probability, min_precision)
    settings = _settings(None, config, set_, given)
    with _working(out, quiet) as (run, report):
        mine_stages([*inputs, *_seeds(seeds)], run, settings, report)
    tell_pairs(_opened(out))


@app.command()
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
) -> None:
    """Fetch sites into WARC files, and no more.

    With --again, a crawl that has come to its end is done again, with the settings that it had and, unless named, the
    addresses that it began at.

    Example: twinlink crawl https://www.example.gov.hk -o RUN --max-pages 2000
    """
    from twinlink.pipeline.mine import crawl_stage, split_inputs

    given = _crawl_options(site_by, contact, include, exclude, max_pages, max_site_pages)
    settings = _settings(out if again else None, config, set_, {"langs": langs, "crawl.again": again or None, **given})
    addresses, paths = split_inputs([*urls, *_seeds(seeds)])
    if paths:
        raise ConfigError(f"{paths[0]}: `twinlink crawl` takes addresses; read files with `twinlink ingest`")
    with _working(out, quiet) as (run, report):
        progress = crawl_stage(addresses, run, settings, report)
    tell_crawl(progress, out)
    typer.echo(f"next: twinlink ingest -o {out}")


@app.command()
def ingest(
    out: Out,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Archives or folders.")] = [],  # noqa: B006
    base_url: BaseUrl = "",
    url_prefix: UrlPrefixes = [],  # noqa: B006
    site_by: SiteBy = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Read archives, mirror folders and the run's own crawl into tables.

    Archives are WARC and ARC files, WACZ packages, CDX and CDXJ indexes beside their archives, and lists of
    tab-separated addresses and files. A mirror may be wget's or HTTrack's.

    Example: twinlink ingest mirror/ --base-url https://www.example.gov.hk -o RUN
    """
    from twinlink.pipeline.mine import ingest_stage

    given = {"ingest.base_url": base_url, "ingest.url_prefixes": url_prefix, "crawl.site_by": site_by}
    settings = _settings(out, config, set_, given)
    with _working(out, quiet) as (run, report):
        ingest_stage(paths, run, settings, report)
    found = _opened(out)
    typer.echo(f"{len(found.pages)} pages, {len(found.links)} links, {len(found.rejects)} rejects → {out}/ingest")
    typer.echo(f"next: twinlink match {out} --langs en,zh")


@app.command()
def match(
    run: RunPath,
    langs: Langs = "",
    lexicon: Lexicons = [],  # noqa: B006
    method: MethodName = None,
    min_probability: MinProbability = None,
    min_precision: MinPrecision = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Match the pages of a run that has been ingested.

    Example: twinlink match RUN --langs en,zh --min-precision 0.95
    """
    from twinlink.pipeline.mine import match_stage

    wanted = _match_options(langs, lexicon, method, min_probability, min_precision)
    settings = _settings(run, config, set_, wanted)
    _opened(run)
    with _working(run, quiet) as (directory, report):
        match_stage(directory, settings, report)
    tell_pairs(_opened(run))


@app.command()
def align(
    first: Annotated[Path, typer.Argument(metavar="RUN|A.txt", help="A run, or a text of one sentence a line.")],
    second: Annotated[Path | None, typer.Argument(metavar="[B.txt]", help="Its translation, likewise.")] = None,
    lexicon: Lexicons = [],  # noqa: B006
    form: Annotated[
        str,
        typer.Option("--format", help="Of a run: tmx, tsv, moses, jsonl, with commas between. Of texts: tsv or beads."),
    ] = "",
    warm: Annotated[
        list[str],
        typer.Option(
            "--warm",
            metavar="[LANG-LANG=]FILE",
            help="Sentence pairs to learn words from first: TMX, TSV, or what two Moses files begin with; repeatable.",
        ),
    ] = [],  # noqa: B006
    workers: Annotated[int, typer.Option(min=1, help="Processes that work on a run; the result is the same.")] = 1,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Align the sentences of a run's page pairs, or of two texts.

    Example: twinlink align RUN --format tmx,tsv
    """
    from twinlink.pipeline.mine import align_files, align_stage

    if second is not None:
        settings = _settings(None, config, set_, {})
        lexicons = lexicon or [Path(name) for name in settings.match.lexicons]
        for line in align_files(first, second, settings.bitext, form or "tsv", warm, lexicons):
            typer.echo(line)
        return
    formats = [name.strip() for name in form.split(",") if name.strip()]
    settings = _settings(first, config, set_, {"bitext.formats": formats})
    _opened(first)
    lexicons = lexicon or [Path(name) for name in settings.match.lexicons]
    with _working(first, quiet) as (directory, report):
        align_stage(directory, settings, lexicons, workers, report, warm)
    tell_segments(first)


@app.command()
def patterns(
    run: RunPath,
    library: Annotated[
        list[Path],
        typer.Option("--library", metavar="FILE", help="Pattern library of other sites (TSV, Parquet); repeatable."),
    ] = [],  # noqa: B006
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what this run alone teaches to a library (TSV, Parquet).")
    ] = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Learn the URL patterns of a run's sites: which parts of addresses stand for each other.

    Where the run has been matched, the languages that were found are respected.

    Example: twinlink patterns RUN --library others.tsv --export mine.tsv
    """
    from twinlink.pipeline.patterns import export_library, learn_run, said_of
    from twinlink.similarity.pattern_library import check_library_path

    if export is not None:
        check_library_path(export)
    settings = _settings(run, config, set_, {"match.patterns.libraries": [str(path.absolute()) for path in library]})
    _opened(run)
    with _working(run, quiet) as (directory, report):
        learn_run(directory, settings, lambda done, total: report("patterns", done, total))
        for line in said_of(directory):
            typer.echo(line)
        if export is not None:
            typer.echo(f"{export_library(directory, export)} keys → {export}")


@app.command()
def rank(
    run: RunPath,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the graph of sites, too: .graphml, .gexf, or .parquet (edge list)."),
    ] = None,
    common_crawl: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="Vertices or edges file of Common Crawl's graph: adds links; repeatable."),
    ] = [],  # noqa: B006
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Rank the sites that a run's pages link to: which of them probably have pages in two languages, too.

    How bilingual a crawled site is comes from `twinlink patterns`, or else from the pairs of `twinlink match`.

    Example: twinlink rank RUN --export sites.graphml
    """
    from twinlink.pipeline.ranking import check_export, export_graph, said_of
    from twinlink.pipeline.ranking import rank as rank_stage
    from twinlink.pipeline.rounds import turned_down

    if export is not None:
        check_export(export)
    others = {"ranking.graph.common_crawl": [str(path.absolute()) for path in common_crawl]}
    settings = _settings(run, config, set_, others)
    _opened(run)
    with _working(run, quiet) as (directory, report):
        rank_stage(directory, settings, turned_down(directory), lambda done, total: report("rank", done, total))
        for line in said_of(directory):
            typer.echo(line)
        if export is not None:
            export_graph(directory, export, settings)
            typer.echo(f"graph of sites → {export}")


@app.command()
def recover(
    run: RunPath,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the addresses with pattern, credibility and page; fetch nothing.")
    ] = False,
    contact: Contact = "",
    max_site_addresses: Annotated[int | None, typer.Option(min=1, help="Addresses tried at most on one site.")] = None,
    library: Annotated[
        list[Path],
        typer.Option("--library", metavar="FILE", help="Pattern library of other sites (TSV, Parquet); repeatable."),
    ] = [],  # noqa: B006
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Look for pages that nothing links to: partners whose addresses follow from the URL patterns of RUN.

    What is found goes into RUN's archive; `twinlink ingest` takes it up. The same call again tries no address twice.

    Example: twinlink recover RUN --dry-run
    """
    from twinlink.pipeline import recover as stage

    libraries = [str(path.absolute()) for path in library]
    given = {"crawl.contact": contact, "recover.max_site_addresses": max_site_addresses}
    settings = _settings(run, config, set_, {"match.patterns.libraries": libraries, **given})
    _opened(run)
    with _working(run, quiet) as (directory, report):
        if dry_run:
            line = ""
            for line in stage.guessed_lines(directory, settings):
                typer.echo(line)
            if not line:
                typer.echo("0 addresses: no credible pattern gives a page a partner that is not known", err=True)
            return
        if not stage.has_crawl(directory):
            typer.echo(f"{run} was read from files: its pages' partners are now asked for over the network")
        stage.recover(directory, settings, lambda done, total: report("recover", done, total))
        for line in stage.said_of(directory):
            typer.echo(line)


@app.command()
def discover(
    out: Out,
    urls: Annotated[list[str], typer.Argument(metavar="SEED...", help="Addresses of sites, or files of them.")] = [],  # noqa: B006
    seeds: Seeds = None,
    rounds: Annotated[int | None, typer.Option(min=0, help="Rounds after the seeds. Default: 1.")] = None,
    top: Annotated[int | None, typer.Option(min=1, metavar="K", help="Sites tried in a round. Default: 500.")] = None,
    langs: Langs = "",
    site_by: SiteBy = "",
    contact: Contact = "",
    include: Include = [],  # noqa: B006
    exclude: Exclude = [],  # noqa: B006
    max_site_pages: MaxSitePages = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Let a list of sites grow by itself: crawl, pair, rank the sites around, look at the best, add those, again.

    Run the same command again after a stop; with more rounds it goes on.

    Example: twinlink discover seeds.txt -o RUN --rounds 3 --top 200 --langs en,zh
    """
    from twinlink.pipeline.discover import discover as discover_sites
    from twinlink.spiders.seeds import seeds_of
    from twinlink.telling import tell_discovery, tell_round

    given = {"langs": langs, "discover.rounds": rounds, "discover.top": top}
    given |= _crawl_options(site_by, contact, include, exclude, None, max_site_pages)
    settings = _settings(None, config, set_, given)
    addresses = seeds_of([*urls, *([str(seeds)] if seeds else [])])
    with _working(out, quiet) as (run, report):
        discover_sites(addresses, run, settings, report, lambda row: tell_round(row, out))
    tell_discovery(out, settings.discover.rounds)


@app.command()
def verify(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Two tab-separated addresses or files a line.")],
    run: Annotated[Path | None, typer.Option(metavar="RUN", help="Run that has the pages. Default: files.")] = None,
    method: Annotated[
        list[Verifier], typer.Option("--method", help="Who judges; repeatable. Default: all.", show_default=False)
    ] = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="TSV", help="Default: PAIRS.verdicts.tsv.")] = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Judge pairs from elsewhere by the structure of their pages: parallel or not.

    The pairs may come from URL patterns, hreflang or another tool. Files are looked for beside PAIRS.tsv.

    Example: twinlink verify pairs.tsv --run RUN --method jangeldin
    """
    from twinlink.pipeline.verify import VERIFIERS, read_pairs, verify_pairs

    settings = _settings(run, config, set_, {})
    given = read_pairs(pairs)
    target = _verdicts_file(pairs, out)
    names = tuple(name for name in VERIFIERS if not method or name in {each.value for each in method})
    if run is None:
        verified = verify_pairs(given, names, None, pairs.parent, settings.match)
    else:
        _opened(run)
        with _working(run, quiet) as (directory, _):
            verified = verify_pairs(given, names, directory, settings=settings.match)
    write_verdicts(verified, target)
    tell_verdicts(verified, target)


@app.command()
def evaluate(
    run: RunPath,
    gold: GoldFile,
    langs: Annotated[str, typer.Option(help="Count only pairs of these two languages, e.g. en,zh.")] = "",
    curve: Annotated[bool, typer.Option(help="Show the curve.")] = False,
) -> None:
    """Measure precision, recall and F1 against known pairs.

    ignore.tsv, equiv.tsv, unscored.txt and pages.tsv beside the gold file refine the rules.

    Example: twinlink evaluate RUN --gold gold.tsv
    """
    from twinlink.evaluate import evaluate as evaluate_pairs
    from twinlink.evaluate import precision_coverage, read_gold

    found, known = _opened(run), read_gold(gold)
    table = found.pairs
    if langs:
        wanted = two_languages(found, langs)
        table = table.loc[between(table["lang_a"], table["lang_b"], wanted)]
        known = gold_between(known, found, wanted)
    pairs = list(zip(table["url_a"], table["url_b"], strict=True))
    check_gold(found, gold, known.known(), known.key)
    tell_evaluation(evaluate_pairs(pairs, known))
    if curve:
        ranked_by = "probability" if table["probability"].notna().all() else "score"
        typer.echo(f"{ranked_by:11}  precision  recall")
        for score, precision, recall in precision_coverage(pairs, list(table[ranked_by]), known):
            typer.echo(f"{score:11.4f}  {precision:9.4f}  {recall:6.4f}")


@app.command()
def explain(
    run: RunPath,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page.")],
    other: Annotated[str | None, typer.Argument(metavar="[URL]", help="The page it may be paired with.")] = None,
) -> None:
    """Say why two pages are a pair or not, or what became of one page.

    Example: twinlink explain RUN https://www.example.gov.hk/en/about.htm
    """
    typer.echo(str(_opened(run).explain(url, other)))


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="Where the site and the run go.")] = DEMO_RUN,
    quiet: Quiet = False,
) -> None:
    """Write a small bilingual site, serve it on this machine, crawl and match it, and score the result.

    A demo that is in RUN already is replaced.

    Example: twinlink demo -o demo-run
    """
    from twinlink.demo import serve, write_site
    from twinlink.evaluate import evaluate as evaluate_pairs
    from twinlink.evaluate import read_gold
    from twinlink.pipeline.mine import mine_stages

    with _working(out, quiet) as (run, report):
        if run.config_file.exists() and not (out / "site" / "gold.tsv").exists():
            raise RunError(f"{out}: holds a run that is no demo; choose another directory")
        run.clear()  # the site gets another port each time: what was fetched from the old one would stand beside it
        site = write_site(out / "site")
        settings = _settings(None, None, [], {"langs": "en,zh", "match.lexicons": [site.lexicon]})
        with serve(site.folder) as base:
            typer.echo(f"a bilingual site of {site.n_pages} pages is served at {base}")
            mine_stages([base.rstrip("/") + path for path in site.seeds], run, settings, report)
    pairs = _opened(out).pairs
    tell_pairs(_opened(out))
    gold = read_gold(site.gold)
    tell_evaluation(evaluate_pairs(zip(pairs["url_a"], pairs["url_b"], strict=True), gold))
    typer.echo(f"known truth: {site.gold}")


def _crawl_options(
    site_by: str,
    contact: str,
    include: list[str],
    exclude: list[str],
    max_pages: int | None,
    max_site_pages: int | None,
) -> dict[str, Any]:
    """Return the options that `mine` and `crawl` share by the names of their settings."""
    return {
        "crawl.site_by": site_by,
        "crawl.contact": contact,
        "crawl.include": include,
        "crawl.exclude": exclude,
        "crawl.max_pages": max_pages,
        "crawl.max_site_pages": max_site_pages,
    }


def _seeds(file: Path | None) -> list[str]:
    from twinlink.spiders.seeds import read_seeds

    return [] if file is None else read_seeds(file)


def _match_options(
    langs: str, lexicon: list[Path], method: Method | None, min_probability: float | None, min_precision: float | None
) -> dict[str, Any]:
    """Return the options that `mine` and `match` share by the names of their settings."""
    return {
        "langs": langs,
        "match.lexicons": lexicon,
        "match.method": method and method.value,
        "match.min_probability": min_probability,
        "match.min_precision": min_precision,
    }


def _settings(run: Path | None, file: Path | None, assignments: list[str], given: dict[str, Any]) -> Config:
    """Put the settings together: the run's or the defaults, a file over them, then single options."""
    from twinlink.config import Config

    base = Config()
    if run is not None and (run / "config.toml").is_file():
        base = Config.load(run / "config.toml")
    if file is not None:
        base = Config.load(file, base)
    values = {name: value for name, value in given.items() if value not in ("", None, [])}
    if "langs" in values:
        values["langs"] = [tag.strip() for tag in values["langs"].split(",")]
    if "match.lexicons" in values:  # whole paths: the run is matched again from another folder
        values["match.lexicons"] = [str(path.absolute()) for path in values["match.lexicons"]]
    return base.override({**values, **dict(_assignment(text) for text in assignments)})


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set {text}: expected NAME=VALUE, e.g. match.ets.alpha=0.3")
    try:
        return name.strip(), tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value


@contextmanager
def _working(out: Path, quiet: bool) -> Iterator[tuple[RunDirectory, Report]]:
    """Hold a run directory and show how the work in it goes on."""
    from twinlink.progress import reporter
    from twinlink.rundir import RunDirectory

    run = RunDirectory.create(out)
    with run.lock(), reporter(quiet) as report:
        yield run, report


def _opened(path: Path) -> Run:
    from twinlink.run import open_run

    return open_run(path)


def _verdicts_file(pairs: Path, out: Path | None) -> Path:
    """Return where the verdicts go, once it is known that they can."""
    target = out or pairs.with_suffix(".verdicts.tsv")
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target}: expected the name of a file in a folder that exists")
    if target.exists() and target.samefile(pairs):
        raise InputError(f"{target}: this is the list of pairs itself; choose another name")
    return target
