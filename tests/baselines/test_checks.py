"""The numbers behind verdicts: worked out by hand, stored for every pair, and shown."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from tests.baselines import mfa_kz as mfa_kz_pages
from tests.baselines.test_methods import CHINESE, CONFIG, ENGLISH, mined, write_site
from tests.cli.test_cli import twinlink
from tests.made_sites import write_pages
from twinlink.baselines.alignment import align
from twinlink.baselines.bitextor2010 import fingerprint_verdicts, surface_verdicts
from twinlink.baselines.distance_line import DistanceLine
from twinlink.baselines.filters import SideShapes, size_verdicts, structure_verdicts
from twinlink.baselines.models.judge import judge
from twinlink.baselines.verify import verify_pairs
from twinlink.config.baselines import BitextorSettings
from twinlink.ingest.stage import ingest
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.filter_checks import MEANINGS
from twinlink.similarity.filter_verdicts import all_kept

P, P_END, H1 = -5, -6, -7


def side(*pages: list[int], size: int = 100) -> SideShapes:
    tokens = [np.array(page, np.int32) for page in pages]
    return SideShapes(tokens, np.full(len(pages), size), ["en"] * len(pages))


def told(checks: object) -> dict[str, tuple[list[float], list[bool], list[bool]]]:
    return {each.name: (each.values.tolist(), each.passed.tolist(), each.reached.tolist()) for each in checks}  # type: ignore[attr-defined]


def test_a_filter_tells_its_numbers_of_the_pairs_that_reach_it():
    """Sizes 100, 100 and 60: (100 - 60)/100 = .4. Tags 2 and 4 of the first two: (4 - 2)/4 = .5."""
    a = side([P, 3, P_END])
    b = SideShapes(
        side([P, 3, P_END], [P, 3, P, P_END, P_END], [P, 3, P_END]).tokens, np.array([100, 100, 60]), ["fr"] * 3
    )
    found = told(size_verdicts(a, b, csr_array(np.ones((1, 3)))).checks)
    assert found["size"] == ([0.0, 0.0, 0.4], [True, True, False], [True] * 3)
    assert found["tags"] == ([0.0, 0.5, 0.0], [True, False, False], [True, True, False])
    assert found["language"][1:] == ([True, False, False], [True, False, False])


def test_distances_of_failed_pairs_are_reported_up_to_twice_the_bound():
    """Bound 2: each further tag costs 1. One, three and five tags more: 1 passes, 3 fails, 5 is over 4."""
    a, b = side([P]), side([P, H1], [P, H1, H1, H1], [P, H1, H1, H1, H1, H1])
    verdicts = structure_verdicts(a, b, all_kept(csr_array(np.ones((1, 3)))), DistanceLine(2.0, 0.0))
    (check,) = verdicts.checks
    assert check.values.tolist() == [1.0, 3.0, pytest.approx(np.nan, nan_ok=True)]
    assert check.bounds == pytest.approx([2.0] * 3)
    assert (check.passed.tolist(), verdicts.reasons()) == ([True, False, False], ["", "structure", "structure"])


def test_fingerprints_tell_their_differences_and_the_best_distance():
    """N = 1. The texts 10 and 8 differ by D = .2 ≤ t_b, 10 and 9 by .1; the third page has two tags more, N·2 = 2."""
    a, b = side([P, 10, P_END]), side([P, 8, P_END], [P, 9, P_END], [P, H1, H1, 10, P_END])
    verdicts = surface_verdicts(a, b, csr_array(np.ones((1, 3))))
    verdicts = all_kept(verdicts.pattern)
    found = fingerprint_verdicts(a, b, verdicts, 0.5, BitextorSettings(max_differences=1))
    differences, best = found.checks
    assert (differences.values.tolist(), differences.bounds.tolist()) == ([0, 0, 2], [1, 1, 1])
    assert best.values[:2] == pytest.approx([0.2, 0.1])
    assert best.bounds[:2] == pytest.approx([0.1, 0.1])
    assert best.passed.tolist() == [False, True, False]
    assert found.reasons() == ["best", "", "differences"]


def test_models_tell_the_numbers_that_decide():
    """Figure 2 of the paper: W = 3, M1 = 9, M2 = 6, so P_d = .2, which is not below .2; two chunks give no p."""
    html, title, body, h1 = -1, -3, -5, -7
    english = np.array([html, title, 23, title - 1, body, h1, 23, h1 - 1, 72], np.int32)
    kazakh = np.array([html, title, 21, title - 1, body, 69], np.int32)
    alignment = align([english], [kazakh], [0], [0])
    found = told(judge(alignment, "strand").checks)
    assert found["cost_share"] == ([0.2], [False], [True])
    assert found["p_value"][1] == [False]
    found = told(judge(alignment, "jangeldin").checks)
    assert found["cost_share"][1] == [False]
    short, long = np.array([-1, 5, -2], np.int32), np.array([-1, 5, -2] * 5, np.int32)
    pairs = align([short] * 5 + [long], [short] * 6, range(6), range(6))
    assert told(judge(pairs, "hc1").checks)["cluster"] == ([1] * 5 + [2], [True] * 5 + [False], [True] * 6)
    log_odds = told(judge(pairs, "mixture").checks)["log_odds"]
    assert log_odds[1] == [odds > 0 for odds in log_odds[0]]


@pytest.fixture(scope="module")
def by_webmining(tmp_path_factory) -> Run:
    return mined(tmp_path_factory.mktemp("webmining"), "webmining")


@pytest.fixture(scope="module")
def by_jangeldin(tmp_path_factory) -> Run:
    return mined(tmp_path_factory.mktemp("jangeldin"), "jangeldin")


def test_every_check_has_a_meaning(by_webmining, by_jangeldin):
    for run in (by_webmining, by_jangeldin):
        assert set(run.checks["check"]) <= set(MEANINGS)
        assert run.checks["relation"].dropna().isin(["<", "<=", ">", ">="]).all()
    surface = {"size", "text-length", "differences", "best", "weak-pattern", "cluster", "log_odds", "probability"}
    assert surface <= set(MEANINGS)


def test_the_table_has_the_checks_up_to_the_filter_that_failed(by_webmining):
    run = by_webmining
    filters = ["size", "tags", "paragraphs", "language", "structure", "content"]
    for row in run.candidates.itertuples():
        own = run.checks[(run.checks["page_a"] == row.page_a) & (run.checks["page_b"] == row.page_b)]
        last = len(filters) if pd.isna(row.filter) else filters.index(row.filter) + 1
        assert own["check"].tolist() == filters[:last]
        assert own["passed"].tolist() == [True] * (last - 1) + [pd.isna(row.filter)]


def test_explain_shows_the_checks_of_a_pair_that_failed(by_webmining):
    explanation = by_webmining.explain("/en/page-1.html", "/tc/page-8.html")
    (failed,) = explanation.checks.to_dict("records")[-1:]
    assert not failed["passed"]
    assert failed["value"] > failed["bound"]
    assert f"{failed['value']:.4f}" in str(explanation)
    assert "failed" in str(explanation)
    assert "Checks of" in explanation._repr_html_()
    done = twinlink("explain", by_webmining.path, "/en/page-1.html", "/tc/page-8.html", "--json")
    assert json.loads(done.stdout)["checks"][-1]["value"] == failed["value"]


def test_explain_shows_all_numbers_of_jangeldin(by_jangeldin):
    checks = by_jangeldin.explain("/en/page-3.html", "/tc/page-3.html").checks.set_index("check")
    names = "cost_share length_distance cost tokens_a tokens_b length_a length_b aligned unequal correlation p_value"
    assert checks.index.tolist() == names.split()
    assert checks.loc["cost", "value"] == 0
    assert checks.loc[["cost_share", "length_distance"], "bound"].notna().all()
    assert checks.loc["length_a", "value"] > checks.loc["length_b", "value"]  # English is longer


def test_verdicts_say_why(tmp_path):
    site = write_site(tmp_path / "site")
    pairs = [(f"en/page-{n}.html", f"tc/page-{n}.html") for n in range(1, 9)] + [("en/page-1.html", "tc/page-8.html")]
    rows = verify_pairs(pairs, ["strand", "hc1", "webmining", "weighed"], folder=site).table.to_pylist()
    of = {(row["a"], row["b"], row["method"]): row for row in rows}
    right, wrong = ((*pair, "strand") for pair in (pairs[2], pairs[-1]))
    assert of[right]["checks"].startswith("cost_share 0 < 0.2; p_value ")
    assert "< 0.2 failed" in of[wrong]["checks"]
    assert "cluster 1 <= 1" in of[*pairs[2], "hc1"]["checks"]
    assert (of[*pairs[2], "hc1"]["cluster"], of[*pairs[2], "strand"]["cluster"]) == (1, None)
    assert of[*pairs[-1], "webmining"]["checks"].endswith("failed")
    assert of[*pairs[2], "overall"]["checks"].split(", ")[0] == "strand"


def test_clusters_and_thresholds_of_the_paper(tmp_path):
    """Table 2 and Table 3: 167 pairs of HC1's and 53 of HC2's largest cluster, 176 within .16 of the mean."""
    mfa_kz_pages.write_pages(tmp_path)
    pairs = [(f"{number}.kz", f"{number}.en") for number in mfa_kz_pages.PAIRS]
    table = verify_pairs(pairs, ["hc1", "hc2", "jangeldin"], folder=tmp_path).table.to_pandas()
    clusters = table.groupby("method")["cluster"].apply(lambda numbers: int((numbers == 1).sum()))
    assert clusters[["hc1", "hc2"]].tolist() == [167, 53]
    texts = table.loc[table["method"] == "jangeldin", "checks"]
    assert texts.str.contains("< 0.16$").sum() == 176
    assert texts.str.contains("< 0.16 failed").sum() == 4


@pytest.mark.parametrize("method", ["bitextor2010", "jangeldin", "urls"])
def test_the_summary_says_that_a_method_cannot_work_on_opaque_addresses(tmp_path, method):
    pages = {f"p{17 * n}{lang}/{n}{lang}.html": f"<title>{n}</title><p>{text}"
             for lang, texts in (("x", ENGLISH), ("y", CHINESE)) for n, text in enumerate(texts)}  # fmt: skip
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_pages(tmp_path / "site", pages)], CONFIG.ingest)
    done = twinlink("match", run.path, "--langs", "en,zh", "--method", method)
    assert f"{method} cannot work on this site" in done.stderr
    assert done.returncode != 0
