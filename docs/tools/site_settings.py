"""Every setting with its range, default and reason, as Markdown: read from the settings records and their source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from site_text import in_markdown

from twinlink.config import Config


class Setting(NamedTuple):
    """One setting: its dotted name, what it may be, its default as TOML, and the text below it in the source."""

    name: str
    kind: str
    default: str
    text: str


def settings_page() -> str:
    """Return a section for each record of settings, with a table of its fields.

    >>> "match-ets-alpha" in settings_page()
    True
    """
    lines: list[str] = []
    for prefix, record in _records("", Config):
        own = list(_fields(prefix, record))
        if not own:
            continue
        lines += ["", f"## {prefix or 'At the top'} {{ #{_anchor(prefix) or 'top'} }}", "", _about(record), ""]
        for setting in own:
            lines += [*_entry(setting), ""]
    return "\n".join(lines)


def all_settings() -> list[Setting]:
    """Return every setting, in the order of the page."""
    return [setting for prefix, record in _records("", Config) for setting in _fields(prefix, record)]


def _records(prefix: str, record: type[msgspec.Struct]) -> Iterator[tuple[str, type[msgspec.Struct]]]:
    yield prefix, record
    for field in msgspec.structs.fields(record):
        if _is_record(field.type):
            yield from _records(_joined(prefix, field.name), field.type)


def _fields(prefix: str, record: type[msgspec.Struct]) -> Iterator[Setting]:
    texts = _texts(record)
    kinds = dict(_kinds(record))
    for field in msgspec.structs.fields(record):
        if not _is_record(field.type):
            default = "" if field.default is None else _toml(field.default)
            yield Setting(_joined(prefix, field.name), _kind(kinds[field.name]), default, texts.get(field.name, ""))


def _kinds(record: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    info: Any = msgspec.inspect.type_info(record)
    yield from ((field.name, field.type) for field in info.fields)


def _is_record(kind: object) -> bool:
    return inspect.isclass(kind) and issubclass(kind, msgspec.Struct)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _anchor(name: str) -> str:
    return name.replace(".", "-")


def _about(record: type[msgspec.Struct]) -> str:
    return in_markdown(inspect.cleandoc(record.__doc__ or "").split("\n\nExamples\n")[0])


def _texts(record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the texts that stand below the fields in the record's source, by field."""
    (body,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(record))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, str):
            found[field.target.id] = " ".join(text.split())
    return found


def _entry(setting: Setting) -> Iterator[str]:
    default = f"default `{setting.default}`" if setting.default else "no default"
    yield f"### `{setting.name}` {{ #{_anchor(setting.name)} }}"
    yield ""
    yield f"{setting.kind}; {default}"
    if setting.text:
        yield ""
        yield in_markdown(setting.text)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f"{value:_}" if isinstance(value, int) else f"{value:g}"


_WORDS = {"BoolType": "`true` or `false`", "StrType": "text", "IntType": "whole number", "FloatType": "number"}


def _kind(kind: Any) -> str:
    """Return in words what a setting may be."""
    info = msgspec.inspect
    if isinstance(kind, info.UnionType):
        return " or ".join(_kind(each) for each in kind.types if not isinstance(each, info.NoneType))
    if isinstance(kind, info.LiteralType):
        return "one of " + ", ".join(f"`{_toml(value)}`" for value in kind.values)
    if isinstance(kind, info.VarTupleType):
        return f"list of: {_kind(kind.item_type)}"
    return _WORDS[type(kind).__name__] + (_range(kind) if isinstance(kind, info.IntType | info.FloatType) else "")


def _range(kind: Any) -> str:
    bounds = ((">", kind.gt), ("≥", kind.ge), ("<", kind.lt), ("≤", kind.le))
    said = [f"{sign} {bound:g}" for sign, bound in bounds if bound is not None]
    return f" ({' and '.join(said)})" if said else ""
