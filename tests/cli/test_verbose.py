"""Option --verbose: what the stages plan to hold in memory."""

from __future__ import annotations

import logging
from pathlib import Path

from typer.testing import CliRunner

from tests.made_sites import BASE, write_toy
from twinlink.cli.app import app


def ingested(tmp_path: Path, *options: str) -> str:
    words = ["ingest", str(write_toy(tmp_path / "toy")), "-o", str(tmp_path / "run"), "--base-url", BASE, *options]
    done = CliRunner().invoke(app, [*words, "--set", "run.memory=2GB"])
    assert done.exit_code == 0, done.output
    return done.output


def test_plans_are_printed_if_wanted(tmp_path: Path) -> None:
    level = logging.getLogger("twinlink.memory").level
    assert "memory 2 GB: " not in ingested(tmp_path)
    (tmp_path / "run" / "ingest" / "signature.json").unlink()
    text = ingested(tmp_path, "--verbose")
    assert "worker processes fit in" in text
    assert "ingest, memory 2 GB: tasks of 4.19 MB of pages, " in text
    assert logging.getLogger("twinlink.memory").level == level
    assert not logging.getLogger("twinlink.memory").handlers


def test_the_memory_is_remembered(tmp_path: Path) -> None:
    ingested(tmp_path)
    assert "memory = 2000000000" in (tmp_path / "run" / "config.toml").read_text()
