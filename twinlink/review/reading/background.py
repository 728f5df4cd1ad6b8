"""Threads that read ahead, and end before Python does."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["is_ending", "start_thread"]


def start_thread(work: Callable[[], None]) -> threading.Thread:
    """Start a thread, for which the end of Python waits; the work stops soon when `is_ending`.

    It is no daemon: the process would hang at its end when the thread is inside of Arrow at that moment, for Arrow's
    own threads have ended then, and it waits for them.
    """
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def is_ending() -> bool:
    """Return whether the main thread has ended, so that Python waits only for the others."""
    return not threading.main_thread().is_alive()
