"""Garbage is collected seldom while a stage makes many objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["seldom_collecting"]

_THRESHOLDS = 100_000, 50, 50
"""New containers before the young ones are looked at, and how often that is done before older ones are. Python's are
700, 10, 10; with these a match of 4,862 pages takes a tenth less processor time, in as much memory."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage in circles more seldom: texts of pages are millions of objects, none of which is garbage.

    Memory that nothing refers to is freed at once as ever. Also a decorator.

    >>> before = gc.get_threshold()
    >>> with seldom_collecting():
    ...     gc.get_threshold()[0]
    100000
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
