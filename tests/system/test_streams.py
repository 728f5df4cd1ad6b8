"""Standard streams that take no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from twinlink.system.streams import writing_messages
for _ in range(2):
    with writing_messages():
        print("x" * 100_000, file=sys.stderr, flush=True)
print("done")
"""


def test_messages_to_a_full_disk_are_lost_and_no_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=full, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n")
