"""Compilation before the first use: kernels that are known to be needed, compiled by several processes at a time.

``kernels.json`` names them with the kinds of their arguments: those of `align`, then those of `mine`, in the order of
their first calls (`python -m experiments.kernels_used` writes it). Where the code of some is missing, a command
compiles them in their order as it needs them, and its helpers (`start_helpers`) do so from the end of the list on. A
helper passes over a kernel that another process compiles; the command waits for it.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinlink.compiled.callbacks import compile_callback_if_free, stored_callback
from twinlink.compiled.kinds import Kinds
from twinlink.compiled.stored_code import FOLDER
from twinlink.system.orphans import end_with_parent
from twinlink.system.workers import cores

__all__ = ["Known", "compile_known", "known_kernels", "main", "sample_of", "start_helpers"]

LIST = Path(__file__).with_name("kernels.json")
MOST_HELPERS = 8
"""Maximum number of processes: each takes 300 MB, and the longest kernel four seconds, however many there are."""


class Known(NamedTuple):
    """A kernel, or a callback, and the kinds of its arguments."""

    module: str
    name: str
    kinds: Kinds

    def to_json(self) -> list[Any]:
        """Return what stands in the list.

        Raises
        ------
        TypeError
            If arguments of such kinds cannot be made.
        """
        if self._is_callback:
            return [self.module, self.name, "callback", *self.kinds[1:]]
        return [self.module, self.name, *map(_written, self.kinds)]

    def compile(self) -> None:
        """Compile it, unless its code is there or another process is at work on it."""
        if self._is_callback:
            compile_callback_if_free(self._function, *self.kinds[1:])
        else:
            self._function.compile_if_free(*map(sample_of, self.kinds))

    def is_compiled(self) -> bool:
        """Return whether its code is on disk."""
        stored = stored_callback(self._function) if self._is_callback else self._function.stored
        return stored.read(self.kinds) is not None

    @property
    def _is_callback(self) -> bool:
        return self.kinds[:1] == ("callback",)

    @property
    def _function(self) -> Any:
        return getattr(importlib.import_module(self.module), self.name)


def _written(kind: Any) -> Any:
    if isinstance(kind, str):
        return kind
    if isinstance(kind, np.dtype):
        return {"scalar": kind.str}
    if isinstance(kind, tuple) and isinstance(kind[0], np.dtype):
        dtype, *rest = kind
        return [dtype.str, *rest]
    if isinstance(kind, tuple):
        name, _, *items = kind
        return {"tuple": name, "of": [*map(_written, items)]}
    raise TypeError(f"no argument can be made of kind {kind!r}")


def _read(kind: Any) -> Any:
    if isinstance(kind, list):
        dtype, *rest = kind
        return (np.dtype(dtype), *rest)
    if isinstance(kind, dict):
        if "scalar" in kind:
            return np.dtype(kind["scalar"])
        fields = getattr(_named(kind["tuple"]), "_fields", ())
        return (kind["tuple"], fields, *map(_read, kind["of"]))
    return kind


def known_kernels() -> list[Known]:
    """Return the kernels that are known to be needed, in their order."""
    known = []
    for module, name, *kinds in json.loads(LIST.read_text(encoding="utf-8")):
        with suppress(ImportError, AttributeError):  # the type of a tuple has another name now: a test finds it
            known.append(Known(module, name, tuple(kinds if kinds[:1] == ["callback"] else map(_read, kinds))))
    return known


_SCALARS: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "none": None}


def sample_of(kind: Any) -> Any:
    """Return an argument of a kind, such as an array of two elements.

    Examples
    --------
    >>> sample_of("int"), sample_of((np.dtype("<f4"), 1, "C", 1024))
    (0, array([0., 0.], dtype=float32))
    """
    if isinstance(kind, str):
        return _SCALARS[kind]
    if isinstance(kind, np.dtype):
        return kind.type(0)
    if isinstance(kind[0], np.dtype):
        return _sample_array(*kind)
    name, _, *items = kind
    of = _named(name)
    samples = [sample_of(item) for item in items]
    return of(*samples) if hasattr(of, "_fields") else of(samples)


def _sample_array(dtype: np.dtype[Any], n_axes: int, order: str, writeable: int) -> Any:
    if order == "A":
        array = np.zeros((4,) * n_axes, dtype)[(slice(None, None, 2),) * n_axes]
    else:
        array = np.zeros((2,) * n_axes, dtype, order="F" if order == "F" else "C")
    array.flags.writeable = bool(writeable)
    return array


def _named(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def compile_known() -> None:
    """Compile what is missing, beginning at the end of the list."""
    for known in reversed(known_kernels()):
        with suppress(Exception):  # whoever needs the kernel will meet the error, and its reason
            known.compile()


def start_helpers(n: int) -> None:
    """Start processes that compile known kernels while this one is at work.

    They end with this process; what they have compiled by then is kept.
    """
    with suppress(OSError):  # no memory for a process: this one compiles all
        for process in _processes(n):
            atexit.register(process.terminate)


def _processes(n: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start processes; modules in the current folder, which is the user's, are not theirs (``-P``)."""
    command = [sys.executable or "", "-P", "-m", "twinlink.compiled", "--workers", "1", "--parent", str(os.getpid())]
    for _ in range(min(n, MOST_HELPERS)):
        yield subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(args: Sequence[str] | None = None) -> None:
    """Compile what is missing; the exit code is 1 if some is missing still."""
    parser = argparse.ArgumentParser(prog="python -m twinlink.compiled", description="Compile the kernels of twinlink.")
    parser.add_argument("--workers", type=int, default=cores(), help="number of processes; default: one per core")
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(args)
    if given.workers < 1:
        parser.error("--workers: expected 1 or more")
    if given.parent is not None:
        end_with_parent(given.parent)
    if given.workers == 1:
        compile_known()
    else:
        for process in [*_processes(given.workers)]:
            if code := process.wait():
                sys.exit(f"a process that compiles kernels ended with {code}")
    if given.parent is None:
        _check_all_compiled()


def _check_all_compiled() -> None:
    known = known_kernels()
    if n_missing := sum(not each.is_compiled() for each in known):
        sys.exit(
            f"{n_missing} of {len(known)} kernels have no machine code on disk: expected that the package's folders or"
            f" the user's cache can be written to, or the folder that {FOLDER} names. Commands compile what they need."
        )
