"""Pairs from elsewhere: judged by every method, none lost."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.pipeline.test_structural import CONFIG, PAGES, write_site
from tests.sites import BASE
from tests.test_cli import twinlink
from twinlink.errors import InputError
from twinlink.pipeline.ingest import ingest
from twinlink.pipeline.verify import VERIFIERS, read_pairs, verify_pairs
from twinlink.rundir import RunDirectory
from twinlink.spiders.linearise import linearise

RIGHT = [(f"en/page-{n}.html", f"tc/page-{n}.html") for n in PAGES]
WRONG = ("en/page-1.html", "tc/page-8.html")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


def verdicts(verified, method):
    rows = [row for row in verified.table.to_pylist() if row["method"] == method]
    return {(row["a"], row["b"]): row["verdict"] for row in rows}


@pytest.mark.parametrize("method", VERIFIERS)
def test_a_pair_that_is_not_parallel_is_found_among_others(site, method):
    verified = verify_pairs([*RIGHT, WRONG], [method], folder=site)
    found = verdicts(verified, method)
    assert found[WRONG] != "parallel"
    least = 2 if method == "hc2" else 7  # the largest of many clusters is small here
    assert sum(found[pair] == "parallel" for pair in RIGHT) >= least
    (summary,) = verified.summaries
    assert sum(summary.counts.values()) == 9
    assert summary.counts["parallel"] == list(found.values()).count("parallel")


def test_numbers_are_those_of_the_two_pages(site):
    (row,) = verify_pairs([WRONG], ["strand"], folder=site).table.to_pylist()
    a, b = (linearise((site / name).read_bytes()).tokens for name in WRONG)
    assert (row["tokens_a"], row["tokens_b"]) == (len(a), len(b))
    assert (row["length_a"], row["length_b"]) == (a[a > 0].sum(), b[b > 0].sum())
    assert row["cost_share"] == row["cost"] / (len(a) + len(b))


def test_pages_of_a_run_and_files_give_the_same_verdicts(site, tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    addresses = [(f"{BASE}/{a}", f"{BASE}/{b}") for a, b in [*RIGHT, WRONG]]
    of_run = verify_pairs(addresses, run=run, ingest_settings=CONFIG.ingest).table
    of_files = verify_pairs([*RIGHT, WRONG], folder=site).table
    names = of_run.column_names[2:]
    pd.testing.assert_frame_equal(of_run.select(names).to_pandas(), of_files.select(names).to_pandas())


def test_pairs_with_a_page_that_is_missing_are_told(site, tmp_path):
    verified = verify_pairs([RIGHT[0], ("en/none.html", "tc/page-1.html"), RIGHT[0]], ["hc1"], folder=site)
    rows = verified.table.to_pylist()
    assert [(row["method"], row["verdict"]) for row in rows] == [("hc1", "parallel"), (None, "no-such-file")]
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    verified = verify_pairs([("not an address", f"{BASE}/x.html")], run=run, ingest_settings=CONFIG.ingest)
    assert verified.table["verdict"].to_pylist() == ["not-in-run"]
    assert verified.summaries == ()


def test_a_page_may_be_in_several_pairs(site):
    pairs = [("en/page-3.html", f"tc/page-{n}.html") for n in PAGES]
    found = verdicts(verify_pairs(pairs, ["webmining"], folder=site), "webmining")
    assert list(found) == pairs
    assert found["en/page-3.html", "tc/page-3.html"] == "parallel"


@pytest.mark.parametrize(
    ("text", "message"), [("", "no pairs"), ("a.html\n", "line 1"), ("a.html\tb.html\nc.html\t\n", "line 2")]
)
def test_files_that_are_no_lists_of_pairs_are_refused(tmp_path, text, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_pairs(path)
    with pytest.raises(InputError, match="no such file"):
        read_pairs(tmp_path / "none.tsv")


def test_a_header_line_and_more_columns_are_passed_over(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("url_a\turl_b\tscore\na.html\tb.html\t0.5\n\n")
    assert read_pairs(path) == [("a.html", "b.html")]


def test_the_command_prints_a_line_a_method_and_writes_the_verdicts(site):
    lines = [f"{a}\t{b}" for a, b in [*RIGHT, WRONG, ("none.html", "tc/page-1.html")]]
    (site / "pairs.tsv").write_text("\n".join(lines))
    done = twinlink("verify", site / "pairs.tsv", "--method", "jangeldin", "--method", "webmining")
    assert done.returncode == 0, done.stderr
    assert "jangeldin" in done.stdout
    assert "parallel 8" in done.stdout
    assert "not judged: no-such-file 1" in done.stdout
    written = (site / "pairs.verdicts.tsv").read_text().splitlines()
    assert len(written) == 1 + 2 * 9 + 1
    assert written[0].split("\t")[:5] == ["a", "b", "method", "verdict", "score"]


def test_the_command_says_so_where_nothing_can_be_judged(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a.html\tb.html\n")
    done = twinlink("verify", tmp_path / "pairs.tsv")
    assert done.returncode != 0
    assert "no pair could be judged" in done.stderr
