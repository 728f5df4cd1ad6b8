"""Judging pairs: evaluate, compare, explain, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.completion import complete_langs, complete_runs
from twinlink.cli.options import AsJson, ConfigFile, Forget, GoldFile, Quiet, RunPath, Settings, Verifier
from twinlink.cli.output import print_result
from twinlink.cli.runs import existing_run, opened, working
from twinlink.cli.settings import settings_of
from twinlink.errors import InputError


def verify(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Two tab-separated addresses or files per line.")],
    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Run with the pages. Default: PAIRS names files.",
            parser=existing_run,
            autocompletion=complete_runs,
        ),
    ] = None,
    method: Annotated[
        list[Verifier],
        typer.Option("--method", help="Methods to judge by; repeatable. Default: all.", show_default=False),
    ] = [],  # noqa: B006
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="TSV", help="Output file. Default: PAIRS.verdicts.tsv.")
    ] = None,
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Classify given pairs as parallel or not by the structure and the words of their pages.

    The pairs may come from URL patterns, hreflang or another tool. File names are relative to the folder of PAIRS.tsv.

    Example: twinlink verify pairs.tsv --run RUN --method jangeldin
    """
    from twinlink.baselines.verify import VERIFIERS, read_pairs, verify_pairs, write_verdicts
    from twinlink.cli.results.evaluation import VerdictsResult

    settings = settings_of(run, config, set_, {}, forget)
    given = read_pairs(pairs)
    target = _verdicts_file(pairs, out)
    names = tuple(name for name in VERIFIERS if not method or name in method)
    if run is None:
        verified = verify_pairs(given, names, None, pairs.parent, settings.config.match)
    else:
        opened(run)
        with working(run, quiet, settings, ("verify",)) as (directory, _):
            verified = verify_pairs(given, names, directory, settings=settings.config.match)
    write_verdicts(verified, target)
    print_result(VerdictsResult.of(verified, target), as_json, quiet)


def evaluate(
    run: RunPath,
    gold: GoldFile = None,
    labels: Annotated[bool, typer.Option("--labels", help="Score by the labels of `twinlink review`, too.")] = False,
    langs: Annotated[
        str,
        typer.Option(
            metavar="LANG,LANG",
            help="Count only pairs of these two languages, e.g. en,zh.",
            autocompletion=complete_langs,
        ),
    ] = "",
    curve: Annotated[
        bool, typer.Option("--curve", help="Show precision and recall after each scored pair, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure precision, recall and F1 against known pairs, labels, or both; a label overrides a known pair.

    Labels alone give estimates with intervals, if there are enough labels.

    Files beside the gold file are read, too: ignore.tsv (pairs that do not count), equiv.tsv (pages that are the same),
    unscored.txt (pages that do not count) and pages.tsv (the side of each page).

    Example: twinlink evaluate RUN --gold gold.tsv
    """
    from twinlink.cli.evaluation import judge

    print_result(judge(opened(run), gold, labels, langs, curve), as_json)


def explain(
    run: RunPath,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page.")],
    other: Annotated[str | None, typer.Argument(metavar="OTHER", help="The page it may be paired with.")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why two pages are a pair or not, or the outcome of one page.

    Example: twinlink explain RUN https://www.example.gov.hk/en/about.htm
    """
    from twinlink.cli.results.evaluation import ExplanationResult

    print_result(ExplanationResult.of(opened(run).explain(url, other)), as_json)


def _verdicts_file(pairs: Path, out: Path | None) -> Path:
    """Return where the verdicts go, once it is known that they can."""
    from twinlink.rundir.directory import check_target

    target = out or pairs.with_suffix(".verdicts.tsv")
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target}: expected the name of a file in a folder that exists")
    if target.exists() and target.samefile(pairs):
        raise InputError(f"{target}: this is the list of pairs itself; choose another name")
    check_target(target)
    return target


def compare(
    first: Annotated[
        Path,
        typer.Argument(metavar="A", help="A matched run.", parser=existing_run, autocompletion=complete_runs),
    ],
    second: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="Another, or RUN/matches/NAME.", parser=existing_run, autocompletion=complete_runs
        ),
    ],
    gold: GoldFile = None,
    min_difference: Annotated[
        float, typer.Option(min=0, max=1, metavar="D", help="Least difference of two probabilities that counts.")
    ] = 0.05,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Pairs shown of each kind.")] = 5,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="TSV", help="Write all pairs to a file.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Show where two results of matching differ: pairs of only one of them, and pairs with another probability.

    With known pairs, it counts which of them are right. `twinlink match RUN -o NAME` makes a second result of one run.

    Example: twinlink compare RUN RUN/matches/liu2014 --gold gold.tsv
    """
    from twinlink.cli.results.evaluation import ComparisonResult
    from twinlink.comparison import compare as compare_runs
    from twinlink.comparison import write_comparison

    found = compare_runs(opened(first), opened(second), gold)
    if out is not None:
        write_comparison(found, out)
    print_result(ComparisonResult.of(found, top, min_difference, out), as_json, quiet)
