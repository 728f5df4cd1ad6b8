"""Verbs for reviewers: report, review."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinlink.cli.options import AsJson, GoldFile, Quiet, RunPath
from twinlink.cli.output import command, echo, print_result
from twinlink.cli.runs import opened, stored
from twinlink.review.server import DEFAULT_PORT

if TYPE_CHECKING:
    from twinlink.run import Run


def report(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Output file. Default: RUN/report.html.")
    ] = None,
    gold: GoldFile = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of a run: one HTML file that needs no network.

    `twinlink mine` writes it, too.

    Example: twinlink report RUN -o report.html
    """
    from twinlink.cli.results.review import ReportResult
    from twinlink.review.report.stage import write_report
    from twinlink.rundir.directory import RunDirectory

    found = opened(run)
    target = write_report(RunDirectory(run), out, gold)
    stored(run)
    result = ReportResult(run=str(run), report=str(target), n_bytes=target.stat().st_size)
    print_result(result, as_json, quiet, [command(*words) for words in _after_report(found)])
    if open_:
        _show(target.resolve().as_uri())


def _after_report(found: Run) -> list[tuple[str | Path, ...]]:
    """Return the words of commands that may come next: a review only where there is something to review."""
    run = found.path
    if not found.has("match"):
        return [("match", run)]
    if len(found.pairs):
        return [("review", run)]
    from twinlink.cli.results.pages import PairsResult
    from twinlink.rundir.directory import RunDirectory

    signature = RunDirectory(found.path).read_signature("match")
    remedy = PairsResult.of(found, signature.settings["langs"] if signature else ()).remedy()
    unpaired = found.rejects.loc[found.rejects["stage"] == "match", "url"].head(1)
    return [remedy] if remedy else [("explain", run, url) for url in unpaired]


def review(
    run: RunPath,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port on this machine; 0: any free one.")
    ] = DEFAULT_PORT,
    who: Annotated[str, typer.Option(metavar="NAME", help="Name of the reviewer. Default: your login name.")] = "",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the labels to a TSV file (-: standard output) and exit; a name ending in .gold.tsv gets only "
            "the accepted pairs.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Review pairs in the browser: accept or reject them. Labels are kept in RUN. Stop with Ctrl-C.

    It listens on this machine only, and can run while `twinlink mine` works on RUN.

    Example: twinlink review RUN --port 8765
    """
    opened(run)
    if export is not None:
        _export(run, export, quiet, as_json)
        return
    from twinlink.labels.book import LabelBook
    from twinlink.review.server import review as serve_review

    def on_ready(address: str) -> None:
        from twinlink.cli.results.review import ReviewResult

        print_result(ReviewResult(run=str(run), address=address), as_json, quiet)
        if not no_open and _has_display():
            door = ending.enter_context(_door(run, address))
            threading.Thread(target=_show, args=(door,), name="_show", daemon=True).start()

    with contextlib.ExitStack() as ending, contextlib.suppress(KeyboardInterrupt):  # it is how a review ends
        serve_review(run, port=port, who=who, on_ready=on_ready)
    stored(run)
    if not as_json:
        book = LabelBook(run)
        n_labels = len(book.current())
        echo("review ended; " + (f"{n_labels} labels → {book.file}" if n_labels else "no labels yet"))


def _export(run: Path, target: Path, quiet: bool, as_json: bool) -> None:
    from twinlink.cli.results.review import LabelsResult
    from twinlink.errors import InputError
    from twinlink.labels.book import LabelBook, export_labels, label_table
    from twinlink.rundir.directory import RunDirectory

    if str(target) == "-":
        if as_json:
            raise InputError("--export - and --json: both write to standard output; leave out one of them")
        typer.echo(label_table(LabelBook(run).current().values()), nl=False, color=True)
        return
    RunDirectory(run).check_target(target)
    written = export_labels(run, target)
    verdicts = [label.verdict for label in LabelBook(run).current().values()]
    result = LabelsResult(
        run=str(run),
        accepted=verdicts.count("accept"),
        rejected=verdicts.count("reject"),
        written=written,
        exported=str(target),
    )
    # Not --gold with the exported list: all pairs without a label would count as wrong.
    print_result(result, as_json, quiet, [command("evaluate", run, "--labels")] if verdicts else [])


@contextlib.contextmanager
def _door(run: Path, address: str) -> Iterator[str]:
    """Give the address of a file that leads to another address.

    What a browser is started with can be read by all users of a machine, and the address holds the key. So the browser
    gets a file that nobody else may read. It lies in the run: some browsers may not read where temporary files are.
    """
    import html

    text = f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>twinlink</title>\
<meta http-equiv="refresh" content="0;url={html.escape(address)}"><p><a href="{html.escape(address)}">Go to the run</a>'
    with contextlib.ExitStack() as ending:
        try:
            (run / "review").mkdir(exist_ok=True)
            number, name = tempfile.mkstemp(".html", "open-", run / "review")
        except OSError:  # the run may be there to be read only
            number, name = tempfile.mkstemp(".html", "twinlink-")
        ending.callback(Path(name).unlink, missing_ok=True)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        yield Path(name).resolve().as_uri()


def _has_display() -> bool:
    """Return whether there is a screen to open a browser on."""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return named or sys.platform in {"darwin", "win32"}


def _show(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
