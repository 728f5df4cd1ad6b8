"""Parts of one task, done side by side by forked copies of this process or by threads; the results do not depend on it.

A forked copy sees all that this process has in memory, so nothing is sent to it; its result is sent back. Threads are
for kernels and for operations on large arrays, which release the interpreter lock.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from itertools import chain, pairwise
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Generic, TypeVar

from twinlink.system.interrupts import interrupted_later
from twinlink.system.orphans import end_with_parent

__all__ = ["at_once", "forked", "in_ranges", "on_cores", "threaded", "threaded_in_ranges"]

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

FORK_SECONDS = 0.3
"""What a part must take to be worth a process. To copy one of 400 MB takes .1 to .2 s, page by page as either writes:
with parts of .05 s a run of 1,900 pages took longer, with those of .3 s one of 4,900 pages took .3 s less."""
THREAD_SECONDS = 0.002
"""What a part must take to be worth a thread."""
QUEUED = 500
"""Number of entries of eight bytes that a pipe holds on every system."""
RANGE_SECONDS = 0.01
"""What a range of numbers takes in a thread: so short that no core waits long for another."""

_cores: ContextVar[int] = ContextVar("_cores", default=1)


@contextmanager
def on_cores(n: int) -> Iterator[None]:
    """Let the functions of this module use ``n`` cores within the context; outside of any, they use one."""
    token = _cores.set(n)
    try:
        yield
    finally:
        _cores.reset(token)


def at_once() -> int:
    """Return the number of parts that are done at the same time."""
    return _cores.get()


def forked(tasks: Sequence[Callable[[], ResultT]], *, seconds: float, most: int | None = None) -> list[ResultT]:
    """Return the results of some tasks, in their order.

    This process does the first task, and copies of it the next ones, as many at a time as there are cores; who is done
    takes the next of the others. So the first task should be the one with the largest result, and long ones should
    come before short ones. A task whose process is lost, or fails, is repeated by this process; if it failed, at once.

    Parameters
    ----------
    tasks : sequence of callable
    seconds : float
        What each process is expected to take: below `FORK_SECONDS`, none is forked. Nor is one in a thread, whose copy
        would not have the locks that other threads hold.
    most : int, optional
        Maximum number of processes, with this one, where there are more cores. Each copy uses as many of them as it
        would get if all got as many; this process uses what others leave.

    Examples
    --------
    >>> with on_cores(2):
    ...     forked([lambda: 1, lambda: 2, lambda: 3], seconds=1.0)
    [1, 2, 3]
    """
    n = min(at_once(), len(tasks), len(tasks) if most is None else most)
    if n < 2 or seconds < FORK_SECONDS or threading.current_thread() is not threading.main_thread():
        return [task() for task in tasks]
    try:
        queue = _Queue(n, len(tasks))
    except OSError:  # no further file is allowed
        return [task() for task in tasks]
    with queue:
        done, failed = _done_by(n, tasks, queue)
    for number in [*failed, *range(len(tasks))]:
        if number not in done:
            done[number] = tasks[number]()
    return [done[number] for number in range(len(tasks))]


def _done_by(n: int, tasks: Sequence[Callable[[], ResultT]], queue: _Queue) -> tuple[dict[int, ResultT], list[int]]:
    """Return what this process and its copies have done, by the numbers of the tasks, and those that failed."""
    done: dict[int, ResultT] = {}
    failed: list[int] = []
    copies: list[_Copy[ResultT]] = []
    try:
        # One by one, so that those that are started are ended after an interrupt.
        copies.extend(_Copy(tasks, first, queue, at_once() // n) for first in range(1, n))
        for number in queue.numbers(0):
            done[number] = tasks[number]()
        for copy in copies:
            found, failed_there = copy.results()
            done |= found
            failed += failed_there
    finally:
        for copy in copies:
            copy.end()
    return done, failed


def in_ranges(function: Callable[[int, int], Sequence[ResultT]], n: int, *, seconds: float) -> list[ResultT]:
    """Return what ``function(0, n)`` returns, one result per number, with one range of numbers for each core.

    Parameters
    ----------
    function : callable
        Takes the first number and the one after the last, and returns the results of all numbers of this range.
    n : int
    seconds : float
        What one number is expected to take: each process gets enough of them for `FORK_SECONDS`.

    Examples
    --------
    >>> in_ranges(range, 3, seconds=0.1)
    [0, 1, 2]
    """
    n_parts = max(1, min(at_once(), n, int(n * seconds / FORK_SECONDS)))
    ends = [n * part // n_parts for part in range(n_parts + 1)]
    parts = forked([partial(function, first, end) for first, end in pairwise(ends)], seconds=math.inf)
    return list(chain.from_iterable(parts))


def threaded(function: Callable[[ItemT], ResultT], items: Iterable[ItemT], *, seconds: float) -> list[ResultT]:
    """Return the result of each item, computed in one thread for each core.

    What an item computes in threads of its own may use all cores, too, since those of other items may be free.

    Parameters
    ----------
    function : callable
    items : iterable
    seconds : float
        What one item is expected to take: below `THREAD_SECONDS`, no thread is started.

    Examples
    --------
    >>> with on_cores(2):
    ...     threaded(abs, [-1, 2, -3], seconds=1.0)
    [1, 2, 3]
    """
    given = list(items)
    n = min(at_once(), len(given))
    if n < 2 or seconds < THREAD_SECONDS:
        return [function(item) for item in given]
    with ThreadPoolExecutor(n, initializer=_cores.set, initargs=(at_once(),)) as pool:
        return list(pool.map(function, given))


def threaded_in_ranges(function: Callable[[int, int], Sequence[ResultT]], n: int, *, seconds: float) -> list[ResultT]:
    """Return what ``function(0, n)`` returns, one result per number, computed in one thread for each core.

    Parameters
    ----------
    function : callable
        As `in_ranges` takes it; for most of its time it releases the interpreter lock.
    n : int
    seconds : float
        What one number is expected to take: what takes no more than `RANGE_SECONDS` together is computed here.

    Examples
    --------
    >>> with on_cores(2):
    ...     threaded_in_ranges(range, 3, seconds=1.0)
    [0, 1, 2]
    """
    size = max(1, int(RANGE_SECONDS / seconds))
    if at_once() < 2 or n <= size:
        return list(function(0, n))
    firsts = range(0, n, size)
    parts = threaded(lambda first: function(first, min(first + size, n)), firsts, seconds=size * seconds)
    return list(chain.from_iterable(parts))


class _Queue:
    """Numbers of the tasks that nobody does yet: a pipe that this process and its copies read from.

    Parameters
    ----------
    first, end : int
        The first number, and the one after the last.
    """

    def __init__(self, first: int, end: int) -> None:
        self._run = max(1, -(-(end - first) // QUEUED))
        self._end = end
        self._place, write = os.pipe()
        try:
            os.write(write, b"".join(number.to_bytes(8) for number in range(first, end, self._run)))
        finally:
            os.close(write)

    def __enter__(self) -> _Queue:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._place)

    def numbers(self, first: int) -> Iterator[int]:
        """Yield a number, and then those that are taken from the queue."""
        yield first
        while taken := os.read(self._place, 8):
            number = int.from_bytes(taken)
            yield from range(number, min(number + self._run, self._end))

    def empty(self) -> None:
        """Take all numbers, so that nobody takes another one."""
        while os.read(self._place, 2**16):
            pass


class _Copy(Generic[ResultT]):
    """A forked copy of this process that does some tasks: one, and those that it takes from the queue."""

    def __init__(self, tasks: Sequence[Callable[[], ResultT]], first: int, queue: _Queue, n_cores: int) -> None:
        self._started: tuple[ForkProcess, Connection] | None = None
        with suppress(OSError):  # no memory, or no further process or file is allowed
            self._started = _started(tasks, first, queue, n_cores)

    def results(self) -> tuple[dict[int, ResultT], list[int]]:
        """Return the results of the tasks that it did, by their numbers, and the number of the one that failed."""
        if self._started is not None:
            with suppress(EOFError, OSError):  # it was killed, or a result cannot be sent
                found: tuple[dict[int, ResultT], list[int]]
                found = pickle.loads(self._started[1].recv_bytes())  # noqa: S301  (written by us)
                return found
        return {}, []

    def end(self) -> None:
        """End the process, whose results are there or not wanted."""
        if self._started is not None:
            process, results = self._started
            process.kill()
            process.join()
            results.close()


def _started(
    tasks: Sequence[Callable[[], object]], first: int, queue: _Queue, n_cores: int
) -> tuple[ForkProcess, Connection]:
    """Start a copy of this process; return it, and where its results come from."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(os.getpid(), tasks, first, queue, n_cores, theirs))
    try:
        with theirs, interrupted_later(), warnings.catch_warnings():
            # No copy uses the locks that a thread of this process may hold.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            process.start()
    except KeyboardInterrupt:  # it came when the process had been started
        if process.pid is not None:
            process.kill()
        raise
    return process, ours


def _work(
    parent: int,
    tasks: Sequence[Callable[[], object]],
    first: int,
    queue: _Queue,
    n_cores: int,
    results: Connection,
) -> None:
    """Do tasks in a copy of the process, and send their results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    end_with_parent(parent)
    _cores.set(n_cores)
    done: dict[int, object] = {}
    at, failed = first, []
    try:
        for at in queue.numbers(first):
            done[at] = tasks[at]()
    except Exception:  # noqa: BLE001  (the parent repeats the task, and meets the error itself)
        queue.empty()  # so that it does so soon
        failed = [at]
    with suppress(Exception):
        results.send_bytes(pickle.dumps((done, failed), protocol=5))
    results.close()
    os._exit(0)  # what waits to be written, or to be cleaned up, is the parent's
