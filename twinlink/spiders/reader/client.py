"""Client of the reader process, which parses large responses and is restarted after a crash or timeout."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

import msgspec

from twinlink.spiders.reader.page_facts import RESULTS, Job, Result, UnreadError
from twinlink.spiders.reader.process import DONE, LAST, read_frame, write_frame

_PATIENCE = 10.0  # wall-clock limit as a multiple of the limit of processor time: the machine may be busy
_GRACE = 60.0  # seconds added to this limit
_Child = subprocess.Popen[bytes]

_starting = threading.Lock()
"""Held while a child is started: a process that another thread forks meanwhile would keep the pipes open, so that
their end is never seen."""
os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


def reader_memory(limit: int) -> int:
    """Return the memory limit in bytes for parsing a body of at most ``limit`` bytes.

    In trials, the worst page of 10 MB (blocks of one word in a script with four bytes per letter) took 17 times its
    size. 100 MB are added for memory that the libraries allocate in advance.
    """
    return 100 * 2**20 + 32 * limit


class ReaderProcess:
    """A process that is started with the first job, and again if a job ends it. Threads take turns.

    Parameters
    ----------
    seconds : float
        Maximum processor time per job.
    memory : int
        Maximum memory in bytes, see `reader_memory`.
    """

    def __init__(self, seconds: float, memory: int) -> None:
        self._seconds = seconds
        self._memory = memory
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def ask(self, job: Job) -> Result:
        """Perform a job in the process and return its result.

        Raises
        ------
        UnreadError
            As `twinlink.spiders.reader.page_facts.perform`; ``parse-timeout`` if the job takes too long,
            ``parse-failed`` if it takes too much memory or ends the process.
        """
        frame = msgspec.msgpack.encode(job)
        with self._lock:
            answer = self._exchange(frame)
        if answer[:1] != DONE:
            raise UnreadError(*msgspec.msgpack.decode(answer[1:], type=tuple[str, str]))
        result: Result = msgspec.msgpack.decode(memoryview(answer)[1:], type=RESULTS[job.kind])
        return result

    def close(self) -> None:
        """End the process; a running job fails."""
        self._closed.set()
        child = self._child
        if child is not None:
            child.kill()
        if self._lock.acquire(blocking=False):  # else the thread with the running job handles the end of the process
            try:
                if self._child is not None:
                    self._buried(self._child)
            finally:
                self._lock.release()

    def _exchange(self, frame: bytes) -> bytes:
        """Return the response to a job. If the process ends, try once more: it may have been killed from outside."""
        for is_last in (False, True):
            child = self._child = self._child or self._started()
            assert child.stdin is not None
            with suppress(BrokenPipeError):
                write_frame(child.stdin, frame)
            answer = self._answer(child)
            if answer is not None:
                return answer
            code = self._buried(child)
            if code == -signal.SIGPROF:
                raise UnreadError("parse-timeout", f"more than {self._seconds:g} s of processor time")
            if is_last:
                how = f"by signal {-code}" if code < 0 else f"with code {code}"
                raise UnreadError("parse-failed", f"the process that read it ended {how}")
        raise AssertionError

    def _started(self) -> _Child:
        if self._closed.is_set():
            raise UnreadError("parse-failed", "the crawl has ended")
        limits = [str(os.getpid()), repr(self._seconds), str(self._memory)]
        with _starting:
            child = subprocess.Popen(
                [sys.executable, "-m", "twinlink.spiders.reader.process", *limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        if self._closed.is_set():  # by another thread in the meantime
            child.kill()
        return child

    def _answer(self, child: _Child) -> bytes | None:
        """Return the response of a process; None if it has ended."""
        assert child.stdout is not None
        if not self._comes(child.stdout):
            child.kill()
            self._buried(child)
            raise UnreadError("parse-timeout", f"no answer in {self._longest():g} s")
        answer = read_frame(child.stdout)
        if answer is not None and answer[:1] == LAST:
            self._buried(child)
        return answer

    def _comes(self, pipe: IO[bytes]) -> bool:
        """Wait until there is data to read or the process ends; return False after the time limit."""
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        return bool(ready.poll(1000 * self._longest()))

    def _longest(self) -> float:
        return _PATIENCE * self._seconds + _GRACE

    def _buried(self, child: _Child) -> int:
        """Wait for a process that has ended and return its exit code; the next job starts another process."""
        self._child = None
        code = child.wait()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        return code
