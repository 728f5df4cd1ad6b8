"""A fast start: libraries that others load by the way are loaded when they are needed, and not before."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["load_late"]

NUMPY_PARTS = ("f2py", "polynomial", "testing")
"""Parts of numpy that twinlink does not use, and numpy does not load itself."""


def load_late() -> None:
    """Keep libraries from loading what a run does not need: half a second of processor time, and 40 MB.

    - pyarrow loads pandas at the first conversion of an array or a list, to recognise its objects. Where that fails, it
      goes on without, and loads pandas when it makes a DataFrame. Until then it does not recognise a Series.
    - scipy names all parts of numpy, and the types of numpy's random generators, and loads pydoc; all these wait until
      they are used.
    - pyarrow and numpy ask whether an array is a masked one: there is none before numpy's module of these is loaded.
    - pyarrow.compute wraps all functions of Arrow, with their documentation; here each waits until it is used.
    - warcio loads fsspec, if it is installed, for archives on remote file systems, which we do not read by it.
    - numba loads coverage and PyYAML, if they are installed: what measures tests, and a reader of its settings file.
    - scipy loads all of its linear algebra with algorithms for graphs, one of which returns such an object.

    This is for programs that make no DataFrames of their own. What is loaded already stays as it is.
    """
    if "pandas" not in sys.modules:
        import pyarrow as pa

        with _hidden("pandas"):
            pa.array([0])
    if "pyarrow.compute" not in sys.modules:
        _wrap_when_used()
    for part in NUMPY_PARTS:
        _load_when_used("numpy", part)
    _load_when_used("", "pydoc")
    _stand_in("ma", {"MaskedArray": _NoMaskedArray(), "is_masked": _is_masked, "isMaskedArray": _is_masked_array})
    _import_within("scipy._lib._util", _without_random)
    _import_within("warcio.utils", partial(_hidden, "fsspec"))
    _import_within("numba", _alone)
    _import_within("scipy.sparse.csgraph", _without_linear_algebra)


def _load_when_used(package: str, part: str) -> None:
    """Put a module into its place that loads itself when one of its names is used."""
    name = f"{package}.{part}" if package else part
    spec = importlib.util.find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if package:
        setattr(sys.modules[package], part, module)


def _stand_in(part: str, answers: Mapping[str, object]) -> ModuleType | None:
    """Put a module with a few names into the place of a part of numpy; any other name loads the part itself.

    None: the part is loaded already.
    """
    name = f"numpy.{part}"
    if name in sys.modules:
        return None
    spec = importlib.util.find_spec(name)
    assert spec is not None
    stand_in = importlib.util.module_from_spec(spec)  # whose path lets parts of the part be imported without it
    vars(stand_in).update(answers, __getattr__=partial(_load_instead, name, stand_in))
    sys.modules[name] = stand_in
    setattr(importlib.import_module("numpy"), part, stand_in)
    return stand_in


def _load_instead(name: str, stand_in: ModuleType, attribute: str) -> Any:
    """Load a part of numpy into the place of its stand-in, unless that is done, and return one of its attributes."""
    with _LOADING:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)


_LOADING = threading.RLock()


@contextmanager
def _without_random() -> Iterator[None]:
    """Let scipy name the types of random generators for type checkers, without numpy's module of these."""
    types = {"Generator": object, "RandomState": object}
    stand_in = _stand_in("random", types)
    try:
        yield
    finally:
        for name in types if stand_in else ():
            del vars(stand_in)[name]
        if stand_in is not None and sys.modules.get("numpy.random") is stand_in:
            del sys.modules["numpy.random"], vars(sys.modules["numpy"])["random"]  # which numpy loads by itself


def _is_masked(array: object) -> bool:
    """Return whether an array has masked values: none has before the module of masked arrays is loaded."""
    core: Any = sys.modules.get("numpy.ma.core")
    return hasattr(core, "is_masked") and core.is_masked(array)


def _is_masked_array(array: object) -> bool:
    """Return whether an array is a masked one: none is before the module of masked arrays is loaded."""
    core: Any = sys.modules.get("numpy.ma.core")
    return hasattr(core, "isMaskedArray") and core.isMaskedArray(array)


class _NoMaskedArray:
    """Stands in for the class of masked arrays: there is none before its module is loaded."""

    def __instancecheck__(self, instance: object) -> bool:
        return "numpy.ma.core" in sys.modules and isinstance(instance, self._loaded())

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type]:
        return (self._loaded(),)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make a masked array."""
        return self._loaded()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loaded(), name)

    def _loaded(self) -> Any:
        masked_arrays: Any = vars(sys.modules["numpy"])["ma"]
        return masked_arrays.masked_array  # the other name of the class, which loads the module


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


def _import_within(name: str, context: Callable[[], AbstractContextManager[None]]) -> None:
    """Let a module be imported within a context, whoever imports it."""
    if name not in sys.modules:
        sys.meta_path.insert(0, _Within(name, context))


@contextmanager
def _alone() -> Iterator[None]:
    """Let numba find no library that it needs for other programs only."""
    others = ["coverage", *([] if Path(".numba_config.yaml").exists() else ["yaml"])]
    with ExitStack() as stack:
        for name in others:
            stack.enter_context(_hidden(name))
        yield


@contextmanager
def _without_linear_algebra() -> Iterator[None]:
    """Let scipy's algorithms for graphs load without those for matrices, which come when a Laplacian needs them."""
    name = "scipy.sparse.linalg"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = stand_in = ModuleType(name)
    vars(stand_in)["LinearOperator"] = _linear_operator
    try:
        yield
    finally:
        del sys.modules[name]


def _linear_operator(*args: Any, **kwargs: Any) -> Any:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(*args, **kwargs)


class _Within:
    """An import finder that has one module imported within a context."""

    def __init__(self, name: str, context: Callable[[], AbstractContextManager[None]]) -> None:
        self._name = name
        self._context = context

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return where the module is, as the other finders know it; leave other modules to them."""
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with self._context():
                    execute(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


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
