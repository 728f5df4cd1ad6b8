"""Ctrl-C that comes while a process is forked."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from twinlink.system.interrupts import interrupted_later
from twinlink.system.workers import worker_processes


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_comes_at_the_end_of_the_block() -> None:
    done = []

    def work() -> None:
        with interrupted_later():
            press()
            done.append("work")

    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["work"]
    assert signal.getsignal(signal.SIGINT) is usual


def test_without_ctrl_c_and_in_other_threads_nothing_happens() -> None:
    def work() -> None:
        with interrupted_later():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[Any] = []
    usual = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    assert done[0] is usual
    assert done[1] is not usual
    assert signal.getsignal(signal.SIGINT) is usual


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupted_later():
            press()
    finally:
        signal.signal(signal.SIGINT, usual)


def test_workers_are_started_before_ctrl_c_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    submit, started = ProcessPoolExecutor.submit, []

    def pressed(executor: ProcessPoolExecutor, *words: Any) -> Any:
        press()
        future = submit(executor, *words)
        started.extend(executor._processes)
        return future

    def work() -> None:
        with worker_processes(2) as executor:
            assert executor is not None
            executor.submit(abs, -1)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", pressed)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert started
