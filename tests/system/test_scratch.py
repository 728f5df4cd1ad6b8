"""Scratch: the same values in memory and in files, and files that leave nothing behind."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array, vstack

from twinlink.sparse import kept_matrix, narrow, stacked
from twinlink.system.scratch import SMALL, kept, scratch_at_work, scratch_in


def some(n_bytes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(n_bytes // 8)


def some_parts() -> list[csr_array]:
    random = np.random.default_rng(1)
    return [
        csr_array(random_array((n, 3_000), density=0.1, rng=random, dtype=np.float32)) for n in (900, 0, 1_100, 1, 500)
    ]


def test_outside_of_the_context_arrays_stay_as_they_are() -> None:
    values = some(2 * SMALL)
    assert kept(values) is values
    assert scratch_at_work() is None


def test_arrays_stay_in_memory_while_there_is_room(tmp_path: Path) -> None:
    first, second, third = (some(2 * SMALL, seed) for seed in range(3))
    with scratch_in(tmp_path, 5 * SMALL) as scratch:
        assert kept(first) is first
        assert kept(second) is second
        beyond = kept(third)
        assert beyond is not third
        assert np.array_equal(beyond, third)
        assert (scratch.in_memory, scratch.on_disk) == (4 * SMALL, 2 * SMALL)
        del first, beyond
        assert (scratch.in_memory, scratch.on_disk) == (2 * SMALL, 0)
        assert kept(third) is third


@pytest.mark.parametrize("room", [0, 10**9])
def test_a_matrix_counts_while_it_or_a_view_of_it_is_there(tmp_path: Path, room: int) -> None:
    values = some(4 * SMALL)
    matrix = csr_array((values, np.zeros(len(values), np.int32), np.array([0, len(values)])), shape=(1, 1))
    with scratch_in(tmp_path, room) as scratch:
        matrix = kept_matrix(matrix)
        n_bytes = matrix.data.nbytes + matrix.indices.nbytes
        del values
        assert scratch.in_memory + scratch.on_disk == n_bytes
        data = matrix.data[1:]
        del matrix
        assert scratch.in_memory + scratch.on_disk == data.nbytes + data.itemsize
        del data
        assert (scratch.in_memory, scratch.on_disk) == (0, 0)


def test_small_arrays_are_not_worth_a_file(tmp_path: Path) -> None:
    values = some(SMALL)
    with scratch_in(tmp_path, 0):
        assert kept(values) is values


def test_an_array_in_a_file_outlives_the_context_and_can_be_written_to(tmp_path: Path) -> None:
    with scratch_in(tmp_path, 0):
        values = kept(some(2 * SMALL))
    values += 1
    assert np.array_equal(values, some(2 * SMALL) + 1)
    assert type(values) is np.ndarray


@pytest.mark.parametrize("room", [0, SMALL, 3 * SMALL, 10**9])
def test_matrices_are_the_same_in_memory_and_in_files(tmp_path: Path, room: int) -> None:
    parts = some_parts()
    expected = narrow(csr_array(vstack(parts)))
    with scratch_in(tmp_path, room) as scratch:
        both = stacked(iter(parts)), kept_matrix(expected)
        assert (scratch.on_disk > 0) == (room < 10**9)
        assert list(tmp_path.iterdir()) == []
    for matrix in (*both, stacked(parts)):
        assert matrix.shape == expected.shape
        for name in ("data", "indices", "indptr"):
            mine, theirs = getattr(matrix, name), getattr(expected, name)
            assert mine.dtype == theirs.dtype
            assert np.array_equal(mine, theirs)


def test_a_full_disk_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, limits[1]))
    try:
        with scratch_in(tmp_path, 0), pytest.raises(OSError, match="large") as caught:
            kept(some(2 * SMALL))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_no_file(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; import numpy as np; from twinlink.system.scratch import *\n"
        "with scratch_in(Path(sys.argv[1]), 0):\n"
        "    values = kept(np.ones(2**20))\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    assert list(tmp_path.iterdir()) == []
