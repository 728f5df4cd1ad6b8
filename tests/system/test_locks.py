"""Locks: they name who holds them, and fall with the process."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from pathlib import Path

import pytest

from twinlink.system.locks import BlockedError, locked, own_command


def test_who_is_kept_out_learns_by_whom(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", 0.0, "the first"):
        for _ in range(2):  # asking does not remove the note
            with pytest.raises(BlockedError) as error, locked(tmp_path / "lock", 0.0):
                pass
            assert error.value.holder is not None
            assert error.value.holder[::2] == (os.getpid(), "the first")
            message = error.value.say("it is in use", "take another")
            assert message.startswith(f"it is in use (process {os.getpid()}, since 20")
            assert f"`kill {os.getpid()}`" in message
    with locked(tmp_path / "lock", 0.0):
        pass


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"{}", b'{"pid": "x"}', b"\xff\xfe", b"[" * 4096, b"7" * 10_000])
def test_a_note_that_cannot_be_read_names_nobody(tmp_path: Path, note: bytes) -> None:
    with locked(tmp_path / "lock", 0.0):
        (tmp_path / "lock").write_bytes(note)
        with pytest.raises(BlockedError) as error, locked(tmp_path / "lock", 0.0):
            pass
    assert error.value.holder is None
    assert error.value.say("in use", "take another") == "in use; wait for it to end, or take another"


def test_a_forked_process_does_not_hold_on_to_the_lock(tmp_path: Path) -> None:
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    with locked(tmp_path / "lock", 0.0):
        forked.start()
    try:
        with locked(tmp_path / "lock", 10.0):
            assert forked.is_alive()
    finally:
        forked.kill()
        forked.join()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/x/bin/twinlink", "match", "my run"], "twinlink match 'my run'"),
        (["/x/twinlink/__main__.py", "match"], "twinlink match"),
        (["twinlink", "a" * 1000], f"twinlink {'a' * 190}…"),
        (["twinlink", "mine", "http://me:secret@a.org/"], "twinlink mine 'http://…@a.org/'"),
    ],
)
def test_a_command_is_one_that_can_be_recognised(monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.setattr(sys, "argv", words)
    assert own_command() == said
