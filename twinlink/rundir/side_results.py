"""Further matches of one run, kept beside its own: ``RUN/matches/NAME``, a run directory with links to RUN's pages.

Tables of pages, archives and labels are those of RUN, by relative links, so that RUN may be moved. All else, the match
and what is made of it, is of the further match alone. Every command takes the folder as a run.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from twinlink.errors import ConfigError, RunError
from twinlink.files import replacing
from twinlink.run_files import MATCHES, REVIEW
from twinlink.rundir.directory import RunDirectory

_NAME = re.compile(r"[^\W_][\w.-]{0,99}")
_SHARED = ("ingest", "warc", "page_parts", REVIEW)


def side_path(run: Path, name: str) -> Path:
    """Return the folder of a further match.

    >>> side_path(Path("run"), "liu2014")
    PosixPath('run/matches/liu2014')
    >>> side_path(Path("run"), "../other")
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: '../other': expected a name of up to 100 letters, digits, '.', '-' and '_'

    Raises
    ------
    ConfigError
        If it is no plain name.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r}: expected a name of up to 100 letters, digits, '.', '-' and '_'")
    return run / MATCHES / name


def make_side_run(run: RunDirectory, name: str) -> RunDirectory:
    """Make the folder of a further match, unless it exists; it starts with the settings that the run remembers.

    Raises
    ------
    MissingStageError
        If the run has no pages.
    """
    run.stage_folder("ingest")
    path = side_path(run.path, name)
    (run.path / REVIEW).mkdir(exist_ok=True)
    path.mkdir(parents=True, exist_ok=True)
    for folder in _SHARED:
        if (run.path / folder).is_dir() and not os.path.lexists(path / folder):
            (path / folder).symlink_to(_shared(folder))
    settings = path / run.config_file.name
    if run.config_file.is_file() and not settings.exists():
        with replacing(settings) as temporary:
            shutil.copyfile(run.config_file, temporary)
    return RunDirectory(path, run.tell)


def main_run(run: Path) -> Path:
    """Return the run whose pages a further match has; any other run as it is."""
    pages = run / "ingest"
    if pages.is_symlink() and pages.readlink() == _shared("ingest"):
        return Path(os.path.normpath(run.resolve() / ".." / ".."))
    return run


def check_own_pages(run: RunDirectory) -> None:
    """Refuse a further match where pages are fetched or read: its archives and tables of pages are another run's.

    Raises
    ------
    RunError
        If the run is a further match.
    """
    main = main_run(run.path)
    if main != run.path:
        raise RunError(f"{run.path}: a further match has the pages of its run; fetch and read pages in {main}")


def _shared(folder: str) -> Path:
    """Return what a further match links to."""
    return Path("..", "..", folder)
