"""Labels in the matching: accepted pairs come out, rejected ones never, and a new label makes the stage run again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from tests.archives import write_toy_archive
from tests.made_sites import BASE, LANGS
from tests.match.test_families import EN, FR, matched
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.labels.book import Label, LabelBook, Verdict
from twinlink.match import stage as module
from twinlink.match.evidence import FoundPairs
from twinlink.match.labels import (
    PairLabel,
    accepted_pairs,
    apply_labels,
    label_matrix,
    labels_digest,
    lessons_of,
    with_labelled,
)
from twinlink.match.stage import match
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.toy import toy_site

PAIRS = toy_site().pairs
(A, X), (B, Y), (C, Z) = PAIRS[:3]
METHODS = ["liu2014", "weighed", "urls"]


def config_of(method: str, more: Mapping[str, object] | None = None, *, labels: bool = True) -> Config:
    cuts = {"match.min_probability": 0.0} if method == "weighed" else {"match.min_score": 0.0}
    wanted = {"langs": list(LANGS), "match.method": method, "match.labels": labels}
    return Config().override({**wanted, **cuts, **(more or {})})


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """The toy site, read from an archive."""
    archive = write_toy_archive(tmp_path / "toy.warc.gz")
    found = RunDirectory.create(tmp_path / "run")
    found.config_file.write_text(Config().to_toml())
    ingest(found, [archive], Config().ingest)
    return found


def say(run: RunDirectory, *said: tuple[str, str, Verdict]) -> None:
    for url_a, url_b, verdict in said:
        LabelBook(run.path).add(Label(url_a, url_b, verdict, "ann", datetime.now(UTC)))


def found_pairs(run: RunDirectory) -> set[tuple[str, str]]:
    pairs = Run(run.path).pairs
    return set(zip(pairs["url_a"], pairs["url_b"], strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_a_rejected_pair_never_comes_out(run: RunDirectory, method: str) -> None:
    config = config_of(method)
    match(run, config)
    assert (A, X) in found_pairs(run)
    say(run, (A, X, "reject"))
    match(run, config)
    assert (A, X) not in found_pairs(run)
    rejects = Run(run.path).rejects
    without = {A, X} - {url for pair in found_pairs(run) for url in pair}
    assert set(rejects.loc[rejects["reason"] == "label", "url"]) == without


@pytest.mark.parametrize("method", METHODS)
def test_an_accepted_pair_comes_out_in_the_place_of_others(run: RunDirectory, method: str) -> None:
    say(run, (A, Y, "accept"))
    match(run, config_of(method))
    found = found_pairs(run)
    assert (A, Y) in found
    assert {(A, X), (B, Y)}.isdisjoint(found)
    assert set(PAIRS[2:]) <= found
    assert len({url for pair in found for url in pair}) == 2 * len(found)


@pytest.mark.parametrize("method", METHODS)
def test_no_cut_drops_an_accepted_pair(run: RunDirectory, method: str) -> None:
    say(run, (X, A, "accept"))
    cuts = {"match.max_pairs": 0} if method == "urls" else {"match.max_pairs": 1, "match.min_score": 1.0}
    match(run, config_of(method, cuts))
    assert found_pairs(run) == {(A, X)}


def test_an_accepted_pair_is_as_sure_as_few_pairs_allow(run: RunDirectory) -> None:
    match(run, config_of("weighed"))
    say(run, (A, X, "accept"))
    match(run, config_of("weighed", {"match.min_probability": 1.0}))
    pairs = Run(run.path).pairs.set_index("url_a")
    assert 0.8 < pairs["probability"][A] < 1
    assert pairs["rival"][A] == 0, "no other page is looked at for it any more"


def test_without_the_setting_labels_are_not_heeded(run: RunDirectory) -> None:
    say(run, (A, X, "reject"))
    match(run, config_of("liu2014", labels=False))
    assert found_pairs(run) == set(PAIRS)


def test_labels_of_pages_that_are_gone_do_no_harm(run: RunDirectory) -> None:
    say(run, (f"{BASE}/gone", X, "accept"), (A, f"{BASE}/gone", "reject"))
    match(run, config_of("liu2014"))
    assert found_pairs(run) == set(PAIRS)


def test_a_label_makes_the_stage_run_again_with_the_setting_only(run: RunDirectory) -> None:
    on, off = config_of("liu2014"), config_of("liu2014", labels=False)
    before = match(run, on), match(run, off)
    say(run, (A, X, "accept"))
    after = match(run, on), match(run, off)
    assert before[0] != after[0]
    assert before[1] == after[1]
    LabelBook(run.path).undo("ann")
    assert match(run, on) == before[0]


def test_only_the_site_with_the_label_is_matched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ("http://one.example", "http://two.example")
    archive = write_toy_archive(tmp_path / "two.warc.gz", hosts)
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(Config().to_toml())
    ingest(run, [archive], Config().ingest)
    config = config_of("liu2014")
    match(run, config)
    done: list[str] = []
    real = module.match_site

    def spy(pages: pa.Table, *rest: Any) -> module.SiteResult:
        done.append(pages["site"][0].as_py())
        return real(pages, *rest)

    monkeypatch.setattr(module, "match_site", spy)
    say(run, (A.replace(BASE, hosts[1]), X.replace(BASE, hosts[1]), "reject"))
    match(run, config)
    assert done == ["two.example"]
    assert len(found_pairs(run)) == 9


def test_the_later_of_two_labels_that_share_a_page_counts() -> None:
    said = [PairLabel("a", "x", accepted=True), PairLabel("y", "a", accepted=True), PairLabel("b", "x", accepted=False)]
    matrix = label_matrix(said, ["a", "b"], ["x", "y"])
    assert matrix is not None
    assert matrix.toarray().tolist() == [[0, 1], [-1, 0]]


def test_a_label_said_again_is_the_later_one() -> None:
    said = [PairLabel("a", "x", accepted=True), PairLabel("a", "y", accepted=True)]
    assert [label_matrix(each, ["a"], ["x", "y"]).toarray().tolist() for each in (said, said[::-1])] == [  # type: ignore[union-attr]
        [[0, 1]],
        [[1, 0]],
    ]


def test_labels_of_other_pages_are_none() -> None:
    assert label_matrix([PairLabel("a", "b", accepted=True)], ["a", "b"], ["x"]) is None


def left_by(pattern: sp.csr_array, labels: sp.csr_array) -> list[list[int]]:
    """Return the candidates that labels do not exclude."""
    pattern = with_labelled(pattern, labels)
    lessons = lessons_of(pattern, labels)
    assert lessons is not None
    entries = pattern.tocoo()
    assert [*zip(entries.row[lessons.accepted], entries.col[lessons.accepted], strict=True)] == [
        *zip(*accepted_pairs(labels), strict=True)
    ]
    left = np.zeros(pattern.shape, int)
    left[entries.row[~lessons.barred], entries.col[~lessons.barred]] = 1
    found: list[list[int]] = left.tolist()
    return found


def test_candidates_that_labels_leave_by_hand() -> None:
    pattern = sp.csr_array(np.array([[1, 1, 1], [1, 1, 1], [0, 1, 1]], np.bool_))
    labels = sp.csr_array(np.array([[1, 0, 0], [0, 0, -1], [0, 0, 0]], np.int8))
    assert left_by(pattern, labels) == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert with_labelled(pattern, None) is pattern
    assert lessons_of(pattern, None) is None
    assert [each.tolist() for each in accepted_pairs(labels)] == [[0], [0]]


def test_only_rejected_pairs_teach_as_rejected_ones() -> None:
    """What an accepted pair excludes, and what nobody looked at, was not rejected."""
    pattern = sp.csr_array(np.ones((2, 3), np.bool_))
    lessons = lessons_of(pattern, sp.csr_array(np.array([[1, 0, 0], [0, 0, -1]], np.int8)))
    assert lessons is not None
    assert lessons.accepted.tolist() == [True, False, False, False, False, False]
    assert lessons.rejected.tolist() == [False, False, False, False, False, True]
    assert lessons.barred.tolist() == [False, True, True, True, False, True]


def test_an_accepted_pair_that_was_no_candidate_becomes_one() -> None:
    pattern = sp.csr_array(np.array([[0, 1], [0, 1]], np.bool_))
    labels = sp.csr_array(np.array([[1, 0], [0, 0]], np.int8))
    assert left_by(pattern, labels) == [[1, 0], [0, 1]]


def told(label: Mapping[tuple[int, int], int], found: FoundPairs) -> tuple[FoundPairs, list[tuple[int, int, bool]]]:
    """Return what is left when labels are heeded, and its pairs: row, column, whether it is accepted."""
    labels = np.zeros((3, 3), np.int8)
    for place, value in label.items():
        labels[place] = value
    after, accepted = apply_labels(found, sp.csr_array(labels))
    matching = after.matching
    return after, [*zip(matching.rows.tolist(), matching.columns.tolist(), accepted.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("label", "pairs"),
    [
        ({(1, 1): 1}, [(0, 0, False), (1, 1, True), (2, 2, False)]),
        ({(1, 1): 1, (2, 2): 1}, [(0, 0, False), (1, 1, True), (2, 2, True)]),
        ({(2, 1): 1}, [(0, 0, False), (2, 1, True)]),
        ({(1, 1): -1}, [(0, 0, False), (2, 2, False)]),
        ({(1, 2): -1}, [(0, 0, False), (1, 1, False), (2, 2, False)]),
        ({(1, 2): 1, (2, 1): 1}, [(0, 0, False), (1, 2, True), (2, 1, True)]),
    ],
)
def test_pairs_of_a_method_are_put_right_afterwards(
    label: Mapping[tuple[int, int], int], pairs: list[tuple[int, int, bool]]
) -> None:
    """The method found the pairs of like numbers; an accepted pair is there once, in the place of others."""
    assert told(label, matched(EN, FR, [0, 1, 2], [0.9] * 3).found)[1] == pairs


def test_of_an_accepted_pair_that_was_no_candidate_nothing_is_known() -> None:
    before = matched(EN, FR, [0, 1, 2], [0.9, 0.8, 0.7]).found
    before.scores.data[:] = [0.25, 0.75, 0.375]
    measured = {"content": np.array([0.1, 0.2, 0.3], np.float32)}
    named = replace(before, evidence=measured, filter_of=["x", "y", "z"], n_equal=np.array([1, 2, 3]))
    after, pairs = told({(0, 2): 1}, named)
    assert pairs == [(1, 1, False), (0, 2, True)]
    assert after.filter_of == ["x", "", "y", "z"]
    assert after.evidence["content"].tolist() == pytest.approx([0.1, np.nan, 0.2, 0.3], nan_ok=True)
    assert after.scores.toarray().tolist() == [[0.25, 0, 0], [0, 0.75, 0], [0, 0, 0.375]]
    assert after.scores.nnz == 4
    assert after.probabilities.tolist() == pytest.approx([0.8, np.nan], nan_ok=True)
    assert after.n_equal is not None
    assert after.n_equal.tolist() == [2, 1]
    assert after.rivals.tolist() == [0, 0.375], "the best score of the candidates that it excludes"
    assert told({(0, 2): 1}, replace(before, evidence=measured))[0].filter_of == ()


def test_the_digest_tells_verdicts_apart() -> None:
    said = {labels_digest(labels) for labels in ([], [PairLabel("a", "b", True)], [PairLabel("a", "b", False)])}
    assert len(said) == 3
    assert "" in said
