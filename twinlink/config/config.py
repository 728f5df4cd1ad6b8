"""All settings: one frozen record for each algorithm, combined in `Config`.

Settings come from a TOML file (`Config.load`) and from overrides over it (`Config.override`), e.g. the command line's.
Unknown names and values out of range raise an error with their location.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from twinlink.config.align import BitextSettings
from twinlink.config.crawl import CrawlSettings
from twinlink.config.ingest import IngestSettings, LanguageSettings
from twinlink.config.match import MatchSettings
from twinlink.config.recover import RecoverSettings
from twinlink.config.settings import Settings, explained, too_large
from twinlink.config.sites import DiscoverySettings, RankingSettings
from twinlink.config.toml import parse_toml
from twinlink.errors import ConfigError
from twinlink.inputs import InputFile, read_input_text
from twinlink.system.memory import Memory

__all__ = ["Config", "RunSettings", "read_size"]

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([kMGT]i?)?B?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LEAST_MEMORY = 1_000_000
_FILE = InputFile("cannot be read", "no such settings file", ConfigError, 2**20)

ConfigT = TypeVar("ConfigT", bound="Config")


class RunSettings(Settings, frozen=True):
    """Means of a run; no result depends on them."""

    memory: Annotated[int, Meta(ge=0)] | str = 0
    """Memory that a stage may take, in bytes or as a size (`2GB`, `500MB`, `1.5GiB`). By it, stages plan how many
    processes work, how much they hold before they write to disk, and which sites are matched at the same time. 0: half
    of what the machine has, or of the limit of the container. One site is always matched as a whole: what its match
    keeps between its steps goes to disk, but the steps themselves may take more."""


def read_size(text: int | str, where: str) -> int:
    """Return the bytes of a size.

    Parameters
    ----------
    text : int or str
        Bytes, or a number with a unit: kB, MB, GB, TB (powers of 1,000), KiB, MiB, GiB, TiB (of 1,024).
    where : str
        Its name in messages.

    Raises
    ------
    ConfigError
        If it is not a size.

    Examples
    --------
    >>> read_size("2GB", "run.memory"), read_size("1.5 GiB", "run.memory"), read_size(7, "run.memory")
    (2000000000, 1610612736, 7)
    """
    if isinstance(text, int):
        return text
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        raise ConfigError(f"{where}: expected bytes or a size such as 2GB, got {text!r}")
    unit = (size[2] or "").lower()
    factor: int = (1024 if unit.endswith("i") else 1000) ** _POWERS[unit[:1]]
    return round(float(size[1]) * factor)


class Config(Settings, frozen=True):
    """Everything that a run depends on.

    Examples
    --------
    >>> Config().override({"langs": ["en", "zh"], "match.ets.rounds": 2}).match.ets.rounds
    2
    >>> Config().override({"match.ets.rounds": -1})
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: settings: match.ets.rounds: expected a whole number >= 0, got -1
    """

    langs: tuple[str, ...] = ()
    """Wanted languages, by code or name (`zh-TW`, `zho`, `Chinese`; `zh` includes `zh-Hant` and `zh-Hans`). Each means
    the closest language that a site has. Empty: on each site, the two that nearly all pages declare, else the two most
    frequent ones."""
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
    def load(cls, path: str | Path, base: Config | None = None, ignored: Sequence[str] = ()) -> Config:
        """Read a TOML file, without the settings ``ignored``; missing ones are taken from ``base``, or the defaults."""
        try:
            named = parse_toml(read_input_text(Path(path), _FILE), str(path))
        except TOMLDecodeError as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from error
        for name in ignored:
            named = _without(named, name)
        return _convert(named if base is None else _merged(msgspec.to_builtins(base), named), str(path))

    def override(self, values: Mapping[str, Any]) -> Config:
        """Return a copy with some values replaced; keys are dotted names such as ``match.ets.rounds``.

        A text for a list is its only item, or for a list of choices, several with commas between.

        >>> Config().override({"bitext.tags.swaps": "heading-paragraph=0.5"}).bitext.tags.swaps
        ('heading-paragraph=0.5',)
        >>> Config().override({"bitext.formats": "tmx, tsv"}).bitext.formats
        ('tmx', 'tsv')
        """
        tree = msgspec.to_builtins(self)
        for name, value in values.items():
            *parents, leaf = name.split(".")
            node = tree
            for parent in parents:
                node = node.get(parent) if isinstance(node, dict) else None
            if not isinstance(node, dict) or leaf not in node:
                raise ConfigError(f"settings: no setting {name!r}; {_meant(name, msgspec.to_builtins(self))}")
            is_only_item = isinstance(node[leaf], (list, tuple)) and isinstance(value, str)
            node[leaf] = _items(name, value) if is_only_item else value
        return _convert(tree, "settings")

    @property
    def memory(self) -> Memory:
        """Memory that a stage may take."""
        return Memory.of(int(self.run.memory))

    def to_toml(self) -> str:
        """Return the settings as a TOML text that `load` reads back; settings without a value are left out."""
        import tomli_w

        return tomli_w.dumps(_without_none(msgspec.to_builtins(self)))


def _items(name: str, text: str) -> list[str]:
    """Return the items that a text gives for a list; no choice has a comma."""
    if not isinstance(_item_type(name), msgspec.inspect.LiteralType):
        return [text]
    return [item for part in text.split(",") if (item := part.strip())] or [text]


def _item_type(name: str) -> object:
    """Return msgspec's type of the items of a list."""
    kind: object = msgspec.inspect.type_info(Config)
    for part in name.split("."):
        fields = kind.fields if isinstance(kind, msgspec.inspect.StructType) else ()
        kind = next((field.type for field in fields if field.name == part), None)
    return kind.item_type if isinstance(kind, msgspec.inspect.VarTupleType) else None


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
        raise ConfigError(f"{where}: {explained(Config, str(error), tree)}") from error
    except ConfigError as error:  # by a record's own check
        raise ConfigError(f"{where}: {error}") from None
    return _with_languages(_with_memory(config, where), where)


