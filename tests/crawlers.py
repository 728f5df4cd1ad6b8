"""Processes of crawls, forked from one that has loaded Scrapy: that saves each crawl of the tests half a second.

``python -m tests.crawlers FD`` reads requests from a Unix socket: a JSON object (``environment``, ``folder``,
``limits``) and four open files, which are input, output and log of the crawl and a socket for its end. For each request
it forks a keeper, which forks the crawl, tells its process id, waits for it, and tells how it ended. A crawl that is
started by the command line in a process of its own is not forked; neither is one in a test that replaces
`subprocess.Popen`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

_ROOT = Path(__file__).resolve().parent.parent
_LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_AS)
_LOADED_LATE = (
    "scrapy.statscollectors", "scrapy.logformatter", "scrapy.extensions.throttle",
    "scrapy.downloadermiddlewares.downloadtimeout", "scrapy.downloadermiddlewares.defaultheaders",
    "scrapy.downloadermiddlewares.useragent", "scrapy.downloadermiddlewares.retry",
    "scrapy.downloadermiddlewares.redirect", "scrapy.downloadermiddlewares.httpproxy",
    "scrapy.spidermiddlewares.referer", "encodings.idna",
)  # fmt: skip
_POPEN = subprocess.Popen


class ForkedCrawl:
    """The process of a crawl, with what `twinlink.spiders.crawling` uses of `subprocess.Popen`."""

    def __init__(self, pid: int, stdin: int, stdout: int, end: socket.socket) -> None:
        self.pid = pid
        self.stdin: IO[bytes] = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self._end = end

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process."""
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("crawl", timeout or 0)
            with self._end:
                self.returncode = int(self._end.recv(100) or -signal.SIGKILL)
        return self.returncode

    def kill(self) -> None:
        """Kill the process if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Crawlers:
    """Starts processes of crawls; the first one starts the process that forks them."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, log: IO[bytes]) -> ForkedCrawl:
        """Start the process of a crawl."""
        if self._socket is None:
            self._load()
        assert self._socket is not None
        asked = {
            "environment": dict(os.environ),
            "folder": str(Path.cwd()),
            "limits": {kind: resource.getrlimit(kind) for kind in _LIMITS},
        }
        (stdin, ours), (theirs, stdout) = os.pipe(), os.pipe()
        end, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with told:
            given = [stdin, stdout, log.fileno(), told.fileno()]
            socket.send_fds(self._socket, [json.dumps(asked).encode()], given)
        os.close(stdin)
        os.close(stdout)
        return ForkedCrawl(int(end.recv(20)), ours, theirs, end)

    def _load(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.crawlers", str(theirs.fileno())]
        with theirs:
            self._process = _POPEN(command, cwd=_ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def close(self) -> None:
        """End the process that forks."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()


def _serve(requests: socket.socket) -> None:
    for name in ("twinlink.spiders.process", "twinlink.spiders.crawler", "twinlink.spiders.guard", *_LOADED_LATE):
        importlib.import_module(name)
    assert "twisted.internet.reactor" not in sys.modules, "each crawl installs its own"
    while True:
        asked, files, _, _ = socket.recv_fds(requests, 2**20, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not asked:
            return
        if not os.fork():
            requests.close()
            _keep(json.loads(asked), files)
        for file in files:
            os.close(file)


def _keep(asked: dict[str, Any], files: list[int]) -> NoReturn:
    """Start a crawl, and tell its end."""
    *streams, told = files
    crawl = os.fork()
    if not crawl:
        os.close(told)
        _crawl(asked, streams)
    for file in streams:
        os.close(file)
    with socket.socket(fileno=told) as end:
        end.sendall(str(crawl).encode())
        _, status = os.waitpid(crawl, 0)
        with suppress(BrokenPipeError):
            end.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _crawl(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be what ``python -m twinlink.spiders.process`` is in this environment."""
    os.setsid()
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    os.chdir(asked["folder"])
    for kind, limits in asked["limits"].items():
        resource.setrlimit(int(kind), tuple(limits))
    from twinlink.spiders import process
    from twinlink.system.orphans import end_with_parent

    process.end_with_parent = lambda _: end_with_parent(os.getppid())  # the keeper; the test's process closes the input
    sys.argv = ["twinlink.spiders.process"]
    code = 1
    try:
        code = process.main()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  (it goes where an interpreter that ends would print it)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
