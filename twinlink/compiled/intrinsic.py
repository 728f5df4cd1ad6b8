"""Functions that LLVM has, or that numba lacks, for kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from twinlink.compiled.stored_code import Defined


class Intrinsic(Defined):
    """A function that kernels call and LLVM has, or numba lacks.

    Parameters
    ----------
    write
        Returns the types of a call and a function that writes its code, see `numba.extending.intrinsic`; it imports
        what it needs of numba itself.
    interpreted
        What the interpreter does instead; None: it never calls the function.
    """

    def __init__(self, write: Callable[..., Any], interpreted: Callable[..., Any] | None = None) -> None:
        self.definition = write
        self.interpreted = interpreted

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns."""
        if self.interpreted is None:
            raise TypeError(f"{self.definition.__name__} is for compiled code only")
        return self.interpreted(*args)

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """The type by which numba knows this function where a kernel calls it."""
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        function, types_ = intrinsic(self.definition), cpu_target.typing_context
        types_.refresh()
        return types_.resolve_value_type(function)
