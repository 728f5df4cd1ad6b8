"""Delays Ctrl-C during steps that must not be interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupted_later() -> Iterator[None]:
    """Put Ctrl-C off to the end of the block, such as one that forks this process.

    Python runs functions of its libraries around a fork. It prints and drops an error that is raised in one of them,
    so that a KeyboardInterrupt would be lost there. To block the signal is not enough: another thread may get it.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if noted:
            usual(*noted[0])
