"""Compiled loops: kernels over arrays, and callbacks of C.

==================== ==================================================
`compiled`           compile a function when it is first called
`compiled_beyond`    … when it is first called with more than a few elements
`part_of_kernel`     compile a function with the kernel that calls it
`part_of_callback`   … with the callback that calls it
`callback_address`   compile a function that C calls
`has_code`           whether that was done before on this machine
`Intrinsic`          a function that LLVM has
`Unsigned`           type of the ends of ranges of indices
`code_runs`          whether this process runs machine code
==================== ==================================================
"""

from twinlink.compiled.kernel import (
    FEW,
    PATIENCE,
    Intrinsic,
    Kernel,
    OutOfPatience,
    Stopwatch,
    Unsigned,
    callback_address,
    code_runs,
    compiled,
    compiled_beyond,
    has_code,
    n_elements,
    part_of_callback,
    part_of_kernel,
)

__all__ = [
    "FEW",
    "PATIENCE",
    "Intrinsic",
    "Kernel",
    "OutOfPatience",
    "Stopwatch",
    "Unsigned",
    "callback_address",
    "code_runs",
    "compiled",
    "compiled_beyond",
    "has_code",
    "n_elements",
    "part_of_callback",
    "part_of_kernel",
]
