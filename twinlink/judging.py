"""Which pages and pairs `twinlink evaluate` counts: those of the run, those of two languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from twinlink.errors import ConfigError, GoldError

if TYPE_CHECKING:
    from twinlink.evaluate import Gold
    from twinlink.run import Run

__all__ = ["between", "check_gold", "gold_between", "two_languages"]


def two_languages(found: Run, langs: str) -> tuple[str, str]:
    """Return the two languages that are named, which the run must have."""
    wanted = [tag.strip().lower() for tag in langs.split(",")]
    if len(wanted) != 2 or wanted[0] == wanted[1]:
        raise ConfigError(f"--langs {langs}: expected two languages, e.g. en,zh")
    there = sorted(set(found.pages["lang"]))
    for tag in wanted:
        if not tag or not any(_covers(tag, lang) for lang in there):
            raise ConfigError(f"--langs {langs}: the run has no page in {tag!r}; it has {', '.join(there)}")
    return wanted[0], wanted[1]


def between(langs_a: Iterable[str], langs_b: Iterable[str], wanted: tuple[str, str]) -> list[bool]:
    """Tell of each two languages whether they are the wanted ones, in either order."""
    both = zip(langs_a, langs_b, strict=True)
    return [_are(pair, wanted) or _are(pair[::-1], wanted) for pair in both]


def _are(langs: tuple[str, ...], wanted: tuple[str, str]) -> bool:
    return all(_covers(tag, lang) for lang, tag in zip(langs, wanted, strict=True))


def gold_between(gold: Gold, found: Run, wanted: tuple[str, str]) -> Gold:
    """Leave out the gold pairs with a page that the run has in another language."""
    langs = zip(found.pages["url"], found.pages["lang"], strict=True)
    others = {gold.key(url) for url, lang in langs if not any(_covers(tag, lang) for tag in wanted)}
    return replace(gold, pairs=tuple(pair for pair in gold.pairs if others.isdisjoint(pair)))


def _covers(tag: str, lang: str) -> bool:
    """Tell whether a wanted language takes one in: ``zh`` takes in ``zh-Hant``."""
    return f"{lang}-".lower().startswith(f"{tag}-")


def check_gold(found: Run, path: Path, known: frozenset[str], key: Callable[[str], str]) -> None:
    """Refuse a gold list that names no page of the run; say how many it names that are not there."""
    there = {key(url) for url in found.pages["url"]}
    missing = known - there
    if len(missing) == len(known):
        example = min(missing)
        raise GoldError(
            f"{path}: none of its {len(known)} addresses is in the run, e.g. {example}; is it this site's gold?"
        )
    if missing:
        typer.echo(f"note: {len(missing)} of {len(known)} gold addresses are not in the run, e.g. {min(missing)}")
