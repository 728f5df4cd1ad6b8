"""What is read from a recorded terminal: silences, and the time left."""

from __future__ import annotations

import sys

import pytest

from experiments.progress_shown import Shown, lines_shown, longest_silence, main, time_left_errors


def test_lines_are_read_from_redrawn_ones() -> None:
    text = "\r\x1b[2K\x1b[1A━━━━ crawl: 8 of 8 · 100 % · 4.0/s · 0:02\r\n"
    text += "━╸ match: 1 of 4 · 25 % · 0:01 · 1:00:03 left · words"
    assert lines_shown([(4.0, text)]) == [
        Shown(4.0, "crawl", None, "8 of 8 · 100 %"),
        Shown(4.0, "match", 3603.5, "1 of 4 · 25 % · words"),
    ]


def test_a_clock_that_runs_on_is_silence() -> None:
    written = [(1.0, "match: 1 of 2 · 0:00"), (3.0, "match: 1 of 2 · 0:02"), (4.0, "match: 2 of 2 · 0:03")]
    assert longest_silence(written, 4.5) == (3.0, "match: 1 of 2")


def test_a_stage_ends_with_its_last_news() -> None:
    shown = [Shown(0.0, "match", None, "0"), Shown(1.0, "match", 9.5, "1"), Shown(8.0, "match", None, "2")]
    shown += [Shown(20.0, "match", None, "2"), Shown(20.0, "report", None, "drawing")]  # redrawn while another one runs
    seconds, errors = time_left_errors(shown)["match"]
    assert seconds == 8.0
    assert errors == [pytest.approx((8.5 - 6.0) / 8.0), pytest.approx((6.5 - 4.0) / 8.0), pytest.approx((4.5 - 2) / 8)]


def test_a_command_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", sys.executable, "-c", "print('match: 1 of 2'); raise SystemExit(3)"]) == 3
    assert "longest silence" in capsys.readouterr().out
