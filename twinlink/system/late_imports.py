"""A fast start: libraries that others load by the way are loaded when they are needed, and not before."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["load_late"]

NUMPY_PARTS = ("f2py", "ma", "polynomial", "testing")
"""Parts of numpy that twinlink does not use, and numpy does not load itself."""


def load_late() -> None:
    """Keep libraries from loading what a run does not need: half a second of processor time, and 40 MB.

    - pyarrow loads pandas at the first conversion of an array or a list, to recognise its objects. Where that fails, it
      goes on without, and loads pandas when it makes a DataFrame. Until then it does not recognise a Series.
    - scipy names all parts of numpy, which loads them; these wait until they are used.
    - pyarrow.compute wraps all functions of Arrow, with their documentation; here each waits until it is used.
    - warcio loads fsspec, if it is installed, for archives on remote file systems, which we do not read by it.

    This is for programs that make no DataFrames of their own. What is loaded already stays as it is.
    """
    if "pandas" not in sys.modules:
        import pyarrow as pa

        with _hidden("pandas"):
            pa.array([0])
    if "pyarrow.compute" not in sys.modules:
        _wrap_when_used()
    if "warcio" not in sys.modules:
        with _hidden("fsspec"):
            importlib.import_module("warcio.utils")
    for part in NUMPY_PARTS:
        _load_when_used("numpy", part)


def _load_when_used(package: str, part: str) -> None:
    """Put a module into its place that loads itself when one of its names is used."""
    name = f"{package}.{part}"
    spec = importlib.util.find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    setattr(sys.modules[package], part, module)


def _wrap_when_used() -> None:
    """Import pyarrow.compute without the wrapped functions of Arrow, which come, without documentation, when used."""
    _load_when_used("pyarrow.vendored", "docscrape")
    core: Any = importlib.import_module("pyarrow._compute")
    known = core.function_registry
    spec = importlib.util.find_spec("pyarrow.compute")
    assert spec is not None
    assert spec.loader is not None
    compute: Any = importlib.util.module_from_spec(spec)

    def wrapped(name: str) -> Any:
        try:
            function = core.get_function(_NAMES_IN_ARROW.get(name, name))
        except KeyError:
            raise AttributeError(f"module 'pyarrow.compute' has no attribute {name!r}") from None
        options = compute._get_options_class(function)
        wrapper = compute._make_generic_wrapper(name, function, options, arity=function.arity)
        setattr(compute, name, wrapper)
        return wrapper

    compute.utf8_zero_fill = None  # its code gives this one a second name
    sys.modules["pyarrow.compute"] = compute
    core.function_registry = _NoFunctions
    try:
        spec.loader.exec_module(compute)
    finally:
        core.function_registry = known
    for name in ("utf8_zero_fill", "utf8_zfill"):
        vars(compute).pop(name, None)
    compute.function_registry, compute.__getattr__ = known, wrapped
    sys.modules["pyarrow"].compute = compute  # type: ignore[attr-defined]


_NAMES_IN_ARROW = {"and_": "and", "or_": "or", "utf8_zfill": "utf8_zero_fill"}


class _NoFunctions:
    """What pyarrow.compute sees of Arrow's functions while it is imported."""

    def list_functions(self) -> list[str]:
        """Return the names of the functions."""
        return []


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Let a library seem not to be installed."""
    if name in sys.modules:
        yield
        return
    finder = _Hiding(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Hiding:
    """An import finder that says that one library is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse it, and leave other modules to other finders."""
        if name == self._name:
            raise ModuleNotFoundError(f"{name} is hidden for the moment", name=name)
