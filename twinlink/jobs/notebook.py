"""Work that a notebook starts: a whole job, site discovery, and what is done with a run afterwards.

Settings are remembered as on the command line, see `twinlink.rundir.remembered`. What is told there on the screen
goes to the logger ``twinlink``: as warnings, but what a `Run` remembers of its own settings as information.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinlink.errors import TwinlinkError
from twinlink.language_names import check_two
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import CallSettings, call_settings

if TYPE_CHECKING:
    from twinlink.progress import Report
    from twinlink.run import Run

__all__ = ["align", "discover", "learn_patterns", "mine", "rank"]

_log = logging.getLogger("twinlink")
_OF_RUN = ("align", "patterns", "rank")


def mine(
    inputs: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    langs: Sequence[str] = (),
    add: bool = False,
    replace: bool = False,
    forget: Sequence[str] = (),
    **settings: Any,
) -> Run:
    """Do the whole job: crawl or read ``inputs``, match, and open the result.

    Parameters
    ----------
    inputs : str, Path, or sequence of them
        Addresses, archives, folders.
    out : path
        The run directory; what is done in it already is not done again.
    langs : sequence of str
        Wanted languages by code or name, ``("en", "zh-TW")`` or ``"en,zh"``; empty: those that the run remembers, or
        else the two most frequent on each site.
    add : bool
        Add the inputs to a run that was made from others.
    replace : bool
        Start the run anew; what it has goes once that has succeeded, but for its labels.
    forget : sequence of str
        Settings that take the default instead of what the run remembers.
    **settings
        Any setting by its name with ``__`` for the dot: ``match__ets__alpha=0.3``.

    Raises
    ------
    InputError
        If an input or a setting cannot be used.
    RunError
        If the run was made from other inputs, and neither ``add`` nor ``replace`` is given.
    NothingFoundError
        If no pair was found in a run that has some; it stays as it was.
    CrawlError
        If not one page could be fetched.
    RunLockedError
        If another process works in the same run directory.

    Examples
    --------
    >>> import tempfile
    >>> from twinlink.toy import BASE, write_toy
    >>> folder = Path(tempfile.mkdtemp())
    >>> toy = write_toy(folder / "toy")
    >>> run = mine(str(toy), out=folder / "run", langs=("en", "zh"), ingest__base_url=BASE, match__min_score=0.0)
    >>> len(run.pages), len(run.links), len(run.pairs)
    (10, 8, 5)
    """
    from twinlink.jobs.mine import mine_stages
    from twinlink.jobs.origin import means

    how = means(add=add, replace=replace)
    call = _call(None if replace else Path(out), settings, langs, forget)
    check_two(call.config.langs)
    with _at_work(Path(out), call, ("crawl", "ingest", "match")) as (run, report):
        mine_stages(_texts(inputs), run, call.config, report, how)
    return _opened(run)


def discover(
    seeds: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    langs: Sequence[str] = (),
    forget: Sequence[str] = (),
    **settings: Any,
) -> Run:
    """Let a list of sites grow by itself, and open the result.

    Parameters
    ----------
    seeds : str, Path, or sequence of them
        Addresses of sites, or files of them.
    out : path
        The run directory; a loop that was stopped goes on.
    langs : sequence of str
        Wanted languages.
    forget : sequence of str
        Settings that take the default instead of what the run remembers.
    **settings
        Any setting by its name with ``__`` for the dot: ``discover__rounds=3``, ``discover__top=200``.

    Raises
    ------
    InputError
        If a seed or a setting cannot be used.
    CrawlError
        If not one seed could be fetched.
    RunError
        If the loop in ``out`` was begun with other seeds or settings.
    """
    from twinlink.jobs.discover import discover as discover_sites
    from twinlink.spiders.seeds import seeds_of

    call = _call(Path(out), settings, langs, forget)
    check_two(call.config.langs)
    with _at_work(Path(out), call, ("discover",)) as (run, report):
        discover_sites(seeds_of(_texts(seeds)), run, call.config, report)
    return _opened(run)


def align(folder: Path, lexicons: Sequence[str | Path], settings: Mapping[str, Any]) -> None:
    """Align the sentences of a run's page pairs; without lexicons, those that the run remembers are used."""
    from twinlink.jobs.mine import align_stage

    given = {"bitext.lexicons": [Path(path) for path in lexicons]} if lexicons else {}
    call = _call(folder, {**given, **settings})
    with _at_work(folder, call, ("align",)) as (run, report):
        align_stage(run, call.config, report=report)


def learn_patterns(folder: Path, settings: Mapping[str, Any]) -> None:
    """Learn the URL patterns of a run's sites."""
    from twinlink.patterns.stage import learn_run

    call = _call(folder, settings)
    with _at_work(folder, call, ("patterns",)) as (run, report):
        learn_run(run, call.config, lambda done, total: report("patterns", done, total))


def rank(folder: Path, settings: Mapping[str, Any]) -> None:
    """Rank the sites that a run's pages link to."""
    from twinlink.rundir.rounds import turned_down
    from twinlink.sites.stage import rank as rank_sites

    call = _call(folder, settings)
    with _at_work(folder, call, ("rank",)) as (run, report):
        rank_sites(run, call.config, turned_down(run), lambda done, total: report("rank", done, total))


@contextmanager
def _at_work(folder: Path, call: CallSettings, stages: Sequence[str]) -> Iterator[tuple[RunDirectory, Report]]:
    """Hold a run, and heed the pause that its review may ask for, which is the only progress that is shown."""
    from twinlink.progress import reporter

    with RunDirectory.held(folder, _log.warning) as run, reporter(quiet=True, pause=run.pause_file) as report:
        if line := call.line(stages, "forget=[NAME]"):
            _log.log(logging.INFO if stages[0] in _OF_RUN else logging.WARNING, line)
        try:
            yield run, report
        except TwinlinkError as error:
            call.blame(error, "forget=[NAME]")
            raise


def _call(
    run: Path | None, settings: Mapping[str, Any], langs: Sequence[str] = (), forget: Sequence[str] = ()
) -> CallSettings:
    given = {name.replace("__", "."): _plain(value) for name, value in settings.items() if name != "forget"}
    forget = settings.get("forget", forget)
    if langs:
        given["langs"] = [tag.strip() for tag in langs.split(",")] if isinstance(langs, str) else list(langs)
    return call_settings(run, given, forget=[name.replace("__", ".") for name in forget])


def _plain(value: Any) -> Any:
    """Return a setting as a settings file has it: whole paths as text."""
    if isinstance(value, Path):
        return str(value if str(value) == "auto" else value.absolute())  # auto: no file, see remembering
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _texts(inputs: str | Path | Sequence[str | Path]) -> list[str]:
    """Return one or several addresses and paths as texts."""
    return [str(inputs)] if isinstance(inputs, str | Path) else [str(each) for each in inputs]


def _opened(run: RunDirectory) -> Run:
    from twinlink.run import open_run

    return open_run(run.path)
