"""The command line: every verb reads its options, calls the library, and says what came out and where."""

from __future__ import annotations

import io
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from twinlink.errors import ConfigError, InputError, NothingFoundError, RunError, TwinlinkError

if TYPE_CHECKING:
    from twinlink.config import Config
    from twinlink.evaluate import Evaluation, Gold
    from twinlink.pipeline.verify import Verified
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


class Verifier(StrEnum):
    """Names of what judges pairs, as `twinlink.pipeline.verify.VERIFIERS` has them."""

    STRAND = "strand"
    HC1 = "hc1"
    HC2 = "hc2"
    MIXTURE = "mixture"
    JANGELDIN = "jangeldin"
    WEBMINING = "webmining"
    BITEXTOR2010 = "bitextor2010"


Inputs = Annotated[list[str], typer.Argument(metavar="URL|PATH...", help="Start addresses, WARC files, folders.")]
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
SiteBy = Annotated[str, typer.Option(help="What one site is: domain (registered domain) or host.")]
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
    max_pages: MaxPages = None,
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

    given = {"ingest.base_url": base_url, "crawl.site_by": site_by, "crawl.max_pages": max_pages}
    wanted = _match_options(langs, lexicon, method, min_probability, min_precision)
    settings = _settings(None, config, set_, given | wanted)
    with _working(out, quiet) as (run, report):
        mine_stages(inputs, run, settings, report)
    _tell_pairs(out)


