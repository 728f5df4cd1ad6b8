"""The verb demo."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from twinlink.cli.completion import complete_runs
from twinlink.cli.options import AsJson, Quiet
from twinlink.cli.output import command, echo, print_result
from twinlink.cli.runs import opened, workers_of, working
from twinlink.cli.settings import settings_of
from twinlink.errors import RunError

DEMO_RUN = Path("demo-run")

__all__ = ["demo"]


def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="RUN", help="Directory of site and run.", autocompletion=complete_runs),
    ] = DEMO_RUN,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a small bilingual site, serve it on this machine, crawl and match it, and score the result.

    A demo that already exists in RUN is replaced when the new one is complete.

    Example: twinlink demo -o demo-run
    """
    from twinlink.cli.results.evaluation import Scores
    from twinlink.cli.results.pages import PairsResult
    from twinlink.cli.results.review import DemoResult
    from twinlink.demo import serve, write_crawled_truth, write_site
    from twinlink.evaluation.gold import evaluate as evaluate_pairs
    from twinlink.evaluation.gold import read_gold
    from twinlink.frames import address_pairs
    from twinlink.jobs.mine import mine_stages

    with working(out, quiet) as (run, report):
        if run.is_begun() and not (out / "site" / "gold.tsv").exists():
            raise RunError(f"{out}: holds a run that is not a demo; choose another directory")
        shutil.rmtree(run.replacement, ignore_errors=True)  # of a demo that was stopped: its site has gone
        site = write_site(out / "site")
        given = {"langs": "en,zh", "match.lexicons": [site.lexicon], "crawl.page_parts": "sites"}
        settings = settings_of(None, None, [], given).config
        with serve(site.folder) as base:
            if not as_json:
                echo(f"a bilingual site of {site.n_pages} pages, and a calendar without end, is served at {base}")
            # The site gets another port each time: what was fetched from the old one would stand beside it.
            seeds = [base.rstrip("/") + path for path in site.seeds]
            mine_stages(seeds, run, settings, report, "replace", workers=workers_of(None))
    found = opened(out)
    truth = write_crawled_truth(site, found.pages["url"])
    scored = evaluate_pairs(address_pairs(found.pairs), read_gold(truth.gold))
    result = DemoResult(
        site_pages=site.n_pages,
        calendar_pages=truth.n_calendar_pages,
        pairs=PairsResult.of(found, settings.langs),
        scores=Scores.of(scored),
        gold=str(truth.gold),
        gold_months=truth.n_months,
    )
    print_result(result, as_json, quiet, [command("review", out)])
