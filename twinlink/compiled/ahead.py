"""Compilation before the first use: kernels that are known to be needed, compiled by several processes at a time.

``kernels.json`` names them with the kinds of their arguments, in the order in which `mine` and `align` first call them
(`python -m experiments.kernels_used` writes it). Where the code of some is missing, a command compiles them in their
order as it needs them, and its helpers (`Helpers`) do so from the end of the list on. What one of them is at work on,
the others leave to it.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinlink.compiled.kernel import Kernel, Kinds, compile_callback_if_free
from twinlink.errors import TwinlinkError

__all__ = ["Helpers", "Known", "compile_known", "known_kernels", "main", "sample_of"]

LIST = Path(__file__).with_name("kernels.json")


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
        if self.kinds[:1] == ("callback",):
            return [self.module, self.name, "callback", *self.kinds[1:]]
        return [self.module, self.name, *map(_written, self.kinds)]

    def compile(self) -> None:
        """Compile it, unless its code is there or another process is at work on it."""
        function = getattr(importlib.import_module(self.module), self.name)
        if self.kinds[:1] == ("callback",):
            compile_callback_if_free(function, *self.kinds[1:])
        else:
            function.compile_if_free(*map(sample_of, self.kinds))


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
    lines = json.loads(LIST.read_text(encoding="utf-8"))
    return [
        Known(module, name, tuple(kinds) if kinds[:1] == ["callback"] else tuple(map(_read, kinds)))
        for module, name, *kinds in lines
    ]


_SCALARS: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "none": None}


def sample_of(kind: Any) -> Any:
    """Return an argument of a kind, such as an array without elements.

    Examples
    --------
    >>> sample_of("int"), sample_of((np.dtype("<f4"), 1, "C", 1024))
    (0, array([], dtype=float32))
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
    shape = (2,) * n_axes if order == "A" else (0,) + (2,) * (n_axes - 1)
    array = np.zeros((4,) * n_axes if order == "A" else shape, dtype, order="F" if order == "F" else "C")
    if order == "A":
        array = array[(slice(None, None, 2),) * n_axes]
    array.flags.writeable = bool(writeable)
    return array


def _named(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def compile_known(is_wanted: Callable[[], bool] = lambda: True) -> None:
    """Compile what is missing, beginning at the end of the list, as long as it is wanted."""
    for known in reversed(known_kernels()):
        if not is_wanted():
            return
        with suppress(Exception):  # whoever needs the kernel will meet the error, and its reason
            known.compile()


class Helpers:
    """Processes that compile known kernels while this one is at work; they end with it."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._owner = os.getpid()
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start them, the first time that this process compiles a kernel."""
        if self._processes or os.getpid() != self._owner or not self.n:
            return
        with suppress(OSError):  # no memory for a process: this one compiles all
            self._processes += _processes(self.n, ["--parent", str(self._owner)])
        atexit.register(self.stop)

    def stop(self) -> None:
        """End them: what they compiled to the end is kept."""
        for process in self._processes:
            process.terminate()


def _processes(n: int, arguments: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "twinlink.compiled", "--workers", "1", *arguments]
    for _ in range(n):
        yield subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(args: Sequence[str] | None = None) -> None:
    """Compile what is missing."""
    parser = argparse.ArgumentParser(prog="python -m twinlink.compiled", description="Compile the kernels of twinlink.")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes; default: cores")
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(args)
    if given.workers < 1:
        parser.error("--workers: expected 1 or more")
    if given.workers == 1:
        compile_known(lambda: given.parent in (None, os.getppid()))
        return
    failed = [process for process in [*_processes(given.workers)] if process.wait()]
    if failed:
        raise TwinlinkError(f"{len(failed)} of {given.workers} processes that compile kernels failed")
