"""Workers: tasks run on several cores or machines, and their results come in the order of the tasks."""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from twinlink.errors import ConfigError, InputError
from twinlink.system.interrupts import interrupted_later
from twinlink.system.memory import Memory, share_heap
from twinlink.system.orphans import end_with_parent

__all__ = [
    "Room",
    "Shared",
    "TaskQueue",
    "Workers",
    "as_done",
    "cores",
    "in_order",
    "is_elsewhere",
    "n_forked",
    "n_processors",
    "n_workers",
    "sharing",
    "worker_processes",
]

_log = logging.getLogger("twinlink.memory")
ValueT = TypeVar("ValueT")
TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

POLL_SECONDS = 0.5
"""Time between two looks at how the tasks of other processes go on."""
_AHEAD = 2
"""Tasks of each worker that are waiting or running: while one is done, the next one is made."""


def n_processors() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cores() -> int:
    """Return the number of cores for processes of this one; 1 where processes cannot be forked safely."""
    return n_processors() if sys.platform == "linux" else 1


class Workers(msgspec.Struct, frozen=True):
    """Who does the work of a stage.

    Raises
    ------
    ConfigError
        If both are given.
    """

    n: int | None = None
    """Processes on this machine; None: one per core."""
    cluster: str = ""
    """Address of a Dask scheduler (``tcp://host:8786``), whose workers do it instead; empty: none."""

    def __post_init__(self) -> None:
        if self.n is not None and self.cluster:
            raise ConfigError("--workers and --cluster: expected one of them; a cluster has workers of its own")

    def executor(
        self, folder: Path, memory: Memory | None = None, *, helps: bool = False
    ) -> AbstractContextManager[Executor | None]:
        """Return a context with the executor; None: this process does the work.

        Parameters
        ----------
        folder : Path
            The run directory, which the workers read and write.
        memory : Memory, optional
            Only as many processes work on this machine as it has room for. A cluster's workers have memory of their
            own.
        helps : bool, optional
            Whether this process is one of those on this machine, see `worker_processes`.

        Raises
        ------
        InputError
            If there is no such cluster, or its workers cannot do the work (`twinlink.system.cluster.cluster_workers`).
        """
        share_heap()
        if not self.cluster:
            return worker_processes(self._fitting(memory), helps=helps)
        from twinlink.system.cluster import cluster_workers

        return cluster_workers(self.cluster, folder)

    def _fitting(self, memory: Memory | None) -> int | None:
        wanted = cores() if self.n is None else self.n
        if memory is None or wanted < 1:  # the latter is refused
            return self.n
        n = memory.processes(wanted)
        _log.info("memory %s: %d of %d worker processes fit in", memory, n, wanted)
        return n


@contextmanager
def worker_processes(n: int | None = None, *, helps: bool = False) -> Iterator[Executor | None]:
    """Yield an executor of ``n`` processes (by default `cores`), or None for 1: then this process does the work.

    The processes are forked when the first task is submitted, so that they have loaded what this process has loaded.
    They end with it, even if it is killed.

    Parameters
    ----------
    n : int, optional
    helps : bool, optional
        Whether this process is one of them: in a `TaskQueue`, it does tasks itself instead of waiting for results. So
        the cores have as many processes as they can run where it takes much time to make the tasks.

    Raises
    ------
    InputError
        If ``n`` is less than 1.
    """
    n = cores() if n is None else n
    if n < 1:
        raise InputError(f"{n} workers: expected 1 or more")
    if n == 1:
        yield None
        return
    executor = _Forked(n, helps=helps)
    try:
        yield executor
    except BaseException:  # Ctrl-C, too: nobody waits for tasks whose results are not wanted
        executor.kill()
        raise
    finally:
        executor.end_if_lost()
        executor.shutdown(cancel_futures=True)


