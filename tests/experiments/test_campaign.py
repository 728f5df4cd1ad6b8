"""The campaign: damage that is reproducible, losses that are noticed, a watch that sees memory and ends what hangs."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.campaign import __main__ as campaign
from experiments.campaign.archives import choose, read_damaged
from experiments.campaign.cases import Case
from experiments.campaign.catalogue import CATALOGUE, QUICK
from experiments.campaign.crawled import crawl_case
from experiments.campaign.damage import DAMAGES, damaged
from experiments.campaign.digests import difference
from experiments.campaign.samples import MAKERS, Sample
from experiments.campaign.table import Trial, as_markdown, joined
from experiments.campaign.watched import watch


@pytest.fixture(scope="module", params=MAKERS)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return MAKERS[request.param](tmp_path_factory.mktemp("sample"))


def test_a_sample_is_the_same_each_time(tmp_path: Path) -> None:
    for name, make in MAKERS.items():
        folders = tmp_path / name / "1", tmp_path / name / "2"
        for folder in folders:
            folder.mkdir(parents=True)
        assert len({make(folder).file.read_bytes() for folder in folders}) == 1


def test_of_a_whole_sample_all_is_read(sample: Sample) -> None:
    data = sample.file.read_bytes()
    assert sample.whole(data) == sample.units.keys()
    assert read_damaged(sample, data) == (True, [])


def test_losses_are_detected(sample: Sample) -> None:
    data = sample.file.read_bytes()
    sample.file.write_bytes(b"")  # the reader gets another file than the one that it is judged by
    try:
        ended, wrong = read_damaged(sample, data)
    finally:
        sample.file.write_bytes(data)
    assert ended
    if sample.units and sample.base_url == "":
        assert wrong[0].startswith("whole, and not read: http://www.example.org/")


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_depends_on_number_and_seed_alone(kind: str) -> None:
    data = bytes(range(256)) * 20
    assert damaged(data, kind, random.Random("1 7")) == damaged(data, kind, random.Random("1 7"))
    assert any(damaged(data, kind, random.Random(f"{seed} 7")) != data for seed in range(5))
    assert choose(7, 1)[:2] == choose(7, 1)[:2]
    assert {choose(number, 1)[0] for number in range(len(MAKERS))} == MAKERS.keys()


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started() -> None:
    held = "import time; held = b'x' * 10**8; time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {held!r}])"
    ended = watch([sys.executable, "-c", code], 3.0)
    assert not ended.in_time
    assert ended.code < 0
    assert ended.peak > 10**8
    assert ended.seconds < 30


def test_what_a_command_says_is_looked_through() -> None:
    ended = watch([sys.executable, "-c", "print('\\x1b[2J'); raise ValueError"], 60)
    assert ended.code == 1
    assert ended.has_traceback
    assert not ended.is_said_plainly


def test_a_table_says_what_was_missed() -> None:
    trials = [
        Trial("one", True, memory=10**8, silence=2.0),
        Trial("two", True, ("a page",), 3, 4 * 10**8, 61.0),
        Trial("three", False, memory=5 * 10**8, is_bound=False),
    ]
    row = joined("kind", trials)
    assert (row.tried, row.survived, row.lost, row.extra, row.memory, row.silence) == (3, 2, 1, 3, 5 * 10**8, 61.0)
    assert row.missed == {"two": ("400 MB", "61 s of silence", "a page"), "three": ("did not end as it should",)}
    assert "| kind | 3 | 2 | 1 | 3 | 500 | 61.0 |" in as_markdown([row])
    assert "No bar was missed." in as_markdown([joined("kind", trials[:1])])


def test_the_exit_code_says_whether_a_bar_was_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = {"lost": ("a page",)}

    def part(given: object, folder: Path) -> object:
        yield "kind", Trial("one", True, found["lost"])

    monkeypatch.setattr(campaign, "PARTS", {"hostile": part})
    with pytest.raises(SystemExit) as end:
        campaign.main(["--json", "-o", str(tmp_path / "t.md")])
    assert end.value.code == 1
    assert json.loads(capsys.readouterr().out)[0]["missed"] == {"one": ["a page"]}
    assert "- kind: one: a page" in (tmp_path / "t.md").read_text()
    found["lost"] = ()
    with pytest.raises(SystemExit) as end:
        campaign.main([])
    assert end.value.code == 0


def test_parts_of_a_campaign_are_kept_and_put_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def part(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Trial]]:
        yield "kills", Trial("one", True, ("a page",) * given.seed, 2, 100 * given.seed, 3.0, count=5)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "PARTS", {"hostile": part})
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    for seed, file in enumerate(files, 1):
        with pytest.raises(KeyboardInterrupt):
            campaign.main(["--seed", str(seed), "-o", str(file)])
    with pytest.raises(SystemExit) as end:
        campaign.main(["--merge", *map(str, files), "--json"])
    assert end.value.code == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["kind"], row["tried"], row["lost"], row["extra"], row["memory"]) == ("kills", 10, 3, 4, 200)
    assert row["missed"] == {"one": ["a page", "a page"]}


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_hostile_site_beside_a_good_one(case: Case, tmp_path: Path) -> None:
    trial = crawl_case(case, tmp_path / "run", n_beats=12)
    assert trial.missed == ()


def test_results_are_compared_line_by_line() -> None:
    expected = Counter(["a", "b", "b"])
    assert difference(Counter(["b", "a", "b"]), expected) == ""
    assert difference(Counter(["b", "b", "c"]), expected) == "missing a; too many c (2 lines)"
    assert difference(Counter(["a", "b", "b", "b"]), expected) == "too many b (1 lines)"


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CATALOGUE}) == len(CATALOGUE)
    assert QUICK
