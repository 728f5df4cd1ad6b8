"""The command line: every verb reads its options, calls the library, and prints the result.

Start with a verb in `verbs`, such as `twinlink.cli.verbs.mine.mine`; to add one, write a function there, import it
here, and give it a line of help in `twinlink.cli.app.GROUPS`.

- entry point: `main`, which turns errors into exit codes (`exit`); the command with its verbs: `app`
- input: `options` (shared by verbs), `plain_values` (which typer need not validate), `settings` (of the run and of the
  call), `runs` (locked or opened), `completion`
- output: `results` (one record per verb), `lines` (records as text), `output` (prints text or JSON), `colours`
"""

from __future__ import annotations

from twinlink.cli.app import GROUPS, app
from twinlink.cli.exit import main
from twinlink.cli.plain_values import Verb
from twinlink.cli.verbs.align import align
from twinlink.cli.verbs.demo import demo
from twinlink.cli.verbs.evaluate import compare, evaluate, explain, verify
from twinlink.cli.verbs.export import export
from twinlink.cli.verbs.mine import crawl, ingest, match, mine
from twinlink.cli.verbs.review import report, review
from twinlink.cli.verbs.sites import discover, patterns, rank, recover

__all__ = ["app", "main"]

_PIPELINE = (mine, crawl, ingest, match, align)
_RESULTS = (report, review, explain, evaluate, verify, compare, export)
_VERBS = (*_PIPELINE, *_RESULTS, patterns, recover, rank)

_SHORT_HELP = {name: line for verbs in GROUPS.values() for name, line in verbs.items()}

for _verb in (*_VERBS, discover, demo):
    app.command(cls=Verb, short_help=_SHORT_HELP[_verb.__name__])(_verb)
