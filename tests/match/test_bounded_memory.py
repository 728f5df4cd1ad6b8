"""A match within ``run.memory``: what it keeps goes to disk, and the result is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib, resource, sys
from pathlib import Path
import numpy as np
from scipy.sparse import csr_array
from twinlink.config import MatchSettings
from twinlink.graph.links import adjacency
from twinlink.match.evidence import Between, Side
from twinlink.match.selection import match_sides
from twinlink.system import scratch as module

n, n_bytes = 3_000, int(sys.argv[2])
random = np.random.default_rng(0)
numbers = random.integers(0, 2_000, (n, 40))
graph = adjacency(np.repeat(np.arange(n), 5), random.integers(0, n, 5 * n), n)
none = csr_array((n, n), dtype=np.float32)
sides = [
    Side(lang, np.arange(n), [f"http://{lang}.example/{k}" for k in range(n)],
         [[f"{word} {number}" for number in row] for row in numbers.tolist()], [b"abc" * 10] * n, graph)
    for lang, word in (("en", "page"), ("fr", "feuille"))
]
if n_bytes:
    resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
module.SMALL = 2**16
with module.scratch_in(Path(sys.argv[1]), 0 if n_bytes else 10**12) as scratch:
    found = match_sides(*sides, Between(none, none), [], MatchSettings()).found
    print(scratch.on_disk)
digest = hashlib.sha256()
for array in (found.matching.rows, found.matching.columns, found.probabilities, *found.evidence.values()):
    digest.update(np.ascontiguousarray(array).tobytes())
print(len(found.matching.rows), digest.hexdigest())
"""
ENOUGH = 320_000_000
"""Bytes of private memory for the libraries (some 200 MB) and the steps of this match."""


def matched(folder: Path, n_bytes: int) -> tuple[int, str]:
    """Match a made site in a process that gets no more private memory than some bytes (0: no limit)."""
    # Arrow's own allocator reserves a gigabyte of addresses, and each thread of OpenBLAS 40 MB.
    env = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(n_bytes)]
    on_disk, result = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout.splitlines()
    return int(on_disk), result


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit private memory alone")
def test_a_match_keeps_to_its_memory_and_gives_the_same(tmp_path: Path) -> None:
    free_on_disk, free = matched(tmp_path, 0)
    bounded_on_disk, bounded = matched(tmp_path, ENOUGH)
    assert free.startswith("3000 ")
    assert bounded == free
    assert (free_on_disk, list(tmp_path.iterdir())) == (0, [])
    assert bounded_on_disk > 0
