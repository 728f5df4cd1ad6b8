"""Compilation of the kernels with numba, where there is enough to do.

numba is imported when the first kernel is compiled: it takes .4 s of processor time to start, and seconds for a kernel
that was never compiled on this machine. The interpreter is done sooner with a call over a few thousand elements.
"""

from __future__ import annotations

import fcntl
import functools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any, ClassVar, Generic, ParamSpec, TypeVar, cast

import numpy as np

__all__ = [
    "FEW",
    "PATIENCE",
    "Kernel",
    "OutOfPatience",
    "Stopwatch",
    "callback_address",
    "code_runs",
    "compiled",
    "compiled_beyond",
    "n_elements",
    "part_of_callback",
    "part_of_kernel",
]

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

FEW = 12_000
"""Elements in the arrays of a call up to which the interpreter may run it."""
PATIENCE = 0.3
"""Seconds of processor time that the interpreter may spend on calls of kernels: about what numba takes to start."""

_LONGEST_WAIT = 60.0
"""Seconds that a process waits for another one that compiles kernels of the same file."""
_LOOK_SECONDS = 0.01


class OutOfPatience(Exception):  # noqa: N818  (no error: the call goes on in machine code)
    """Raised in the middle of a call that takes the interpreter too long."""


class _Turn(threading.local):
    """What the interpreter is doing in a thread."""

    end = math.inf
    """When it must give up, by `time.thread_time`: what other programs take does not count."""
    look = math.inf
    """When to look at that clock, by `time.perf_counter`, which takes a fifth of the time to read."""


_turn = _Turn()


