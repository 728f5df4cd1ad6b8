"""Requests for memory that a kernel reads later.

A kernel that reads rows of a large matrix in no order waits for memory at each row, unless it has requested the row
while it worked on those before.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from twinlink.compiled import Intrinsic

__all__ = ["LINE", "prefetch"]

LINE = 16
"""Numbers of 32 bits that the processor reads at once."""


def _request(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001  (numba passes it)
    """Return the types of `prefetch`, and a function that writes its code."""
    from llvmlite import ir
    from numba.core import types

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(data, [context.cast(builder, arguments[1], signature.args[1], types.intp)])
        number = ir.IntType(32)
        address = ir.IntType(8).as_pointer()
        code = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        to_read, keep_near, no_instructions = number(0), number(3), number(1)
        function = builder.module.declare_intrinsic("llvm.prefetch", [address], code)
        builder.call(function, [builder.bitcast(place, address), to_read, keep_near, no_instructions])
        return context.get_dummy_value()

    return types.void(array, index), write


def _nothing(array: NDArray[Any], index: Any) -> None:
    """Do nothing: the interpreter does not wait for memory."""


prefetch = Intrinsic(_request, _nothing)
"""Request the place of an array with an index; in the interpreter, nothing happens."""
