"""Claimed and true chances: what is drawn, and what is printed of a list that was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import chances
from experiments.chances import ReadPair, log_loss
from experiments.judgements import read_judged, write_judged
from twinlink.align.formats.exports import Row

ROWS = [Row("http://x/a", "http://x/b", f"one {k}", f"un {k}", 1.0, chance=k / 1000) for k in range(1000)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call the program on a site with these sentence pairs; it returns what was printed."""
    monkeypatch.setattr(chances, "LISTS", tmp_path)
    monkeypatch.setattr(chances, "find_cases", lambda places: [tmp_path / "small"])
    monkeypatch.setattr(chances, "align_site", lambda folder, out, keep: SimpleNamespace(rows=ROWS))

    def call(*options: str) -> str:
        chances.main([str(tmp_path), *options])
        return capsys.readouterr().out

    return call


def test_what_is_drawn_twice_is_the_same(tmp_path: Path, run: Callable[..., str]) -> None:
    run("--draw")
    drawn = read_judged(tmp_path / "small.tsv")
    run("--draw")
    assert drawn == read_judged(tmp_path / "small.tsv")
    ranks = [int(row.source.split()[1]) for row in drawn]
    assert [sum(start <= rank < end for rank in ranks) for start, end in ((0, 50), (50, 200), (200, 1000))] == [
        50,
        20,
        40,
    ]


def test_claimed_and_true_chances_are_printed(tmp_path: Path, run: Callable[..., str]) -> None:
    """Every second one of the lowest 50 is right, and half of that was claimed, .0245."""
    run("--draw")
    file = tmp_path / "small.tsv"
    verdicts = ("wrong", "partly")
    write_judged(file, [row._replace(verdict=verdicts[int(row.source.split()[1]) % 2]) for row in read_judged(file)])
    line = next(line for line in run().splitlines() if line.startswith("| small"))
    assert line.startswith("| small | 1,000 | 500 | 900 | 50 | .025 | .500 | 110 |")


def test_a_sure_and_wrong_claim_costs_most() -> None:
    assert log_loss([ReadPair(1.0, False)]) > log_loss([ReadPair(0.9, False)]) > log_loss([ReadPair(0.9, True)]) > 0


def test_the_lists_at_hand_have_verdicts() -> None:
    lists = sorted(chances.LISTS.glob("*.tsv"))
    assert len(lists) == 7
    assert all(row.verdict for file in lists for row in read_judged(file))
