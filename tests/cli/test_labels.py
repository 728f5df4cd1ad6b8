"""Labels on the command line: scored by, heeded by the matcher, exported."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.calling import mine_toy, twinlink
from tests.made_sites import BASE
from twinlink.labels.book import Label, LabelBook
from twinlink.labels.precision import MAX_INTERVAL_WIDTH
from twinlink.run import open_run


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    done = mine_toy(folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Path:
    """The toy run, of whose five pairs A, B and C are accepted and D is rejected."""
    copy = Path(shutil.copytree(toy, tmp_path / "run"))
    for name, verdict in (("a", "accept"), ("b", "accept"), ("c", "accept"), ("d", "reject")):
        pair = f"{BASE}/zh/{name}.html", f"{BASE}/en/{name}.html"  # the other way round than in the run
        LabelBook(copy).add(Label(*pair, verdict, "ann", datetime.now(UTC)))  # type: ignore[arg-type]
    return copy


def test_scored_by_labels(run: Path) -> None:
    told = twinlink("evaluate", run, "--labels", "--json").object
    assert [told[name] for name in ("gold", "predicted", "right", "wrong", "not_scored")] == [3, 5, 3, 1, 1]
    assert (told["precision"], told["recall"], told["f1"]) == (None, None, None), "labels alone do not count them"
    estimated = told["estimated"]
    assert (estimated["labelled"], estimated["pairs"], estimated["tells"]) == (4, 5, True)
    assert 0.6 <= estimated["low"] <= estimated["precision"] <= estimated["high"] <= 0.8
    recall = estimated["recall"]
    assert not recall["tells"], "three accepted pairs"
    assert recall["low"] < 0.5 < recall["high"]
    text = twinlink("evaluate", run, "--labels").stdout
    assert "by labels of 4 of 5 pairs:\n" in text
    assert f"precision: {estimated['precision']:.3f} (95 % interval {estimated['low']:.3f} to" in text
    assert f"recall: too few labels (95 % interval {recall['low']:.3f} to {recall['high']:.3f})" in text
    assert f"about {recall['needed']} accepted pairs are needed" in text
    assert re.search(r"^F1: too few labels", text, re.MULTILINE)
    assert "recall 1" not in text
    assert "matched with these labels" not in text
    assert "\n".join(str(open_run(run).score_labels()).splitlines()) in text


def test_labels_have_the_last_word_over_gold(run: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("/en/d.html\t/zh/d.html\n/en/e.html\t/zh/e.html\n")
    alone = twinlink("evaluate", run, "--gold", tmp_path / "gold.tsv", "--json").object
    assert (alone["right"], alone["wrong"], alone["estimated"]) == (2, 3, None)
    both = twinlink("evaluate", run, "--gold", tmp_path / "gold.tsv", "--labels", "--json").object
    assert (both["gold"], both["right"], both["wrong"]) == (4, 4, 1)


def test_an_accepted_pair_leaves_gold_pairs_of_other_languages(run: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("/en/a.html\t/en/b.html\n/en/a.html\t/zh/e.html\n")
    told = twinlink("evaluate", run, "--gold", tmp_path / "gold.tsv", "--labels", "--json").object
    assert told["gold"] == 4, "three accepted pairs, and that of two English pages"


def test_the_curve_of_labelled_pairs(run: Path) -> None:
    told = twinlink("evaluate", run, "--labels", "--curve", "--json").object
    last, cuts = told["curve"][-1], [point["cut"] for point in told["curve"]]
    assert cuts == sorted(set(cuts), reverse=True)
    pairs = open_run(run).pairs
    labelled = pairs.loc[pairs["url_a"].str.contains("/[a-d].html"), "probability"]
    assert cuts[-1] == pytest.approx(labelled.min())
    assert last["recall"] is None
    assert last["low"] <= last["precision"] <= last["high"] <= last["low"] + MAX_INTERVAL_WIDTH
    assert "95 % interval" in twinlink("evaluate", run, "--labels", "--curve").stdout


def test_a_curve_of_too_few_labels_is_empty(toy: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(toy, tmp_path / "run"))
    least = open_run(run).pairs.iloc[-1]
    LabelBook(run).add(Label(least["url_a"], least["url_b"], "reject", "ann", datetime.now(UTC)))
    told = twinlink("evaluate", run, "--labels", "--curve", "--json").object
    assert (told["curve"], told["precision"], told["wrong"]) == ([], None, 1)
    assert "curve: too few labels" in twinlink("evaluate", run, "--labels", "--curve").stdout


def test_labels_of_two_languages(run: Path) -> None:
    assert twinlink("evaluate", run, "--labels", "--langs", "zh,en", "--json").object["right"] == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "no reference for the scores"),
        (["--labels", "--gold", "{run}/pairs.tsv", "--curve"], "not both"),
    ],
)
def test_what_cannot_be_scored(run: Path, args: list[str], message: str) -> None:
    done = twinlink("evaluate", run, *(word.format(run=run) for word in args))
    assert (done.returncode, message in done.stderr) == (2, True)


def test_without_labels_it_says_where_they_come_from(toy: Path) -> None:
    done = twinlink("evaluate", toy, "--labels")
    assert done.returncode == 2
    assert f"make some with `twinlink review {toy}`" in done.stderr


def test_the_matcher_heeds_labels_when_asked_to(run: Path) -> None:
    def pairs() -> set[str]:
        return {re.sub(r".*/(\w)\.html", r"\1", url) for url in open_run(run).pairs.url_a}

    assert twinlink("match", run, "-q").returncode == 0
    assert pairs() == set("abcde")
    told = twinlink("match", run, "--labels", "--json").object
    assert {"a", "b", "c"} <= pairs() <= set("abce")
    assert any(drop["reason"] == "label" for drop in told["rejects"])
    assert "note: the pairs were matched with these labels" in twinlink("evaluate", run, "--labels").stdout
    assert twinlink("match", run, "-q").returncode == 0  # the run keeps its settings
    assert "d" not in pairs()
    assert twinlink("match", run, "--no-labels", "-q").returncode == 0
    assert pairs() == set("abcde")


def test_export(run: Path, tmp_path: Path) -> None:
    done = twinlink("review", run, "--export", tmp_path / "labels.tsv")
    assert done.stdout == f"4 labels (3 accept, 1 reject) → {tmp_path}/labels.tsv\n"
    lines = (tmp_path / "labels.tsv").read_text().splitlines()
    assert lines[0] == "url_a\turl_b\tverdict\twho\twhen"
    assert len(lines) == 5
    done = twinlink("review", run, "--export", tmp_path / "my.gold.tsv")
    assert f"next: twinlink evaluate {run} --labels\n" in done.stderr, "unlabelled pairs are not wrong ones"
    gold = f"3 accepted pairs → {tmp_path}/my.gold.tsv, a gold list, which has no place for 1 rejected pair\n"
    assert done.stdout == gold
    assert len((tmp_path / "my.gold.tsv").read_text().splitlines()) == 3
    assert twinlink("evaluate", run, "--gold", tmp_path / "my.gold.tsv", "--json").object["gold"] == 3
    (tmp_path / "loop").symlink_to("loop")
    for target in ("no/x.tsv", "loop"):
        refused = twinlink("review", run, "--export", tmp_path / target)
        assert (refused.returncode, "cannot be written" in refused.stderr) == (2, True)


def test_export_to_standard_output(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    twinlink("review", run, "--export", "labels.tsv")
    assert twinlink("review", run, "--export", "-").stdout == Path("labels.tsv").read_text()
    assert not Path("-").exists()
    done = twinlink("review", run, "--export", "-", "--json")
    assert (done.returncode, "leave out one of them" in done.stderr) == (2, True)
