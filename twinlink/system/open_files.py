"""The number of files that this process may have open."""

from __future__ import annotations

import resource

__all__ = ["raise_file_limit"]

_FILES = 16_384


def raise_file_limit() -> None:
    """Raise the limit of open files as far as the system lets it: connections and arrays on disk hold one each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
