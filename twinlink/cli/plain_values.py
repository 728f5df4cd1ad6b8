"""Values of options that need no validation: typer does it with pydantic, which takes longer to load than the help."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, get_origin

import typer
from typer.core import TyperCommand

_DIGITS = {int: re.compile("[0-9]{1,18}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")}


class Verb(TyperCommand):
    """A verb that leaves to typer only the values that are not plain: paths, choices, and wrong ones."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments."""
        return leaving_plain(super().get_params(ctx))


def leaving_plain(params: list[Any]) -> list[Any]:
    """Return options and arguments that leave plain values as they are."""
    for param in params:
        own = getattr(param, "get_runtime_param", None)  # a typer without it does not validate with pydantic
        if own and "get_runtime_param" not in vars(param):
            values = _Values(own)
            param.get_runtime_param = lambda values=values: values
    return params


class _Values:
    """The values of an option, in the place of typer's own reader of them."""

    def __init__(self, typers_own: Any) -> None:
        self._typers_own = typers_own

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:
        """Return a value as the verb takes it."""
        kind, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if info.parser is not None and isinstance(value, str):
            with suppress(ValueError):  # typer words it
                return info.parser(value)
        elif info.parser is None and _is_plain(kind, value):
            return value
        elif kind in _DIGITS and _is_within(kind, value, info):
            return kind(value)
        try:
            return self._typers_own().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter:
            if kind not in _DIGITS:
                raise
            raise typer.BadParameter(_expected(kind, info, value), ctx=ctx, param=param) from None


def _expected(kind: Any, info: Any, value: Any) -> str:
    """Return what number an option expects, and what came.

    >>> from types import SimpleNamespace
    >>> _expected(int, SimpleNamespace(min=1, max=None), "0")
    "expected a whole number, 1 or more, got '0'"
    """
    what = "a whole number" if kind is int else "a number"
    least, most = info.min, info.max
    if least is not None:
        what += f", {least} or more" if most is None else f" from {least} to {most}"
    return f"expected {what}, got {value!r}"


def _is_plain(kind: Any, value: Any) -> bool:
    """Return whether a value is of its kind: a text, several texts, or none."""
    if get_origin(kind) is not list:
        return kind is str and isinstance(value, str)
    return isinstance(value, list | tuple) and (not value or kind == list[str])


def _is_within(kind: Any, value: Any, info: Any) -> bool:
    """Return whether a value is written as a number from the least to the greatest one that an option takes."""
    if not (isinstance(value, str) and _DIGITS[kind].fullmatch(value)):
        return False
    return (info.min is None or kind(value) >= info.min) and (info.max is None or kind(value) <= info.max)
