"""Two results side by side: further matches of a run, and where they differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, write_toy
from twinlink.comparison import BOTH, FIRST, SECOND, write_comparison
from twinlink.damage import list_tables
from twinlink.errors import ConfigError, InputError, MissingStageError, RunError
from twinlink.tables import PAIRS, iter_parts, read_table, write_table

LANGS = ["en", "zh"]


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    toy = write_toy(folder / "toy")
    run = tl.mine(str(toy), out=folder / "run", langs=LANGS, base_url=BASE, match__min_score=0.0)
    run.match(name="by-urls", match__method="urls")
    return run.path


def put_pairs(run: Path, rows: list[tuple[str, str, float | None]]) -> None:
    """Replace the pairs of a run by some with other probabilities."""
    [part] = iter_parts(run / "match/pairs")
    table = read_table(part, PAIRS).to_pylist()
    by_url = {row["url_a"]: row for row in table}
    made = [{**by_url[a], "url_b": b, "probability": p} for a, b, p in rows]
    write_table(pa.Table.from_pylist(made, schema=PAIRS), PAIRS, part)
    signature = run / "match/signature.json"
    signature.write_text(json.dumps({**json.loads(signature.read_text()), "tables": list_tables(run / "match")}))


def url(lang: str, name: str) -> str:
    return f"{BASE}/{lang}/{name}.html"


@pytest.fixture
def two(mined: Path, tmp_path: Path) -> tuple[Path, Path]:
    """One run twice: pairs a, b, c and a, b', d; a differs by .3, and b by the partner."""
    first, second = (Path(shutil.copytree(mined, tmp_path / name)) for name in ("first", "second"))
    put_pairs(first, [(url("en", "a"), url("zh", "a"), 0.6), (url("en", "b"), url("zh", "b"), 0.9)])
    rows: list[tuple[str, str, float | None]] = [
        (url("en", "a"), url("zh", "a"), 0.9),
        (url("en", "b"), url("zh", "c"), 0.7),
    ]
    put_pairs(second, [*rows, (url("en", "d"), url("zh", "d"), 0.8)])
    return first, second


def test_pairs_of_only_one_result_and_changed_ones(two: tuple[Path, Path]) -> None:
    found = tl.compare(*two)
    assert found.counts() == {BOTH: 1, FIRST: 1, SECOND: 2}
    rows = found.pairs.set_index(["url_a", "url_b"])
    both = rows.loc[(url("en", "a"), url("zh", "a"))]
    assert (both["where"], both["in_first"], both["in_second"]) == (BOTH, pytest.approx(0.6), pytest.approx(0.9))
    assert both["difference"] == pytest.approx(0.3)
    old, new = rows.loc[(url("en", "b"), url("zh", "b"))], rows.loc[(url("en", "b"), url("zh", "c"))]
    assert (old["where"], old["other_a"]) == (FIRST, url("zh", "c"))
    assert (new["where"], new["other_a"]) == (SECOND, url("zh", "b"))
    assert pd.isna(old["other_b"])
    assert pd.isna(new["difference"])
    assert len(found.changed(0.2)) == 1
    assert found.changed(0.4).empty
    assert "both 1, only first 1, only second 2" in repr(found)


def test_the_other_order_says_the_same_from_the_other_side(two: tuple[Path, Path]) -> None:
    here, there = tl.compare(*two), tl.compare(*reversed(two))
    assert there.counts() == {BOTH: 1, FIRST: 2, SECOND: 1}
    assert sorted(here.pairs["url_a"]) == sorted(there.pairs["url_a"])
    assert here.changed()["difference"].tolist() == (-there.changed()["difference"]).tolist()


