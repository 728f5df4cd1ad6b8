"""The command itself: its help, and the order of its verbs."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twinlink.cli.plain_values import leaving_plain
from twinlink.version import __version__

__all__ = ["GROUPS", "app"]

GROUPS = {
    "Pipeline": {
        "mine": "Crawl or read sites and match their pages: the whole job.",
        "crawl": "Fetch sites into WARC files.",
        "ingest": "Read archives and folders into tables.",
        "match": "Match the pages that were read.",
        "align": "Align the sentences of page pairs or of two texts.",
    },
    "Results": {
        "report": "Write a report: one HTML file.",
        "review": "Review pairs in the browser.",
        "explain": "Explain why two pages are a pair or not.",
        "evaluate": "Measure precision and recall.",
        "verify": "Check pairs of other tools.",
        "compare": "Show where two results differ.",
        "export": "Write results for other programs.",
    },
    "More pages and sites": {
        "patterns": "Learn the URL patterns of sites.",
        "recover": "Search for pages that no page links to.",
        "rank": "Rank the sites that pages link to.",
        "discover": "Grow a list of sites.",
    },
    "Demo": {"demo": "Make a bilingual site and mine it."},
}
"""The verbs in the order of the main help, each with a line that fits into a narrow terminal."""

EXIT_CODES = """\b
Exit codes:
  0    done
  1    another error
  2    invalid input or option
  3    the run directory cannot be used
  4    no page could be fetched
  5    the job ended without a page or a pair
  130  stopped by Ctrl-C; the same command resumes

With --json the result is one JSON object on standard output; an error has the
keys error, kind and exit_code there. Progress, warnings and the next command
go to standard error. NO_COLOR and FORCE_COLOR are respected.
"""


class _Grouped(TyperGroup):
    """A command whose help has its verbs in groups."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        return leaving_plain(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  (typer gives it)
        """Write the groups."""
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(8), line) for verb, line in verbs.items()])


app = typer.Typer(
    name="twinlink",
    cls=_Grouped,
    help="Find pages that are translations of each other, and the sites that have them, by how pages link.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"twinlink {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find pages that are translations of each other, and the sites that have them, by how pages link."""
