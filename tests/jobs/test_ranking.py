"""Stage rank of the jobs: sites that were tried are no candidates."""

from __future__ import annotations

from pathlib import Path

from tests.loopback import Answer, links, serving
from twinlink.config import Config
from twinlink.jobs.ranking import rank_stage
from twinlink.jobs.stages import crawl_stage, ingest_stage
from twinlink.rundir.directory import RunDirectory
from twinlink.sites.stage import TABLE_FILE
from twinlink.tables import SITES, read_table

OTHER = "http://www.example.org"


def test_sites_that_the_crawl_asked_in_vain_are_no_candidates(tmp_path: Path) -> None:
    run, config = RunDirectory.create(tmp_path), Config()
    with serving(lambda path: Answer(status=404)) as gone, serving(lambda path: links("/", gone.url, OTHER)) as site:
        crawl_stage([site.url, gone.url], run, config)
    ingest_stage([], run, config)
    rank_stage(run, config)
    rows = read_table(run.stage_folder("rank") / TABLE_FILE, SITES, ("site", "state")).to_pylist()
    expected = {site.url: "crawled", gone.url: "errors", "http://example.org": "candidate"}
    assert {f"http://{row['site']}": row["state"] for row in rows} == expected