@app.command()
def crawl(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Start addresses.")],
    out: Out,
    site_by: SiteBy = "",
    max_pages: MaxPages = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Fetch sites into WARC files, and no more.

    Example: twinlink crawl https://www.example.gov.hk -o RUN --max-pages 2000
    """
    from twinlink.pipeline.mine import crawl_stage, split_inputs

    settings = _settings(None, config, set_, {"crawl.site_by": site_by, "crawl.max_pages": max_pages})
    addresses, paths = split_inputs(urls)
    if paths:
        raise ConfigError(f"{paths[0]}: `twinlink crawl` takes addresses; read files with `twinlink ingest`")
    with _working(out, quiet) as (run, report):
        progress = crawl_stage(addresses, run, settings, report)
    typer.echo(f"{progress.fetched} pages fetched, {progress.rejected} rejected → {out}/warc")
    typer.echo(f"next: twinlink ingest -o {out}")


@app.command()
def ingest(
    out: Out,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="WARC files or folders.")] = [],  # noqa: B006
    base_url: BaseUrl = "",
    site_by: SiteBy = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    quiet: Quiet = False,
) -> None:
    """Read archives, mirror folders and the run's own crawl into tables.

    Example: twinlink ingest mirror/ --base-url https://www.example.gov.hk -o RUN
    """
    from twinlink.pipeline.mine import ingest_stage

    settings = _settings(out, config, set_, {"ingest.base_url": base_url, "crawl.site_by": site_by})
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
    _tell_pairs(run)


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
    _write_verdicts(verified, target)
    _tell_verdicts(verified, target)


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
        wanted = _two_languages(found, langs)
        table = table.loc[_between(table["lang_a"], table["lang_b"], wanted)]
        known = _gold_between(known, found, wanted)
    pairs = list(zip(table["url_a"], table["url_b"], strict=True))
    _check_gold(found, gold, known.known(), known.key)
    _tell_evaluation(evaluate_pairs(pairs, known))
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
    _tell_pairs(out)
    gold = read_gold(site.gold)
    _tell_evaluation(evaluate_pairs(zip(pairs["url_a"], pairs["url_b"], strict=True), gold))
    typer.echo(f"known truth: {site.gold}")


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
def _working(out: Path, quiet: bool) -> Iterator[tuple[RunDirectory, Callable[[str, int, int | None], None]]]:
    """Hold a run directory and show how the work in it goes on."""
    from twinlink.progress import reporter
    from twinlink.rundir import RunDirectory

    run = RunDirectory.create(out)
    with run.lock(), reporter(quiet) as report:
        yield run, report


def _opened(path: Path) -> Run:
    from twinlink.run import open_run

    return open_run(path)


def _tell_pairs(out: Path) -> None:
    """Say what came out; no pair at all is an error that shows the counts."""
    found = _opened(out)
    pages, rejects = found.pages, found.rejects
    langs = ", ".join(f"{lang} {count}" for lang, count in pages["lang"].value_counts().items()) if len(pages) else ""
    typer.echo(f"{len(pages)} pages" + (f" ({langs})" if langs else ""))
    counts = Counter(zip(rejects["stage"], rejects["reason"], strict=True))
    for (stage, reason), count in sorted(counts.items()):
        typer.echo(f"  rejected in {stage}: {reason} {count}")
    filters = found.filters.groupby("filter", sort=False)["n_pairs"].sum()
    if len(filters):
        counts_of = {"passed all" if name == "kept" else name: count for name, count in filters.items()}
        typer.echo("candidates by filter: " + ", ".join(f"{name} {count}" for name, count in counts_of.items()))
    if found.pairs.empty:
        raise NothingFoundError(f"0 pairs: {_why_none(found)}. The reasons above count every page; tables: {out}")
    chances = found.pairs["probability"]
    claim = "no expected precision (the method tells none)"
    if chances.notna().all():
        claim = f"expected precision {chances.mean():.3f}"
    typer.echo(f"{len(found.pairs)} pairs, {claim} → {out / 'pairs.tsv'}")


def _why_none(found: Run) -> str:
    if found.pages.empty:
        return "no page was kept"
    there = set(found.pages["lang"])
    if len(there) < 2:
        return "all pages are in one language"
    for tag in found.config.langs:
        if not any(f"{lang}-".lower().startswith(f"{tag}-".lower()) for lang in there):
            return f"no page is in {tag}"
    return "no page of one wanted language has a partner in another"


def _verdicts_file(pairs: Path, out: Path | None) -> Path:
    """Return where the verdicts go, once it is known that they can."""
    target = out or pairs.with_suffix(".verdicts.tsv")
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target}: expected the name of a file in a folder that exists")
    if target.exists() and target.samefile(pairs):
        raise InputError(f"{target}: this is the list of pairs itself; choose another name")
    return target


def _write_verdicts(verified: Verified, target: Path) -> None:
    from twinlink.rundir import write_text
    from twinlink.tables import tsv_lines

    write_text(target, "".join(f"{line}\n" for line in tsv_lines(verified.table)))


def _tell_verdicts(verified: Verified, target: Path) -> None:
    for summary in verified.summaries:
        counts = ", ".join(f"{verdict} {count}" for verdict, count in summary.counts.items())
        found = "".join(f", {name} {value:.4g}" for name, value in summary.found.items())
        notes = f" ({', '.join(summary.notes)})" if summary.notes else ""
        typer.echo(f"{summary.method:12}  {counts}{found}{notes}")
    missing = Counter(row["verdict"] for row in verified.table.to_pylist() if row["method"] is None)
    for reason, count in missing.items():
        typer.echo(f"not judged: {reason} {count}")
    if not verified.summaries:
        raise NothingFoundError(f"no pair could be judged: of none are both pages there; verdicts: {target}")
    typer.echo(f"verdicts → {target}")


def _two_languages(found: Run, langs: str) -> tuple[str, str]:
    """Return the two languages that are named, which the run must have."""
    wanted = [tag.strip().lower() for tag in langs.split(",")]
    if len(wanted) != 2 or wanted[0] == wanted[1]:
        raise ConfigError(f"--langs {langs}: expected two languages, e.g. en,zh")
    there = sorted(set(found.pages["lang"]))
    for tag in wanted:
        if not tag or not any(_covers(tag, lang) for lang in there):
            raise ConfigError(f"--langs {langs}: the run has no page in {tag!r}; it has {', '.join(there)}")
    return wanted[0], wanted[1]


def _between(langs_a: Iterable[str], langs_b: Iterable[str], wanted: tuple[str, str]) -> list[bool]:
    """Tell of each two languages whether they are the wanted ones, in either order."""
    both = zip(langs_a, langs_b, strict=True)
    return [_are(pair, wanted) or _are(pair[::-1], wanted) for pair in both]


def _are(langs: tuple[str, ...], wanted: tuple[str, str]) -> bool:
    return all(_covers(tag, lang) for lang, tag in zip(langs, wanted, strict=True))


def _gold_between(gold: Gold, found: Run, wanted: tuple[str, str]) -> Gold:
    """Leave out the gold pairs with a page that the run has in another language."""
    from dataclasses import replace

    langs = zip(found.pages["url"], found.pages["lang"], strict=True)
    others = {gold.key(url) for url, lang in langs if not any(_covers(tag, lang) for tag in wanted)}
    return replace(gold, pairs=tuple(pair for pair in gold.pairs if others.isdisjoint(pair)))


def _covers(tag: str, lang: str) -> bool:
    """Tell whether a wanted language takes one in: ``zh`` takes in ``zh-Hant``."""
    return f"{lang}-".lower().startswith(f"{tag}-")


def _check_gold(found: Run, path: Path, known: frozenset[str], key: Callable[[str], str]) -> None:
    """Refuse a gold list that names no page of the run; say how many it names that are not there."""
    from twinlink.errors import GoldError

    there = {key(url) for url in found.pages["url"]}
    missing = known - there
    if len(missing) == len(known):
        example = min(missing)
        raise GoldError(
            f"{path}: none of its {len(known)} addresses is in the run, e.g. {example}; is it this site's gold?"
        )
    if missing:
        typer.echo(f"note: {len(missing)} of {len(known)} gold addresses are not in the run, e.g. {min(missing)}")


def _tell_evaluation(result: Evaluation) -> None:
    typer.echo(
        f"gold {result.n_gold}, predicted {result.n_predicted}, right {result.n_right}, wrong {result.n_wrong}, "
        f"not scored {result.n_unscored}"
    )
    typer.echo(f"precision {result.precision:.4f}  recall {result.recall:.4f}  F1 {result.f1:.4f}")
