"""Style sheets and style attributes that load nothing: parsed, reduced to known rules, and written again.

A sheet is read once into a `Sheet`; its addresses are filled in for each page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import tinycss2
from tinycss2 import ast

MAX_SHEET_CHARACTERS = 600_000
"""Characters read per sheet; tinycss2 takes a second per megabyte, and the largest sheets in use have half of one."""

_MAX_DEPTH = 24  # of nested blocks; sheets in use have less than ten
_MARK = re.compile("\0([0-9]+)\0")  # stands for an address; parsed text contains no NUL

_TAG_LIKE = re.compile(r"<(?![\s=])")  # not a comparison in a media query

# At-rules that contain rules or declarations. Not import, font-face and namespace: they contain addresses.
_RULES_IN = frozenset("media supports layer container scope starting-style".split())
_DECLARATIONS_IN = frozenset("page counter-style property".split())
_KEYFRAMES = frozenset("keyframes -webkit-keyframes -moz-keyframes -o-keyframes".split())
_BARE = frozenset(("layer",))  # allowed without a block

_DROPPED = frozenset("behavior -ms-behavior -moz-binding".split())
_POSITIONS = {name: name for name in "static relative absolute sticky inherit initial unset revert".split()}
_POSITIONS["fixed"] = "absolute"  # looks the same at first but scrolls away, so that no banner covers the page
# Functions that take no address and run nothing. A declaration with any other function is removed: image-set() and
# src() take addresses as plain strings, expression() was a script, and future ones are unknown.
_FUNCTIONS = frozenset(
    """rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark device-cmyk
    calc min max clamp round mod rem abs sign sin cos tan asin acos atan atan2 pow sqrt hypot log exp
    var env attr counter counters symbols
    linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient
    repeating-conic-gradient -webkit-gradient -webkit-linear-gradient -webkit-radial-gradient
    -webkit-repeating-linear-gradient -moz-linear-gradient -moz-radial-gradient -o-linear-gradient
    -ms-linear-gradient from to color-stop
    translate translatex translatey translatez translate3d rotate rotatex rotatey rotatez rotate3d
    scale scalex scaley scalez scale3d skew skewx skewy matrix matrix3d perspective
    cubic-bezier steps linear blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
    repeat minmax fit-content rect inset circle ellipse polygon path xywh alpha
    selector style not""".split()
)


class Sheet(NamedTuple):
    """Cleaned CSS, with gaps for the addresses of pictures."""

    text: str
    addresses: tuple[str, ...]
    """The original addresses, one per gap."""

    def fill(self, url_of: Callable[[str], str | None]) -> str:
        """Return the CSS with each address replaced by the result of ``url_of``; None: no picture."""

        def filled(mark: re.Match[str]) -> str:
            url = url_of(self.addresses[int(mark[1])])
            return "none" if url is None else f'url("{_escape(url)}")'

        return _MARK.sub(filled, self.text)


@lru_cache(maxsize=64)  # the pages of a site share their sheets; reading them is most of the work
def read_sheet(css: str) -> Sheet:
    """Clean a style sheet.

    Rules, media queries and animations are kept if all their parts are known. Imports, fonts, name spaces, invalid
    rules, declarations with functions that are not known to be harmless and very deep nesting are removed. Elements
    fixed to the window scroll with the page; ``:link`` and ``[href]`` become ``[data-link]``, as `look` writes links.

    Examples
    --------
    >>> sheet = read_sheet("@import 'x'; a:link{color:red;background:url( x.png )} b{width:expression(run())}")
    >>> sheet.fill(lambda address: f"/pictures/{address}")
    'a[data-link]{color:red;background:url("/pictures/x.png");}b{}'
    """
    reader = _Reader()
    text = reader.rules(tinycss2.parse_stylesheet(css[:MAX_SHEET_CHARACTERS], skip_comments=True), 0)
    return Sheet(_without_tags(text), tuple(reader.addresses))


def read_style(css: str) -> Sheet:
    """Clean a style attribute.

    >>> read_style("position:fixed; color: red; background: url(javascript:x)").fill(lambda address: None)
    'position:absolute;color:red;background:none;'
    """
    reader = _Reader()
    nodes = tinycss2.parse_declaration_list(css, skip_comments=True, skip_whitespace=True)
    text = "".join(reader.declaration(node) for node in nodes if node.type == "declaration")
    return Sheet(_without_tags(text), tuple(reader.addresses))


class _UnknownError(Exception):
    """A part that is not known to be harmless."""


class _Reader:
    """Writes the parts that are known to be harmless, and collects the addresses."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    def rules(self, nodes: Iterable[Any], depth: int) -> str:
        written = []
        for node in nodes if depth < _MAX_DEPTH else ():
            try:
                if node.type == "qualified-rule":
                    written.append(f"{self._selector(node.prelude)}{{{self._block(node.content, depth + 1)}}}")
                elif node.type == "at-rule":
                    written.append(self._at_rule(node, depth))
                elif node.type == "declaration":
                    written.append(self.declaration(node))
            except _UnknownError:
                continue
        return "".join(written)

    def declaration(self, node: Any) -> str:
        name = node.lower_name
        try:
            value = self._position(node.value) if name == "position" else self._value(node.value, takes_urls=True)
        except _UnknownError:
            return ""
        if name in _DROPPED:
            return ""
        return f"{tinycss2.serializer.serialize_identifier(node.name)}:{value}{'!important' * node.important};"

    def _block(self, content: Sequence[Any], depth: int) -> str:
        nodes = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
        return self.rules(nodes, depth)

    def _at_rule(self, node: Any, depth: int) -> str:
        name = node.lower_at_keyword
        if node.content is None:
            if name not in _BARE:
                raise _UnknownError
            return f"@{name}{self._value(node.prelude)};"
        if name not in _RULES_IN | _DECLARATIONS_IN | _KEYFRAMES:
            raise _UnknownError
        prelude = self._value(node.prelude, any_function=name == "scope")
        return f"@{name}{prelude}{{{self._block(node.content, depth + 1)}}}"

    def _selector(self, nodes: Sequence[Any]) -> str:
        named = [_renamed(node, before) for before, node in zip((None, *nodes), nodes, strict=False)]
        text = self._value(named, any_function=True)
        return text.replace(":\1", "[data-link]")

    def _position(self, nodes: Sequence[Any]) -> str:
        words = [node.lower_value for node in nodes if node.type == "ident"]
        if len(words) != 1 or words[0] not in _POSITIONS:
            raise _UnknownError
        return _POSITIONS[words[0]]

    def _value(self, nodes: Sequence[Any], takes_urls: bool = False, any_function: bool = False) -> str:
        kept = self._checked(nodes, takes_urls, any_function, 0)
        return str(tinycss2.serialize(kept)).strip() if takes_urls else str(tinycss2.serialize(kept))

    def _checked(self, nodes: Sequence[Any], takes_urls: bool, any_function: bool, depth: int) -> list[Any]:
        """Return the nodes with gaps for addresses.

        Raises
        ------
        _UnknownError
            If a node is not known to be harmless.
        """
        if depth > _MAX_DEPTH:
            raise _UnknownError
        kept = []
        for node in nodes:
            address = _address(node)
            if address is not None:
                if not takes_urls:
                    raise _UnknownError
                kept.append(self._gap(node, address))
                continue
            if node.type in {"error", "at-keyword"}:
                raise _UnknownError
            if node.type == "function":
                if not any_function and node.lower_name not in _FUNCTIONS:
                    raise _UnknownError
                node.arguments = self._checked(node.arguments, takes_urls, any_function, depth + 1)
            elif node.type in {"() block", "[] block", "{} block"}:
                node.content = self._checked(node.content, takes_urls, any_function, depth + 1)
            kept.append(node)
        return kept

    def _gap(self, node: Any, address: str) -> ast.URLToken:
        self.addresses.append(address)
        return ast.URLToken(node.source_line, node.source_column, address, f"\0{len(self.addresses) - 1}\0")


