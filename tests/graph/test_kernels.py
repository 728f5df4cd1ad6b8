"""Compiled loops, where the functions above them do not show what they do."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink import compiled
from twinlink.graph import kernels


@given(st.integers(0, 2**64 - 1))
def test_ones_counts_bits(word: int) -> None:
    assert kernels._ones.machine_code(np.uint64(word)) == word.bit_count()


def test_code_that_cannot_be_kept_on_disk_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba.njit

    def njit(*args: Any, **options: Any) -> Any:
        if options.get("cache") and options.get("nogil"):  # numba calls it, too, when it loads what it compiles with
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled.compiled(lambda number: number + 1)(1) == 2
