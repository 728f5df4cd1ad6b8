"""Every command with its arguments and options, as Markdown: read from the command line's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import EnumType
from typing import Any, Literal, get_args, get_origin

import typer.main
from site_text import escaped

from twinlink.cli import app

_EXAMPLE = re.compile(r"^Example: (.*)$", re.MULTILINE)


def verbs() -> dict[str, Any]:
    """Return the commands by name, in the order of the main help."""
    root: Any = typer.main.get_command(app)
    return {name: command for name, command in root.commands.items() if not command.hidden}


def commands_page() -> str:
    """Return a table of the commands and a section for each.

    >>> "## twinlink mine" in commands_page()
    True
    """
    lines = ["| command | what it does |", "|---|---|"]
    lines += [f"| [`twinlink {name}`](#twinlink-{name}) | {_first_line(each)} |" for name, each in verbs().items()]
    for name, command in verbs().items():
        lines += ["", *_section(name, command)]
    return "\n".join(lines)


def _first_line(command: Any) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def _section(name: str, command: Any) -> Iterator[str]:
    text = command.help or ""
    examples = _EXAMPLE.findall(text)
    yield f"## twinlink {name}"
    for paragraph in _EXAMPLE.sub("", text).strip().split("\n\n"):
        yield ""
        yield escaped(" ".join(paragraph.split()))
    if examples:
        yield from ["", "```console", *(f"$ {line}" for line in examples), "```"]
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    rows = [_row(parameter) for parameter in shown]
    yield from ["", "| | | default |", "|---|---|---|", *rows]


def _row(parameter: Any) -> str:
    return f"| {_names(parameter)} | {_help(parameter)} | {_default(parameter)} |"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _code(parameter.metavar or parameter.name.upper())
    flags = [*parameter.opts, *parameter.secondary_opts]
    value = "" if parameter.is_flag else f" {_metavar(parameter)}"
    return ", ".join(_code(flag + value) for flag in sorted(flags, key=len, reverse=True))


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar) if parameter.metavar else "|".join(_choices(parameter)) or parameter.name.upper()


def _choices(parameter: Any) -> list[str]:
    """Return what an option may be, where that is a list; typer of its own and typer on click keep it differently."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if isinstance(kind, EnumType):
        return [str(each.value) for each in kind]
    return [str(getattr(each, "value", each)) for each in getattr(_type(parameter), "choices", ())]


def _type(parameter: Any) -> Any:
    return getattr(parameter, "type", None) or parameter


def _help(parameter: Any) -> str:
    text = escaped(" ".join((parameter.help or "").split()))
    low, high = getattr(_type(parameter), "min", None), getattr(_type(parameter), "max", None)
    if low is not None and high is not None:
        return f"{text} From {low:g} to {high:g}."
    return f"{text} At least {low:g}." if low is not None else text


def _default(parameter: Any) -> str:
    if parameter.required:
        return "has to be given"
    value = parameter.default
    return "" if not value or callable(value) else _code(str(value))


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"
