"""Standard streams that cannot be written to, such as one that was sent to a full disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


def lead_nowhere(stream: IO[str]) -> None:
    """Let a standard stream lead nowhere: Python would fail again to write what is left in it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def writing_messages() -> Iterator[None]:
    """Write on standard error; if it takes no more, the rest of the messages is lost, and the job goes on."""
    try:
        yield
    except OSError:
        lead_nowhere(sys.stderr)
