"""Compilation with numba: one process compiles a kernel, others that need it wait and then find the code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from twinlink.compiled.machine_code import Loaded, MachineCode
from twinlink.system.locks import BlockedError, locked

LONGEST_WAIT = 60.0
"""Seconds that a process waits for another one that compiles the same kernel."""


def compile_kernel(dispatcher: Any, args: Sequence[Any]) -> tuple[MachineCode | None, Callable[..., Any]]:
    """Compile a function for arguments like some, given what numba makes of it.

    Return the code (None: it cannot be stored), and what runs it.
    """
    types = tuple(dispatcher.typeof_pyval(value) for value in args)
    dispatcher.compile(types)
    result = dispatcher.overloads[types]
    return _code_of(result, result.fndesc.llvm_cpython_wrapper_name, result.fndesc.env_name), result.entry_point


def compile_callback(
    function: Callable[..., None], types: Sequence[str], options: dict[str, bool]
) -> tuple[MachineCode | None, Loaded]:
    """Compile a function that C calls with arguments of some types, such as ``int64`` or ``uint8*``.

    Return the code (None: it cannot be stored), and the same in memory.
    """
    from numba import void
    from numba.core.ccallback import CFunc
    from numba.core.compiler_lock import global_compiler_lock

    callback: Any = CFunc(function, (tuple(map(_type_of_c, types)), void), locals={}, options=options)
    with global_compiler_lock:
        result = callback._compile_uncached()
        entry = result.fndesc.llvm_cfunc_wrapper_name
        address = result.library.get_pointer_to_function(entry)
    return _code_of(result, entry, ""), Loaded(address, (callback, result), None)


def _type_of_c(name: str) -> Any:
    """Return numba's type for one of C.

    >>> _type_of_c("uint8**")
    uint8**
    """
    from numba import types

    if name.endswith("*"):
        pointer_to: Callable[[Any], Any] = types.CPointer
        return pointer_to(_type_of_c(name[:-1]))
    return getattr(types, name)


def _code_of(result: Any, entry: str, environment: str) -> MachineCode | None:
    """Return what numba has compiled as something that can be stored; None: this numba is built in another way."""
    with suppress(Exception):
        environments = {each.env_name: tuple(each.consts) for each in result._find_referenced_environments()}
        if environment:
            environments[environment] = tuple(result.environment.consts)
        return MachineCode(
            result.library._get_compiled_object(), entry, environment, tuple(environments.items()), _needs_of(result)
        )
    return None


def _needs_of(result: Any) -> tuple[str, ...]:
    """Return the symbols that the code of a function only declares, but for what LLVM makes instructions of."""
    module = result.library._final_module
    declared = (each.name for each in (*module.functions, *module.global_variables) if each.is_declaration)
    return tuple(sorted(name for name in declared if not name.startswith("llvm.")))


@contextmanager
def held(lock: Path | None, seconds: float | None = None) -> Iterator[bool]:
    """Hold a lock file, which is removed at the end; yield whether it is held.

    A process that is killed leaves the file, but not the lock; the next one that compiles the kernel removes it.
    Without the lock, the work is done twice, so nothing waits for it too long: `LONGEST_WAIT` by default.
    """
    with ExitStack() as stack:
        is_held = False
        with suppress(OSError, BlockedError):  # the file system has no locks; another process takes too long
            if lock is not None:
                stack.enter_context(locked(lock, LONGEST_WAIT if seconds is None else seconds))
                stack.callback(_remove, lock)
                is_held = True
        yield is_held


def _remove(lock: Path) -> None:
    with suppress(OSError):  # the file of another user
        lock.unlink(missing_ok=True)
