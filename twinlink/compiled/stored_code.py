"""Machine code on disk: one file for each kernel and each kind of its arguments.

A file is named by what numba compiles: the function, those that it calls, the constants that they name, and the kinds
of the arguments. So a changed kernel gets another file. In the file are the versions of numba and Python, and the
processor: what was compiled with others is not used, and replaced. The files are beside the source, as the bytecode of
Python is, or in the user's cache if that folder is read-only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from twinlink.compiled.machine_code import MachineCode, processor, versions
from twinlink.files import replacing

FOLDER = "NUMBA_CACHE_DIR"
"""Environment variable that names another folder, the one that numba's own cache is set by."""

_ENDING = ".code"
_DIGEST_BYTES = 16


class Defined:
    """What kernels may call: numba compiles its definition with them."""

    definition: Callable[..., Any]
    """The function as it is written, or the one that writes its code."""


class StoredCode:
    """The machine code of a function on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _digest(self) -> str:
        facts = hashlib.blake2b(digest_size=8)
        for fact in _facts(self._function, set()):
            facts.update(repr(fact).encode())
        return facts.hexdigest()

    @functools.cached_property
    def _stem(self) -> str:
        return f"{self._function.__module__}.{self._function.__qualname__}-"

    def is_there(self, kinds: object) -> bool:
        """Return whether there was code for arguments of some kinds when this process first looked for any."""
        name = self._name(kinds)
        return any(name in _names_in(folder) for folder in self._folders())

    def read(self, kinds: object) -> MachineCode | None:
        """Return the code for arguments of some kinds; None: there is none that can be used, or it is damaged."""
        name = self._name(kinds)
        for folder in self._folders():
            with suppress(Exception):  # no such file, or one that is no use: unpickling raises anything
                return _unpacked((folder / name).read_bytes())
        return None

    def write(self, kinds: object, code: MachineCode) -> None:
        """Write code, if possible, and remove what is there of earlier forms of the function."""
        data = _packed(code)
        for folder in self._folders():
            with suppress(OSError):  # a folder that is read-only, a full disk
                folder.mkdir(parents=True, exist_ok=True)
                with replacing(folder / self._name(kinds), f"{os.getpid()}") as temporary:
                    temporary.write_bytes(data)
                for old in folder.glob(f"{self._stem}*{_ENDING}"):
                    if not old.name.startswith(f"{self._stem}{self._digest}-"):
                        old.unlink(missing_ok=True)
                return

    def _name(self, kinds: object) -> str:
        return f"{self._stem}{self._digest}-{_digest_of(repr(kinds).encode())[:8].hex()}{_ENDING}"

    def _folders(self) -> Iterator[Path]:
        return folders_of(Path(self._function.__code__.co_filename))


def folders_of(source: Path, environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Yield the folders where the code of a source file may be, the preferred one first."""
    package = source.parent.name
    if own := environment.get(FOLDER):
        yield Path(own) / package
        return
    yield source.parent / "__pycache__"
    with suppress(RuntimeError):  # the user has no home
        yield Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "twinlink" / "code" / package


@functools.cache
def _names_in(folder: Path) -> frozenset[str]:
    with suppress(OSError):
        return frozenset(path.name for path in folder.iterdir())
    return frozenset()


def _packed(code: MachineCode) -> bytes:
    data = pickle.dumps((_surroundings(), tuple(code)))
    return _digest_of(data) + data


def _unpacked(data: bytes) -> MachineCode:
    """Return the code in a file; raise an error if it is damaged, or of other surroundings."""
    digest, content = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if _digest_of(content) != digest:
        raise ValueError("damaged")
    surroundings, code = pickle.loads(content)  # noqa: S301  (the code itself can do anything, too)
    if surroundings != _surroundings():
        raise ValueError("of other surroundings")
    return MachineCode(*code)


def _digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


@functools.cache
def _surroundings() -> tuple[str, ...]:
    """Return what all code depends on."""
    return sys.version, np.__version__, *versions(), processor()


def _facts(function: Callable[..., Any], seen: set[object]) -> Iterator[object]:
    """Yield what the code of a function depends on: its bytecode, the constants that it names, and what it calls."""
    seen.add(function)
    names = set[str]()
    for code in _codes(function.__code__):
        yield code.co_code, code.co_varnames, code.co_names
        yield [each for each in code.co_consts if not isinstance(each, CodeType) and each != function.__doc__]
        names.update(code.co_names)
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, Defined):
            if value.definition not in seen:
                yield from _facts(value.definition, seen)
        elif isinstance(value, _CONSTANTS):
            yield name, value


_CONSTANTS = (bool, int, float, str, bytes, tuple, type, np.generic)
"""Types of what numba compiles by its value."""


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the bytecode of a function, and of those within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
