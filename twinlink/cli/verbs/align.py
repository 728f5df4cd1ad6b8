"""Sentences of page pairs and of texts: align."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinlink.cli.completion import complete_runs, listed
from twinlink.cli.options import (
    AsJson,
    Cluster,
    ConfigFile,
    Forget,
    Lexicons,
    NWorkers,
    Quiet,
    Settings,
    Verbose,
)
from twinlink.cli.output import command, echo, print_result
from twinlink.cli.runs import existing_run, opened, workers_of, working
from twinlink.cli.settings import settings_of
from twinlink.config.align import AlignerName

if TYPE_CHECKING:
    from twinlink.config import Config
    from twinlink.rundir.remembered import CallSettings
    from twinlink.system.workers import Workers

__all__ = ["align"]

RunOrTexts = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|A.txt|PAIRS.tsv",
        help="A run, a text of one sentence per line, or a list of text pairs.",
        parser=existing_run,
        autocompletion=complete_runs,
    ),
]
Formats = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME,...",
        help="For a run: tmx, tsv, moses, jsonl, separated by commas. For texts: tsv or beads.",
        autocompletion=listed("tmx", "tsv", "moses", "jsonl", "beads"),
    ),
]
WarmPairs = Annotated[
    list[str],
    typer.Option(
        "--warm",
        metavar="[LANG-LANG=]FILE",
        help="Sentence pairs to learn words from first: TMX, TSV, or the prefix of two Moses files; repeatable.",
    ),
]
Aligner = Annotated[
    AlignerName | None,
    typer.Option(
        "--method",
        help="For a run: words (default), or tagaligner: by tags and lengths of text blocks alone.",
    ),
]
MinScore = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, metavar="X", help="Only sentence pairs of this score or more in the files. Default: all."
    ),
]


def align(
    first: RunOrTexts,
    second: Annotated[Path | None, typer.Argument(metavar="B.txt", help="Its translation, in the same form.")] = None,
    lexicon: Lexicons = [],  # noqa: B006
    form: Formats = "",
    warm: WarmPairs = [],  # noqa: B006
    method: Aligner = None,
    min_score: MinScore = None,
    workers: NWorkers = None,
    cluster: Cluster = "",
    config: ConfigFile = None,
    set_: Settings = [],  # noqa: B006
    forget: Forget = [],  # noqa: B006
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Align the sentences of a run's page pairs, of two texts, or of many text pairs.

    PAIRS.tsv has two tab-separated names of files per line, all of the same two languages. Words are learned
    from all of the texts together, so short texts are aligned better than alone.

    Example: twinlink align RUN --format tmx,tsv
    """
    from twinlink.errors import ConfigError

    of_both = {"bitext.min_score": min_score, "bitext.method": method}
    if second is not None or first.is_file():
        if cluster:
            raise ConfigError("--cluster: texts are aligned in this process; expected a run, or no --cluster")
        own = settings_of(None, config, set_, of_both).config
        _align_texts(first, second, own, lexicon, form or "tsv", warm, as_json)
    else:
        settings = settings_of(first, config, set_, of_both | _of_run(form, lexicon, warm), forget)
        _align_run(first, settings, workers_of(workers, cluster), quiet, verbose, as_json)


def _of_run(form: str, lexicon: list[Path], warm: list[str]) -> dict[str, object]:
    """Return the settings that only a run has from its options."""
    formats = [name.strip() for name in form.split(",") if name.strip()]
    return {"bitext.formats": formats, "bitext.lexicons": lexicon, "bitext.warm": warm}


def _align_run(run: Path, settings: CallSettings, workers: Workers, quiet: bool, verbose: bool, as_json: bool) -> None:
    """Align the sentences of a run's page pairs and write them to its files."""
    from twinlink.cli.results.sentences import SentencesResult
    from twinlink.errors import RunError
    from twinlink.jobs.stages import align_stage

    if run.suffix and not run.exists():
        raise RunError(f"{run}: no such file or folder; expected a run, a text, or a list of text pairs")
    opened(run)
    with working(run, quiet, settings, ("align",), verbose=verbose) as (directory, report):
        align_stage(directory, settings.config, report, workers)
    result = SentencesResult.of(run, settings.config.bitext.min_score)
    print_result(result, as_json, quiet, [command("review", run)])


def _align_texts(
    first: Path, second: Path | None, settings: Config, lexicon: list[Path], form: str, warm: list[str], as_json: bool
) -> None:
    """Align two texts, or those of a list, and print their sentences as they are."""
    from twinlink.cli.lines import lines
    from twinlink.cli.results.lexicons import LexiconsResult
    from twinlink.cli.results.sentences import TextPairsResult, TextsResult
    from twinlink.errors import ConfigError
    from twinlink.jobs.texts import FORMS, align_files, listed_texts
    from twinlink.similarity.lexicon_sets import AUTO, lexicons_of_texts

    if form not in FORMS:
        raise ConfigError(f"--format {form}: expected beads or tsv for texts")
    pairs = listed_texts(first) if second is None else [(first, second)]
    lexicons = lexicon or [Path(name) for name in settings.bitext.lexicons or settings.match.lexicons]
    if AUTO in map(str, lexicons):  # printed on standard error: the sentences go to standard output
        one, other = pairs[0]
        found = lexicons_of_texts(one, other, [AUTO]).record([(one.suffix[1:], other.suffix[1:])])
        for line in lines(LexiconsResult.of(found)):
            echo(line, err=True)
    aligned = align_files(pairs, settings.bitext, warm or settings.bitext.warm, lexicons)
    result = TextPairsResult.of(aligned, form) if second is None else TextsResult.of(aligned[0], form)
    print_result(result, as_json, raw=True)