def _address(node: Any) -> str | None:
    """Return the address in a node; None: it is no address."""
    if node.type == "url":
        return str(node.value)
    if node.type == "function" and node.lower_name == "url":
        strings = [part.value for part in node.arguments if part.type == "string"]
        return str(strings[0]) if len(strings) == 1 else ""
    return None


def _renamed(node: Any, before: Any) -> Any:
    """Return a part of a selector, adapted to links without an address."""
    follows_colon = before is not None and before.type == "literal" and before.value == ":"
    if node.type == "ident" and follows_colon and node.lower_value in {"link", "any-link"}:
        return ast.LiteralToken(node.source_line, node.source_column, "\1")
    if node.type == "[] block":
        for part in node.content:
            if part.type == "ident":
                if part.lower_value == "href":
                    part.value = "data-link"
                break
    elif node.type == "function":
        node.arguments = [
            _renamed(part, last) for last, part in zip((None, *node.arguments), node.arguments, strict=False)
        ]
    return node


def _without_tags(css: str) -> str:
    # In a string the escape has the same meaning; elsewhere it makes the rule invalid. No end tag can remain.
    return _TAG_LIKE.sub(r"\\3c ", css)


def _escape(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-._~:/?#[]@!$&*+,;=%" else f"\\{ord(c):x} " for c in text)
