"""Machine code on disk: one file for each kernel and each kind of its arguments.

A file is named by what numba compiles (the function, those that it calls, the constants and types that they name, the
kinds of the arguments) and by the versions of Python, numpy and numba. So a changed kernel gets another file. The
version of llvmlite and the processor are in the file: code for others is not used, and replaced. The files are beside
the source, as the bytecode of Python is, or in the user's cache if that folder is read-only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import EnumType
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar

import numpy as np

from twinlink.compiled.machine_code import MachineCode, processor, version_of_llvm, version_of_numba
from twinlink.files import replacing

FOLDER = "NUMBA_CACHE_DIR"
"""Environment variable that names another folder, the one that numba's own cache is set by."""

_ENDING = ".code"
_INTERPRETED = "interpreted-tenths"
"""Name of a file whose size tells how long the interpreter has run kernels without machine code."""
_BYTES_PER_SECOND = 10
_DIGEST_BYTES, _NAME_BYTES = 16, 8
_FORM = 2
"""Number of the way in which code is compiled and stored; a change of it needs another one."""
_OLD_SECONDS = 30 * 24 * 3600
"""Age of files from which on they are removed if the function has another form now."""


class Defined:
    """What kernels may call: numba compiles its definition with them."""

    definition: Callable[..., Any]
    """The function as it is written, or the one that writes its code."""
    options: ClassVar[dict[str, bool]] = {}
    """Options of numba for it."""


class StoredCode:
    """The machine code of a function, compiled with some options of numba, on disk."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, bool]) -> None:
        self._function = function
        self._options = sorted(options.items())

    @functools.cached_property
    def _digest(self) -> str:
        facts = (_FORM, sys.version, np.__version__, version_of_numba(), self._options, *_facts(self._function, set()))
        return _digest_of(repr(facts).encode())[:_NAME_BYTES].hex()

    @functools.cached_property
    def _stem(self) -> str:
        return f"{self._function.__module__}.{self._function.__qualname__}-"

    def is_there(self, kinds: object) -> bool:
        """Return whether there was code for arguments of some kinds when this process first looked for any."""
        name = self._name(kinds)
        return any(name in _names_in(folder) for folder in self._folders())

    def is_there_for_any(self) -> bool:
        """Return whether there was code for arguments of any kinds when this process first looked for any."""
        start = f"{self._stem}{self._digest}-"
        names = (name for folder in self._folders() for name in _names_in(folder))
        return any(name.startswith(start) and name.endswith(_ENDING) for name in names)

    def read(self, kinds: object) -> MachineCode | None:
        """Return the code for arguments of some kinds; None: there is none that can be used, or it is damaged."""
        name = self._name(kinds)
        for folder in self._folders():
            with suppress(Exception):  # no such file, or one that is no use: unpickling raises anything
                return _unpacked((folder / name).read_bytes())
        return None

    def write(self, kinds: object, code: MachineCode) -> None:
        """Write code, if possible, and remove old files of other forms of the function, or that a kill has left."""
        data = _packed(kinds, code)
        for folder in self._folders():
            with suppress(OSError):  # a folder that is read-only, a full disk
                folder.mkdir(parents=True, exist_ok=True)
                with replacing(folder / self._name(kinds), f"{os.getpid()}") as temporary:
                    temporary.write_bytes(data)
                for old in folder.glob(f"{self._stem}*"):
                    is_of_now = old.name.startswith(f"{self._stem}{self._digest}-") and old.suffix == _ENDING
                    if not is_of_now and old.stat().st_mtime < time.time() - _OLD_SECONDS:
                        old.unlink(missing_ok=True)
                return

    def lock_file(self, kinds: object) -> Path | None:
        """Return the file that is locked while code for arguments of some kinds is compiled; None: no folder for it."""
        for folder in self._folders():
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                if os.access(folder, os.W_OK):
                    return folder / f"{self._name(kinds)}.lock"
        return None

    def _name(self, kinds: object) -> str:
        return f"{self._stem}{self._digest}-{_digest_of(repr(kinds).encode())[:_NAME_BYTES].hex()}{_ENDING}"

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


def interpreted_before() -> float:
    """Return the seconds that earlier processes have spent on kernels without machine code (`add_interpreted`)."""
    for folder in folders_of(Path(__file__)):
        with suppress(OSError):
            return (folder / _INTERPRETED).stat().st_size / _BYTES_PER_SECOND
    return 0.0


def add_interpreted(seconds: float) -> None:
    """Add what this process has spent, if possible: a byte for each whole tenth of a second, so that none is lost."""
    n_bytes = int(seconds * _BYTES_PER_SECOND)
    for folder in folders_of(Path(__file__)) if n_bytes else ():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / _INTERPRETED).open("ab") as file:
                file.write(b"." * n_bytes)
            return


@functools.cache
def _names_in(folder: Path) -> frozenset[str]:
    with suppress(OSError):
        return frozenset(path.name for path in folder.iterdir())
    return frozenset()


def stored_in(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield module, function and kinds of arguments of the code in a folder and those within, the oldest first."""
    for file in sorted(folder.rglob(f"*{_ENDING}"), key=lambda file: file.stat().st_mtime_ns):
        module, _, name = file.name.rsplit("-", 2)[0].rpartition(".")
        yield module, name, _content(file.read_bytes())[1]


