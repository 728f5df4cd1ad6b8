"""Compilation before the first use: the list of kernels, samples of their arguments, helpers."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from twinlink.cli import runs
from twinlink.compiled import Kernel, ahead, compiled
from twinlink.compiled.ahead import Known, compile_known, known_kernels, main, sample_of
from twinlink.compiled.kinds import Kinds, kinds_of
from twinlink.compiled.stored_code import stored_in
from twinlink.graph.document_order import LinkLists

HASH = Known("twinlink.patterns.url_kernels", "hash_text", ((np.dtype("|u1"), 1, "C", 0),))
START = Known("twinlink.pages.libxml2_callbacks", "start_document", ("callback", "int64*"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for code, and a list of two small kernels."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    listed = tmp_path / "kernels.json"
    listed.write_text(json.dumps([HASH.to_json(), START.to_json()]), encoding="utf-8")
    monkeypatch.setattr(ahead, "LIST", listed)
    return tmp_path / "code"


class TestList:
    def test_kernels_exist_and_take_such_arguments(self) -> None:
        """An entry that a change of a kernel made wrong would be passed over in silence."""
        listed = known_kernels()
        assert len(listed) > 50
        for known in listed:
            function = getattr(importlib.import_module(known.module), known.name)
            is_callback = known.kinds[0] == "callback"
            assert isinstance(function, Kernel) is not is_callback
            n_given = len(known.kinds) - is_callback
            assert n_given == getattr(function, "interpreted", function).__code__.co_argcount

    def test_samples_are_of_their_kinds(self) -> None:
        for known in known_kernels():
            if known.kinds[0] != "callback":
                assert kinds_of(tuple(map(sample_of, known.kinds))) == known.kinds

    def test_it_is_read_as_it_was_written(self) -> None:
        lines = json.loads(ahead.LIST.read_text(encoding="utf-8"))
        assert [known.to_json() for known in known_kernels()] == lines


@pytest.mark.parametrize(
    "value",
    [
        3,
        2.5,
        True,
        None,
        np.float32(1),
        np.zeros(3, np.int32),
        np.zeros((2, 3), np.uint8),
        np.asfortranarray(np.zeros((2, 3))),
        np.zeros((6, 4))[::2, ::2],
        np.broadcast_to(np.zeros(1), (3,)),
        (1, np.zeros(2)),
        LinkLists(np.zeros(2, np.int64), np.zeros(3, np.int64)),
    ],
)
def test_samples(value: object) -> None:
    kinds: Kinds = kinds_of((value,))
    known = Known("a", "b", kinds)
    [_, _, written] = json.loads(json.dumps(known.to_json()))
    assert kinds_of((sample_of(ahead._read(written)),)) == kinds


def test_kinds_of_which_no_argument_can_be_made() -> None:
    with pytest.raises(TypeError, match="no argument can be made of kind"):
        Known("a", "b", (3,)).to_json()


class TestCompileKnown:
    def test_what_is_missing_is_compiled_once_from_the_end_on(self, folder: Path) -> None:
        main(["--workers", "1"])
        assert [*stored_in(folder)] == [START, HASH]
        times = [file.stat().st_mtime_ns for file in folder.rglob("*.code")]
        main(["--workers", "1"])
        assert [file.stat().st_mtime_ns for file in folder.rglob("*.code")] == times
        assert not [*folder.rglob("*.lock")]

    def test_what_others_are_at_work_on_is_left_to_them(self, folder: Path) -> None:
        function = importlib.import_module(HASH.module).hash_text
        lock = function.stored.lock_file(HASH.kinds)
        with lock.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            compile_known()
            assert [*stored_in(folder)] == [START]
        compile_known()
        assert [*stored_in(folder)] == [START, HASH]

    def test_an_entry_that_cannot_be_compiled_is_passed_over(self, folder: Path) -> None:
        gone = ["twinlink.no_module", "nothing", "int"]
        stale = ["twinlink.graph.kernels", "greedy_positions", {"tuple": "twinlink.graph.kernels.Gone", "of": ["int"]}]
        ahead.LIST.write_text(json.dumps([HASH.to_json(), gone, stale]), encoding="utf-8")
        compile_known()
        assert [*stored_in(folder)] == [HASH]

    def test_what_cannot_be_written_is_reported(self, folder: Path) -> None:
        folder.touch()  # no folder can be made there
        with pytest.raises(SystemExit, match="2 of 2 kernels have no machine code on disk"):
            main(["--workers", "1"])

    def test_a_process_that_fails_is_reported(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", "/bin/false")
            with pytest.raises(SystemExit, match="ended with 1"):
                main(["--workers", "2"])


def test_helpers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("from pathlib import Path; Path('imported').touch(); raise SystemExit(3)")
    program = "from twinlink.compiled.ahead import _processes; [each.wait(60) for each in _processes(1)]"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file")}
    (tmp_path / "file").touch()  # so that nothing is compiled
    subprocess.run([sys.executable, "-P", "-c", program], env=env, cwd=tmp_path, check=True)
    assert not (tmp_path / "imported").exists()


def test_helpers_end_with_the_process(tmp_path: Path) -> None:
    program = "from twinlink.compiled.ahead import start_helpers; start_helpers(2)"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], env=env) as process:
        assert process.wait(60) == 0
    marker = f"--parent\0{process.pid}".encode()
    end = time.monotonic() + 20
    while time.monotonic() < end and any(marker in each for each in _command_lines()):
        time.sleep(0.05)
    assert not any(marker in each for each in _command_lines())


def _command_lines() -> list[bytes]:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(file.read_bytes())
        except OSError:
            continue
    return lines


def _next(n: int) -> int:
    return n + 1


class TestHelpOfCommands:
    @pytest.fixture
    def started(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        started = list[int]()
        monkeypatch.setattr(ahead, "start_helpers", started.append)
        monkeypatch.setattr(Kernel, "before_compiling", Kernel.before_compiling)
        runs._get_help.cache_clear()
        return started

    @pytest.mark.parametrize(("n", "n_helpers"), [(1, []), (2, [1]), (4, [3])])
    def test_as_many_as_there_are_workers(self, n: int, n_helpers: list[int], started: list[int]) -> None:
        assert runs.workers_of(n).n == n
        assert started == []
        for _ in range(2):
            Kernel.before_compiling()
        assert started == n_helpers

    @pytest.mark.parametrize(("is_writable", "n_helpers"), [(True, [2]), (False, [])])
    def test_none_where_no_code_can_be_stored(
        self, is_writable: bool, n_helpers: list[int], folder: Path, started: list[int]
    ) -> None:
        """They could not hand on what they compile."""
        if not is_writable:
            folder.touch()
        runs.workers_of(3)
        assert compiled(_next)(3) == 4
        assert started == n_helpers

    def test_workers_of_a_command_get_none(self, started: list[int]) -> None:
        runs.workers_of(3)

        def work() -> None:
            Kernel.before_compiling()
            sys.exit(len(started))

        process = get_context("fork").Process(target=work)
        process.start()
        process.join(30)
        assert process.exitcode == 0
