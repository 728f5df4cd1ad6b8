"""Errors for Python: they name arguments and methods, where those of the command line name options and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from twinlink.errors import TwinlinkError

_ARGUMENTS = {
    "base-url": "base_url",
    "cluster": "cluster",
    "forget": "forget",
    "format": "bitext__formats",
    "langs": "langs",
    "lexicon": "lexicon",
    "method": "match__method",
    "min-precision": "match__min_precision",
    "min-probability": "match__min_probability",
    "port": "port",
    "warm": "bitext__warm",
    "workers": "workers",
}
_SWITCHES = {"add": "add=True", "labels": "match__labels=True", "replace": "replace=True"}
_METHODS = {
    "align": "run.align()",
    "discover": "tl.discover(…, out=…)",
    "ingest": "tl.mine(…, out=…)",
    "match": "run.match()",
    "mine": "tl.mine(…, out=…)",
    "patterns": "run.learn_patterns()",
    "rank": "run.rank()",
    "report": "run.report()",
}
_NUMBER, _ADDRESS = r"\d+(?:\.\d+)?", r"(?:https?|tcp)://[^\s,;]*[^\s,;:.]"
_OPTION = re.compile(rf"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: ({_NUMBER}|{_ADDRESS}|auto|'[^']*')(?![\w.]\w))?")
_SETTING = re.compile(r"(?<![\w-])--set ([\w.]+)=([^\s,;()]+)")
_COMMAND = re.compile(r"`twinlink (\w+)([^`]*)`")
_BESIDE = re.compile(r" -o ('[^']*'|\S+)$")
_TWICE = re.compile(r"(`[^`]+`) or \1")


@contextmanager
def speaking_python() -> Iterator[None]:
    """Let errors name arguments instead of options; also a decorator."""
    try:
        yield
    except TwinlinkError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (python_words(error.args[0]), *error.args[1:])
        raise


def python_words(message: str) -> str:
    """Return a message with arguments and methods instead of options and commands.

    >>> python_words("pass it with --base-url, for example --base-url http://www.example.org/")
    "pass it with base_url, for example base_url='http://www.example.org/'"
    >>> python_words("or --replace to start anew; or --min-precision 0 --min-probability 0.5")
    'or replace=True to start anew; or match__min_precision=0 match__min_probability=0.5'
    >>> python_words("no match here yet; run `twinlink match run` first")
    'no match here yet; run `run.match()` first'
    >>> python_words("`twinlink match run -o other` makes one")
    "`run.match(name='other')` makes one"
    >>> python_words("use more memory (--set run.memory=300MB)")
    "use more memory (run__memory='300MB')"
    """
    named = _OPTION.sub(_argument, _SETTING.sub(_named_value, message))
    return _TWICE.sub(r"\1", _COMMAND.sub(_method, named))


def _argument(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    if name in _SWITCHES:
        return _SWITCHES[name] + (f" {value}" if value else "")
    if name not in _ARGUMENTS:
        return found[0]
    return f"{_ARGUMENTS[name]}={_literal(value)}" if value else _ARGUMENTS[name]


def _named_value(found: re.Match[str]) -> str:
    return f"{found[1].replace('.', '__')}={_literal(found[2])}"


def _literal(value: str) -> str:
    """Return the value of an option as Python has it; ``…`` stands for any value."""
    is_written = value[0] in "'\"[" or value == "…" or re.fullmatch(_NUMBER, value)
    return value if is_written else repr(value)


def _method(found: re.Match[str]) -> str:
    beside = _BESIDE.search(found[2])
    if found[1] == "match" and beside:
        return f"`run.match(name={_literal(beside[1])})`"
    return f"`{_METHODS[found[1]]}`" if found[1] in _METHODS else found[0]
