"""How the loops of the kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled"]

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def compiled(function: FunctionT) -> FunctionT:
    """Compile with numba, free of the interpreter lock; keep the machine code on disk where that is possible."""
    try:
        return cast("FunctionT", njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no folder that it may write to, as in a read-only container
        return cast("FunctionT", njit(nogil=True)(function))
