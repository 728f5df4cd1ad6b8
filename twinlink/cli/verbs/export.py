"""Results for other programs: export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.completion import complete_langs, listed
from twinlink.cli.options import AsJson, Quiet, RunPath
from twinlink.cli.output import print_result
from twinlink.cli.runs import opened, stored


def export(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Output folder. Default: RUN/export.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME,...",
            help="Comma-separated: jsonl, parquet, dataset (for `datasets`), wacz (pages), graphml, gexf (links).",
            autocompletion=listed("jsonl", "parquet", "dataset", "wacz", "graphml", "gexf"),
        ),
    ] = "jsonl,parquet",
    langs: Annotated[
        str,
        typer.Option(
            metavar="LANG,LANG", help="Only pairs between these languages, e.g. en,zh.", autocompletion=complete_langs
        ),
    ] = "",
    min_probability: Annotated[
        float, typer.Option(min=0, max=1, metavar="P", help="Only pairs of this probability or more.")
    ] = 0.0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the page pairs of a run for other programs: texts, datasets, archives, link graphs.

    Existing files of the same names are replaced when the new ones are complete; all other files stay.

    Example: twinlink export RUN --format parquet,wacz --langs en,zh --min-probability 0.9
    """
    from twinlink.cli.results.export import ExportResult

    exported = opened(run).export(out, form, langs=langs, min_probability=min_probability, progress=not quiet)
    stored(run)
    print_result(ExportResult.of(run, exported), as_json, quiet)
