"""Reports of long work, and the interrupt that must not be lost."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from twinlink.progress import reporter


def test_an_interrupt_that_somebody_swallowed_is_heeded_at_the_next_report() -> None:
    with pytest.raises(KeyboardInterrupt), reporter(quiet=True) as report:  # noqa: PT012
        report("match", 0, 2)
        with suppress(KeyboardInterrupt):  # as the bare excepts of some libraries do
            signal.raise_signal(signal.SIGINT)
        report("match", 1, 2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_reports_of_another_thread_leave_signals_alone() -> None:
    def work() -> None:
        with reporter(quiet=True) as report:
            report("match", 0, 2)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
