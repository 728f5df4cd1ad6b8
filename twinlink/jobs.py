"""Work that a notebook starts: a whole job, site discovery, and what is done with a run afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twinlink.config import Config
from twinlink.rundir import RunDirectory
from twinlink.wanted import check_two

if TYPE_CHECKING:
    from twinlink.progress import Report
    from twinlink.run import Run

__all__ = ["align", "discover", "learn_patterns", "mine", "rank"]


def mine(
    inputs: str | Path | Sequence[str | Path], *, out: str | Path, langs: Sequence[str] = (), **settings: Any
) -> Run:
    """Do the whole job: crawl or read ``inputs``, match, and open the result.

    Parameters
    ----------
    inputs : str, Path, or sequence of them
        Addresses, archives, folders.
    out : path
        The run directory; what is done in it already is not done again.
    langs : sequence of str
        Wanted languages by code or name, ``("en", "zh-TW")`` or ``"en,zh"``; empty: the two most frequent on each site.
    **settings
        Any setting by its name with ``__`` for the dot: ``match__ets__alpha=0.3``.

    Raises
    ------
    InputError
        If an input or a setting cannot be used.
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
    from twinlink.pipeline.mine import mine_stages

    config = _config(Config(), settings, langs)
    check_two(config.langs)
    run = RunDirectory.create(Path(out))
    with _at_work(run) as report:
        mine_stages(_texts(inputs), run, config, report)
    return _opened(run)


def discover(
    seeds: str | Path | Sequence[str | Path], *, out: str | Path, langs: Sequence[str] = (), **settings: Any
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
    from twinlink.pipeline.discover import discover as discover_sites
    from twinlink.spiders.seeds import seeds_of

    config = _config(Config(), settings, langs)
    check_two(config.langs)
    run = RunDirectory.create(Path(out))
    with _at_work(run) as report:
        discover_sites(seeds_of(_texts(seeds)), run, config, report)
    return _opened(run)


def align(folder: Path, lexicons: Sequence[str | Path], settings: dict[str, Any]) -> None:
    """Align the sentences of a run's page pairs; without lexicons, those that the run was matched with are used."""
    from twinlink.pipeline.mine import align_stage

    run, config = _present(folder, settings)
    with _at_work(run) as report:
        align_stage(run, config, [Path(path) for path in lexicons or config.match.lexicons], report=report)


def learn_patterns(folder: Path, settings: dict[str, Any]) -> None:
    """Learn the URL patterns of a run's sites."""
    from twinlink.pipeline.patterns import learn_run

    run, config = _present(folder, settings)
    with _at_work(run) as report:
        learn_run(run, config, lambda done, total: report("patterns", done, total))


def rank(folder: Path, settings: dict[str, Any]) -> None:
    """Rank the sites that a run's pages link to."""
    from twinlink.pipeline.ranking import rank as rank_sites
    from twinlink.pipeline.rounds import turned_down

    run, config = _present(folder, settings)
    with _at_work(run) as report:
        rank_sites(run, config, turned_down(run), lambda done, total: report("rank", done, total))


@contextmanager
def _at_work(run: RunDirectory) -> Iterator[Report]:
    """Hold a run, and heed the pause that its review may ask for, which is the only thing that is shown."""
    from twinlink.progress import reporter

    with run.lock(), reporter(quiet=True, pause=run.pause_file) as report:
        yield report


def _present(folder: Path, settings: dict[str, Any]) -> tuple[RunDirectory, Config]:
    """Return a run that exists with its own settings and what goes over them."""
    run = RunDirectory(folder)
    return run, _config(Config.load(run.config_file), settings)


def _config(base: Config, settings: dict[str, Any], langs: Sequence[str] = ()) -> Config:
    given = {name.replace("__", "."): _plain(value) for name, value in settings.items()}
    if langs:
        given["langs"] = [tag.strip() for tag in langs.split(",")] if isinstance(langs, str) else list(langs)
    return base.override(given)


def _plain(value: Any) -> Any:
    """Return a setting as a settings file has it: whole paths as text."""
    if isinstance(value, Path):
        return str(value.absolute())
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _texts(inputs: str | Path | Sequence[str | Path]) -> list[str]:
    """Return one or several addresses and paths as texts."""
    return [str(inputs)] if isinstance(inputs, str | Path) else [str(each) for each in inputs]


def _opened(run: RunDirectory) -> Run:
    from twinlink.run import open_run

    return open_run(run.path)
