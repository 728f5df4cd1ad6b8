"""Base class and value ranges of all settings."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, inspect
from msgspec.structs import fields, force_setattr

from twinlink.errors import ConfigError

Unit = Annotated[float, Meta(ge=0, le=1)]
Positive = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
HEADER_TEXT = r"^[\x20-\x7e]*$"
"""Text that may stand in a header of a request: printable ASCII."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """Base of the records: frozen; unknown names and values out of range are errors.

    msgspec compares values with their ranges when it reads a file. This class does so for records made in Python.
    """

    def __post_init__(self) -> None:
        """Check the values that are not the default.

        Raises
        ------
        ConfigError
            If one is out of its range or of another type.
        """
        for name, default in zip(self.__struct_fields__, self.__struct_defaults__, strict=True):
            value = getattr(self, name)
            if value is not default:
                force_setattr(self, name, _checked(type(self), name, value))


def _checked(record: type[Settings], name: str, value: Any) -> Any:
    """Return a value of the type of its setting: a scalar of numpy as a number of Python, a list as a tuple."""
    try:
        return convert(value.item() if hasattr(value, "item") else value, _types(record)[name])
    except ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        message = f"{what} - at `$.{name}{place or '`'}"
        raise ConfigError(f"{record.__name__}: {explained(record, message, {name: value})}") from None


@cache
def _types(record: type[Settings]) -> dict[str, Any]:
    """Return the types of settings, with their ranges."""
    return {field.name: field.type for field in fields(record)}


_WRONG_CHOICE = re.compile(r"Invalid enum value .* - at `\$\.([\w.]+)(\[\.\.\.\]|\[\d+\])?`", re.DOTALL)


def choices(record: type[Settings], message: str) -> tuple[str, ...]:
    """Return the choices of a setting from msgspec's message on an invalid choice; nothing for another message."""
    wrong = _WRONG_CHOICE.match(message)
    kind: object = inspect.type_info(record)
    for name in wrong[1].split(".") if wrong else ():
        fields = kind.fields if isinstance(kind, inspect.StructType) else ()
        kind = next((field.type for field in fields if field.encode_name == name), None)
    while isinstance(kind, inspect.VarTupleType):
        kind = kind.item_type
    return tuple(map(str, kind.values)) if isinstance(kind, inspect.LiteralType) else ()


_PLACE = re.compile(r"(.*) - at `\$\.([^`]+)`", re.DOTALL)
_WORDS = {
    "`float`": "a number",
    "`int`": "a whole number",
    "`int | str`": "bytes or a size such as 2GB",
    f"`str` matching regex {HEADER_TEXT!r}": "only English letters, digits and signs: it is sent in a header of HTTP",
    "`str`": "text",
    "`bool`": "true or false",
    "`array`": 'a list such as ["a", "b"]',
    "`object`": "a table of settings",
    "`null`": "nothing",
}


def plain(message: str) -> str:
    """Return msgspec's message on a wrong setting in plain words, the setting's name first.

    >>> plain("Expected `float` <= 1.0 - at `$.match.ets.alpha`")
    'match.ets.alpha: expected a number <= 1.0'
    >>> plain("Invalid enum value 'csv' - at `$.bitext.formats[0]`")
    "bitext.formats[0]: unknown value 'csv'"
    """
    place = _PLACE.fullmatch(message)
    text, where = (place[1], f"{place[2]}: ") if place else (message, "")
    text = text.replace(" | null`", "`")
    for kind, word in _WORDS.items():
        text = text.replace(kind, word)
    text = text.replace(" | nothing", "").replace("Object contains unknown field", "there is no setting")
    text = text.replace("Invalid enum value", "unknown value")
    return where + text[:1].lower() + text[1:]


def explained(record: type[Settings], message: str, tree: Mapping[str, Any]) -> str:
    """Return msgspec's message on a wrong setting in plain words, with the choices that there are, or what came."""
    allowed = ", ".join(choice or "''" for choice in choices(record, message))
    said = plain(message)
    if allowed:
        return f"{said}; choose from {allowed}"
    place = _PLACE.fullmatch(message)
    if place is None or not place[1].startswith("Expected") or ", got" in place[1]:
        return said
    return f"{said}, got {_value_at(tree, place[2])}"


def _value_at(tree: Any, place: str) -> str:
    """Return the value of a setting as a person wrote it.

    >>> _value_at({"match": {"ets": {"alpha": 2}}}, "match.ets.alpha"), _value_at({"langs": ["a", "é"]}, "langs[1]")
    ('2', "'é'")
    """
    for name in re.findall(r"[^.\[\]]+", place):
        tree = tree[int(name)] if isinstance(tree, (list, tuple)) else tree[name]
    return reprlib.repr(tree)


_MOST = 10**18  # what databases and arrays have room for


def too_large(tree: Mapping[str, Any]) -> str:
    """Return the name of a setting that is a larger whole number than anything has room for; empty: none is.

    >>> too_large({"crawl": {"max_pages": 10**30}}), too_large({"crawl": {"max_pages": 10}})
    ('crawl.max_pages', '')
    """
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, int) and abs(value) >= _MOST:
            return name
        if isinstance(value, Mapping):
            waiting += [(f"{name}.{key}" if name else key, each) for key, each in value.items()]
        elif isinstance(value, (list, tuple)):
            waiting += [(name, each) for each in value]
    return ""
