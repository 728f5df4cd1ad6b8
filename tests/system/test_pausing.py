"""A pause lasts until it is taken back, or for as long as somebody looks."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from twinlink.system import pausing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "review" / "pause"


def left_behind(file: Path, seconds: float) -> None:
    """Let a file be of so many seconds ago."""
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_without_a_file_nothing_waits(file: Path) -> None:
    assert not pausing.waits(file)
    pausing.take_back(file)
    pausing.let_go(file)


def test_a_pause_lasts_until_it_is_taken_back(file: Path) -> None:
    pausing.ask(file)
    left_behind(file, 1e6)
    assert pausing.waits(file)
    pausing.take_back(file)
    assert not pausing.waits(file)


@pytest.mark.parametrize("seconds", [pausing.LEASE_SECONDS + 5, -pausing.LEASE_SECONDS - 5, 1e6, -1e6])
def test_watcher_that_ends_does_not_block_the_job(file: Path, seconds: float) -> None:
    pausing.hold(file)
    assert pausing.waits(file)
    left_behind(file, seconds)  # the server was killed, and perhaps the clock was set back
    assert not pausing.waits(file)
    pausing.hold(file)
    assert pausing.waits(file)


def test_watching_keeps_a_requested_pause(file: Path) -> None:
    pausing.ask(file)
    pausing.hold(file)
    pausing.let_go(file)
    left_behind(file, 1e6)
    assert pausing.waits(file)


def test_the_file_is_looked_for_a_few_times_a_second_and_always_while_there_is_a_pause(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pause = pausing.Pause(file)
    assert not pause.waits()
    pausing.ask(file)
    now += 0.1
    assert not pause.waits()
    now += 0.2
    assert pause.waits()
    pausing.take_back(file)
    assert not pause.waits()


def test_a_pause_is_asked_for_while_somebody_looks(file: Path) -> None:
    pausing.hold(file)
    pausing.ask(file)
    pausing.let_go(file)
    left_behind(file, 1e6)
    assert pausing.waits(file)


@pytest.mark.parametrize("text", [b"\n", b"back at noon", b"\xff\xfe", b"9" * 400])
def test_a_file_that_a_person_made_counts_until_it_is_removed(file: Path, text: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(text)
    left_behind(file, 1e6)
    assert pausing.waits(file)
    pausing.hold(file)
    assert file.read_bytes() == text


def test_nothing_is_left_beside_it(file: Path) -> None:
    pausing.hold(file)
    pausing.let_go(file)
    assert list(file.parent.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(self: Path, text: str, **_: str) -> None:
        self.write_bytes(text.encode()[:1])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_text", write_half)
    with pytest.raises(OSError, match="full"):
        pausing.hold(file)
    assert list(file.parent.iterdir()) == []
