"""Requests for memory: the processor gets them, and no result depends on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled
from twinlink.prefetching import prefetch


@compiled
def _gathered(values: NDArray[np.float64], places: NDArray[np.uint32]) -> float:
    total = 0.0
    for k in range(len(places)):
        prefetch(values, places[min(k + 1, len(places) - 1)])
        total += values[places[k]]
    return total


def test_machine_code_requests_memory_and_computes_the_same() -> None:
    values, places = np.arange(5.0), np.array([4, 0, 3], np.uint32)
    assert _gathered(values, places) == _gathered.interpreted(values, places) == 7
    dispatcher = _gathered._dispatcher
    dispatcher(values, places)
    (code,) = dispatcher.inspect_asm().values()
    assert "prfm" in code or "prefetch" in code.replace("prefetching", "")


def test_the_interpreter_reads_nothing() -> None:
    prefetch(np.zeros(0), 5)
