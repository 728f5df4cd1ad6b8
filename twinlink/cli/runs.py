"""Runs as verbs use them: locked for work, or opened for reading."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from logging import INFO, WARNING
from pathlib import Path
from typing import TYPE_CHECKING

from twinlink.cli.output import echo
from twinlink.errors import ConfigError

if TYPE_CHECKING:
    from twinlink.progress import Report
    from twinlink.run import Run
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.remembered import CallSettings
    from twinlink.system.workers import Workers


def run_folder(text: str, *, exists: bool = False) -> Path:
    """Return the folder of a run that is named by a path or an address; completion asks no store."""
    if not text:  # a variable of the shell that is not set; the present folder would become the run
        raise ConfigError("expected a run directory, got an empty name")
    if ":/" not in text or "_TWINLINK_COMPLETE" in os.environ:
        return Path(text)
    from twinlink.rundir.stored import run_path

    return run_path(text, exists=exists)


def existing_run(text: str) -> Path:
    """Return the folder of a run that must be there if it is named by an address."""
    return run_folder(text, exists=True)


@contextmanager
def working(
    out: Path,
    quiet: bool,
    settings: CallSettings | None = None,
    stages: Sequence[str] = (),
    *,
    verbose: bool = False,
) -> Iterator[tuple[RunDirectory, Report]]:
    """Hold a run directory and show how the work in it continues.

    Parameters
    ----------
    out : Path
    quiet : bool
        Show nothing.
    settings : CallSettings, optional
        What the run remembers of them is printed.
    stages : sequence of str
        Stages that the call is about.
    verbose : bool
        Show what goes to the log of the run, too, except the progress.
    """
    from twinlink.cli.run_log import logged, logger
    from twinlink.errors import TwinlinkError
    from twinlink.progress import reporter
    from twinlink.rundir.directory import RunDirectory
    from twinlink.system.disk import naming

    def show(line: str) -> None:
        echo(line, err=True)

    def tell(line: str) -> None:
        if line:
            logger.info("%s", line, extra={"is_shown": True})
        if line and not quiet:
            show(line)

    _collect_garbage_rarely()
    level = INFO if verbose and not quiet else WARNING
    with naming(out), RunDirectory.held(out, tell) as run, logged(run, show, level):
        tell(settings.line(stages) if settings else "")
        try:
            with reporter(quiet, run.pause_file, run.progress_file) as report:
                yield run, report
        except TwinlinkError as error:
            if settings:
                settings.blame(error)
            raise


def workers_of(n: int | None, cluster: str = "") -> Workers:
    """Return the workers of a command, given its options.

    When it first has to compile kernels, as many processes do so as it has workers, itself included.
    """
    from twinlink.compiled import Kernel
    from twinlink.system.workers import Workers, cores

    workers = Workers(n, cluster)
    Kernel.before_compiling = partial(_get_help, (cores() if n is None else n) - 1, os.getpid())
    return workers


@cache
def _get_help(n: int, owner: int) -> None:
    """Start helpers, unless this is one of the workers."""
    if n and os.getpid() == owner:
        from twinlink.compiled.ahead import start_helpers

        start_helpers(n)


def opened(path: Path) -> Run:
    """Open a run that is there, under the path that was given, which messages name."""
    from twinlink.run import Run
    from twinlink.rundir.directory import RunDirectory

    return Run(RunDirectory.existing(path).path, for_commands=True)


def stored(path: Path) -> None:
    """Commit what a verb has written beside the stages to the store of a run, if it has one and nobody works there.

    Otherwise the next command on the run does that.
    """
    from twinlink.errors import RunLockedError
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.stored import address_of

    address = address_of(path)
    if "://" not in address:
        return
    try:
        run_folder(address)
        with RunDirectory.held(path):
            pass
    except RunLockedError as error:
        echo(f"not stored yet ({error}); the next command on the run does that", err=True)


def _collect_garbage_rarely() -> None:
    """Let Python search for unreachable cycles less often: the stages make millions of objects, and hardly a cycle."""
    gc.set_threshold(100_000, 50, 100)