def _with_memory(config: Config, where: str) -> Config:
    """Turn the size of the memory into bytes; refuse one that lacks its unit."""
    memory = read_size(config.run.memory, f"{where}: run.memory")
    if 0 < memory < _LEAST_MEMORY:
        raise ConfigError(f"{where}: run.memory: expected at least 1MB (2GB, 500MB …), or 0, got {memory} bytes")
    return replace(config, run=replace(config.run, memory=memory))


def _with_languages(config: Config, where: str) -> Config:
    """Read the languages that the settings name."""
    if not config.langs and not config.crawl.langs:
        return config  # imported here: slow to load
    from twinlink.language_names import read_languages

    try:
        langs, of_crawl = read_languages(config.langs), read_languages(config.crawl.langs, "crawl.langs")
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return replace(config, langs=langs, crawl=replace(config.crawl, langs=of_crawl))


def _meant(name: str, tree: dict[str, Any]) -> str:
    """Return advice on an unknown setting: the one with the most similar name, or where all are listed."""
    near = get_close_matches(name, _names(tree), n=1)
    return f"did you mean {near[0]}?" if near else "in Python, `print(twinlink.Config().to_toml())` lists all settings"


def _names(tree: Mapping[str, Any], before: str = "") -> list[str]:
    """Return the names of all settings, with dots."""
    names: list[str] = []
    for name, value in tree.items():
        names += _names(value, f"{before}{name}.") if isinstance(value, dict) else [before + name]
    return names


def _without(tree: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a tree of settings without one of them.

    >>> _without({"ingest": {"site_by": "host", "base_url": ""}}, "ingest.site_by")
    {'ingest': {'base_url': ''}}
    """
    first, _, rest = name.partition(".")
    kept = {key: value for key, value in tree.items() if rest or key != first}
    return {**kept, first: _without(tree[first], rest)} if rest and isinstance(tree.get(first), Mapping) else kept


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    return {k: _without_none(v) if isinstance(v, dict) else v for k, v in tree.items() if v is not None}
