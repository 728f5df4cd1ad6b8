"""Worker processes: results in order, one process for one task, and no task lost with a worker."""

from __future__ import annotations

import inspect
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from twinlink.errors import InputError, LexiconError
from twinlink.system.workers import Room, TaskQueue, as_done, cores, in_order, sharing, worker_processes


def squared(number: int) -> tuple[int, int]:
    time.sleep(0.02 * (number % 3))  # so that they are not done in the order of the tasks
    return number * number, os.getpid()


def failing(number: int) -> int:
    if number == 3:
        raise LexiconError("no such word")
    return number


def ended(number: int) -> int:
    """End the process that does task 2, unless it is the one that the test runs in."""
    if number == 2 and os.getppid() == int(os.environ["TEST_PARENT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("n", [1, 2, 4])
def test_results_come_in_the_order_of_the_tasks(n: int) -> None:
    with worker_processes(n) as executor:
        done = list(in_order(executor, squared, range(20)))
    assert [(task, result) for task, (result, _) in done] == [(k, k * k) for k in range(20)]
    here = {pid == os.getpid() for _, (_, pid) in done}
    assert here == {n == 1}


def _fails_with_five(number: int) -> int:
    time.sleep(0.05)
    if number == 5:
        raise LexiconError("five")
    return number


def test_the_error_of_a_task_that_this_process_does_comes_in_its_turn() -> None:
    results = list[int]()

    def add_all() -> None:
        with worker_processes(2, helps=True) as executor:
            results.extend(result for _, result in in_order(executor, _fails_with_five, range(6)))

    with pytest.raises(LexiconError, match="five"):
        add_all()
    assert results == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", [2, 3])
def test_this_process_helps_where_it_is_one_of_the_workers(n: int) -> None:
    with worker_processes(n, helps=True) as executor:
        done = list(in_order(executor, squared, range(1, 30)))
    assert [(task, result) for task, (result, _) in done] == [(k, k * k) for k in range(1, 30)]
    processes = {pid for _, (_, pid) in done}
    assert os.getpid() in processes
    assert 1 < len(processes) <= n


def test_an_error_of_a_task_that_this_process_does_is_raised() -> None:
    with pytest.raises(LexiconError, match="no such word"), worker_processes(2, helps=True) as executor:
        list(in_order(executor, failing, range(20)))


def test_a_lost_worker_of_a_process_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_PARENT", str(os.getpid()))
    with worker_processes(2, helps=True) as executor:
        assert [result for _, result in in_order(executor, ended, range(20))] == list(range(20))


def test_a_single_task_is_done_here() -> None:
    with worker_processes(2) as executor:
        ((_, (_, pid)),) = in_order(executor, squared, [5])
    assert pid == os.getpid()


def test_only_some_tasks_are_made_ahead() -> None:
    made = []

    def tasks():
        for number in range(100):
            made.append(number)
            yield number

    with ThreadPoolExecutor(2) as executor:
        first = next(in_order(executor, squared, tasks()))
    assert first[0] == 0
    assert len(made) <= 2 * cores() + 2


def test_a_queue_can_be_drained_and_used_again() -> None:
    with worker_processes(2) as executor:
        queue = TaskQueue(executor, squared)
        assert not queue.is_busy
        assert list(queue.put(1)) == []
        assert queue.is_busy
        assert [task for task, _ in queue.drain()] == [1]
        assert not queue.is_busy
        assert [task for number in (2, 3, 4) for task, _ in queue.put(number)] + [t for t, _ in queue.drain()] == [
            2,
            3,
            4,
        ]


def test_results_can_come_as_they_are_done() -> None:
    others_came = threading.Event()

    def slow_first(number: int) -> int:
        return number if number or others_came.wait(60) else -1

    done = []
    with ThreadPoolExecutor(2) as executor:
        for task, result in as_done(executor, slow_first, range(4)):
            done.append((task, result))
            if len(done) == 3:
                others_came.set()
    assert done == [(1, 1), (2, 2), (3, 3), (0, 0)]
    assert list(as_done(None, abs, [-2, 1])) == [(-2, 2), (1, 1)]


@pytest.mark.parametrize(("n_bytes", "most"), [(0, 1), (10, 1), (25, 2), (10**6, 4)])
def test_tasks_have_room_together(n_bytes: int, most: int) -> None:
    """The tasks that are at work take no more than the room, except for one that is larger: it is alone."""
    lock, at_work, seen = threading.Lock(), [0], []

    def watched(number: int) -> int:
        with lock:
            at_work[0] += 1
            seen.append(at_work[0])
        time.sleep(0.01)
        with lock:
            at_work[0] -= 1
        return number

    room = Room(n_bytes, lambda _: 10)
    with ThreadPoolExecutor(4) as executor:
        assert sorted(result for _, result in as_done(executor, watched, range(24), room=room)) == [*range(24)]
    assert max(seen) <= most


def test_an_error_of_a_task_comes_out_as_it_is() -> None:
    with pytest.raises(LexiconError, match="no such word"), worker_processes(2) as executor:
        list(in_order(executor, failing, range(9)))


def test_what_a_killed_worker_had_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_PARENT", str(os.getpid()))
    with worker_processes(2) as executor:
        assert [result for _, result in in_order(executor, ended, range(12))] == list(range(12))


def half_written(number: int) -> int:
    """Write the beginning of a result in a worker, and end it, as a kill in the middle of a large result does."""
    if number == 2 and os.getppid() == int(os.environ["TEST_PARENT"]):
        frame = inspect.currentframe()
        while frame and "result_queue" not in frame.f_locals:
            frame = frame.f_back
        assert frame is not None
        os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1_000) + b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return number


def ended_late(number: int) -> int:
    """End a worker when the other process has cancelled tasks to do them itself."""
    if os.getppid() == int(os.environ["TEST_PARENT"]):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def lose(how: str, n: int, helps: str) -> None:
    """Lose a worker; the tests run this in a process of its own, which may wait for ever."""
    os.environ["TEST_PARENT"] = str(os.getpid())
    for _ in range(5):  # in what order things happen is a matter of chance
        with worker_processes(n, helps=bool(helps)) as executor:
            done = [result for _, result in in_order(executor, globals()[how], range(20))]
        assert done == list(range(20))
    if how == "half_written":  # and where nobody waits for the result
        with pytest.raises(KeyboardInterrupt), worker_processes(n) as executor:  # noqa: PT012
            assert executor is not None
            executor.submit(half_written, 2)
            time.sleep(0.5)
            raise KeyboardInterrupt


@pytest.mark.parametrize("how", ["ended", "half_written", "ended_late"])
@pytest.mark.parametrize(("n", "helps"), [(2, ""), (2, "helps"), (4, "helps")])
def test_a_lost_worker_costs_its_task_only(how: str, n: int, helps: str) -> None:
    code = f"from tests.system.test_workers import lose; lose({how!r}, {n}, {helps!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def interrupted() -> None:
    """Be interrupted while two workers have minutes of work."""
    with worker_processes(2) as executor:
        assert executor is not None
        futures = [executor.submit(time.sleep, 60) for _ in range(4)]
        assert not any(future.done() for future in futures)
        raise KeyboardInterrupt


def test_an_interrupted_program_does_not_wait_for_its_workers() -> None:
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - start < 30


def test_a_shared_value_is_read_and_its_file_removed(tmp_path: Path) -> None:
    with sharing({"a": 1}, tmp_path) as shared:
        assert shared.load() == {"a": 1}
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())


def test_no_workers_are_refused() -> None:
    with pytest.raises(InputError, match="0 workers: expected 1 or more"), worker_processes(0):
        pass


def test_cores_are_those_of_this_process() -> None:
    assert cores() == len(os.sched_getaffinity(0))
