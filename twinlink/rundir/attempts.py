"""Files that workers write for a stage: a folder for each attempt at a task, from which the stage takes what counts.

A worker that was given up (lost, too late) may still be at work. So no worker writes into the folder of a stage. It
writes below ``RUN/.STAGE.parts/TOKEN``, where only this one call of the stage looks, into a folder of its own; the
stage takes the files of the attempt whose result it has, once. The folder of an earlier call is never made again.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def attempts_at(run: Path, stage: str) -> Iterator[Path]:
    """Yield an empty folder for the attempts of one call of a stage; it is removed after the block.

    Parameters
    ----------
    run : Path
        The run directory, whose lock this process has.
    stage : str
        Name of the stage. What killed calls of it have left is removed.
    """
    remove_attempts(run, stage)
    place = _parts(run, stage) / secrets.token_hex(8)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        remove_attempts(run, stage)


def attempts_of(run: Path, stage: str, pattern: str) -> list[Path]:
    """Return the files with these names below the folder that the present call of a stage has for its attempts."""
    return list(_parts(run, stage).glob(f"*/{pattern}"))


def remove_attempts(run: Path, stage: str) -> None:
    """Remove what killed calls of a stage have left; requires the run's lock."""
    shutil.rmtree(_parts(run, stage), ignore_errors=True)


def _parts(run: Path, stage: str) -> Path:
    return run.absolute() / f".{stage}.parts"


def new_attempt(place: Path) -> Path:
    """Make the folder of an attempt at a task; a worker calls it.

    Raises
    ------
    FileNotFoundError
        If the call of the stage has ended.
    """
    attempt = place / secrets.token_hex(8)
    attempt.mkdir()
    return attempt


def take_attempt(attempt: Path, folder: Path) -> None:
    """Move the tables of an attempt that is done to the same places below a stage's folder.

    What the attempt did not finish stays behind.
    """
    for table in sorted(attempt.iterdir()):
        (folder / table.name).mkdir(exist_ok=True)
        for file in table.glob("*.parquet"):
            file.replace(folder / table.name / file.name)
    shutil.rmtree(attempt, ignore_errors=True)
