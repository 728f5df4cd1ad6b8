"""Compilation of the kernels with numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled"]

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def compiled(function: FunctionT) -> FunctionT:
    """Compile with numba, without the interpreter lock; cache the machine code on disk if possible."""
    try:
        return cast("FunctionT", njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no writable folder, as in a read-only container
        return cast("FunctionT", njit(nogil=True)(function))
