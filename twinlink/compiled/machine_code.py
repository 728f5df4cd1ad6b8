"""Machine code that numba has compiled, made to run without numba.

numba takes .25 s of processor time and 70 MB to import. What it has compiled needs the loader of LLVM and three small
extension modules of numba: the functions that machine code calls are in two of them (``_helperlib``, ``_nrt_python``),
and ``_dynfunc`` makes a function of Python from an address. They are loaded from their files, without the package.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import importlib.util
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast


class MachineCode(NamedTuple):
    """Machine code of a function for arguments of certain kinds, and what it needs to run."""

    object_file: bytes
    entry: str
    """Symbol of the function in it that Python, or C, calls."""
    environment: str
    """Symbol of the place of its own environment; empty: C calls it, and it needs none."""
    environments: tuple[tuple[str, tuple[Any, ...]], ...]
    """Symbols of the places of all environments, with their constants: the types of the arrays that it returns."""
    needs: tuple[str, ...]
    """Symbols of what it calls and reads outside of the file."""


class Loaded(NamedTuple):
    """Machine code in memory."""

    address: int
    """Address of its entry."""
    keepalive: tuple[Any, ...]
    """What must exist as long as it is called."""
    environment: Any
    """Its own environment, or None."""


def load(code: MachineCode) -> Loaded:
    """Load machine code into memory.

    Each object file gets an engine of its own: numba numbers the functions of a process, so that two files may have
    different functions with the same symbol.

    Raises
    ------
    LookupError
        If nothing has a symbol that the code needs; to run it would end the process.
    """
    binding = _llvm()
    extensions = _extensions()
    process = ctypes.CDLL(None)
    missing = [name for name in code.needs if not (binding.address_of_symbol(name) or hasattr(process, name))]
    if missing:
        raise LookupError(f"nothing has the symbols {', '.join(missing)}")
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.object_file.ObjectFileRef.from_data(code.object_file))
    engine.finalize_object()
    environments = {}
    for symbol, constants in code.environments:
        environments[symbol] = environment = extensions.make_environment({})
        environment.consts.extend(constants)
        ctypes.c_void_p.from_address(engine.get_global_value_address(symbol)).value = id(environment)
    own = environments.get(code.environment)
    return Loaded(engine.get_function_address(code.entry), (engine, *environments.values()), own)


def callable_of(code: MachineCode, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of Python that runs the machine code of a kernel."""
    address, keepalive, environment = load(code)
    names = sys.modules[function.__module__], function.__name__, function.__doc__ or ""
    return cast("Callable[..., Any]", _extensions().make_function(*names, address, environment, keepalive))


@functools.cache
def version_of_numba() -> str:
    """Return what tells versions of numba apart."""
    own = _folder_of_numba() / "_version.py"  # to ask for the metadata of the package takes .005 s
    if own.is_file():
        return own.read_text(encoding="utf-8")
    from importlib.metadata import version

    return version("numba")


def version_of_llvm() -> str:
    """Return the version of llvmlite."""
    import llvmlite

    return str(llvmlite.__version__)


def processor() -> str:
    """Return the name and the features of the processor, by which numba chooses instructions."""
    binding = _llvm()
    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


@functools.cache
def _llvm() -> Any:
    """Return llvmlite's binding, ready to load code for this machine."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


class _Extensions(NamedTuple):
    """What machine code needs of numba's extension modules."""

    make_environment: Callable[..., Any]
    make_function: Callable[..., Any]


@functools.cache
def _extensions() -> _Extensions:
    """Load the extension modules, and tell LLVM the addresses of what machine code calls."""
    helpers, functions, runtime = map(_extension, ("_helperlib", "_dynfunc", "core.runtime._nrt_python"))
    symbols = {"_Py_NoneStruct": id(None)}
    for module in (helpers, functions):
        symbols |= {f"numba_{name}": address for name, address in module.c_helpers.items()}
    for name, address in runtime.c_helpers.items():
        symbols[name if name.startswith("_") else f"NRT_{name}"] = address
    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            symbols[f"PyExc_{value.__name__}"] = id(value)
    for name, address in symbols.items():
        _llvm().add_symbol(name, address)
    if "numba" not in sys.modules:
        runtime.memsys_use_cpython_allocator()
        _replace_unpickling(helpers.c_helpers["unpickle"])
    return _Extensions(functions.Environment, functions.make_function)


def _extension(part: str) -> Any:
    """Return an extension module of numba; the package need not be imported."""
    name = f"numba.{part}"
    if name in sys.modules:
        return sys.modules[name]
    start = _folder_of_numba().joinpath(*part.split("."))
    path = next(path for ending in EXTENSION_SUFFIXES if (path := start.with_name(start.name + ending)).exists())
    spec = importlib.util.spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _folder_of_numba() -> Path:
    package = importlib.util.find_spec("numba")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent


def _replace_unpickling(address: int) -> None:
    """Let machine code read the objects in it, such as the type of arrays, without numba.

    The function of C at the address imports numba when it is first called, to unpickle such an object, and remembers
    how. So it is called here, while a stand-in is in numba's place.
    """
    names = ("numba", "numba.core", "numba.core.serialize")
    stand_ins = [ModuleType(name) for name in names]
    vars(stand_ins[-1])["_numba_unpickle"] = _Unpickled()
    unpickle = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)(address)
    with _in_place(dict(zip(names, stand_ins, strict=True))):
        something = pickle.dumps(())
        unpickle(something, len(something), bytes(_HASH_BYTES))


_HASH_BYTES = 20
"""Bytes of the digest that numba stores beside a pickled object."""


class _Unpickled:
    """Objects of machine code by the addresses of their pickled forms: each is unpickled once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], Any] = {}

    def __call__(self, address: int, pickled: bytes, digest: bytes) -> Any:
        key = address, digest
        if key not in self._known:
            self._known[key] = pickle.loads(pickled)  # noqa: S301  (who made the machine code made this, too)
        return self._known[key]


@contextmanager
def _in_place(modules: dict[str, ModuleType]) -> Iterator[None]:
    """Put modules into their places, and take them away again."""
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
