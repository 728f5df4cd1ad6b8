"""Kernels: functions over arrays that the interpreter runs while there is little to do, and machine code from then on.

Machine code that was compiled before on this machine takes some .03 s of processor time to start
(`twinlink.compiled.machine_code`); else numba compiles it, which takes .3 s to start and up to four seconds for each
kernel, fifteen for those of a small site. The interpreter is done sooner with a call over a few thousand elements, and
where no code is on disk, with all calls of a site of some hundred pages.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

from twinlink.compiled.kinds import Kinds, kinds_of, n_elements
from twinlink.compiled.stored_code import Defined, StoredCode, add_interpreted, interpreted_before

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
AnyT = TypeVar("AnyT")

FEW = 12_000
"""Elements in the arrays of a call up to which the interpreter may run it where machine code is on disk."""
TIMES_WITHOUT_CODE = 16
"""So many times as many where there is none. Of 16 and 32, 16 was as fast on sites of 115 and 229 pages, and faster
(13 s instead of 20) on sites of 500 and 1,000."""
PATIENCE = 4.0
"""Seconds of processor time that the interpreter may spend on calls of kernels without machine code on disk, in all
commands since the installation: a quarter of what numba takes for the kernels of a small site. In trials, sites of 28,
59 and 115 pages took 0.8, 1.5 and 3 s; a few runs later, they have machine code, too."""
PATIENCE_WITH_CODE = 0.01
"""The same for kernels whose machine code is on disk: a third of what it takes to start. With .03, sites of 16 pages,
which need it in the end, took .02 s longer; with 0, a command with a single small call would start it."""

Unsigned = np.uint64
"""Type of both ends of a range that yields indices: numba then omits the test for negative ones. It matters in loops
that read and write numbers at places all over an array: the search for the pages with the largest products takes a
third less time. Where a loop only writes at such places, it is
slower: LLVM then writes several at once."""

_LOADING = threading.RLock()
"""Held while machine code is compiled or loaded: one thread at a time does it, and none forks meanwhile."""


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


class Kernel(Defined, Generic[P, ResultT]):
    """A function over arrays: the interpreter runs it while there is little to do, and machine code from then on.

    There is much to do in a call with many elements, and once all calls together took longer than `PATIENCE`. The
    result is the same either way, bit for bit: a kernel computes with scalars of numpy, whose integers wrap around.
    What kernels call is a `part_of_kernel`, so that each call is of one kind throughout.

    The work of some kernels grows with the square of the elements or faster, so the interpreter also gives up in the
    middle of a call, where a part begins; machine code then repeats the call. What a kernel writes to its arguments
    must therefore not depend on what a call that was broken off has written there.

    Parameters
    ----------
    function
        The function, in the subset of Python that numba compiles.
    few
        The number of elements in the arrays of a call up to which the interpreter may run it; `TIMES_WITHOUT_CODE` as
        many where its machine code is not on disk.
    """

    options: ClassVar[dict[str, bool]] = {"no_cfunc_wrapper": True}
    """Further options of numba."""
    patience: ClassVar[float] = PATIENCE
    """Seconds left for the interpreter, in this process, for kernels without code."""
    spent: ClassVar[float] = 0.0
    """Seconds that this process has spent of them."""
    patience_with_code: ClassVar[float] = PATIENCE_WITH_CODE
    """The same for kernels whose code is on disk; 0 once machine code runs."""
    is_loaded: ClassVar[bool] = False
    """Whether this process runs machine code."""
    compiling: ClassVar[Stopwatch] = Stopwatch()
    """The time that this process takes to compile kernels, or to load them from disk."""
    before_compiling: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    """Called before this process compiles a kernel or a callback whose code it can store."""

    def __init__(self, function: Callable[P, ResultT], few: int) -> None:
        functools.update_wrapper(self, function)
        self.interpreted = self.definition = function
        """What the interpreter runs, and the function that is compiled."""
        self.few = few
        self._n_parameters = function.__code__.co_argcount
        self.stored = StoredCode(function, self.options)
        """Its machine code on disk."""
        self._codes: dict[Kinds, Callable[..., ResultT]] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns."""
        given = self._positional(args, kwargs)
        kinds = kinds_of(given)
        if kinds not in self._codes and self._are_few(kinds, given):
            with suppress(OutOfPatience):
                return self._interpret(kinds, given)
        return self._run(kinds, given)

    def machine_code(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns; machine code runs, without the interpreter lock."""
        given = self._positional(args, kwargs)
        return self._run(kinds_of(given), given)

    def has_code(self) -> bool:
        """Return whether machine code of it, for arguments of any kinds, is loaded or on disk."""
        return bool(self._codes) or self.stored.is_there_for_any()

    def _are_few(self, kinds: Kinds, given: tuple[Any, ...]) -> bool:
        """Return whether the interpreter may run a call."""
        n = n_elements(given)
        if n <= self.few:
            return self.few > 0
        return n <= TIMES_WITHOUT_CODE * self.few and not self.stored.is_there(kinds)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments of a call in their order."""
        if not kwargs and len(args) == self._n_parameters:
            return args
        bound = inspect.signature(self.definition).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args

    def can_wait(self, seconds: float) -> bool:
        """Return whether to do something without its machine code that takes some seconds: there is none, and time."""
        if self.has_code():
            return False
        _remember_time()
        is_time = seconds <= Kernel.patience
        if is_time:
            _spend(seconds)
        return is_time

    def _interpret(self, kinds: Kinds, args: tuple[Any, ...]) -> ResultT:
        """Let the interpreter run the function, as long as there is patience for it."""
        has_code, start = self.stored.is_there(kinds), time.thread_time()
        if not has_code:
            _remember_time()
        # Half of what is left: threads that begin together do not have it all, each of them.
        left = Kernel.patience_with_code if has_code else Kernel.patience / 2
        if left <= 0:
            raise OutOfPatience
        if not has_code:
            Kernel.patience -= left
        _turn.end, _turn.look = start + left, time.perf_counter() + left
        try:
            with np.errstate(over="ignore"):  # integers wrap around on purpose
                return self.interpreted(*args)  # type: ignore[call-arg]
        finally:
            _turn.end = _turn.look = math.inf
            seconds = time.thread_time() - start
            if has_code:
                Kernel.patience_with_code -= seconds
            else:
                Kernel.patience += left
                _spend(seconds)

    def _run(self, kinds: Kinds, args: tuple[Any, ...]) -> ResultT:
        """Let machine code run the function; it is loaded or compiled first, if necessary."""
        code = self._codes.get(kinds)
        if code is None:
            with starting():
                if kinds not in self._codes:
                    self._codes[kinds] = self._loaded(kinds) or self._compiled(kinds, args)
            code = self._codes[kinds]
        return code(*args)

    def _loaded(self, kinds: Kinds) -> Callable[..., ResultT] | None:
        from twinlink.compiled.machine_code import callable_of

        code = self.stored.read(kinds)
        with suppress(Exception):  # numba is built in another way than we know: it has to compile the kernel
            return code and callable_of(code, self.definition)
        return None

    def _compiled(self, kinds: Kinds, args: tuple[Any, ...]) -> Callable[..., ResultT]:
        return in_turn(self.stored, kinds, lambda: self._loaded(kinds) or self._compile(kinds, args))

    def _compile(self, kinds: Kinds, args: tuple[Any, ...]) -> Callable[..., ResultT]:
        from twinlink.compiled.compiling import compile_kernel

        code, run = compile_kernel(self._dispatcher, args)
        if code:
            self.stored.write(kinds, code)
        return run

    def compile_if_free(self, *args: Any) -> None:
        """Compile for arguments like some, unless the code is on disk or another process is at work on it."""
        kinds = kinds_of(args)
        if_free(self.stored, kinds, lambda: self._compile(kinds, args))

    @functools.cached_property
    def _dispatcher(self) -> Any:
        """What numba makes of the function."""
        from numba import njit

        make: Any = njit
        return make(nogil=True, **self.options)(self.definition)

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba knows this function where a kernel calls it."""
        from numba import typeof

        return typeof(self._dispatcher)  # type: ignore[no-untyped-call]


def _spend(seconds: float) -> None:
    """Count what the interpreter has spent on kernels without machine code."""
    Kernel.patience -= seconds
    Kernel.spent += seconds


@functools.cache
def _remember_time() -> None:
    """Count what earlier processes have spent, and let later ones know what this one spends."""
    Kernel.patience -= interpreted_before()
    owner = os.getpid()
    atexit.register(lambda: add_interpreted(Kernel.spent) if os.getpid() == owner else None)


@contextmanager
def starting() -> Iterator[None]:
    """Load or compile machine code in this block."""
    Kernel.patience_with_code, Kernel.is_loaded = 0.0, True
    _let_forks_wait()
    with _LOADING, Kernel.compiling.running():
        yield


def in_turn(stored: StoredCode, kinds: Kinds, load_or_compile: Callable[[], AnyT]) -> AnyT:
    """Compile, or load what another process has compiled meanwhile."""
    from twinlink.compiled.compiling import held

    lock = stored.lock_file(kinds)
    if lock is not None:  # else no folder can be written to, and no process finds what another has compiled
        Kernel.before_compiling()
    with held(lock):
        return load_or_compile()


def if_free(stored: StoredCode, kinds: Kinds, compile_now: Callable[[], object]) -> None:
    """Compile, unless the code is on disk or another process is at work on it."""
    from twinlink.compiled.compiling import held

    with starting(), held(stored.lock_file(kinds), seconds=0.0) as is_held:
        if is_held and not stored.read(kinds):
            compile_now()


@functools.cache
def _let_forks_wait() -> None:
    """Let forks wait while a thread compiles or loads: in the new process, nobody would release its locks."""
    locks = list[Any]()

    def take() -> None:
        module = sys.modules.get("numba.core.compiler_lock")  # numba compiles other code with it
        locks[:] = [_LOADING, *([module.global_compiler_lock] if module else [])]
        for lock in locks:
            lock.acquire()

    def release() -> None:
        for lock in reversed(locks):
            lock.release()

    os.register_at_fork(before=take, after_in_parent=release, after_in_child=release)


def code_runs() -> bool:
    """Return whether this process runs machine code already, so that it need not be started for one more kernel."""
    return Kernel.is_loaded


def compiled(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function when it is first called."""
    return Kernel(function, 0)


def compiled_beyond(few: int) -> Callable[[Callable[P, ResultT]], Kernel[P, ResultT]]:
    """Compile a function when it is first called with more than a few elements."""
    return functools.partial(Kernel, few=few)


def part_of_kernel(function: Callable[P, ResultT]) -> Kernel[P, ResultT]:
    """Compile a function with the kernel that calls it."""
    return Part(function)


def interpreted_as(interpreted: Callable[P, ResultT]) -> Callable[[Callable[P, ResultT]], Kernel[P, ResultT]]:
    """Compile a function with the kernel that calls it; the interpreter runs another one with the same results."""
    return functools.partial(Part, interpreted=interpreted)


class Part(Kernel[P, ResultT]):
    """A function that only kernels call: numba sees its machine code, the interpreter the function, or another one.

    Loops that are fast in machine code take long in the interpreter, where functions of numpy are fast.
    """

    options: ClassVar[dict[str, bool]] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    def __init__(self, function: Callable[P, ResultT], interpreted: Callable[P, ResultT] | None = None) -> None:
        super().__init__(function, 0)
        self.interpreted = interpreted or function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns, unless the kernel that calls it takes too long."""
        if time.perf_counter() > _turn.look and time.thread_time() > _turn.end:
            raise OutOfPatience
        return self.interpreted(*args, **kwargs)

    def machine_code(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return what the function returns; a kernel of its own is compiled, as a part has no entry for Python."""
        return self._by_itself.machine_code(*args, **kwargs)

    @functools.cached_property
    def _by_itself(self) -> Kernel[P, ResultT]:
        return Kernel(self.definition, 0)
