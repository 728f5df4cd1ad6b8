"""Settings remembered by a run, and their combination with those of a call.

One rule holds for all commands and for the library. A stage that has succeeded writes the settings that it uses to
``RUN/config.toml``, together with its result; a stage that fails writes nothing. A later call starts with the
remembered settings; a settings file overrides them, and single settings override both. Remembered values that are
not the defaults are reported wherever they apply, and `forget` restores the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from twinlink.config import Config
from twinlink.config.toml import parse_toml
from twinlink.errors import ConfigError, TwinlinkError
from twinlink.files import write_text
from twinlink.inputs import named_languages
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import leaves, shown

__all__ = ["CallSettings", "call_settings", "keep_with", "remember", "remembered"]

ALL, CLEAR = "all", "--forget NAME"
_USED: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl",),
    "langs": ("langs",),
    "ingest": ("ingest", "crawl.site_by", "run"),
    "match": ("langs", "language", "match", "run"),
    "align": ("bitext", "match.lexicons", "run"),
    "patterns": ("match.patterns",),
    "recover": ("recover", "crawl", "match.patterns"),
    "rank": ("ranking", "run"),
    "verify": ("match.bitextor", "match.webmining", "match.models", "match.url_rule"),
    "discover": ("discover", "langs", "crawl", "ingest", "match.patterns", "ranking"),
}
"""Settings that each stage uses, by their names or by what these begin with."""

_FILES = (
    "match.lexicons",
    "match.patterns.libraries",
    "bitext.lexicons",
    "bitext.warm",
    "ranking.host_graph",
    "ranking.graph.common_crawl",
)
_GONE = ("ingest.site_by",)
"""Settings that no longer exist. Each run remembers all settings, so runs of earlier versions have them."""
_OF_ONE_CALL = {"crawl.again": False}
_SHOWN = 8  # remembered settings that are named in one line


def remembered(run: RunDirectory) -> Config:
    """Return the settings that a run remembers; of a run that remembers none, the defaults.

    Raises
    ------
    ConfigError
        If its file cannot be read as settings.
    """
    try:
        return Config.load(run.config_file, ignored=_GONE) if run.config_file.is_file() else Config()
    except ConfigError as error:
        advice = "correct it, or remove it to use the defaults"
        raise ConfigError(f"{error}. The run remembers its settings in this file: {advice}") from error


def remember(run: RunDirectory, config: Config, *stages: str) -> None:
    """Write the settings of stages that have succeeded; those of other stages are not changed."""
    text = _with(run, config, stages)
    if not _is_there(run.config_file, text):
        write_text(run.config_file, text)


def keep_with(run: RunDirectory, folder: Path, config: Config, *stages: str) -> None:
    """Write the settings into ``folder`` with the result of a stage, so that both are committed together."""
    run.top(folder, run.config_file.name).write_text(_with(run, config, stages), encoding="utf-8")


def _with(run: RunDirectory, config: Config, stages: Sequence[str]) -> str:
    values = flat(config)
    used = [name for stage in stages for within in _USED[stage] for name in values if _is_within(name, within)]
    return remembered(run).override({name: values[name] for name in used} | _OF_ONE_CALL).to_toml()


def _is_there(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8", errors="replace") == text


def flat(config: Config) -> dict[str, Any]:
    """Return the single settings by their names with dots."""
    return dict(leaves(msgspec.to_builtins(config)))


def _names_in(file: Path) -> set[str]:
    """Return the names of the settings in a settings file, which has been read before."""
    return {name for name, _ in leaves(parse_toml(file.read_text(encoding="utf-8-sig"), str(file)))}


def _is_within(name: str, within: str) -> bool:
    return within in (ALL, name) or name.startswith(f"{within}.")


class CallSettings(msgspec.Struct, frozen=True):
    """The settings of one call, and which of them it has from the run."""

    config: Config
    """All of them, as they are in force."""
    applied: Mapping[str, Any]
    """Those that the run remembers, that are not the defaults, and that the call does not name itself."""
    file: Path | None
    """Where the run remembers them; None: the call is about no run."""

    def line(self, stages: Iterable[str], clear: str = CLEAR) -> str:
        """Return a line that tells which remembered settings apply to some stages; empty if none does.

        ``clear`` says how a call forgets one.
        """
        within = {name for stage in stages for name in _USED[stage]}
        names = [name for name in self.applied if any(_is_within(name, each) for each in within)]
        if not names:
            return ""
        values = [f"{name}={shown(self.applied[name])}" for name in names[:_SHOWN]]
        more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        return f"remembered in {self.file}: {', '.join([*values, *more])} ({clear} takes the default)"

    def blame(self, error: TwinlinkError, clear: str = CLEAR) -> None:
        """Add to an error about a remembered setting where that is remembered, and how to clear it."""
        text = str(error)
        names = [name for name, value in self.applied.items() if _is_about(text, name, value)]
        if names and error.args:
            what = "are" if len(names) > 1 else "is"
            forget = " ".join(clear.replace("NAME", name) for name in names)
            where = f"{' and '.join(names)} {what} remembered in {self.file}; `{forget}` takes the default"
            error.args = (f"{text}. {where}", *error.args[1:])


def _is_about(text: str, name: str, value: object) -> bool:
    """Return whether an error names a setting, or a file that stands in it."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    files = [part for part in parts if isinstance(part, str) and "/" in part]
    return any(file in text for file in files) or bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text))


def call_settings(
    run: Path | None, values: Mapping[str, Any], file: Path | None = None, forget: Sequence[str] = ()
) -> CallSettings:
    """Combine the settings of a call.

    Parameters
    ----------
    run : Path or None
        The run directory, which need not be there; what it remembers comes first.
    values : mapping
        Single settings by their names, over all others.
    file : Path, optional
        A settings file, over what the run remembers.
    forget : sequence of str
        Settings, or beginnings of their names, that take the default instead of what the run remembers; ``all``: all.

    Raises
    ------
    ConfigError
        If a setting does not exist or has a wrong value, or a file cannot be read.
    """
    defaults = flat(Config())
    gone = [name for each in forget for name in _named(each, defaults)]
    own = Config() if run is None else remembered(RunDirectory(run))
    own = own.override({name: defaults[name] for name in gone})
    given = own if file is None else Config.load(file, own)
    named = set(values) if file is None else {*values, *_names_in(file)}
    applied = {} if run is None else {n: v for n, v in flat(own).items() if v != defaults[n] and n not in named}
    config = _with_whole_paths(given.override(values))
    return CallSettings(config, applied, None if run is None else RunDirectory(run).config_file)


def _with_whole_paths(config: Config) -> Config:
    """Return the settings with whole paths of files: the next call may come from another folder."""
    values = flat(config)
    return config.override({name: [_whole(file) for file in values[name]] for name in _FILES})


def _whole(file: str) -> str:
    """Return a file, or ``LANG-LANG=FILE``, with its whole path; ``auto`` is none (`twinlink.similarity.lexicon_sets`).

    >>> _whole("auto"), _whole("en-fr=/data/memory.tsv")
    ('auto', 'en-fr=/data/memory.tsv')
    """
    if file == "auto":
        return file
    langs, path = named_languages(file)
    return f"{langs}={Path(path).absolute()}" if langs else str(Path(path).absolute())


def _named(within: str, names: Iterable[str]) -> list[str]:
    found = [name for name in names if _is_within(name, within)]
    if not found:
        Config().override({within: None})  # says that there is none, and which one may be meant
    return found
