"""Memory of the machine and of the container, and what is planned by it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from twinlink.system.memory import PROGRAM_BYTES, WORKER_BYTES, Memory, give_back, machine_memory

MB = 2**20


def machine(root: Path, cgroup: str, limits: dict[str, str]) -> int:
    """Return the memory of a machine with such a ``/proc/self/cgroup`` and such limits."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, limit in limits.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{limit}\n")
    return machine_memory(root)


V1 = "5:devices:/\n4:memory:/docker/12ab\n0::/\n"


@pytest.mark.parametrize(
    ("cgroup", "limits"),
    [
        ("0::/\n", {"memory.max": str(64 * MB)}),
        ("0::/user/app\n", {"memory.max": "max", "user/memory.max": str(64 * MB), "user/app/memory.max": "max"}),
        ("0::/user/app\n", {"user/memory.max": str(128 * MB), "user/app/memory.max": str(64 * MB)}),
        (V1, {"memory/docker/12ab/memory.limit_in_bytes": str(64 * MB)}),
        (V1, {"memory/memory.limit_in_bytes": str(64 * MB)}),  # in a container, the path is that of the host
        ("0::/../outside\n", {"memory.max": str(64 * MB)}),
    ],
)
def test_the_smallest_limit_counts(tmp_path: Path, cgroup: str, limits: dict[str, str]) -> None:
    assert machine(tmp_path, cgroup, limits) == 64 * MB


@pytest.mark.parametrize(
    ("cgroup", "limits"),
    [
        ("", {}),
        ("0::/\n", {"memory.max": "max"}),
        (V1, {"memory/docker/12ab/memory.limit_in_bytes": str(2**63 - 4096)}),
        ("no cgroup", {"memory.max": "1"}),
    ],
)
def test_without_a_limit_it_is_that_of_the_machine(tmp_path: Path, cgroup: str, limits: dict[str, str]) -> None:
    assert machine(tmp_path, cgroup, limits) == machine_memory(tmp_path / "nowhere") > 64 * MB


def test_the_default_is_half_of_it() -> None:
    assert Memory.of(0).n_bytes == machine_memory() // 2
    assert Memory.of(5).n_bytes == 5


@pytest.mark.parametrize(("n_bytes", "n"), [(1, 1), (PROGRAM_BYTES, 1), (PROGRAM_BYTES + 2 * WORKER_BYTES, 2)])
def test_as_many_processes_work_as_there_is_room_for(n_bytes: int, n: int) -> None:
    assert Memory(n_bytes).processes(64) == n
    assert Memory(n_bytes).processes(1) == 1


def test_a_part_has_bounds() -> None:
    assert [Memory(n).part(10, 20, 300) for n in (0, 1_000, 10_000)] == [20, 100, 300]
    assert Memory(10_000).part(10, 20, 0) == 0


def _private() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what a process holds")
def test_free_memory_is_given_back() -> None:
    values = [pa.array(range(100_000)) for _ in range(50)]
    held = _private()
    del values
    give_back()
    assert _private() < held - 20 * MB


FAULTS = """
import resource
import numpy as np
from twinlink.system.memory import memory_reused

def faults_of_an_array():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(2**26, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with memory_reused():
    print(faults_of_an_array(), faults_of_an_array())
print(faults_of_an_array(), faults_of_an_array())
"""
"""Prints how often the system clears memory for an array of 64 MB; it has a process of its own, because the heap of one
that has done much may have room for such an array."""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library has no such function")
def test_the_memory_of_large_arrays_is_used_again_within_the_context_only() -> None:
    said = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True).stdout
    within, after = (list(map(int, line.split())) for line in said.splitlines())
    assert within[1] < 16
    assert min(after) >= 16


HEAPS = """
import ctypes
from concurrent.futures import ThreadPoolExecutor
from twinlink.system.memory import share_heap
{first}
with ThreadPoolExecutor(2) as pool:
    list(pool.map(bytearray, [10_000] * 100))
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="the C library has no such function")
@pytest.mark.parametrize(("first", "has_others"), [("", True), ("share_heap()", False)])
def test_threads_share_the_heap_of_the_process(first: str, has_others: bool) -> None:
    command = [sys.executable, "-c", HEAPS.format(first=first)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "Arena 0:" in said
    assert ("Arena 1:" in said) == has_others
