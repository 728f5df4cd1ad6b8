"""Kernels: when the interpreter runs them, when it gives up, and what threads do."""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Barrier, Event
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

import twinlink
from twinlink.compiled import Kernel, Stopwatch, code_runs, compiled_beyond, part_of_kernel

Floats = NDArray[np.float64]


@part_of_kernel
def _product(values: Floats, i: int, j: int) -> float:
    return values[i] * values[j]


def _sum_of_products(values: Floats, out: Floats) -> float:
    """Take a time that grows with the square of the elements; write to an argument."""
    total = 0.0
    for i in range(len(values)):
        out[i] = 0.0
        for j in range(len(values)):
            product = _product(values, i, j)
            out[i] += product
            total += product
    return total


@pytest.fixture
def kernel() -> Kernel[[Floats, Floats], float]:
    return compiled_beyond(12_000)(_sum_of_products)


class TestPatience:
    def test_few_elements_are_interpreted(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kernel, "patience", 60.0)
        assert kernel(np.arange(4.0), np.empty(4)) == 36.0
        assert 0 < Kernel.patience < 60.0

    def test_the_interpreter_gives_up_in_the_middle_of_a_call(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """5,900 elements are few, but their 35 million products would take the interpreter half a minute."""
        values, out = np.arange(5_900.0), np.empty(5_900)
        kernel.machine_code(values[:2], out)  # compiled
        monkeypatch.setattr(Kernel, "patience", 0.05)
        start = time.perf_counter()
        assert kernel(values, out) == values.sum() ** 2
        assert time.perf_counter() - start < 5
        assert Kernel.patience <= 0
        assert code_runs()
        assert out.tolist() == (values * values.sum()).tolist()

    def test_no_code_runs_where_the_interpreter_has_only_become_slow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small inputs must not be the reason to load numba."""
        monkeypatch.setattr(Kernel, "is_loaded", False)
        monkeypatch.setattr(Kernel, "patience", -1.0)
        assert not code_runs()

    def test_a_part_by_itself_has_all_the_time(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kernel, "patience", 1e-9)
        kernel(np.arange(4.0), np.empty(4))
        assert _product(np.arange(4.0), 2, 3) == 6.0

    def test_a_call_that_fails_takes_its_time_and_fails(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kernel, "patience", 60.0)
        with pytest.raises(IndexError):
            kernel(np.arange(4.0), np.empty(2))
        assert Kernel.patience < 60.0


def test_threads_compile_a_kernel_once(
    kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, together = [], Barrier(4)

    def compiled_slowly(self: Kernel[[Floats, Floats], float], njit: object) -> object:
        calls.append(njit)
        time.sleep(0.2)
        return self.interpreted

    def machine_code(_: int) -> object:
        together.wait()
        return kernel.machine_code

    monkeypatch.setattr(Kernel, "_compiled", compiled_slowly)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(machine_code, range(4))) == {kernel.interpreted}
    assert len(calls) == 1


def _cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:10])


def _make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


class TestCache:
    """Files of numba's cache that cannot be used: the kernel is compiled without them."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(Kernel, "patience", 0.0)
        return tmp_path

    @staticmethod
    def kernel() -> Kernel[[Floats, Floats], float]:
        return compiled_beyond(12_000)(_sum_of_products)

    @pytest.mark.parametrize(
        ("ending", "damage", "is_mended"),
        [("nbc", _cut_short, True), ("nbi", _cut_short, True), ("nbi", _make_folder, False)],
    )
    def test_damaged(self, ending: str, damage: Callable[[Path], None], is_mended: bool, folder: Path) -> None:
        assert self.kernel()(np.arange(4.0), np.empty(4)) == 36.0
        [file] = folder.glob(f"*/*_sum_of_products*.{ending}")
        damage(file)
        for hits in (0, int(is_mended)):
            kernel = self.kernel()
            assert kernel(np.arange(4.0), np.empty(4)) == 36.0
            assert sum(kernel.machine_code.stats.cache_hits.values()) == hits  # type: ignore[attr-defined]

    def test_stored_code_runs_without_what_numba_compiles_with(self, tmp_path: Path) -> None:
        """The first process compiles, the second finds the code; both get the same."""
        script = """
import sys
import numpy as np
from twinlink.graph.kernels import greedy_positions
values = np.array([0, 1, 0, 1])
print(greedy_positions.machine_code(values, values[::-1].copy(), 2, 2, 2), "numba.cpython.setobj" in sys.modules)
"""
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        call = [sys.executable, "-c", script]
        said = [subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout for _ in range(2)]
        assert [each.split()[-1] for each in said] == ["True", "False"]
        assert len({each.rsplit(maxsplit=1)[0] for each in said}) == 1

    def test_stored_code_needs_no_module_of_the_functions_in_it(self, tmp_path: Path) -> None:
        """The second process finds the code of one kernel, and compiles another one after that."""
        (tmp_path / "kernels_of_test.py").write_text(
            """
from twinlink.compiled import compiled
@compiled
def largest(values):
    return values.max()
@compiled
def spread(values):
    return largest(values) - values.min()
"""
        )
        script = """
import sys
import numpy as np
import kernels_of_test as kernels
values = np.array([3.0, 1.0, 2.0])
print(kernels.largest(values), "numba.np.arraymath" in sys.modules, end=" ")
print(values.max() - values.min() if sys.argv[1:] == ["first"] else kernels.spread(values))
"""
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
        calls = [[sys.executable, "-c", script, *given] for given in (["first"], [])]
        said = [subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout for call in calls]
        assert [each.split() for each in said] == [["3.0", "True", "2.0"], ["3.0", "False", "2.0"]]

    def test_what_is_stored_is_neither_compiled_nor_parsed(self, tmp_path: Path) -> None:
        """That holds for numba's run-time functions, too; where their file is damaged, they are compiled again."""
        script = """
import numpy as np
from llvmlite import binding
from numba.core.runtime import nrtdynmod
work = []
def noted(module, name):
    function = getattr(module, name)
    setattr(module, name, lambda *args: (work.append(name), function(*args))[1])
noted(binding, "parse_bitcode")
noted(nrtdynmod, "create_nrt_module")
from twinlink.graph.kernels import greedy_positions
values = np.array([0, 1, 0, 1])
rows = greedy_positions.machine_code(values, values[::-1].copy(), 2, 2, 2)
print(rows.tolist(), *sorted(set(work)))
"""

        def said() -> list[str]:
            env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
            call = [sys.executable, "-c", script]
            return subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout.split("]")

        rows, work = said()
        assert work.split() == ["create_nrt_module"]
        assert said() == [rows, "\n"]
        for ending in ("nbc", "nbi"):
            [file] = tmp_path.glob(f"*/runtime-*.{ending}")
            _cut_short(file)
            assert said() == [rows, work]
            assert said() == [rows, "\n"]

    def test_full_disk(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
        assert self.kernel()(np.arange(4.0), np.empty(4)) == 36.0
        assert not list(folder.glob("*/*.nbc"))


def _misses(start: float) -> int:
    """Call a kernel at a given time, and return how often it was not in the cache."""
    kernel = TestCache.kernel()
    time.sleep(max(start - time.time(), 0.0))
    assert kernel.machine_code(np.arange(4.0), np.empty(4)) == 36.0
    return sum(kernel.machine_code.stats.cache_misses.values())  # type: ignore[attr-defined]


class TestProcesses:
    """Only one process compiles a kernel; the others wait for it, but not for ever."""

    def test_one_compiles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        with ProcessPoolExecutor(3, get_context("spawn")) as pool:
            assert sum(pool.map(_misses, [time.time() + 3] * 3)) == 1

    @pytest.mark.parametrize("patience", [60.0, 0.1])
    def test_others_wait(self, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
        monkeypatch.setattr("twinlink.compiled._LONGEST_WAIT", patience)
        done = Event()
        with Path(__file__).open("rb") as file, ThreadPoolExecutor(1) as pool:
            fcntl.flock(file, fcntl.LOCK_EX)
            pool.submit(_misses, 0.0).add_done_callback(lambda _: done.set())
            assert done.wait(0.3 if patience == 60.0 else 30.0) is (patience < 1)
            fcntl.flock(file, fcntl.LOCK_UN)
            assert done.wait(30.0)


def _take(lock: AbstractContextManager[object]) -> None:
    with lock:
        pass


def test_a_fork_waits_for_a_thread_that_compiles(kernel: Kernel[[Floats, Floats], float]) -> None:
    """In the child, that thread would hold numba's lock for ever."""
    assert kernel.machine_code
    held = Event()

    def compiles() -> None:
        with global_compiler_lock:
            held.set()
            time.sleep(0.3)

    def ends(child: BaseProcess) -> int | None:
        child.start()
        child.join(20)
        child.kill()
        return child.exitcode

    with ThreadPoolExecutor(1) as pool:
        pool.submit(compiles)
        assert held.wait(10)
        assert ends(get_context("fork").Process(target=_take, args=(global_compiler_lock,))) == 0


def _callees(module: ModuleType) -> set[str]:
    """Return the other modules whose kernels a module of kernels uses."""
    kernels = {kernel.interpreted.__module__ for kernel in vars(module).values() if isinstance(kernel, Kernel)}
    return kernels - {module.__name__} if module.__name__ in kernels else set()


def test_kernels_are_compiled_anew_with_those_they_call() -> None:
    """Compiled code is cached by the content of its own file: it must name the digests of the files that it calls."""
    names = [each.name for each in pkgutil.walk_packages(twinlink.__path__, "twinlink.") if "kernels" in each.name]
    called = {module: _callees(module) for module in map(importlib.import_module, names)}
    assert sum(map(len, called.values())) == 3
    for module, callees in called.items():
        for callee in callees:
            file = Path(str(importlib.import_module(callee).__file__))
            digest = hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()
            assert digest in vars(module).values(), f"write {digest} of {callee} in {module.__name__}"


def test_a_stopwatch_adds_up_blocks_and_measures_inner_ones_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("twinlink.compiled.time.monotonic", lambda: now[0])
    watch = Stopwatch()
    assert watch.read() == (0.0, 0.0)
    with watch.running():
        now[0] += 2
        with watch.running():
            now[0] += 3
        assert watch.read() == (5.0, 5.0)
    now[0] += 7
    with suppress(ValueError), watch.running():
        now[0] += 1
        raise ValueError
    assert watch.read() == (6.0, 0.0)


def test_the_time_of_a_compilation_is_measured(kernel: Kernel[[Floats, Floats], float]) -> None:
    before, _ = Kernel.compiling.read()
    kernel.machine_code(np.ones(3), np.ones(3))
    after, running = Kernel.compiling.read()
    assert after > before
    assert running == 0.0
