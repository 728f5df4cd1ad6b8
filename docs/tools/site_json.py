"""Every key that a command has with ``--json``, as Markdown: read from the records of results and their source."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from twinlink.cli.results import discovery, pages, record, sentences, sites
from twinlink.cli.results import evaluation as judged
from twinlink.cli.results import review as looking

_MODULES = (pages, sentences, looking, judged, sites, discovery)
_NAMES: dict[Any, str] = {
    msgspec.inspect.NoneType: "null",
    msgspec.inspect.StrType: "text",
    msgspec.inspect.IntType: "integer",
    msgspec.inspect.FloatType: "number",
    msgspec.inspect.BoolType: "true, false",
}
_VERBS = re.compile(r"`twinlink [^`]*`(?: and `twinlink [^`]*`)*")


def json_page() -> str:
    """Return a section for each command's object, then one for each record that stands within an object.

    >>> page = json_page()
    >>> "## `twinlink ingest`" in page and "| `n_links` | integer |" in page
    True
    """
    records = [each for each in _records() if issubclass(each, record.Record) and _VERBS.match(_about(each))]
    within = [each for each in _records() if each not in records]
    lines = [line for each in records for line in _section(each)]
    lines += ["## Records within them", "", *(line for each in within for line in _section(each, level=3))]
    return "\n".join(lines)


def _records() -> list[type[msgspec.Struct]]:
    kinds = [
        (each, module) for module in (*_MODULES, record) for each in vars(module).values() if isinstance(each, type)
    ]
    return [each for each, module in kinds if each.__module__ == module.__name__ and each is not record.Record]


def _section(kind: type[msgspec.Struct], level: int = 2) -> Iterator[str]:
    about = _about(kind)
    verbs = _VERBS.match(about)
    title, rest = (verbs[0], about[verbs.end() :].lstrip(": ")) if verbs and level == 2 else (kind.__name__, about)
    yield from [f"{'#' * level} {title}", "", f"{rest[:1].upper()}{rest[1:]}", "", "| key | | |", "|---|---|---|"]
    texts = {name: text for each in reversed(kind.__mro__) for name, text in _texts(each).items()}
    for field in msgspec.structs.fields(kind):
        yield f"| `{field.encode_name}` | {_kind(field.type)} | {_escaped(texts[field.name])} |"
    yield ""


def _about(kind: type[msgspec.Struct]) -> str:
    return (kind.__doc__ or "").split("\n\n")[0]


def _texts(kind: type) -> dict[str, str]:
    """Return the text below each field in the source of a record."""
    if not issubclass(kind, msgspec.Struct) or kind.__module__ == "msgspec":
        return {}
    (tree,) = ast.parse(inspect.getsource(kind)).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for node, below in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert isinstance(below, ast.Expr)
            found[node.target.id] = " ".join(str(ast.literal_eval(below.value)).split())
    return found


def _kind(kind: object) -> str:
    return _in_words(msgspec.inspect.type_info(kind))


def _in_words(kind: Any) -> str:
    """Return what a value is, as JSON calls it."""
    of = msgspec.inspect
    if isinstance(kind, of.UnionType):
        return ", or ".join(map(_in_words, kind.types))
    if isinstance(kind, of.ListType):
        return f"list of {_in_words(kind.item_type)}"
    if isinstance(kind, of.TupleType):
        return f"[{', '.join(map(_in_words, kind.item_types))}]"
    if isinstance(kind, of.DictType):
        return "object" if isinstance(kind.value_type, of.AnyType) else f"object of {_in_words(kind.value_type)}"
    if isinstance(kind, of.StructType):
        verbs = _VERBS.match(_about(kind.cls))
        return f"as of {verbs[0]}" if verbs else kind.cls.__name__
    return _NAMES[type(kind)]


def _escaped(text: str) -> str:
    return re.sub(r"``([^`]*)``", r"`\1`", text).replace("|", "\\|")
