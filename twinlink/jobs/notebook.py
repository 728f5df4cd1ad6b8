"""Stages started from a notebook, with the settings of the call and of the run.

Settings are remembered as on the command line, see `twinlink.rundir.remembered`. Messages go to the logger
``twinlink``: as warnings; remembered settings are information where `align`, `learn_patterns` or `rank` tells them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from twinlink.errors import ConfigError, TwinlinkError
from twinlink.jobs.python_words import python_words, speaking_python
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import CallSettings, call_settings
from twinlink.rundir.side_results import side_path

if TYPE_CHECKING:
    from twinlink.config import Config
    from twinlink.progress import Report
    from twinlink.system.workers import Workers

_log = logging.getLogger("twinlink")
_OF_RUN = ("align", "patterns", "rank")
_LANGUAGES = ("langs", "crawl.langs")


class Means(NamedTuple):
    """How a job of a notebook is done, whatever its stage: arguments of `twinlink.mine`."""

    forget: str | Sequence[str] = ()
    n_workers: int | None = None
    cluster: str = ""
    progress: bool | Report | None = None

    @property
    def workers(self) -> Workers:
        """Who does the work."""
        from twinlink.system.workers import Workers

        return Workers(self.n_workers, self.cluster)


DEFAULT_MEANS = Means()


@speaking_python()
def align(
    folder: Path,
    lexicon: str | Path | Sequence[str | Path] | None,
    settings: Mapping[str, Any],
    means: Means = DEFAULT_MEANS,
) -> None:
    """Align the sentences of a run's page pairs; without lexicons, those that the run remembers are used."""
    from twinlink.jobs.stages import align_stage

    call = read_call(folder, {**lexicon_settings(lexicon, "bitext.lexicons"), **settings}, forget=means.forget)
    with at_work(folder, call, ("align",), means.progress) as (run, report):
        align_stage(run, call.config, report, means.workers)


@speaking_python()
def match(
    folder: Path,
    langs: str | Sequence[str],
    lexicon: str | Path | Sequence[str | Path],
    settings: Mapping[str, Any],
    name: str = "",
    means: Means = DEFAULT_MEANS,
) -> Path:
    """Match the pages of a run again; without languages and lexicons, those that the run remembers are used.

    With a name, the run keeps its pairs: the new ones go into a run beside them, whose folder is returned.
    """
    from twinlink.jobs.stages import match_again

    target = side_path(folder, name) if name else folder
    given = {**lexicon_settings(lexicon), **settings}
    call = read_call(target if target.is_dir() else folder, given, langs, means.forget)
    place = at_work(target, call, ("match",), means.progress)
    match_again(RunDirectory(folder, _warn), target, place, call.config, means.workers)
    warn_without_pairs(RunDirectory(target), call.config)
    return target


def warn_without_pairs(run: RunDirectory, config: Config) -> None:
    """Warn of a match that found no pair, with the reason."""
    from twinlink.match.counts import count_match, why_none
    from twinlink.match.pairs_file import n_pairs

    folder = run.stage_folder("match")
    if not n_pairs(folder):
        counts = count_match(run, folder)
        why = why_none(counts.languages, config.langs, counts.reasons, prefixes=config.ingest.url_prefixes)
        _log.warning("0 pairs: %s", python_words(why))


def _warn(message: str) -> None:
    """Log a message of a run, which names options, as a warning that names arguments."""
    _log.warning("%s", python_words(message))


def lexicon_settings(
    lexicon: str | Path | Sequence[str | Path] | None, setting: str = "match.lexicons"
) -> dict[str, list[Path]]:
    """Return the setting for one or several lexicons; none for none.

    >>> lexicon_settings("auto"), lexicon_settings(()), lexicon_settings(None)
    ({'match.lexicons': [PosixPath('auto')]}, {}, {})
    """
    paths = [] if lexicon is None else [Path(text) for text in as_texts(lexicon)]
    return {setting: paths} if paths else {}


@speaking_python()
def learn_patterns(folder: Path, settings: Mapping[str, Any], means: Means = DEFAULT_MEANS) -> None:
    """Learn the URL patterns of a run's sites, in this process."""
    from twinlink.jobs.stages import patterns_stage

    call = read_call(folder, settings, forget=means.forget)
    with at_work(folder, call, ("patterns",), means.progress) as (run, report):
        patterns_stage(run, call.config, report)


@speaking_python()
def rank(folder: Path, settings: Mapping[str, Any], means: Means = DEFAULT_MEANS) -> None:
    """Rank the sites that a run's pages link to, in this process."""
    from twinlink.jobs.ranking import rank_stage

    call = read_call(folder, settings, forget=means.forget)
    with at_work(folder, call, ("rank",), means.progress) as (run, report):
        rank_stage(run, call.config, report)


@contextmanager
def at_work(
    folder: Path, call: CallSettings, stages: Sequence[str], progress: bool | Report | None = None
) -> Iterator[tuple[RunDirectory, Report]]:
    """Lock a run, show the progress (None: in terminals and notebooks), and honour pauses requested by its review."""
    from twinlink.progress import reporter

    with (
        RunDirectory.held(folder, _warn) as run,
        reporter(unwatched(progress), run.pause_file, run.progress_file) as report,
    ):
        if line := call.line(stages, "forget=[NAME]"):
            _log.log(logging.INFO if stages[0] in _OF_RUN else logging.WARNING, line)
        try:
            yield run, report
        except TwinlinkError as error:
            call.blame(error, "forget=[NAME]")
            raise


def unwatched(progress: bool | Report | None) -> bool | Report:
    """Return whether no progress is shown (None: as it is outside terminals and notebooks); a callable as it is."""
    from twinlink.progress import is_watched

    if callable(progress):
        return progress
    return not (is_watched() if progress is None else progress)


def read_call(
    run: Path | None,
    settings: Mapping[str, Any],
    langs: str | Sequence[str] = (),
    forget: str | Sequence[str] = (),
) -> CallSettings:
    """Return the settings of a call: those that the run remembers, and over them the given ones (``__`` for dots).

    Raises
    ------
    ConfigError
        If a setting is given twice, or see `call_settings`.
    """
    given: dict[str, Any] = {"langs": listed(langs)} if langs else {}
    for name, value in settings.items():
        setting = name.replace("__", ".")
        if setting in given:
            raise ConfigError(f"{setting}: given twice")
        given[setting] = listed(value) if setting in _LANGUAGES and isinstance(value, str) else _plain(value)
    return call_settings(run, given, forget=[name.replace("__", ".") for name in listed(forget)])


def listed(words: str | Sequence[str]) -> list[str]:
    """Return words given as one text with commas, or one by one.

    >>> listed("en, zh"), listed(("en", "zh")), listed("")
    (['en', 'zh'], ['en', 'zh'], [])
    """
    return [word.strip() for word in words.split(",") if word] if isinstance(words, str) else list(words)


def _plain(value: Any) -> Any:
    """Return a setting as a settings file has it: paths as text, numbers and arrays of NumPy as those of Python."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value) if isinstance(value, Path) else value


def as_texts(inputs: str | Path | Sequence[str | Path]) -> list[str]:
    """Return one or several addresses and paths as texts."""
    return [str(inputs)] if isinstance(inputs, str | Path) else [str(each) for each in inputs]
