"""Settings of a call: those stored by the run, overridden by a settings file, overridden by options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import TYPE_CHECKING, Any

from twinlink.config.toml import parse_toml
from twinlink.errors import ConfigError

if TYPE_CHECKING:
    from twinlink.config.match import MethodName
    from twinlink.rundir.remembered import CallSettings

_BARE_POINT = re.compile(r"^([+-]?)\.(?=\d)")
"""Start of a number such as .999, which TOML does not have."""


def crawl_options(
    site_by: str,
    contact: str,
    include: list[str],
    exclude: list[str],
    max_pages: int | None,
    max_site_pages: int | None,
) -> dict[str, Any]:
    """Return the options that `mine` and `crawl` share by the names of their settings."""
    return {
        "crawl.site_by": site_by,
        "crawl.contact": contact,
        "crawl.include": include,
        "crawl.exclude": exclude,
        "crawl.max_pages": max_pages,
        "crawl.max_site_pages": max_site_pages,
    }


def more_seeds(file: Path | None) -> list[str]:
    """Return the start addresses that a file has."""
    from twinlink.spiders.seeds import read_seeds

    return [] if file is None else read_seeds(file)


def match_options(
    langs: str,
    lexicon: list[Path],
    method: MethodName | None,
    min_probability: float | None,
    min_precision: float | None,
    labels: bool | None,
) -> dict[str, Any]:
    """Return the options that `mine` and `match` share by the names of their settings."""
    return {
        "langs": langs,
        "match.lexicons": lexicon,
        "match.method": method,
        "match.min_probability": min_probability,
        "match.min_precision": min_precision,
        "match.labels": labels,
    }


def settings_of(
    run: Path | None, file: Path | None, assignments: list[str], given: dict[str, Any], forget: Sequence[str] = ()
) -> CallSettings:
    """Put the settings of a call together: what the run remembers, a file over it, then single options."""
    from twinlink.rundir.remembered import call_settings

    values = {name: _plain(value) for name, value in given.items() if value not in ("", None, [])}
    if "langs" in values:
        values["langs"] = [tag.strip() for tag in values["langs"].split(",")]
    return call_settings(run, {**values, **dict(_assignment(text) for text in assignments)}, file, forget)


def _plain(value: Any) -> Any:
    """Return a value as a settings file has it."""
    if isinstance(value, Path):
        return str(value)
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set {text}: expected NAME=VALUE, e.g. match.ets.rounds=2")
    value = _BARE_POINT.sub(r"\g<1>0.", value.strip())
    try:
        return name.strip(), parse_toml(f"x = {value}", f"--set {name.strip()}")["x"]
    except TOMLDecodeError:
        return name.strip(), value
