"""Commit of results by single renames, in an order that lets the next process finish an interrupted commit.

The commit of a stage::

    .STAGE.tmp/signature.json   is written last: from here on the result counts
    STAGE        →  .STAGE.old
    .STAGE.tmp   →  STAGE
    STAGE/top/*  →  RUN/*       what belongs to the result and lies at the top: pairs.tsv, config.toml
    .STAGE.old   is removed

The replacement of a whole run (``--replace``)::

    replacement/.whole          is written last: from here on the new run counts
    the files of the old run    are removed
    replacement  →  .arriving
    .arriving/*  →  RUN/*

`settle` brings a run into the state after the last commit, at whatever moment a process was killed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from twinlink.errors import RunError

SIGNATURE = "signature.json"
TOP = "top"
REPLACEMENT = "replacement"
_WHOLE, _ARRIVING = ".whole", ".arriving"


def _temporary(run: Path, stage: str) -> Path:
    return run / f".{stage}.tmp"


def _old(run: Path, stage: str) -> Path:
    return run / f".{stage}.old"


def check_no_folder(file: Path) -> None:
    """Refuse to put a file where somebody has made a folder.

    Raises
    ------
    RunError
        If there is one.
    """
    if file.is_dir():
        raise RunError(f"{file}: expected a file, found a folder; move it elsewhere, and repeat the command")


def commit_stage(run: Path, stage: str) -> None:
    """Rename the temporary folder of a stage to its final name, if its signature has been written."""
    final, temporary, old = run / stage, _temporary(run, stage), _old(run, stage)
    if (temporary / SIGNATURE).is_file():
        if final.exists():
            shutil.rmtree(old, ignore_errors=True)
            final.rename(old)
        temporary.rename(final)
    top = final / TOP
    if top.is_dir():
        for file in sorted(top.iterdir()):
            check_no_folder(run / file.name)
            file.replace(run / file.name)
        top.rmdir()
    shutil.rmtree(old, ignore_errors=True)


def settle_stage(run: Path, stage: str) -> None:
    """Finish a commit of a stage that was begun, or remove its incomplete result; not that of another run."""
    final, temporary, old = run / stage, _temporary(run, stage), _old(run, stage)
    if final.is_symlink():  # as a further match has to the pages of its run
        return
    if old.exists() and not (final.exists() or (temporary / SIGNATURE).is_file()):
        old.rename(final)
    commit_stage(run, stage)


def replace_run(run: Path, clear: Callable[[], None]) -> None:
    """Replace the old run by the complete new one in `REPLACEMENT`.

    Parameters
    ----------
    run : Path
        The run directory.
    clear : callable
        Removes the files of the old run.
    """
    (run / REPLACEMENT / _WHOLE).touch()
    _replace(run, clear)


def _replace(run: Path, clear: Callable[[], None]) -> None:
    arriving = run / _ARRIVING
    if (run / REPLACEMENT / _WHOLE).is_file():
        clear()
        (run / REPLACEMENT).rename(arriving)
    if arriving.is_dir():
        for path in sorted(arriving.iterdir()):
            if path.name == _WHOLE or (run / path.name).exists():  # the mark, the lock, a copy of the labels
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            else:
                path.rename(run / path.name)
        arriving.rmdir()


def is_settled(run: Path, stages: Iterable[str]) -> bool:
    """Return whether no commit is incomplete."""
    marks = [run / REPLACEMENT / _WHOLE, run / _ARRIVING]
    for stage in stages:
        if not (run / stage).is_symlink():
            marks += [_old(run, stage), _temporary(run, stage) / SIGNATURE, run / stage / TOP]
    return not any(mark.exists() for mark in marks)


def settle(run: Path, stages: Iterable[str], clear: Callable[[], None]) -> None:
    """Finish all incomplete commits of a killed process; requires the run's lock."""
    _replace(run, clear)
    for stage in stages:
        with suppress(FileNotFoundError):  # removed by hand meanwhile
            settle_stage(run, stage)
