"""Folders that are there as a whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["partial_folder"]


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder under a temporary name; after the block it takes the place of ``folder``.

    After an error, or if the process was killed, it stays, and the next call empties it.

    Examples
    --------
    >>> import tempfile
    >>> top = Path(tempfile.mkdtemp())
    >>> with partial_folder(top / "site") as partial:
    ...     _ = (partial / "page.html").write_text("text")
    ...     print((top / "site").exists())
    False
    >>> [path.name for path in top.rglob("*")]
    ['site', 'page.html']
    """
    partial = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
