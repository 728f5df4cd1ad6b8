"""All settings: one frozen record for each algorithm, combined in `Config`.

Settings come from a TOML file (`Config.load`) and from overrides over it (`Config.override`), e.g. the command line's.
Unknown names and values out of range raise an error with their location.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any, TypeVar

import msgspec

from twinlink.config.align import BitextSettings
from twinlink.config.crawl import CrawlSettings
from twinlink.config.discovery import DiscoverySettings
from twinlink.config.ingest import IngestSettings, LanguageSettings
from twinlink.config.match import MatchSettings
from twinlink.config.recover import RecoverSettings
from twinlink.config.run import RunSettings, read_size
from twinlink.config.settings import Settings, choices, plain, too_large
from twinlink.config.sites import RankingSettings
from twinlink.config.toml import parse_toml
from twinlink.errors import ConfigError
from twinlink.inputs import Expected, read_input_text
from twinlink.system.memory import Memory

__all__ = ["Config"]


_FILE = Expected("cannot be read", "no such settings file", ConfigError, 2**20)

ConfigT = TypeVar("ConfigT", bound="Config")


class Config(Settings, frozen=True):
    """Everything that a run depends on.

    Examples
    --------
    >>> Config().override({"langs": ["en", "zh"], "match.ets.alpha": 0.3}).match.ets.alpha
    0.3
    >>> Config().override({"match.ets.alpha": 3})
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: settings: match.ets.alpha: expected a number <= 1.0
    """

    langs: tuple[str, ...] = ()
    """Wanted languages, by code or name (`zh-TW`, `zho`, `Chinese`; `zh` includes `zh-Hant` and `zh-Hans`). Each means
    the closest language that a site has. Empty: the two most frequent on each site."""
    run: RunSettings = RunSettings()
    crawl: CrawlSettings = CrawlSettings()
    ingest: IngestSettings = IngestSettings()
    language: LanguageSettings = LanguageSettings()
    match: MatchSettings = MatchSettings()
    bitext: BitextSettings = BitextSettings()
    recover: RecoverSettings = RecoverSettings()
    ranking: RankingSettings = RankingSettings()
    discover: DiscoverySettings = DiscoverySettings()

    @classmethod
    def load(cls, path: Path, base: Config | None = None) -> Config:
        """Read a TOML file; missing settings are taken from ``base``, by default the defaults."""
        try:
            named = parse_toml(read_input_text(path, _FILE), str(path))
        except TOMLDecodeError as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from error
        return _convert(named if base is None else _merged(msgspec.to_builtins(base), named), str(path))

    def override(self, values: Mapping[str, Any]) -> Config:
        """Return a copy with some values replaced; keys are dotted names such as ``match.ets.alpha``."""
        tree = msgspec.to_builtins(self)
        for name, value in values.items():
            *parents, leaf = name.split(".")
            node = tree
            for parent in parents:
                node = node.get(parent) if isinstance(node, dict) else None
            if not isinstance(node, dict) or leaf not in node:
                raise ConfigError(f"settings: no setting {name!r}; {_meant(name, msgspec.to_builtins(self))}")
            node[leaf] = value
        return _convert(tree, "settings")

    @property
    def memory(self) -> Memory:
        """Memory that a stage may take."""
        return Memory.of(int(self.run.memory))

    def to_toml(self) -> str:
        """Return the settings as a TOML text that `load` reads back; settings without a value are left out."""
        import tomli_w

        return tomli_w.dumps(_without_none(msgspec.to_builtins(self)))


def _merged(tree: dict[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of settings with some of them changed."""
    changed = {
        name: _merged(tree[name], value) if isinstance(value, dict) and isinstance(tree.get(name), dict) else value
        for name, value in named.items()
    }
    return {**tree, **changed}


def _convert(tree: dict[str, Any], where: str) -> Config:
    if name := too_large(tree):
        raise ConfigError(f"{where}: {name}: expected a number of at most 18 digits")
    try:
        config = msgspec.convert(tree, Config)
    except msgspec.ValidationError as error:
        allowed = ", ".join(choice or "''" for choice in choices(Config, str(error)))
        raise ConfigError(f"{where}: {plain(str(error))}" + (f"; choose from {allowed}" if allowed else "")) from error
    return _with_languages(_with_memory(config, where), where)


def _with_memory(config: Config, where: str) -> Config:
    """Turn the size of the memory into bytes."""
    memory = read_size(config.run.memory, f"{where}: run.memory")
    return msgspec.structs.replace(config, run=msgspec.structs.replace(config.run, memory=memory))


def _with_languages(config: Config, where: str) -> Config:
    """Read the languages that the settings name."""
    if not config.langs and not config.crawl.langs:
        return config  # imported here: slow to load
    from twinlink.language_names import read_languages

    try:
        langs, of_crawl = read_languages(config.langs), read_languages(config.crawl.langs, "crawl.langs")
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return msgspec.structs.replace(config, langs=langs, crawl=msgspec.structs.replace(config.crawl, langs=of_crawl))


def _meant(name: str, tree: dict[str, Any]) -> str:
    """Return advice on an unknown setting: the one with the most similar name, or where all are listed."""
    near = get_close_matches(name, _names(tree), n=1)
    return f"did you mean {near[0]}?" if near else "the file config.toml of a run lists all settings"


def _names(tree: Mapping[str, Any], before: str = "") -> list[str]:
    """Return the names of all settings, with dots."""
    names: list[str] = []
    for name, value in tree.items():
        names += _names(value, f"{before}{name}.") if isinstance(value, dict) else [before + name]
    return names


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    return {k: _without_none(v) if isinstance(v, dict) else v for k, v in tree.items() if v is not None}
