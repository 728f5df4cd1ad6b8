"""Kernels run both ways: each call that the interpreter would run is compiled, too, and both must agree to the bit."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from twinlink.compiled import Kernel, n_elements

__all__ = ["both_ways"]


@pytest.fixture(scope="module", autouse=True)
def both_ways() -> Iterator[None]:
    """Import this into a module of tests: all kernels that its tests call run both ways."""

    lock, kernels = threading.RLock(), []

    def call(kernel: Kernel[Any, Any], *args: Any) -> Any:
        with lock:  # threads that write to the same array would disturb the comparison
            if kernels:  # called by another kernel
                return kernel.interpreted(*args)
            again = copy.deepcopy(args)
            result = kernel.machine_code(*args)
            if kernel.few and n_elements(args) <= kernel.few:
                kernels.append(kernel)
                try:
                    with np.errstate(over="ignore"):
                        assert_same(kernel.interpreted(*again), result)
                finally:
                    kernels.pop()
                assert_same(again, args)
            return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", call)
        yield


def assert_same(interpreted: Any, compiled: Any) -> None:
    """Compare arrays, numbers and tuples of them: dtypes where there are any, shapes, and each bit of the values."""
    if isinstance(compiled, tuple):
        for one, other in zip(interpreted, compiled, strict=True):
            assert_same(one, other)
    elif isinstance(compiled, np.ndarray):
        assert interpreted.dtype == compiled.dtype
        assert interpreted.tobytes() == compiled.tobytes()
    else:
        assert interpreted == compiled
