"""Machine code on disk: where it is, when it is used, and what happens to files that cannot be used."""

from __future__ import annotations

import fcntl
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from types import BuiltinFunctionType, FunctionType

import numpy as np
import pytest
from numpy.typing import NDArray

import twinlink
from twinlink.compiled import Kernel, compiled, compiling, part_of_kernel, stored_code
from twinlink.compiled.kinds import kinds_of
from twinlink.compiled.stored_code import Defined, StoredCode, folders_of

Floats = NDArray[np.float64]

FACTOR = 2.0
ROOT = Path(__file__).parents[2]


@part_of_kernel
def _scaled(value: float) -> float:
    return value * FACTOR


def _largest(values: Floats) -> float:
    """Return a number that no other function here returns."""
    return _scaled(values.max())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "compiled"


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions as they are compiled."""
    names = list[str]()
    compile_kernel = compiling.compile_kernel

    def noted(dispatcher: object, args: tuple[object, ...]) -> object:
        names.append(dispatcher.__name__)  # type: ignore[attr-defined]
        return compile_kernel(dispatcher, args)

    monkeypatch.setattr(compiling, "compile_kernel", noted)
    return names


VALUES = np.array([3.0, 1.0, 2.0])


def _called() -> float:
    return compiled(_largest)(VALUES)


def _cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:30])


def _change_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def test_code_is_compiled_once(work: list[str]) -> None:
    assert [_called(), _called()] == [6.0, 6.0]
    assert work == ["_largest"]


@pytest.mark.parametrize(
    ("damage", "is_mended"), [(_cut_short, True), (_change_a_byte, True), (_make_folder, False), (Path.unlink, True)]
)
def test_damaged_files(damage: Callable[[Path], None], is_mended: bool, folder: Path, work: list[str]) -> None:
    _called()
    [file] = folder.iterdir()
    damage(file)
    assert [_called(), _called()] == [6.0, 6.0]
    assert len(work) == (2 if is_mended else 3)


@pytest.mark.parametrize(("name", "value"), [("processor", lambda: "another"), ("version_of_llvm", lambda: "99")])
def test_code_of_other_surroundings_is_replaced(
    name: str, value: object, folder: Path, work: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_code._surroundings.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(stored_code, name, value)
        _called()
    stored_code._surroundings.cache_clear()
    assert [_called(), _called()] == [6.0, 6.0]
    assert len(work) == 2
    assert len(list(folder.iterdir())) == 1


def test_full_disk(folder: Path, work: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert [_called(), _called()] == [6.0, 6.0]
    assert len(work) == 2
    assert not list(folder.iterdir())


def test_a_read_only_folder_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: list[str]) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setattr(stored_code, "folders_of", lambda _: iter([blocked / "code", tmp_path / "code"]))
    assert [_called(), _called()] == [6.0, 6.0]
    assert len(work) == 1
    assert len(list((tmp_path / "code").iterdir())) == 1


def test_folders() -> None:
    source = Path("/package/graph/kernels.py")
    assert list(folders_of(source, {"NUMBA_CACHE_DIR": "/own"})) == [Path("/own/graph")]
    beside = Path("/package/graph/__pycache__")
    assert list(folders_of(source, {"XDG_CACHE_HOME": "/cache"})) == [beside, Path("/cache/twinlink/code/graph")]


class TestNames:
    """A file is used as long as the function, all that it calls, and all that they name are the same."""

    SOURCE = """
from enum import IntEnum
from typing import NamedTuple
from twinlink.compiled import Intrinsic, compiled, part_of_callback, part_of_kernel
import numpy as np
FACTOR, UNUSED = 2.0, 5
TABLE, PAIR = np.arange(2_000), (np.arange(3_000), 1)
class Ends(NamedTuple):
    first: float
    last: float
class Level(IntEnum):
    LOW = 1
def _signature(types, value):
    return types.float64(value)
def _write(context, value):
    from numba import types
    return _signature(types, value), lambda context, builder, signature, values: values[0]
same = Intrinsic(_write)
def _times(factor):
    def times(value, more=1):
        return value * factor + more
    return times
double = part_of_kernel(_times(2))
@part_of_kernel
def scaled(value):
    return same(double(value) * FACTOR) if value in {1, 2} else TABLE[Level.LOW] + PAIR[0][1]
@compiled
def largest(values):
    \"\"\"A comment.\"\"\"
    best = 0.0
    for value in values:
        best = max(best, scaled(value))
    return Ends(best, best).last
