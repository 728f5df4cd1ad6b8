"""Steps of a long task: what is being done now, and what share of the task was done before it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from twinlink.files import replacing

_FOLDER = ".steps"


def _drop(name: str, make: Callable[[], Any]) -> None:
    """Keep no result."""


class Steps(msgspec.Struct, frozen=True):
    """Reports the steps of a task, or of a part of it.

    Examples
    --------
    >>> steps = Steps(lambda share, step: print(f"{share:.2f} {step}"))
    >>> steps(0.0, "languages")
    0.00 languages
    >>> steps.part(0.5, 1.0)(0.5, "words")
    0.75 words
    """

    show: Callable[[float, str], None]
    """Receives the share of the whole task that is done, 0 to 1, and the name of the step that begins."""
    begin: float = 0.0
    """Share of the whole task before this part of it."""
    end: float = 1.0
    """Share of the whole task when this part is done."""
    keep: Callable[[str, Callable[[], Any]], None] = _drop
    """Receives the name of a result that may still change, and a function that makes it; by default it is not made."""

    def __call__(self, share: float, step: str) -> None:
        """Report that a step begins, after a share of this part."""
        self.show(self._whole(share), step)

    def part(self, begin: float, end: float) -> Steps:
        """Return the steps of the part between two shares of this one."""
        return replace(self, begin=self._whole(begin), end=self._whole(end))

    def without_results(self) -> Steps:
        """Return the same steps, of which no result is kept."""
        return replace(self, keep=_drop)

    def of_this_process(self) -> Steps:
        """Return the same steps, which a copy of this process does not report; it keeps results."""
        ours, show = os.getpid(), self.show
        return replace(self, show=lambda share, step: show(share, step) if os.getpid() == ours else None)

    def _whole(self, share: float) -> float:
        return self.begin + share * (self.end - self.begin)


NO_STEPS = Steps(lambda _share, _step: None)
"""Steps that nobody looks at."""


@contextmanager
def steps_to_file(folder: Path, name: str) -> Iterator[Steps]:
    """Yield the steps of a task, which other processes see by `read_steps` until the block ends.

    Parameters
    ----------
    folder : Path
        A folder that all processes see.
    name : str
        Name of the task, as a file name.
    """
    path = folder / _FOLDER / name
    path.parent.mkdir(exist_ok=True)
    attempt = secrets.token_hex(4)  # a worker that was given up may still be at the same task

    def show(share: float, step: str) -> None:
        with replacing(path, attempt) as temporary:
            temporary.write_text(f"{share:.4f} {step}", encoding="utf-8")

    try:
        yield Steps(show)
    finally:
        path.unlink(missing_ok=True)


def read_steps(folder: Path) -> dict[str, tuple[float, str]]:
    """Return the share done and the present step of each task in work, by its name.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with steps_to_file(folder, "x.example") as steps:
    ...     steps(0.25, "words")
    ...     read_steps(folder)
    {'x.example': (0.25, 'words')}
    >>> read_steps(folder)
    {}
    """
    found = {}
    for path in sorted((folder / _FOLDER).glob("*")):
        try:
            share, _, step = path.read_text(encoding="utf-8").partition(" ")
        except OSError:  # ended
            continue
        if step and path.suffix != ".tmp":
            found[path.name] = (float(share), step)
    return found
