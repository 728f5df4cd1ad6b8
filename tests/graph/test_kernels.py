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


@given(
    st.lists(st.sampled_from((0.0, 1e-45, 1e-5, 2e-5, 0.1, 1 / 3, 0.5, 1.0)) | st.floats(0, 1, width=32), max_size=200)
)
def test_both_ways_to_sort_keep_the_order_of_equal_scores(scores: list[float]) -> None:
    bits = np.array(scores, np.float32).view(np.uint32).astype(np.uint64)
    keys = (bits << np.uint64(32)) | np.arange(len(bits), dtype=np.uint64)
    few, many = np.empty_like(keys), np.empty_like(keys)
    counts = np.empty((kernels.N_DIGITS, 2**kernels.DIGIT), np.uint32)
    kernels._sort_few.machine_code(keys, few)
    kernels._sort_many.machine_code(keys.copy(), many, counts)
    assert few.tolist() == many.tolist() == sorted(keys.tolist())


def test_digits_hold_every_score() -> None:
    assert int(np.float32(1).view(np.uint32)) < 2 ** (kernels.DIGIT * kernels.N_DIGITS)


def test_code_that_cannot_be_kept_on_disk_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba.njit

    def njit(*args: Any, **options: Any) -> Any:
        if options.get("cache") and options.get("nogil"):  # numba calls it, too, when it loads what it compiles with
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled.compiled(lambda number: number + 1)(1) == 2
