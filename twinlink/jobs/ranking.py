"""Stage rank of the jobs: the sites that may come next, without those that have been tried."""

from __future__ import annotations

from functools import partial
from typing import Any

from twinlink.config import Config
from twinlink.jobs.probing import failure
from twinlink.jobs.stages import silent
from twinlink.progress import Report
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import turned_down
from twinlink.sites.stage import rank
from twinlink.spiders.frontier import FrontierReader, so_far


def rank_stage(run: RunDirectory, config: Config, report: Report = silent) -> None:
    """Rank the sites that the run's pages link to.

    Those that a round of `discover` turned down, and those that the crawl got no page of, are no candidates.
    """
    tried = {**_without_pages(run), **turned_down(run)}
    rank(run, config, tried, partial(report, "rank"), partial(report, "host graph"))


def _without_pages(run: RunDirectory) -> dict[str, str]:
    """Return the sites that the crawl of a run asked in vain, each with the verdict on it."""
    nothing: dict[str, Any] = {"sites": []}
    sites = so_far(run.path, FrontierReader.report, nothing)["sites"]
    return {row["site"]: failure(row).verdict for row in sites if not row["pages"] and not row["queued"]}
