"""Shell completion of runs, languages, settings and their values, and choices; the shell completes files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from twinlink.run_files import CONFIG_FILE

__all__ = ["NAME_BEFORE", "complete_langs", "complete_runs", "complete_setting", "listed", "mend_bash_words", "one_of"]

# typer takes the words of bash as they come, so it completes neither `--method=we` nor `--set match.method=`, nor any
# word after an address: without this module six cases of tests/cli/test_completion.py fail (typer 0.29).

NAME_BEFORE = "_TWINLINK_NAME_BEFORE"
"""Variable with what stands before the word that is completed and belongs to it: ``match.method`` of ``match.method=``.

bash replaces only what comes after the last ``=`` or ``:``, so the rest is not part of the word.
"""
Choices = list[tuple[str, str]]
_PLAIN = re.compile(r"[\w./@%+,=-]+")


def mend_bash_words(environment: MutableMapping[str, str]) -> None:
    r"""Join words split at ``=`` and ``:`` (``--langs=en``, ``match.method=urls``, ``https://…``), in place.

    Parameters
    ----------
    environment : mapping
        Where ``COMP_WORDS`` has the words, one per line, and ``COMP_CWORD`` the place of the one that is completed.

    Examples
    --------
    >>> variables = {"COMP_WORDS": "twinlink\nmatch\n--set\nmatch.method\n=\nur", "COMP_CWORD": "5"}
    >>> mend_bash_words(variables)
    >>> variables["COMP_WORDS"].split("\n"), variables["COMP_CWORD"], variables[NAME_BEFORE]
    (['twinlink', 'match', '--set', 'ur'], '3', 'match.method')
    """
    words, place = environment.get("COMP_WORDS", "").split("\n"), environment.get("COMP_CWORD", "")
    if not place.isdecimal():
        return
    current = words[int(place)] if int(place) < len(words) else ""
    before = words[: int(place)]
    if current in {"=", ":"}:
        before, current = [*before, current], ""
    joined = _joined(before)
    if before and before[-1] in {"=", ":"} and len(joined) > 1:
        name = joined.pop()
        if name.startswith("--"):  # the value of an option is a word of its own
            joined.append(name.removesuffix("="))
        else:
            environment[NAME_BEFORE] = name[:-1]
    environment["COMP_WORDS"] = "\n".join([*joined, current])
    environment["COMP_CWORD"] = str(len(joined))


def _joined(words: list[str]) -> list[str]:
    """Return words with those around a ``=`` or ``:`` joined."""
    joined: list[str] = []
    glue = False
    for word in words:
        cut = word in {"=", ":"}
        if joined and (cut or glue):
            joined[-1] += word
        else:
            joined.append(word)
        glue = cut
    return joined


def complete_runs(incomplete: str) -> list[str]:
    """Return the run directories that a path may become; none for a path that only a shell can quote.

    Where there is none, shells fall back to files and folders.
    """
    head, slash, tail = incomplete.rpartition("/")
    folder = Path(os.path.expanduser(f"{head}{slash}") or ".")  # noqa: PTH111  (Path would drop the slash)
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(tail))
        names = [name for name in names if (folder / name / CONFIG_FILE).is_file()]
    except OSError:
        return []
    return [head + slash + name for name in names] if all(map(_PLAIN.fullmatch, names)) else []


def complete_langs(incomplete: str) -> list[str]:
    """Return the language tags that the last one of a list with commas may become.

    >>> complete_langs("zh,e")
    ['zh,el', 'zh,en', 'zh,es', 'zh,eu']
    """
    from twinlink.languages import NAMES

    return _in_list(incomplete, sorted(NAMES))


def one_of(*values: str) -> Callable[[str], list[str]]:
    """Return a completion by fixed values."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return complete


def listed(*values: str) -> Callable[[str], list[str]]:
    """Return a completion by fixed values with commas between."""

    def complete(incomplete: str) -> list[str]:
        return _in_list(incomplete, list(values))

    return complete


def _in_list(incomplete: str, values: list[str]) -> list[str]:
    before, comma, tail = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + value for value in values if value.startswith(tail) and value not in taken]


def complete_setting(incomplete: str) -> Choices:
    """Return the names of the settings, each with its default; of a single one the values that it may have.

    Of a number this is the default: with two things to choose from, bash puts no blank behind the ``=``.

    >>> complete_setting("match.ets.ro")
    [('match.ets.rounds=', 'default 3'), ('match.ets.rounds=3', 'default 3')]
    >>> [value for value, _ in complete_setting("match.ets.neighbours=")]
    ['match.ets.neighbours=both', 'match.ets.neighbours=in', 'match.ets.neighbours=out']
    """
    before = os.environ.get(NAME_BEFORE, "")  # bash completes the value alone
    name, equals, _ = f"{before}={incomplete}".partition("=") if before else incomplete.partition("=")
    settings = dict(_settings())
    if not equals:
        names = [each for each in settings if each.startswith(incomplete)]
        offered = [(f"{each}=", f"default {_toml(settings[each][1])}") for each in names]
        if len(names) != 1:
            return offered
        name = names[0]
    elif name not in settings:
        return []
    else:
        offered = []
    kind, default = settings[name]
    stem = "" if before else f"{name}="
    text = _toml(default)
    values = _values(kind) or ([text] if text != "none" and _PLAIN.fullmatch(text) else [])
    return offered + [
        (stem + value, "default " * (value == text) + value)
        for value in values
        if (stem + value).startswith(incomplete)
    ]


def _settings() -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the name of every setting with its type and its default."""
    from msgspec import inspect

    from twinlink.config import Config

    def walk(record: Any, name: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
        for field in inspect.type_info(type(record)).fields:  # type: ignore[attr-defined]
            value, path = getattr(record, field.name), f"{name}{field.name}"
            if isinstance(field.type, inspect.StructType):
                yield from walk(value, f"{path}.")
            else:
                yield path, (field.type, value)

    yield from walk(Config(), "")


def _values(kind: Any) -> list[str]:
    from msgspec import inspect

    while isinstance(kind, inspect.VarTupleType):
        kind = kind.item_type
    if isinstance(kind, inspect.BoolType):
        return ["true", "false"]
    return [str(value) for value in kind.values] if isinstance(kind, inspect.LiteralType) else []


def _toml(value: Any) -> str:
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
