"""Machine code runs without numba, and beside it, in whatever order they come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("machine code")

KERNELS = """
from typing import NamedTuple
import numpy as np
from twinlink.compiled import compiled

class Ends(NamedTuple):
    first: np.ndarray
    last: float

@compiled
def ends(values):
    return Ends(values[:2].copy(), values[-1])

@compiled
def kinds(values, flag, number, pair):
    grid = np.zeros((2, len(values)), np.float32)
    grid[1] = values
    return (grid, (pair[0] + number, flag), values > 1), pair[1]

@compiled
def inverse(value):
    return 1 // value

@compiled
def squares(n):
    return np.arange(n) ** 2
"""

PROGRAM = """
import gc, sys
import numpy as np
{first}
import kernels
values = np.array([3.0, 1.0, 2.0])
values.flags.writeable = False
def calls():
    yield kernels.ends(values)
    yield kernels.kinds(values, True, 4, (1, "a"[:0] or 2.5))
    yield kernels.inverse(2), kernels.inverse(np.uint8(1))
    try:
        kernels.inverse(0)
    except ZeroDivisionError as error:
        yield str(error)
    kept = [kernels.squares(50_000) for _ in range(200)]
    gc.collect()
    yield sum(int(each.sum()) for each in kept), kept[0].flags.owndata
said = " ".join(repr(list(calls())).split())
print(said)
{last}
print("numba" in sys.modules)
"""

COMPILES = """
import numba
@numba.njit
def total(values):
    return np.full(3, values.sum())
assert total(np.arange(4.0)).tolist() == [6.0] * 3
assert " ".join(repr(list(calls())).split()) == said
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.py").write_text(KERNELS)
    return folder


def run(folder: Path, first: str = "", last: str = "") -> list[str]:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    call = [sys.executable, "-X", "dev", "-W", "ignore", "-c", PROGRAM.format(first=first, last=last)]
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def said(folder: Path) -> str:
    """What the first process says, which compiles all kernels: the code of each is stored then."""
    said, numba = run(folder)
    assert numba == "True"
    assert said.startswith("[Ends(first=array([3., 1.]), last=2.0), ((array([[0., 0., 0.],")
    assert "division by zero" in said
    assert len(stored(folder)) == 5, "that of inverse is there for two kinds of numbers"
    return said


def stored(folder: Path, kernel: str = "") -> list[Path]:
    return list((folder / "cache").rglob(f"kernels.{kernel}*.code"))


def test_the_second_process_needs_no_numba(folder: Path, said: str) -> None:
    assert run(folder) == [said, "False"]


def test_numba_may_come_after_it(folder: Path, said: str) -> None:
    assert run(folder, last=COMPILES) == [said, "True"]


def test_numba_may_have_come_before_it(folder: Path, said: str) -> None:
    assert run(folder, first="import numba\nnumba.njit(lambda n: np.zeros(n))(3)", last=COMPILES) == [said, "True"]
    assert run(folder, first="import numba") == [said, "True"]


def test_a_kernel_without_code_is_compiled_after_others_were_loaded(folder: Path, said: str) -> None:
    [file] = stored(folder, "squares")
    file.unlink()
    assert run(folder) == [said, "True"]
    assert run(folder) == [said, "False"]


def test_code_that_needs_what_is_not_there_is_compiled(tmp_path: Path) -> None:
    """The hash of a text needs symbols that only numba itself makes known; to run without would end the process."""
    (tmp_path / "kernels.py").write_text(
        "from twinlink.compiled import compiled\n@compiled\ndef hashed():\n    return hash('ab')\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    call = [sys.executable, "-c", "import sys, kernels; print(kernels.hashed() == hash('ab'), 'numba' in sys.modules)"]
    for _ in range(2):
        assert subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout == "True True\n"
        assert len(stored(tmp_path)) == 1


@pytest.mark.parametrize("lacks", ["extensions", "environments"])
def test_numba_that_is_built_in_another_way_compiles(lacks: str, folder: Path, said: str) -> None:
    """Without its extensions nothing is loaded, and without its environments nothing is stored; everything works."""
    broken = {
        "extensions": "from twinlink.compiled import machine_code; machine_code._extensions = None",
        "environments": "from numba.core import compiler; del compiler.CompileResult._find_referenced_environments",
    }[lacks]
    kept = {file: file.read_bytes() for kernel in ("squares", "ends") for file in stored(folder, kernel)}
    for file in kept:
        file.unlink()
    assert run(folder, first=broken) == [said, "True"]
    assert {file for file in kept if file.exists()} == (set(kept) if lacks == "extensions" else set())
    for file, code in kept.items():
        file.write_bytes(code)