def test_known_pairs_tell_which_are_right(two: tuple[Path, Path], tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"{url('en', name)}\t{url('zh', name)}\n" for name in "abc"))
    found = tl.compare(*two, gold=gold)
    right = found.pairs.set_index(["url_a", "url_b"])["right"]
    assert right[url("en", "a"), url("zh", "a")]
    assert right[url("en", "b"), url("zh", "b")]
    assert not right[url("en", "b"), url("zh", "c")]
    assert not right[url("en", "d"), url("zh", "d")]
    assert found.scores is not None
    assert [(each.n_right, each.n_wrong) for each in found.scores] == [(2, 0), (1, 2)]
    done = twinlink("compare", *two, "--gold", gold)
    assert "only in the first: 1 (1 right, 0 wrong)" in done.stdout
    assert f"0.70, wrong  {url('en', 'b')} ↔ {url('zh', 'c')}" in done.stdout
    assert f"the other has {url('en', 'b')} ↔ {url('zh', 'b')}" in done.stdout
    told = twinlink("compare", *two, "--gold", gold, "--json", "--top", "0").object
    assert told["only_second"] == {"n": 2, "right": 0, "wrong": 2, "shown": []}
    assert [score["right"] for score in told["scores"]] == [2, 1]


def test_a_result_equals_itself(mined: Path) -> None:
    found = tl.compare(mined, mined)
    assert found.counts() == {BOTH: 5, FIRST: 0, SECOND: 0}
    assert (found.pairs["difference"] == 0).all()


def test_a_method_without_probabilities_has_no_differences(mined: Path, tmp_path: Path) -> None:
    side = mined / "matches/by-urls"
    done = twinlink("compare", mined, side, "-o", tmp_path / "all.tsv")
    assert done.returncode == 0, done.stderr
    assert "probability differs" not in done.stdout
    table = pd.read_csv(tmp_path / "all.tsv", sep="\t")
    assert len(table) == len(tl.compare(mined, side).pairs)
    assert table["difference"].isna().all()


def test_an_accepted_pair_without_a_probability_leaves_those_of_others(two: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = two
    put_pairs(second, [(url("en", "a"), url("zh", "a"), 0.9), (url("en", "b"), url("zh", "b"), None)])
    rows = tl.compare(first, second).pairs.set_index("url_a")
    assert rows.loc[url("en", "a"), "difference"] == pytest.approx(0.3)
    assert rows.loc[url("en", "b"), ["where", "in_first"]].tolist() == [BOTH, pytest.approx(0.9)]
    assert rows.loc[url("en", "b"), ["in_second", "difference"]].isna().all()
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"{url('en', name)}\t{url('zh', name)}\n" for name in "ab"))
    assert tl.open(second).precision_coverage(gold)["score"].tolist() == pytest.approx([1, 0.9])
    told = twinlink("evaluate", second, "--gold", gold, "--curve", "--json").object
    assert (told["curve_by"], [point["cut"] for point in told["curve"]]) == ("probability", pytest.approx([1, 0.9]))
    put_pairs(second, [(url("en", "b"), url("zh", "b"), 0.9), (url("en", "a"), url("zh", "c"), None)])
    shown = twinlink("compare", first, second, "--gold", gold).stdout
    assert f"\n  wrong  {url('en', 'a')} ↔ {url('zh', 'c')}\n" in shown


