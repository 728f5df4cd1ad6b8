"""Masks of up to 64 places, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinlink.compiled import Intrinsic

__all__ = ["lowest_bit"]


def _count_zeros(typing_context: Any, mask: Any) -> Any:  # noqa: ARG001  (numba passes it)
    """Return the types of `lowest_bit`, and a function that writes its code."""
    from numba.core import types

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001  (numba passes them)
        of_zero = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], of_zero)

    return types.uint64(types.uint64), write


def _interpreted(mask: np.uint64) -> np.uint64:
    """Do what `lowest_bit` does."""
    number = int(mask)
    return np.uint64((number & -number).bit_length() - 1)


lowest_bit = Intrinsic(_count_zeros, _interpreted)
"""Return the position of the lowest bit of a mask that is 1; the mask is an unsigned number of 64 bits, not 0."""
