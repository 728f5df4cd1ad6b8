"""The reader process: ``python -m twinlink.spiders.reader.process``, started by `twinlink.spiders.reader.client`.

It reads a `twinlink.spiders.reader.page_facts.Job` from standard input, writes the result to standard output, and so
on. If a job exceeds its processor time, the kernel ends the process, so that no page can block the crawl.
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

DONE = b"d"
"""First byte of a response with the result of a job."""
REFUSED = b"r"
"""First byte of a response with a reason and a detail."""
LAST = b"l"
"""Like `REFUSED`, but the process ends after this response."""

_HEAD_BYTES = 8
_PAGE_BYTES = resource.getpagesize()


def main(parent: int, seconds: float, memory: int) -> None:
    """Perform jobs until the input ends.

    Parameters
    ----------
    parent : int
        Process number of the parent; the process ends with it.
    seconds : float
        Maximum processor time per job.
    memory : int
        Maximum memory in bytes, in addition to the memory at the start.
    """
    end_with_parent(parent)
    jobs = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints go to standard error, not between the responses
    _limit_memory(memory)
    answer = b""
    while answer[:1] != LAST and (frame := read_frame(jobs)) is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal has no handler and ends the process
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
    except Exception as error:  # noqa: BLE001  # any error of one page becomes a counted reject
        return REFUSED + msgspec.msgpack.encode(("parse-failed", f"{type(error).__name__}: {error}"[:200]))


def _limit_memory(memory: int) -> None:
    """Limit the additional memory of the process; no limit if the system does not report the memory in use."""
    try:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * _PAGE_BYTES
    except (OSError, ValueError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def read_frame(file: IO[bytes]) -> bytes | None:
    """Return the next frame of a stream; None at its end, also if the last frame is incomplete."""
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        return None
    size = int.from_bytes(head, "big")
    frame = file.read(size)
    return frame if len(frame) == size else None


def write_frame(file: IO[bytes], frame: bytes) -> None:
    """Write a frame for `read_frame`."""
    file.write(len(frame).to_bytes(_HEAD_BYTES, "big"))
    file.write(frame)
    file.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
