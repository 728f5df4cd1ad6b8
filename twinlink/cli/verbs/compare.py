"""Two results side by side: compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.completion import complete_runs
from twinlink.cli.options import AsJson, GoldFile, Quiet
from twinlink.cli.output import print_result
from twinlink.cli.runs import existing_run

__all__ = ["compare"]


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
    from twinlink.cli.results.comparison import ComparisonResult
    from twinlink.comparison import compare as compare_runs
    from twinlink.comparison import write_comparison

    found = compare_runs(first, second, gold)
    if out is not None:
        write_comparison(found, out)
    print_result(ComparisonResult.of(found, top, min_difference, out), as_json, quiet)