class _Forked(ProcessPoolExecutor):
    """Forks without a warning of threads: no worker uses the locks that a thread of this process may hold."""

    def __init__(self, n: int, *, helps: bool) -> None:
        super().__init__(n - helps, multiprocessing.get_context("fork"), _begin, (os.getpid(),))
        self.n_workers, self.helps = n, helps

    def submit(self, fn: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> Future[ResultT]:
        """Submit a task."""
        with interrupted_later(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            future = super().submit(fn, *args, **kwargs)
        future.__class__ = _TaskFuture
        return future

    def kill(self) -> None:
        """End the workers immediately; killing the program at any moment is harmless.

        One may have written half a result. The executor's thread waits for the rest of it as long as anybody could
        write it, this process included.
        """
        for process in list((self._processes or {}).values()):
            process.kill()
        results: Any = self._result_queue  # None after the shutdown
        if results is not None:
            results._writer.close()

    def end_if_lost(self) -> None:
        """End all workers if one is lost, so that their tasks fail."""
        if any(process.exitcode is not None for process in list((self._processes or {}).values())):
            self.kill()


class _TaskFuture(Future[ResultT]):
    """A future that may be cancelled before a worker is lost: Python 3.11 then stops in the middle of its clean-up."""

    def set_exception(self, exception: BaseException | None) -> None:
        """Set the exception, unless the task is cancelled."""
        with suppress(InvalidStateError):
            super().set_exception(exception)


def _begin(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


class Shared(Generic[ValueT]):
    """A value that many tasks need: a file that each worker reads once."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def load(self) -> ValueT:
        """Return the value."""
        value: ValueT = _load(self.file)
        return value


@contextmanager
def sharing(value: ValueT, folder: Path) -> Iterator[Shared[ValueT]]:
    """Write a value for the workers to a file in a folder, and remove the file in the end."""
    file = folder.absolute() / f".shared-{uuid.uuid4().hex}"  # a unique name, because workers remember values by it
    file.write_bytes(pickle.dumps(value, protocol=5))
    try:
        yield Shared(file)
    finally:
        file.unlink(missing_ok=True)


@functools.lru_cache(maxsize=1)
def _load(file: Path) -> Any:
    return pickle.loads(file.read_bytes())  # noqa: S301  (written by this program)


def in_order(
    executor: Executor | None,
    function: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    while_waiting: Callable[[], None] | None = None,
) -> Iterator[tuple[TaskT, ResultT]]:
    """Yield each task and its result, in the order of the tasks (see `TaskQueue`).

    >>> list(in_order(None, abs, [-2, 1]))
    [(-2, 2), (1, 1)]
    """
    queue = TaskQueue(executor, function, while_waiting)
    for task in tasks:
        yield from queue.put(task)
    yield from queue.drain()


def as_done(
    executor: Executor | None,
    function: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    while_waiting: Callable[[], None] | None = None,
    room: Room[TaskT] | None = None,
) -> Iterator[tuple[TaskT, ResultT]]:
    """Yield each task and its result, as they are done (see `TaskQueue`)."""
    queue = TaskQueue(executor, function, while_waiting, room=room, is_ordered=False)
    for task in tasks:
        yield from queue.put(task)
    yield from queue.drain()


class Room(msgspec.Struct, Generic[TaskT], frozen=True):
    """Memory that the tasks at work may take together."""

    n_bytes: int
    size_of: Callable[[TaskT], int]
    """Takes a task and returns the bytes that it takes."""


def n_workers(executor: Executor | None) -> int:
    """Return the number of workers of an executor; `cores` for one that does not say it."""
    return 1 if executor is None else getattr(executor, "n_workers", cores())


def is_elsewhere(executor: Executor | None) -> bool:
    """Return whether the workers of an executor are on other machines, with memory of their own."""
    return bool(getattr(executor, "is_elsewhere", False))


def n_forked(executor: Executor | None) -> int:
    """Return how many processes of this machine may do the work of an executor; 1 where it has others or threads."""
    return executor.n_workers if isinstance(executor, _Forked) else 1


class TaskQueue(Generic[TaskT, ResultT]):
    """Tasks that an executor runs, and their results in the order of the tasks or as they are done.

    A single task is not worth a process: the first one is submitted when the second one comes. Where a worker is lost
    (killed, out of memory), this process runs the tasks that have no result.

    Parameters
    ----------
    executor : Executor or None
        None: this process runs each task. Twice as many tasks as it has workers wait or run at a time: its attribute
        ``n_workers``, if it has one, else `cores`.
    function : callable
        Takes a task; module-level, so that it can be sent to another process.
    while_waiting : callable, optional
        Called every `POLL_SECONDS` while this process waits for a result.
    room : Room, optional
        A task that does not fit in beside those that were submitted waits for their results. By default all fit.
    is_ordered : bool, optional
        Whether the results come in the order of the tasks.
    """

    def __init__(
        self,
        executor: Executor | None,
        function: Callable[[TaskT], ResultT],
        while_waiting: Callable[[], None] | None = None,
        *,
        room: Room[TaskT] | None = None,
        is_ordered: bool = True,
    ) -> None:
        self._executor = executor
        self._function = function
        self._while_waiting = while_waiting
        self._most = _AHEAD * n_workers(executor)
        self._room = room
        self._is_ordered = is_ordered
        self._first: list[TaskT] = []  # until there is a second one
        self._waiting: deque[tuple[TaskT, Future[ResultT] | None]] = deque()

    @property
    def n_at_once(self) -> int:
        """Number of tasks that wait or run at most."""
        return self._most if self._executor else 1

    @property
    def is_busy(self) -> bool:
        """Whether there are tasks whose results were not taken."""
        return bool(self._first or self._waiting)

    @property
    def has_submitted(self) -> bool:
        """Whether an executor works on tasks: until their results are taken, this process may do something else."""
        return bool(self._waiting)

    def put(self, task: TaskT) -> Iterator[tuple[TaskT, ResultT]]:
        """Add a task; yield the results for which there is no room to wait."""
        if self._executor is None:
            yield task, self._function(task)
        elif not self._waiting and not self._first:
            self._first = [task]
        else:
            both, self._first = [*self._first, task], []
            for each in both:
                while self._waiting and not self._has_room(each):
                    yield self._next()
                self._waiting.append((each, self._submitted(each)))
            while len(self._waiting) > self._most:
                yield self._next()

    def drain(self) -> Iterator[tuple[TaskT, ResultT]]:
        """Yield the results of all tasks so far."""
        while self._waiting:
            yield self._next()
        for task in self._first:
            yield task, self._function(task)
        self._first = []

    def _has_room(self, task: TaskT) -> bool:
        """Return whether a task fits in beside those that were submitted."""
        if self._room is None:
            return True
        taken = sum(self._room.size_of(each) for each, _ in self._waiting)
        return taken + self._room.size_of(task) <= self._room.n_bytes

    def _submitted(self, task: TaskT) -> Future[ResultT] | None:
        assert self._executor is not None
        try:
            return self._executor.submit(self._function, task)
        except BrokenExecutor:
            return None

    def _next(self) -> tuple[TaskT, ResultT]:
        while (ended := self._ended()) is None:
            if self._has_helped():
                continue
            futures = [future for _, future in self._awaited() if future]
            wait(futures, POLL_SECONDS, FIRST_COMPLETED)
            if self._ended() is None:
                self._while_nothing_ends()
        task, future = self._waiting[ended]
        del self._waiting[ended]
        try:
            result = future.result() if future else self._function(task)
        except BrokenExecutor:
            result = self._function(task)
        return task, result

    def _while_nothing_ends(self) -> None:
        if self._while_waiting is not None:
            self._while_waiting()
        if isinstance(self._executor, _Forked):
            self._executor.end_if_lost()

    def _has_helped(self) -> bool:
        """Do the last task that no worker has begun, where this process helps; return whether there was one."""
        if not getattr(self._executor, "helps", False):
            return False
        for place in reversed(range(len(self._waiting))):
            task, future = self._waiting[place]
            if future and future.cancel():
                done: Future[ResultT] = Future()
                try:
                    done.set_result(self._function(task))
                except Exception as error:  # noqa: BLE001  (it comes in its turn, as if a worker had done the task)
                    done.set_exception(error)
                self._waiting[place] = task, done
                return True
        return False

    def _awaited(self) -> Iterable[tuple[TaskT, Future[ResultT] | None]]:
        """Return the tasks of which the next result may be."""
        return islice(self._waiting, 1) if self._is_ordered else self._waiting

    def _ended(self) -> int | None:
        """Return the number of a task that is done, or that could not be submitted; None: of none."""
        return next((k for k, (_, future) in enumerate(self._awaited()) if future is None or future.done()), None)
