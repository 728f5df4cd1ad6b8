"""The reader's process: ``python -m twinlink.spiders.reader.process``, started by `twinlink.spiders.reader.client`.

It does one `twinlink.spiders.reader.page_facts.Job` after the other, from standard input to standard output. The kernel
ends it when a job takes more processor time than allowed, whatever it is doing then; no page can hold up more than it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import IO

import msgspec

from twinlink.spiders.reader.page_facts import Job, UnreadError, perform
from twinlink.system.orphans import end_with_parent

__all__ = ["DONE", "LAST", "REFUSED", "main", "read_frame", "write_frame"]

DONE = b"d"
"""First byte of a response that has the result of its job."""
REFUSED = b"r"
"""First byte of a response that has a reason and a detail."""
LAST = b"l"
"""The same, and the process ends after it."""

_HEAD_BYTES = 8
_PAGE_BYTES = resource.getpagesize()


def main(parent: int, seconds: float, memory: int) -> None:
    """Do jobs until the input ends.

    Parameters
    ----------
    parent : int
        Process that it ends with.
    seconds : float
        Processor time that one job may take.
    memory : int
        Bytes that it may take beside what it has at its start.
    """
    end_with_parent(parent)
    jobs = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not stand between the responses
    _limit_memory(memory)
    answer = b""
    while answer[:1] != LAST and (frame := read_frame(jobs)) is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody listens to its signal: it ends the process
        answer = _answered(frame, memory)
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_frame(answers, answer)


def _answered(frame: bytes, memory: int) -> bytes:
    try:
        return DONE + msgspec.msgpack.encode(perform(msgspec.msgpack.decode(frame, type=Job)))
    except UnreadError as error:
        return REFUSED + msgspec.msgpack.encode((error.reason, error.detail))
    except MemoryError:
        return LAST + msgspec.msgpack.encode(("parse-failed", f"more than {memory} bytes of memory"))
    except Exception as error:  # noqa: BLE001  # whatever is wrong with one page, it is counted
        return REFUSED + msgspec.msgpack.encode(("parse-failed", f"{type(error).__name__}: {error}"[:200]))


def _limit_memory(memory: int) -> None:
    """Let the process take only so much more; where the system does not say how much it has, there is no limit."""
    try:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * _PAGE_BYTES
    except (OSError, ValueError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def read_frame(file: IO[bytes]) -> bytes | None:
    """Return the next piece of a stream; None at its end, also in the middle of a piece."""
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        return None
    size = int.from_bytes(head, "big")
    frame = file.read(size)
    return frame if len(frame) == size else None


def write_frame(file: IO[bytes], frame: bytes) -> None:
    """Write a piece that `read_frame` reads."""
    file.write(len(frame).to_bytes(_HEAD_BYTES, "big"))
    file.write(frame)
    file.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