"""

    def name(self, source: str, kinds: object = ()) -> str:
        module: dict[str, Kernel[..., float]] = {"__name__": "kernels"}  # type: ignore[dict-item]
        exec(compile(source, "/kernels.py", "exec"), module)
        return StoredCode(module["largest"].interpreted, {})._name(kinds)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("best = 0.0", "best = 1.0"),
            ("max(best", "min(best"),
            ("double(value) * FACTOR", "double(value) / FACTOR"),
            ("first: float\n    last: float", "last: float\n    first: float"),
            ("LOW = 1", "LOW = 0"),
            ("_times(2)", "_times(3)"),
            ("more=1", "more=2"),
            ("np.arange(2_000)", "np.arange(1, 2_001)"),
            ("np.arange(3_000)", "np.arange(1, 3_001)"),
            ("double = part_of_kernel", "double = part_of_callback"),
            ("{1, 2}", "{1, 3}"),
            ("FACTOR, UNUSED = 2.0", "FACTOR, UNUSED = 3.0"),
            ("types.float64(value)", "types.float32(value)"),
            ("values[0]", "values[1]"),
        ],
    )
    def test_what_changes_it(self, old: str, new: str) -> None:
        changed = self.SOURCE.replace(old, new)
        assert changed != self.SOURCE
        assert self.name(changed) != self.name(self.SOURCE)

    @pytest.mark.parametrize(
        ("old", "new"), [("A comment.", "Another."), ("UNUSED = 2.0, 5", "UNUSED = 2.0, 6"), ("\n@", "\n\n@")]
    )
    def test_what_does_not_change_it(self, old: str, new: str) -> None:
        assert self.name(self.SOURCE.replace(old, new)) == self.name(self.SOURCE)

    def test_it_is_the_same_in_each_process(self) -> None:
        """The order of a set of strings is another one."""
        program = """
from twinlink.compiled.stored_code import StoredCode
def is_letter(value):
    return value in {"a", "b", "c", "d", "e", "f"}
print(StoredCode(is_letter, {})._digest)
"""
        call = [sys.executable, "-c", program]
        envs = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "1234"]
        said = {subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout for env in envs}
        assert len(said) == 1

    def test_kinds_of_arguments_change_it(self) -> None:
        assert self.name(self.SOURCE, ("int",)) != self.name(self.SOURCE, ("float",))


def test_old_files_of_other_forms_are_removed(folder: Path) -> None:
    _called()
    [file] = folder.iterdir()
    start, form, kinds = file.name.rsplit("-", 2)
    old, young = (file.with_name(f"{start}-{digit * len(form)}-{kinds}") for digit in "01")
    cut_off, other = file.with_name(f"{file.name}.123.tmp"), file.with_name(f"{start}_of_all-0-0.code")
    for each in (old, young, cut_off, other):
        each.write_bytes(file.read_bytes())
        if each is not young:
            os.utime(each, (0, 0))
    file.unlink()
    _called()
    assert set(folder.iterdir()) == {file, young, other}


def _compilations(start: float) -> int:
    """Call a kernel at a given time, and return whether it was compiled for it."""
    done = list[str]()
    kernel = compiled(_largest)
    time.sleep(max(start - time.time(), 0.0))
    with pytest.MonkeyPatch.context() as patch:
        compile_kernel = compiling.compile_kernel
        patch.setattr(compiling, "compile_kernel", lambda *args: (done.append(""), compile_kernel(*args))[1])
        assert kernel(VALUES) == 6.0
    return len(done)


class TestProcesses:
    """Only one process compiles a kernel; the others wait for it, but not for ever."""

    def test_one_compiles(self) -> None:
        with ProcessPoolExecutor(3, get_context("spawn")) as pool:
            assert sum(pool.map(_compilations, [time.time() + 3] * 3)) == 1

    @pytest.mark.parametrize("patience", [60.0, 0.1])
    def test_others_wait(self, patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compiling, "LONGEST_WAIT", patience)
        lock = StoredCode(_largest, Kernel.options).lock_file(kinds_of((VALUES,)))
        assert lock is not None
        done = Event()
        with lock.open("wb") as file, ThreadPoolExecutor(1) as pool:
            fcntl.flock(file, fcntl.LOCK_EX)
            pool.submit(_called).add_done_callback(lambda _: done.set())
            assert done.wait(0.3 if patience == 60.0 else 30.0) is (patience < 1)
            fcntl.flock(file, fcntl.LOCK_UN)
            assert done.wait(30.0)


def _named_by(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield what a function names of its module and of functions around it."""
    for code in stored_code._codes(function.__code__):
        yield from ((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    yield from zip(function.__code__.co_freevars, held, strict=True)


def _kernels() -> Iterator[Defined]:
    for file in Path(twinlink.__path__[0]).rglob("*.py"):
        if "twinlink.compiled import" in file.read_text(encoding="utf-8"):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield from (value for value in vars(importlib.import_module(name)).values() if isinstance(value, Defined))


def test_kernels_name_nothing_that_the_names_of_files_do_not_tell() -> None:
    """Modules are numpy and those of Python, whose versions are in the name; what else they name is followed."""
    known = (Defined, FunctionType, BuiltinFunctionType, type, np.ndarray, tuple, frozenset, *stored_code.CONSTANTS)
    kernels = list(_kernels())
    assert len(kernels) > 150
    for kernel in kernels:
        for name, value in _named_by(kernel.definition):
            is_known = isinstance(value, known) or getattr(value, "__name__", "") in {"numpy", *sys.stdlib_module_names}
            assert is_known, f"{kernel.definition.__qualname__} names {name}"
