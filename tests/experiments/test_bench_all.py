"""One command prints the tables of all benchmarks."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from experiments.bench import bench_bitext
from experiments.bench.__main__ import GROWN, SITES, commands, main
from twinlink.errors import InputError


def test_every_benchmark_exists_and_gets_the_sites_that_are_there(tmp_path: Path) -> None:
    for name in (SITES[0], GROWN):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.json").touch()
    found = commands(tmp_path, 2, tmp_path / "x.svg")
    assert all(find_spec(f"experiments.bench.bench_{name}") for name in found)
    assert found["site"] == [*(str(tmp_path / name) for name in SITES[:2]), "--runs", "2", "--svg", f"{tmp_path}/x.svg"]
    assert found["scale"][0] == str(tmp_path / GROWN)
    assert list(commands(tmp_path, 2, only=["ets", "site"])) == ["site", "ets"]


def test_unknown_names_and_missing_sites_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="expected some of site, start"):
        commands(tmp_path, 1, only=["speed"])
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--only", "scale"])
    assert "expected the site folders lo-en-zhtw-opaque" in capsys.readouterr().err


def test_tables_come_one_after_another_and_short_commands_have_a_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--runs", "1", "--only", "start"]) == 0
    empty, command, *lines = capfd.readouterr().out.splitlines()
    assert (empty, command) == ("", "$ python -m experiments.bench.bench_start --runs 1")
    assert [line[:50].strip() for line in lines] == [
        "twinlink --help", "mine toy", "mine toy, no compiled code on disk"
    ]  # fmt: skip


def test_a_benchmark_that_fails_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--runs", "-1", "--only", "start"]) == 1  # no round at all, so no median
    assert "failed: start" in capfd.readouterr().err


def test_sentences_per_second_have_a_growth(capsys: pytest.CaptureFixture[str]) -> None:
    bench_bitext.main(["--beads", "20", "60", "--units", "10"])
    lines = [line for line in capsys.readouterr().out.splitlines() if "all rounds" in line]
    assert [line.split()[0] for line in lines] == ["20", "60"]
    assert "growth  nan" in lines[0]
    assert float(lines[1].partition("growth")[2].split()[0]) > 0