class Stopwatch:
    """Adds up the time of blocks that one thread at a time may enter, also while one of them runs."""

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure a block; a block within it is not measured again."""
        if self._since is not None:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            since, self._since = self._since, None
            self._total += time.monotonic() - since

    def read(self) -> tuple[float, float]:
        """Return the seconds of all blocks, and those of the block that runs now (0: none runs)."""
        since = self._since  # another thread may end the block just now
        now = 0.0 if since is None else time.monotonic() - since
        return self._total + now, now


class Kernel(Generic[P, ResultT]):
    """A function over arrays: the interpreter runs it while there is little to do, and machine code from then on.

    There is much to do once a kernel of this process has been called with many elements, or all calls together took
    longer than `PATIENCE`. The result is the same either way, bit for bit: a kernel computes with scalars of numpy,
    whose integers wrap around. What kernels call is a `part_of_kernel`, so that each call is of one kind throughout.

    The work of some kernels grows with the square of the elements or faster, so the interpreter also gives up in the
    middle of a call, where a part begins; machine code then repeats the call. What a kernel writes to its arguments
    must therefore not depend on what a call that was broken off has written there.

    Parameters
    ----------
    function
        The function, in the subset of Python that numba compiles.
    few
        The number of elements in the arrays of a call up to which the interpreter may run it.
    """

    options: ClassVar[dict[str, bool]] = {}
    """Further options of numba."""
    patience: ClassVar[float] = PATIENCE
    """Seconds left for the interpreter, in this process; 0 once anything is compiled."""
    is_loaded: ClassVar[bool] = False
    """Whether this process has loaded numba for a kernel."""
    compiling: ClassVar[Stopwatch] = Stopwatch()
    """The time that this process takes to compile kernels, or to load them from the cache."""

    def __init__(self, function: Callable[P, ResultT], few: int) -> None:
        functools.update_wrapper(self, function)
        self.interpreted = function
        """The function as it is written."""
        self.few = few
        self._compiling = threading.Lock()
        self._machine_code: Callable[P, ResultT] | None = None

    @property
    def machine_code(self) -> Callable[P, ResultT]:
        """The compiled function, without the interpreter lock; it is cached on disk if possible."""
        if self._machine_code is None:
            from numba import njit

            Kernel.patience, Kernel.is_loaded = 0.0, True
            _let_forks_wait()
            with self._compiling:  # two threads would compile it twice
                if self._machine_code is None:
                    self._machine_code = self._compiled(njit)
        return self._machine_code

    def _compiled(self, njit: Callable[..., Any]) -> Callable[P, ResultT]:
        machine_code = njit(nogil=True, **self.options)(self.interpreted)
        _store(machine_code)
        machine_code.compile = _one_after_another(machine_code.compile, self.interpreted.__code__.co_filename)
        return cast("Callable[P, ResultT]", machine_code)

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba knows this function where a kernel calls it."""
        from numba import typeof

        return typeof(self.machine_code)  # type: ignore[no-untyped-call]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns."""
        if self.few and Kernel.patience > 0 and n_elements(args) <= self.few:
            with suppress(OutOfPatience):
                return self._interpret(*args, **kwargs)
        return self.machine_code(*args, **kwargs)

    def _interpret(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        start = time.thread_time()
        _turn.end, _turn.look = start + Kernel.patience, time.perf_counter() + Kernel.patience
        try:
            with np.errstate(over="ignore"):  # integers wrap around on purpose
                return self.interpreted(*args, **kwargs)
        finally:
            _turn.end = _turn.look = math.inf
            Kernel.patience -= time.thread_time() - start


def code_runs() -> bool:
    """Return whether this process runs machine code already, so that numba need not be started for one more kernel."""
    return Kernel.is_loaded


def compiled(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function when it is first called."""
    return Kernel(function, 0)


def compiled_beyond(few: int) -> Callable[[Callable[P, ResultT]], Kernel[P, ResultT]]:
    """Compile a function when it is first called with more than a few elements."""
    return functools.partial(Kernel, few=few)


def part_of_kernel(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function with the kernel that calls it."""
    return _Part(function)


def part_of_callback(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function with the callback that calls it (`callback_address`); it must not make an array."""
    return _PartOfCallback(function)


class _Part(Kernel[P, ResultT]):
    """A function that only kernels call: numba sees its machine code, the interpreter the function."""

    def __init__(self, function: Callable[P, ResultT]) -> None:
        super().__init__(function, 0)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns, unless the kernel that calls it takes too long."""
        if time.perf_counter() > _turn.look and time.thread_time() > _turn.end:
            raise OutOfPatience
        return self.interpreted(*args, **kwargs)


def callback_address(function: Callable[..., None], *types: Any) -> int:
    """Return the address of a function that C code calls, compiled for arguments of some types of numba.

    The function may call parts of kernels. It runs without the interpreter lock and raises nothing.
    """
    from numba import void
    from numba.core.ccallback import CFunc

    Kernel.patience, Kernel.is_loaded = 0.0, True
    _let_forks_wait()
    callback: Any = CFunc(function, (types, void), locals={}, options={"nopython": True, **_PartOfCallback.options})
    _store(callback)
    callback._compile_uncached = _one_after_another(callback._compile_uncached, function.__code__.co_filename)
    callback.compile()
    # Its own `address` is 0 where the code was stored: the symbols of stored code are not listed.
    engine = callback._library.codegen._engine
    return cast("int", engine.get_function_address(callback._wrapper_name))


def _store(compiled_: Any) -> None:
    """Store the compiled code of a function on disk, and load it from there, if possible."""
    with suppress(RuntimeError):  # numba finds no writable folder, as in a read-only container
        compiled_.enable_caching()
        _make_optional(compiled_._cache)  # numba has no setting for it


class _PartOfCallback(_Part[P, ResultT]):
    """A function that callbacks call; it makes no array, so that numba need not count the references to any."""

    options: ClassVar[dict[str, bool]] = {"_nrt": False}


def _stored(cache: Any, signature: Any, target: Any) -> Any:
    """Return the stored code of a kernel.

    numba's own method first learns all of Python and numpy that it can compile, which takes .2 s. Stored code needs
    only the run-time functions; where none is stored, the compiler learns the rest itself.
    """
    _start_runtime(target)
    with _only_what_stored_code_needs(target):
        return cache._load_overload(signature, target)


@contextmanager
def _only_what_stored_code_needs(target: Any) -> Iterator[None]:
    """Leave out three things that numba does for each stored kernel, which take longer than all the rest.

    It lists the symbols of the kernel, to know whether it may look one up, and for recursive functions, of which there
    are none. It imports the modules of its own functions that are part of the kernel, for global variables that machine
    code does not read; one of these modules imports scipy.linalg. And it reads the code that LLVM needs to compile the
    kernel into another one, which is rarely compiled later.
    """
    from llvmlite import binding
    from numba.core import environment

    engine, rebuild = target.codegen()._engine, cast("Callable[..., Any]", environment._rebuild_env)
    parse = cast("Callable[..., Any]", binding.parse_bitcode)

    def without_import(module: str, *rest: Any) -> Any:
        if not module.startswith("numba.") or module in sys.modules:
            return rebuild(module, *rest)
        sys.modules[module] = ModuleType(module)
        try:
            return rebuild(module, *rest)
        finally:
            del sys.modules[module]

    engine._load_defined_symbols = lambda module: None
    engine.is_symbol_defined = lambda name: True  # those of its entry are looked up, which it has
    environment._rebuild_env = without_import
    binding.parse_bitcode = functools.partial(_Unread, parse)
    try:
        yield
    finally:
        environment._rebuild_env, binding.parse_bitcode = rebuild, parse
        del engine._load_defined_symbols, engine.is_symbol_defined


class _Unread:
    """Stored code that is parsed when something of it is used."""

    def __init__(self, parse: Callable[[bytes], Any], code: bytes) -> None:
        self._parse, self._code = parse, code

    @functools.cached_property
    def _parsed(self) -> Any:
        return self._parse(self._code)

    def __getattr__(self, name: str) -> Any:
        """Return what the parsed code has."""
        return getattr(self._parsed, name)


def _start_runtime(target: Any) -> None:
    """Start numba's run-time functions; they are stored on disk, too, so that nothing at all is compiled."""
    from numba.core.runtime import nrt, nrtdynmod

    if nrt.rtsys._init:
        return
    compile_ = nrtdynmod.compile_nrt_functions
    nrtdynmod.compile_nrt_functions = _stored_runtime
    try:
        nrt.rtsys.initialize(target)
    finally:
        nrtdynmod.compile_nrt_functions = compile_


def _stored_runtime(target: Any) -> Any:
    """Return the library of numba's run-time functions, compiled if it is not stored."""
    from numba.core.runtime.nrtdynmod import create_nrt_module

    cache = _runtime_cache()
    with _only_what_stored_code_needs(target):
        if cache and (stored := _tried(cache, cache._load_overload)((), target)):
            return stored
    code, library = create_nrt_module(target)  # type: ignore[no-untyped-call]
    library.enable_object_caching()
    library.add_ir_module(code)
    library.finalize()
    if cache:
        _tried(cache, cache.save_overload)((), library)
    return library


@functools.cache
def _runtime_cache() -> Any:
    """Return the place of the library on disk, beside the code of this module; None: there is none."""
    from numba.core.caching import make_library_cache

    with suppress(RuntimeError):  # numba finds no writable folder
        return make_library_cache("runtime")(_stored_runtime)  # type: ignore[no-untyped-call]
    return None


def _make_optional(cache: Any) -> None:
    """Let numba compile where a file of its cache is damaged or another user's, and go on where the disk is full."""
    cache.load_overload = _tried(cache, functools.partial(_stored, cache))
    cache.save_overload = _tried(cache, cache.save_overload)


def _tried(cache: Any, step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that returns None where it fails, and empties its file."""

    @functools.wraps(step)
    def attempt(*args: Any) -> Any:
        try:
            return step(*args)
        except Exception:  # noqa: BLE001  (a damaged pickle raises anything)
            with suppress(Exception):
                cache.flush()
        return None

    return attempt


def _one_after_another(compile_: Callable[..., Any], source: str) -> Callable[..., Any]:
    """Let only one process at a time compile the kernels of a file; the others then load them from the cache."""

    @functools.wraps(compile_)
    def in_turn(*signature: Any) -> Any:
        from numba.core.compiler_lock import global_compiler_lock

        # First the lock of the threads: a kernel compiles those that it calls.
        with global_compiler_lock, Kernel.compiling.running(), _held(source):
            return compile_(*signature)

    return in_turn


@functools.cache
def _let_forks_wait() -> None:
    """Fork only while no thread compiles: in the new process nobody would ever release the locks of that thread."""
    from numba.core.compiler_lock import global_compiler_lock as lock

    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


_sources: set[str] = set()
"""Files whose lock this process holds; numba's lock guards it."""


@contextmanager
def _held(source: str) -> Iterator[None]:
    """Hold the lock on a file of kernels; without it, the work is done twice, so nothing waits for it too long."""
    if source in _sources:  # a kernel calls another one of its file
        yield
        return
    with ExitStack() as stack:
        with suppress(OSError):  # the file is gone, or its file system has no locks
            file = stack.enter_context(Path(source).open("rb"))
            stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # closing is not enough where a process was forked
            _wait_for(file)
        _sources.add(source)
        stack.callback(_sources.discard, source)
        yield


def _wait_for(file: IO[bytes]) -> None:
    """Take the lock on a file, or give up when it takes too long."""
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_LOOK_SECONDS)


def n_elements(values: tuple[Any, ...]) -> int:
    """Return the number of elements in the arrays among some values, and in the arrays of tuples among them."""
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.size
        elif isinstance(value, tuple):
            total += n_elements(value)
    return total
