"""Kernels: when the interpreter runs them, when it gives up, and what threads do."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Barrier, Event
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from twinlink.compiled import (
    Kernel,
    Stopwatch,
    code_runs,
    compiled,
    compiled_beyond,
    interpreted_as,
    part_of_kernel,
)
from twinlink.compiled.kernel import _LOADING, PATIENCE, TIMES_WITHOUT_CODE
from twinlink.compiled.kinds import kinds_of
from twinlink.compiled.stored_code import _names_in

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


class Sizes(NamedTuple):
    first: int
    second: int


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep no code from test to test."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


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
        compiled_beyond(12_000)(_sum_of_products).machine_code(values[:2], out)  # compiled, so that it can be loaded
        monkeypatch.setattr(Kernel, "patience_with_code", 0.05)
        start = time.perf_counter()
        assert kernel(values, out) == values.sum() ** 2
        assert time.perf_counter() - start < 5
        assert Kernel.patience_with_code <= 0
        assert code_runs()
        assert out.tolist() == (values * values.sum()).tolist()

    def test_no_code_runs_where_the_interpreter_has_only_become_slow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small inputs must not be the reason to load numba."""
        monkeypatch.setattr(Kernel, "is_loaded", False)
        monkeypatch.setattr(Kernel, "patience", -1.0)
        monkeypatch.setattr(Kernel, "patience_with_code", -1.0)
        assert not code_runs()

    def test_there_is_less_patience_where_code_is_on_disk(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values, out = np.arange(4.0), np.empty(4)
        compiled_beyond(12_000)(_sum_of_products).machine_code(values, out)
        _names_in.cache_clear()
        monkeypatch.setattr(Kernel, "patience", 60.0)
        monkeypatch.setattr(Kernel, "patience_with_code", 50.0)
        assert kernel(values, out) == 36.0
        assert Kernel.patience == 60.0
        assert 0 < Kernel.patience_with_code < 50.0
        assert kernel(values, out[::-1]) == 36.0  # code for another kind is not there
        assert Kernel.patience < 60.0

    def test_more_elements_are_interpreted_where_no_code_is_on_disk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """To compile takes longer; once there is code, it is used."""
        monkeypatch.setattr(Kernel, "patience", 60.0)
        kernel, values, out = compiled_beyond(10)(_sum_of_products), np.arange(10.0), np.empty(10)
        assert kernel(values, out) == 2025.0
        assert not kernel.has_code()
        many = np.arange(float(10 * TIMES_WITHOUT_CODE))
        assert kernel(many, np.empty(len(many))) == many.sum() ** 2
        assert kernel.has_code()
        _names_in.cache_clear()
        again = compiled_beyond(10)(_sum_of_products)
        assert again.has_code()
        left = Kernel.patience
        assert again(values, out) == 2025.0
        assert Kernel.patience == left

    def test_a_kernel_that_was_compiled_leaves_the_others_to_the_interpreter(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kernel, "patience", 60.0)
        kernel.machine_code(np.arange(4.0), np.empty(4))
        assert Kernel.patience == 60.0
        other = compiled_beyond(12_000)(_sum_of_products)
        assert other(np.arange(4.0), np.empty(8)[::2]) == 36.0
        assert not other._codes

    def test_threads_share_the_patience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Eight that begin together do not have it all, each of them."""
        monkeypatch.setattr(Kernel, "patience", 0.4)
        monkeypatch.setattr(Kernel, "_run", lambda self, *_: self.interpreted)
        kernel, values, together = compiled_beyond(12_000)(_sum_of_products), np.arange(2_000.0), Barrier(8)
        spent = Kernel.spent

        def call(_: int) -> object:
            together.wait()
            return kernel(values, np.empty(2_000))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(8)))
        assert 0 < Kernel.spent - spent < 1

    def test_later_processes_know_what_was_spent(self, folder: Path) -> None:
        """A site that is mined again and again is worth a compilation in the end."""
        code = """
from twinlink.compiled import Kernel, compiled_beyond
from tests.compiled.test_kernel import _sum_of_products
import numpy as np
kernel = compiled_beyond(12_000)(_sum_of_products)
kernel(np.arange(600.0), np.empty(600))
print(Kernel.patience + Kernel.spent, bool(kernel._codes))
"""
        said = []
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            said.append(done.stdout.split())
        assert [has_code for _, has_code in said] == ["False", "False"]
        assert float(said[0][0]) == pytest.approx(PATIENCE)
        assert float(said[1][0]) < PATIENCE - 0.05
        (file,) = folder.rglob("interpreted-tenths")
        file.write_bytes(b"." * 100)
        last = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert last.stdout.split()[1] == "True"

    def test_something_else_may_be_done_instead_while_there_is_time(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kernel, "patience", 1.0)
        assert kernel.can_wait(0.6)
        assert not kernel.can_wait(0.6)
        assert kernel.can_wait(0.3)
        kernel.machine_code(np.arange(4.0), np.empty(4))
        assert not kernel.can_wait(0.0)

    def test_code_that_is_loaded_runs_at_once(
        self, kernel: Kernel[[Floats, Floats], float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values, out = np.arange(4.0), np.empty(4)
        kernel.machine_code(values, out)
        monkeypatch.setattr(Kernel, "patience", 60.0)
        assert kernel(values, out) == 36.0
        assert Kernel.patience == 60.0

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

    def compiled_slowly(self: Kernel[[Floats, Floats], float], *_: object) -> object:
        calls.append(self)
        time.sleep(0.2)
        return self.interpreted

    def machine_code(_: int) -> float:
        together.wait()
        return kernel.machine_code(np.arange(4.0), np.empty(4))

    monkeypatch.setattr(Kernel, "_compiled", compiled_slowly)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(machine_code, range(4))) == [36.0] * 4
    assert len(calls) == 1


class TestKinds:
    def test_what_numba_tells_apart(self) -> None:
        grid = np.zeros((2, 3))
        frozen = grid.copy()
        frozen.flags.writeable = False
        values = [
            grid,
            grid.T,
            grid[:, ::2],
            frozen,
            grid[0],
            grid.astype("f4"),
            1,
            1.0,
            True,
            np.int32(1),
            np.float32(1),
        ]
        values += [None, 2**63, (1,), (1.0,), (grid, 1), (1, 1), Sizes(1, 1), grid[:, 0]]
        kinds = [kinds_of((value,)) for value in values]
        assert len(set(kinds)) == len(kinds)
        types = [str(typeof(value)) for value in values]
        assert len(set(types)) == len(types)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (np.zeros(3), np.ones(5)),
            (np.zeros((1, 3)), np.zeros((2, 3))),
            (np.zeros((3, 1))[:, :1], np.zeros((2, 3))),
            (1, -(2**40)),
            (1, np.int64(1)),
            (1.0, np.float64(1)),
            (True, np.True_),
            ((np.zeros(2), 5), (np.zeros(9), 7)),
        ],
    )
    def test_what_has_the_same_code(self, first: object, second: object) -> None:
        assert kinds_of((first,)) == kinds_of((second,))
        assert typeof(first) == typeof(second)


class TestArguments:
    """Names and defaults come to machine code in their order."""

    @staticmethod
    @compiled
    def difference(a: float, b: float = 2.0) -> float:
        return a - b

    def test_names(self) -> None:
        assert self.difference(b=1.0, a=5.0) == 4.0
        assert self.difference(5.0) == 3.0

    def test_other_kinds_get_other_code(self) -> None:
        assert self.difference(5, 3) == 2
        assert isinstance(self.difference(5, 3), int)
        assert isinstance(self.difference(5, 3.0), float)

    def test_missing_and_surplus(self) -> None:
        with pytest.raises(TypeError, match="'a'"):
            self.difference()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="'c'"):
            self.difference(1.0, 2.0, c=3.0)  # type: ignore[call-arg]


def _take(lock: AbstractContextManager[object]) -> None:
    with lock:
        pass


@pytest.mark.parametrize("lock", [global_compiler_lock, _LOADING])
def test_a_fork_waits_for_a_thread_that_compiles_or_loads(
    kernel: Kernel[[Floats, Floats], float], lock: AbstractContextManager[object]
) -> None:
    """In the child, that thread would hold the lock for ever."""
    assert kernel.machine_code(np.arange(4.0), np.empty(4)) == 36.0
    held = Event()

    def compiles() -> None:
        with lock:
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
        assert ends(get_context("fork").Process(target=_take, args=(lock,))) == 0


def test_a_part_that_the_interpreter_runs_in_another_way() -> None:
    @interpreted_as(lambda number: number + 10)
    def added(number: int) -> int:
        return number + 1

    @compiled_beyond(12_000)
    def twice(values: NDArray[np.int64]) -> int:
        return 2 * added(values[0])

    assert twice.interpreted(np.array([1])) == 22
    assert twice.machine_code(np.array([1])) == 4


def test_a_stopwatch_adds_up_blocks_and_measures_inner_ones_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("twinlink.compiled.kernel.time.monotonic", lambda: now[0])
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
