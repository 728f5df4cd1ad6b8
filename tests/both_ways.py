"""Kernels run both ways: each call that the interpreter would run is compiled, too, and both must agree to the bit.

So must a call that the interpreter begins, breaks off half way and leaves to machine code.
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from twinlink.compiled import Kernel, OutOfPatience, n_elements, part_of_kernel

__all__ = ["both_ways"]


class _Parts:
    """Counts the calls of parts while the interpreter runs a kernel, and breaks the kernel off after some of them."""

    def __init__(self) -> None:
        self.kernel: Kernel[Any, Any] | None = None
        self.n_calls, self.most = 0, math.inf

    def interpret(self, kernel: Kernel[Any, Any], args: tuple[Any, ...], most: float = math.inf) -> Any:
        self.kernel, self.n_calls, self.most = kernel, 0, most
        try:
            with np.errstate(over="ignore"):
                return kernel.interpreted(*args)
        finally:
            self.kernel = None

    def begin(self) -> None:
        """Count the call of a part that begins; break the kernel off if there were enough."""
        if self.kernel is not None:
            self.n_calls += 1
            if self.n_calls > self.most:
                raise OutOfPatience


@pytest.fixture(scope="module", autouse=True)
def both_ways() -> Iterator[None]:
    """Import this into a module of tests: all kernels that its tests call run both ways."""

    lock, parts = threading.RLock(), _Parts()

    def call(kernel: Kernel[Any, Any], *args: Any) -> Any:
        with lock:  # threads that write to the same array would disturb the comparison
            if parts.kernel is not None:  # called by another kernel
                return kernel.interpreted(*args)
            again, once_more = copy.deepcopy(args), copy.deepcopy(args)
            result = kernel.machine_code(*args)
            if kernel.few and n_elements(args) <= kernel.few:
                assert_same(parts.interpret(kernel, again), result)
                assert_same(again, args)
                if parts.n_calls:
                    with pytest.raises(OutOfPatience):
                        parts.interpret(kernel, once_more, most=parts.n_calls // 2)
                    assert_same(kernel.machine_code(*once_more), result)
                    assert_same(once_more, args)
            return result

    def call_part(part: Kernel[Any, Any], *args: Any) -> Any:
        parts.begin()
        return part.interpreted(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", call)
        patch.setattr(type(part_of_kernel(n_elements)), "__call__", call_part)
        yield


def assert_same(interpreted: Any, compiled: Any) -> None:
    """Compare arrays, numbers and tuples of them: dtypes where there are any, shapes, and each bit of the values."""
    if isinstance(compiled, tuple):
        for one, other in zip(interpreted, compiled, strict=True):
            assert_same(one, other)
    elif isinstance(compiled, np.ndarray):
        assert interpreted.dtype == compiled.dtype
        assert interpreted.shape == compiled.shape
        assert interpreted.tobytes() == compiled.tobytes()
    else:
        assert interpreted == compiled
