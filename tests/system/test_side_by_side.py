"""Parts of one task side by side: the same results, in order, and no task lost with a process."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from twinlink.errors import LexiconError
from twinlink.system.side_by_side import (
    FORK_SECONDS,
    QUEUED,
    RANGE_SECONDS,
    at_once,
    forked,
    in_ranges,
    on_cores,
    threaded,
    threaded_in_ranges,
)


def numbered(number: int) -> tuple[int, int]:
    return number, os.getpid()


def tasks(n: int) -> list[Callable[[], tuple[int, int]]]:
    return [partial(numbered, number) for number in range(n)]


@pytest.mark.parametrize("n_cores", [1, 2, 3, 8])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_cores: int, n_tasks: int) -> None:
    with on_cores(n_cores):
        done = forked(tasks(n_tasks), seconds=1)
    assert [number for number, _ in done] == list(range(n_tasks))
    assert len({pid for _, pid in done}) == min(n_cores, n_tasks)
    assert not done or done[0][1] == os.getpid()


def test_outside_of_the_context_this_process_does_all() -> None:
    with on_cores(4):
        pass
    assert {pid for _, pid in forked(tasks(3), seconds=1)} == {os.getpid()}
    assert at_once() == 1


def test_short_tasks_are_not_worth_a_process() -> None:
    with on_cores(2):
        assert {pid for _, pid in forked(tasks(2), seconds=FORK_SECONDS / 2)} == {os.getpid()}


def test_a_copy_makes_no_copies() -> None:
    with on_cores(2):
        assert forked([at_once, at_once], seconds=1) == [2, 1]


def test_who_is_done_takes_the_next_task(tmp_path: Path) -> None:
    """While this process is at the first task, its copy does all others."""
    done = tmp_path / "done"

    def first() -> int:
        while len(read(done)) < 4:
            time.sleep(0.01)
        return os.getpid()

    def other() -> int:
        with done.open("a") as lines:
            lines.write("x")
        return os.getpid()

    with on_cores(2):
        ours, *others = forked([first, *[other] * 4], seconds=1)
    assert ours == os.getpid()
    assert len({ours, *others}) == 2


def test_more_tasks_than_a_pipe_holds_are_each_done_once() -> None:
    n = 3 * QUEUED + 1
    with on_cores(3):
        assert [number for number, _ in forked(tasks(n), seconds=1)] == list(range(n))


def test_there_are_no_more_processes_than_allowed() -> None:
    with on_cores(8):
        assert len({pid for _, pid in forked(tasks(8), seconds=1, most=2)}) == 2
        assert forked([at_once] * 2, seconds=1) == [8, 4]


def test_after_a_failure_in_a_copy_no_further_tasks_are_begun_before_it_is_repeated(tmp_path: Path) -> None:
    begun, failed = tmp_path / "begun", tmp_path / "failed"

    def failing() -> None:
        failed.touch()
        raise ValueError(f"broken in {os.getpid()}")

    def other() -> None:
        with begun.open("a") as lines:
            lines.write("x")
        while not failed.exists():
            time.sleep(0.01)
        time.sleep(0.1)

    with on_cores(2), pytest.raises(ValueError, match=f"broken in {os.getpid()}"):
        forked([other, failing, *[other] * 20], seconds=1)
    assert len(read(begun)) < 10


def read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def test_a_large_result_comes_whole() -> None:
    with on_cores(2):
        _, text = forked([str, lambda: "ä" * 10**6], seconds=1)
    assert text == "ä" * 10**6


def test_tasks_are_done_here_where_no_further_process_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    with on_cores(3):
        assert forked([os.getpid] * 3, seconds=1) == [os.getpid()] * 3


def test_tasks_are_done_here_where_no_further_file_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", refuse)
    with on_cores(3):
        assert forked([os.getpid] * 3, seconds=1) == [os.getpid()] * 3


def test_tasks_of_a_killed_copy_are_done_here() -> None:
    parent = os.getpid()

    def ended() -> int:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return 7

    with on_cores(2):
        assert forked([os.getpid, ended], seconds=1) == [parent, 7]


def test_an_error_is_that_of_the_task() -> None:
    def failing() -> int:
        raise LexiconError("no such word")

    with on_cores(2), pytest.raises(LexiconError, match="no such word"):
        forked([os.getpid, failing], seconds=1)


def test_a_result_that_cannot_be_sent_is_computed_here() -> None:
    with on_cores(2):
        _, lock = forked([os.getpid, threading.Lock], seconds=1)
    assert lock.acquire(blocking=False)


def test_no_copy_outlives_an_error() -> None:
    def failing() -> int:
        raise LexiconError("no such word")

    held, holds = os.pipe()
    with on_cores(2), pytest.raises(LexiconError):
        forked([failing, lambda: signal.pause() or 0], seconds=1)
    os.close(holds)
    assert os.read(held, 1) == b""  # the copy, which had its end of the pipe open, is gone
    os.close(held)


@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_ranges_are_all_numbers_once(n: int) -> None:
    with on_cores(3):
        done = in_ranges(
            lambda first, end: [numbered(number) for number in range(first, end)], n, seconds=FORK_SECONDS / 9
        )
    assert [number for number, _ in done] == list(range(n))
    assert len({pid for _, pid in done}) == (0 if n == 0 else max(1, n // 10))


@pytest.mark.parametrize(("n_cores", "seconds", "n_threads"), [(1, 1.0, 1), (2, 1e-6, 1), (2, 1.0, 2)])
def test_threads_only_where_they_are_worth_it(n_cores: int, seconds: float, n_threads: int) -> None:
    meeting = threading.Barrier(n_threads)

    def met(number: int) -> tuple[int, int]:
        meeting.wait(30)  # until as many threads as expected are at work
        return number, threading.get_ident()

    with on_cores(n_cores):
        done = threaded(met, range(4), seconds=seconds)
    assert [number for number, _ in done] == [0, 1, 2, 3]
    assert len({thread for _, thread in done}) == n_threads


def test_parts_of_a_part_use_the_cores_that_are_free() -> None:
    meeting = threading.Barrier(2)

    def met(_: int) -> int:
        meeting.wait(30)
        return threading.get_ident()

    with on_cores(2):
        [inner, _] = threaded(lambda n: threaded(met, range(n), seconds=1.0), [2, 0], seconds=1.0)
    assert len(set(inner)) == 2


@pytest.mark.parametrize(("n_cores", "n", "sizes"), [(1, 7, [7]), (2, 3, [3]), (2, 7, [3, 3, 1]), (2, 0, [0])])
def test_ranges_of_threads_are_short(n_cores: int, n: int, sizes: list[int]) -> None:
    ranges = []

    def numbers(first: int, end: int) -> range:
        ranges.append((first, end))
        return range(first, end)

    with on_cores(n_cores):
        assert threaded_in_ranges(numbers, n, seconds=RANGE_SECONDS / 3) == list(range(n))
    assert [end - first for first, end in sorted(ranges)] == sizes


def test_ranges_are_at_work_at_the_same_time() -> None:
    meeting = threading.Barrier(2)

    def met(first: int, end: int) -> list[int]:
        meeting.wait(30)
        return [threading.get_ident()] * (end - first)

    with on_cores(2):
        assert len(set(threaded_in_ranges(met, 4, seconds=1.0))) == 2
