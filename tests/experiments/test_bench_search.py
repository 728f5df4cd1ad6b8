"""The benchmark of the search for candidates measures what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from experiments.bench import bench_search
from twinlink.toy import write_toy


def test_each_kind_of_candidates_has_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_toy(tmp_path / "site")
    (tmp_path / "gold.tsv").write_text("".join(f"/en/{name}.html\t/zh/{name}.html\n" for name in "abcde"))
    (tmp_path / "meta.json").write_text(json.dumps({"host": "toy.example", "lang_a": "en", "lang_b": "zh"}))
    monkeypatch.setattr(sys, "argv", ["bench_search", str(tmp_path), "--pages", "30", "--products", "1"])
    bench_search.main()
    _, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert [row[:2] for row in rows] == [["30", "content"], ["30", "structure"]]
    assert all(float(row[2]) == float(row[4]) <= 1 for row in rows)  # a small site is searched exactly