def _packed(kinds: object, code: MachineCode) -> bytes:
    data = pickle.dumps((_surroundings(), kinds, tuple(code)))
    return _digest_of(data) + data


def _unpacked(data: bytes) -> MachineCode:
    """Return the code in a file; raise an error if it is damaged, or of other surroundings."""
    surroundings, _, code = _content(data)
    if surroundings != _surroundings():
        raise ValueError("of other surroundings")
    return MachineCode(*code)


def _content(data: bytes) -> Any:
    """Return surroundings, kinds of arguments and code in a file."""
    digest, content = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if _digest_of(content) != digest:
        raise ValueError("damaged")
    return pickle.loads(content)  # noqa: S301  (the code itself can do anything, too)


def _digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


@functools.cache
def _surroundings() -> tuple[str, ...]:
    """Return what code depends on besides what names its file."""
    return version_of_llvm(), processor()


def _facts(function: Callable[..., Any], seen: set[object]) -> Iterator[object]:
    """Yield what the code of a function depends on: its bytecode, its values, and what it names."""
    if function in seen:
        return
    seen.add(function)
    names = set[str]()
    for code in _codes(function.__code__):
        yield code.co_code, code.co_varnames, code.co_names
        for constant in code.co_consts:
            if not isinstance(constant, CodeType) and constant != function.__doc__:
                yield from _facts_of_value(constant, seen)
        names.update(code.co_names)
    for name in sorted(names & function.__globals__.keys()):
        yield name
        yield from _facts_of_value(function.__globals__[name], seen)
    for value in (*(function.__defaults__ or ()), *(cell.cell_contents for cell in function.__closure__ or ())):
        yield from _facts_of_value(value, seen)


def _facts_of_value(value: object, seen: set[object]) -> Iterator[object]:
    """Yield what code depends on of something that it names.

    Modules are those of numpy and Python, whose versions count; what is of no kind that is known here must not be
    named by kernels (a test looks for it).
    """
    if isinstance(value, Defined):
        yield sorted(value.options.items())
        yield from _facts(value.definition, seen)
    elif isinstance(value, FunctionType):
        yield from _facts(value, seen)
    elif isinstance(value, type):
        yield value.__module__, value.__qualname__, getattr(value, "_fields", ()), _members(value)
    elif isinstance(value, np.ndarray):
        yield value.dtype.str, value.shape, value.tobytes()
    elif isinstance(value, tuple):
        yield len(value)
        for each in value:
            yield from _facts_of_value(each, seen)
    elif isinstance(value, frozenset):
        yield sorted(map(repr, value))
    elif isinstance(value, CONSTANTS):
        yield value


CONSTANTS = (bool, int, float, str, bytes, type(None), np.generic)
"""Types of what numba compiles by its value."""


def _members(value: type) -> list[str]:
    members: Mapping[str, object] = getattr(value, "__members__", {}) if isinstance(value, EnumType) else {}
    return [repr(member) for member in members.values()]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the bytecode of a function, and of those within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
