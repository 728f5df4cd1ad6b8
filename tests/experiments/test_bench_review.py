"""The measured review in small: the run that is made up is one that twinlink takes for its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from experiments.bench import bench_review
from experiments.bench.synthetic_run import Size, write_run
from tests.browsers import needs_browser
from twinlink.review.reading.run_view import RunView
from twinlink.tables import LINKS, PAGES, PAIRS, SEGMENTS, read_table

ROOT = Path(__file__).parents[2]
SIZE = Size(pairs=60, sites=3, blocks=4, tags=9, links=4, candidates=5, archived=12)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("made") / "run", SIZE).path


def test_synthetic_run_is_consistent(run: Path) -> None:
    pages = read_table(run / "ingest" / "pages", PAGES).to_pandas().set_index("page_id")
    pairs = read_table(run / "match" / "pairs", PAIRS).to_pandas()
    links = read_table(run / "ingest" / "links", LINKS).to_pandas()
    assert (len(pages), len(pairs), len(links)) == (120, 60, 480)
    assert sorted(pairs["site"].value_counts()) == [15, 15, 30]
    assert pages.loc[pairs["page_a"], "url"].tolist() == pairs["url_a"].tolist()
    assert pages.loc[pairs["page_b"], "url"].tolist() == pairs["url_b"].tolist()
    assert pages.loc[links["target"], "url"].tolist() == links["target_url"].tolist()
    assert (pages.loc[links["source"], "site"].to_numpy() == pages.loc[links["target"], "site"].to_numpy()).all()


def test_beads_are_the_texts_of_their_blocks(run: Path) -> None:
    pages = read_table(run / "ingest" / "pages", PAGES).to_pandas().set_index("url")
    segments = read_table(run / "align" / "segments", SEGMENTS).to_pandas()
    assert len(segments) == 60 * SIZE.blocks
    for row in segments.itertuples():
        for text, url, block, start, end in (
            (row.source, row.url_a, row.block_a, row.start_a, row.end_a),
            (row.target, row.url_b, row.block_b, row.start_b, row.end_b),
        ):
            assert pages.loc[url, "blocks"][block][start:end] == text


def test_a_review_has_an_answer_to_everything(run: Path) -> None:
    tables = RunView(run).read(lambda tables: tables)
    pairs = tables.pairs
    chosen = bench_review.asked_for(pairs, SIZE.archived, 4)
    assert len(chosen) == 4
    assert chosen.iloc[0]["url_a"] == pairs["url_a"].min()
    for a, b, url_a, url_b in chosen[["page_a", "page_b", "url_a", "url_b"]].to_numpy().tolist():
        assert tables.document(a) is not None
        assert len(tables.segments(url_a, url_b)) == SIZE.blocks
        assert tables.rivals(a, b).iloc[0]["page_b"] == b
        assert tables.neighbours(a)


@needs_browser
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.xdist_group("browser")
def test_figures_are_printed(run: Path) -> None:
    command = [sys.executable, "-m", bench_review.__name__, "--run", str(run), "--pairs", "60", "--requests", "2"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "report of 60 pairs: 0." in shown
    lines = {line[:22].strip(): line[22:].split() for line in shown.partition("milliseconds")[2].splitlines()[1:-1]}
    assert {"queue doubt", "pair look", "pair sentences", "page in its frame", "label, and next pair", "live"} <= set(
        lines
    )
    for name, (median, worst, _, kilobytes, *_) in lines.items():
        assert 0 < float(median) <= float(worst)
        assert (float(kilobytes) > 0) == (name not in {"next", "next of a site", "label", "undo"}), "they redirect"
