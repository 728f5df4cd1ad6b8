"""The client of the reader process beside workers that another thread forks."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Any

import pytest

from twinlink.spiders.reader import client
from twinlink.spiders.reader.client import ReaderProcess, reader_memory
from twinlink.spiders.reader.page_facts import Job


def test_no_process_is_forked_while_the_reader_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep the pipes of the reader open, whose end nobody would see then."""
    begun, started, start = threading.Event(), threading.Event(), subprocess.Popen

    def slow(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        child = start(*args, **kwargs)
        started.wait(0.3)  # the main thread sets it too early if it can fork meanwhile
        ended.append(started.is_set())
        return child

    ended: list[bool] = []
    monkeypatch.setattr(client.subprocess, "Popen", slow)
    reader = ReaderProcess(10, reader_memory(1_000))
    job = Job("whole", "http://a.example/", b"<p>text", 1_000, "", "")
    thread = threading.Thread(target=reader.ask, args=(job,))
    thread.start()
    begun.wait()
    if (number := os.fork()) == 0:
        os._exit(0)
    started.set()
    os.waitpid(number, 0)
    thread.join()
    reader.close()
    assert ended == [False]
