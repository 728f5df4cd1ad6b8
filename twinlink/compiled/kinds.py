"""Kinds of arguments: what the machine code of a kernel depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

Kinds = tuple[Any, ...]
"""What machine code depends on of each argument, see `kinds_of`."""

_SCALARS = {bool: "bool", np.bool: "bool", float: "float", np.float64: "float", np.int64: "int", type(None): "none"}
_CONTIGUOUS = {1: "C", 2: "F", 3: "C"}
_WRITEABLE = 0x400


def kinds_of(args: tuple[Any, ...]) -> Kinds:
    """Return what machine code depends on of each argument: the types that numba tells apart."""
    kinds = list[Any]()
    for value in args:
        of = type(value)
        if of is np.ndarray:
            flags = value.flags.num
            kinds.append((value.dtype, value.ndim, _CONTIGUOUS.get(flags & 3, "A"), flags & _WRITEABLE))
        elif of is int and -(2**63) <= value < 2**63:
            kinds.append("int")
        elif of in _SCALARS:
            kinds.append(_SCALARS[of])
        elif isinstance(value, np.generic):
            kinds.append(value.dtype)
        elif isinstance(value, tuple):
            fields = getattr(of, "_fields", ())
            kinds.append((f"{of.__module__}.{of.__qualname__}", fields, *kinds_of(value)))
        else:
            kinds.append(_numba_type(value))
    return tuple(kinds)


def _numba_type(value: object) -> str:
    from numba import typeof

    return str(typeof(value))  # type: ignore[no-untyped-call]


def n_elements(values: tuple[Any, ...]) -> int:
    """Return the number of elements in the arrays among some values, and in the arrays of tuples among them."""
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.size
        elif isinstance(value, tuple):
            total += n_elements(value)
    return total