def test_a_further_match_shares_pages_and_labels_and_nothing_else(mined: Path, tmp_path: Path) -> None:
    run = tl.open(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    before = (run.path / "pairs.tsv").read_bytes(), (run.path / "config.toml").read_bytes()
    done = twinlink("match", run.path, "-o", "paper", "--method", "liu2014", "-q")
    assert done.returncode == 0, done.stderr
    assert ((run.path / "pairs.tsv").read_bytes(), (run.path / "config.toml").read_bytes()) == before
    side = tl.open(run.path / "matches/paper")
    assert side.config.match.method == "liu2014"
    assert side.config.langs == run.config.langs
    assert run.config.match.method == "weighed"
    assert side.pages["url"].tolist() == run.pages["url"].tolist()
    assert (side.path / "ingest").is_symlink()
    assert (side.path / "review").samefile(run.path / "review")
    n_pairs = len(side.pairs)
    run.path.rename(tmp_path / "moved")
    assert len(tl.open(tmp_path / "moved/matches/paper").pairs) == n_pairs


def test_a_further_match_remembers_its_own_settings(mined: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    assert twinlink("match", run, "-o", "strict", "--min-probability", "0.8", "-q").returncode == 0
    again = twinlink("match", run, "-o", "strict")
    assert "match.min_probability=0.8" in again.stderr
    assert twinlink("align", run / "matches/strict", "-q").returncode == 0
    assert not (run / "align").exists()


def test_after_new_pages_a_further_match_has_to_be_made_again(mined: Path, tmp_path: Path) -> None:
    run = tl.open(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    toy = write_toy(tmp_path / "toy")
    (toy / "en/a.html").unlink()
    assert twinlink("ingest", toy, "--base-url", BASE, "-o", run.path, "--replace", "-q").returncode == 0
    with pytest.raises(MissingStageError):
        _ = tl.open(run.path / "matches/by-urls").pairs


@pytest.mark.parametrize("verb", ["crawl", "ingest", "mine", "discover", "recover"])
def test_a_further_match_gets_no_pages_of_its_own(mined: Path, tmp_path: Path, verb: str) -> None:
    run = Path(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    (run / "warc").mkdir(exist_ok=True)
    side = run / "matches/by-urls"
    toy = str(write_toy(tmp_path / "toy"))
    web = "http://127.0.0.1:9/"
    sources = {"recover": [], "ingest": [toy, "--add", "-o"], "mine": [toy, "--add", "-o"]}.get(verb, [web, "-o"])
    done = twinlink(verb, *sources, side)
    assert done.returncode == 3, done.stderr
    assert f"a further match has the pages of its run; fetch and read pages in {run}" in done.stderr
    assert list((run / "warc").iterdir()) == []
    assert len(tl.open(side).pairs) == len(tl.open(mined / "matches/by-urls").pairs)


def test_the_advice_to_add_pages_names_the_run_that_has_pages(mined: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    done = twinlink("match", run, "-o", "finnish", "--langs", "en,fi")
    assert done.returncode == 5, done.stderr
    assert f"twinlink mine FOLDER --add -o {run}\n" in done.stdout + done.stderr


def test_no_output_goes_into_another_result(mined: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(mined, tmp_path / "run", symlinks=True))
    side = run / "matches/by-urls"
    for target in (run / "match", run / "pairs.tsv", side / "ingest/pages", side / "match"):
        for first in (run, side):
            for done in (twinlink("export", first, "-o", target), twinlink("compare", first, first, "-o", target)):
                assert done.returncode == 2
    assert [path.name for path in (run / "ingest/pages").iterdir()] == ["toy.example.parquet"]
    assert not list(run.rglob("pairs.*.jsonl"))


def test_what_is_refused(mined: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a name of up to 100 letters"):
        tl.open(mined).match(name="a/b")
    before = (mined / "pairs.tsv").read_bytes()
    for name in ("..", "", "a/b", "x" * 101):  # an empty one is a shell variable that is not set
        done = twinlink("match", mined, "-o", name, "--method", "urls")
        assert done.returncode == 2
        assert f"{name!r}: expected a name of up to 100 letters" in done.stderr
    assert (mined / "pairs.tsv").read_bytes() == before
    assert f"`twinlink match {mined} -o none` makes one" in twinlink("compare", mined, mined / "matches/none").stderr
    with pytest.raises(RunError, match=r"no such folder; `run\.match\(name='none'\)` makes one"):
        tl.compare(mined, mined / "matches/none")
    same = tl.compare(mined, mined)
    with pytest.raises(InputError, match="in a folder that exists"):
        write_comparison(same, tmp_path / "none/all.tsv")
    toy = write_toy(tmp_path / "toy")
    assert twinlink("ingest", toy, "--base-url", BASE, "-o", tmp_path / "raw", "-q").returncode == 0
    with pytest.raises(MissingStageError, match=r"run `run\.match\(\)`"):
        tl.compare(mined, tmp_path / "raw")
    assert f"run `twinlink match {tmp_path / 'raw'}`" in twinlink("compare", mined, tmp_path / "raw").stderr
