"""Callbacks: functions that C code calls, compiled or loaded like kernels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

from twinlink.compiled.kernel import Kernel, Part, if_free, in_turn, starting
from twinlink.compiled.kinds import Kinds
from twinlink.compiled.stored_code import StoredCode

if TYPE_CHECKING:
    from twinlink.compiled.machine_code import Loaded

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


def part_of_callback(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function with the callback that calls it (`callback_address`); it must not make an array."""
    return _PartOfCallback(function)


class _PartOfCallback(Part[P, ResultT]):
    """A function that callbacks call; it makes no array, so that numba need not count the references to any."""

    options: ClassVar[dict[str, bool]] = {**Part.options, "_nrt": False}


def stored_callback(function: Callable[..., None]) -> StoredCode:
    """Return the code on disk of a function that C calls."""
    return StoredCode(function, _PartOfCallback.options)


def callback_address(function: Callable[..., None], *types: str) -> int:
    """Return the address of a function that C code calls, compiled for arguments of some types, such as ``uint8*``.

    The function may call parts of kernels. It runs without the interpreter lock and raises nothing.
    """
    stored, kinds = stored_callback(function), ("callback", *types)
    with starting():
        loaded = _loaded_callback(stored, kinds) or _compiled_callback(stored, kinds, function)
    _callbacks.append(loaded)
    return loaded.address


def has_code(function: Callable[..., None], *types: str) -> bool:
    """Return whether the code of such a function is on disk, so that it need not be compiled."""
    return stored_callback(function).is_there(("callback", *types))


def _loaded_callback(stored: StoredCode, kinds: Kinds) -> Loaded | None:
    from twinlink.compiled.machine_code import load

    code = stored.read(kinds)
    with suppress(Exception):  # as for kernels
        return code and load(code)
    return None


def _compiled_callback(stored: StoredCode, kinds: Kinds, function: Callable[..., None]) -> Loaded:
    def load_or_compile() -> Loaded:
        return _loaded_callback(stored, kinds) or _compile_callback(stored, kinds, function)

    return in_turn(stored, kinds, load_or_compile)


def _compile_callback(stored: StoredCode, kinds: Kinds, function: Callable[..., None]) -> Loaded:
    from twinlink.compiled.compiling import compile_callback

    code, loaded = compile_callback(function, kinds[1:], {"nopython": True, **_PartOfCallback.options})
    if code:
        stored.write(kinds, code)
    return loaded


def compile_callback_if_free(function: Callable[..., None], *types: str) -> None:
    """Compile a function that C calls, unless the code is on disk or another process is at work on it."""
    stored, kinds = stored_callback(function), ("callback", *types)
    if_free(stored, kinds, lambda: _compile_callback(stored, kinds, function))


_callbacks: list[Loaded] = []
"""Callbacks in memory; C may call them as long as the process exists."""
