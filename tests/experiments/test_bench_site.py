"""The benchmark of a site measures what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from experiments.bench import bench_site
from twinlink.toy import write_toy


def test_each_stage_of_a_site_has_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_toy(tmp_path / "toy" / "site")
    meta = {"host": "toy.example", "lang_a": "en", "lang_b": "zh"}
    (tmp_path / "toy" / "meta.json").write_text(json.dumps(meta))
    monkeypatch.setattr(
        sys, "argv", ["bench_site", str(tmp_path / "toy"), "--runs", "1", "--svg", str(tmp_path / "b.svg")]
    )
    bench_site.main()
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("toy: 10 pages")
    assert [line[:11].strip() for line in lines] == ["bare parse", "parse", "ingest", "match", "mine", "all cores"]
    assert "  1.0 x bare" in lines[0]
    assert "bare parse" in (tmp_path / "b.svg").read_text(encoding="utf-8")
