"""Compiled loops: kernels over arrays, and callbacks of C.

==================== ==================================================
`compiled`           compile a function when it is first called
`compiled_beyond`    … when it is first called with more than a few elements
`part_of_kernel`     compile a function with the kernel that calls it
`interpreted_as`     … while the interpreter runs another one
`part_of_callback`   … with the callback that calls it
`callback_address`   compile a function that C calls
`has_code`           whether that was done before on this machine
`Intrinsic`          a function that LLVM has
`Unsigned`           type of the ends of ranges of indices
`code_runs`          whether this process runs machine code
==================== ==================================================
"""

from twinlink.compiled.callbacks import callback_address, has_code, part_of_callback
from twinlink.compiled.intrinsic import Intrinsic
from twinlink.compiled.kernel import (
    FEW,
    PATIENCE,
    Kernel,
    OutOfPatience,
    Stopwatch,
    Unsigned,
    code_runs,
    compiled,
    compiled_beyond,
    interpreted_as,
    part_of_kernel,
)
from twinlink.compiled.kinds import n_elements

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
    "interpreted_as",
    "n_elements",
    "part_of_callback",
    "part_of_kernel",
]
