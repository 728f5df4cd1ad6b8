"""Base class and value ranges of all settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, inspect

Unit = Annotated[float, Meta(ge=0, le=1)]
Positive = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """Base of the records: frozen, and unknown names are errors."""


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
