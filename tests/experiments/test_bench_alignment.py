"""The benchmark of the alignment measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.bench.bench_alignment import main, read_pairs, seconds_of


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    (folder / "site").mkdir(parents=True)
    lines = []
    for k in range(3):
        for side in "ab":
            (folder / "site" / f"{k}{side}.html").write_text("<p>text</p>" * (k + (side == "b")))
        lines.append(f"/{k}a.html\t/{k}b.html\n")
    (folder / "gold.tsv").write_text("".join(lines))
    return folder


def test_pairs_are_the_gold_ones(site: Path) -> None:
    side_a, side_b = read_pairs(site)
    assert [(tokens > 0).sum() for tokens in side_a] == [0, 1, 2]
    assert [(tokens > 0).sum() for tokens in side_b] == [1, 2, 3]


def test_rates_are_printed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(site), "--pairs", "5", "--plain", "2", "--runs", "1"])
    printed = capsys.readouterr().out
    assert "small: 3 pairs" in printed
    assert printed.count("pairs/s") == 5
    assert "equal: True" in printed


def test_times_are_medians() -> None:
    calls: list[int] = []
    assert seconds_of(lambda: calls.append(1), 3) < 1
    assert len(calls) == 3
