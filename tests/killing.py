"""Commands that are killed: at a moment that is named, or at a rename; each in a process of its own.

One process loads the package once, and forks for each command: ``python -m tests.killing``. It reads a JSON object a
line (``words``, and when the command is to be killed), and answers with how it ended.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinlink.rundir.stored.store import ObjectStore


@dataclass
class Killer:
    """Runs commands that are killed."""

    process: subprocess.Popen[str]

    def run(self, words: Sequence[object], **when: Any) -> dict[str, Any]:
        """Run a command; return its ``code`` (negative: the signal that ended it), how many ``renames`` it did, and
        how many ``changes`` of an object store.

        Parameters
        ----------
        words : sequence
            The command line.
        **when
            ``rename``: kill it just before this one of the renames at the top of a run, counted from 1; ``change``:
            just before this one of the changes of an object store; or ``seconds`` and ``sign``: send it a signal then.
            ``environment``: variables that it has, too.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"words": [str(word) for word in words], **when}) + "\n")
        self.process.stdin.flush()
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        return told


@contextmanager
def killer() -> Iterator[Killer]:
    """Start the process that forks."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.killing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Killer(process)
        finally:
            process.kill()


def _serve() -> None:
    _warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _work(job, writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            marks = pipe.read()
        _, status = os.waitpid(child, 0)
        counts = {"renames": marks.count("."), "changes": marks.count("+")}
        sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status), **counts}) + "\n")
        sys.stdout.flush()


def _warm_up() -> None:
    """Load and compile what takes seconds, once for all commands."""
    from tests.calling import mine_toy

    with tempfile.TemporaryDirectory() as folder:
        for method in ("weighed", "liu2014"):
            assert mine_toy(Path(folder), "--method", method, "--align").returncode == 0


def _work(job: dict[str, Any], writing: int) -> None:
    """Do a command in a forked process; each rename and each change of a store is told by a byte."""
    os.environ.update(job.get("environment", {}))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    _count_renames(job.get("rename"), writing)
    _count_changes(job.get("change"), writing)
    if "seconds" in job:
        threading.Thread(target=_kill_later, args=(job["seconds"], job["sign"]), daemon=True).start()
    sys.argv = ["twinlink", *job["words"]]
    code = 1
    try:
        from twinlink.cli import main

        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:  # before the command began, or after it ended
        code = 130
    finally:
        os._exit(code)


def _count_renames(kill_at: int | None, writing: int) -> None:
    seen = 0

    def counted(real: Any) -> Any:
        def rename(self: Path, target: Path) -> Any:
            nonlocal seen
            if _matters(Path(target)):
                seen += 1
                if seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                os.write(writing, b".")
            return real(self, target)

        return rename

    for name in ("rename", "replace"):
        setattr(Path, name, counted(getattr(Path, name)))


def _count_changes(kill_at: int | None, writing: int) -> None:
    seen = itertools.count(1)

    def counted(real: Any) -> Any:
        def change(*args: Any) -> Any:
            if threading.current_thread().name == "_renew":  # of a lease: after a time, and so on a busy machine only
                return real(*args)
            if next(seen) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(writing, b"+")
            return real(*args)

        return change

    for name in ("write", "upload", "remove", "remove_folder"):
        setattr(ObjectStore, name, counted(getattr(ObjectStore, name)))


def _matters(target: Path) -> bool:
    """Return whether a rename changes what counts, rather than a stage's folder that is being written, or progress."""
    if target.name == ".progress.json":  # it is written after a time, and so more often on a busy machine
        return False
    return target.name == "signature.json" or not any(folder.name.endswith(".tmp") for folder in target.parents)


def _kill_later(seconds: float, sign: int) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), sign)


if __name__ == "__main__":
    _serve()
