"""Registered domains and public suffixes of hosts, by the Public Suffix List of the package ``publicsuffixlist``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from publicsuffixlist import PSLFILE

_NO_NAME = re.compile(r"[0-9.]+(:[0-9]+)?|\[.*|[^.]*|\..*|.*\.\.[^.:].*")
"""IP addresses, names without a dot, and names with an empty label, which nobody can register."""
_MAX_LABEL, _MAX_NAME = 63, 253
_RULE = re.compile(r"(?!//)\S+")


def registered_domain(site: str) -> str:
    """Return the part of a site's name that its owner has registered; the name itself where there is none.

    >>> registered_domain("www.info.gov.hk:8080"), registered_domain("127.0.0.1:80"), registered_domain("localhost")
    ('info.gov.hk', '127.0.0.1:80', 'localhost')
    >>> registered_domain("www.x.example"), registered_domain("gov.hk")
    ('x.example', 'gov.hk')
    """
    if _NO_NAME.fullmatch(site):
        return site
    name = _bare(site)
    suffix = _known_suffix(name)
    if not suffix:
        return ".".join(name.split(".")[-2:]) if "." in name else site
    return _below(suffix, name) or site


def public_suffix(site: str) -> str:
    """Return the part of a site's name under which anybody can register one; empty for an IP address.

    >>> public_suffix("www.info.gov.hk"), public_suffix("127.0.0.1"), public_suffix("x.example")
    ('gov.hk', '', 'example')
    """
    if _NO_NAME.fullmatch(site):
        return ""
    name = _bare(site)
    return _known_suffix(name) or name.rpartition(".")[2]


def is_registered(host: str) -> bool:
    """Return whether a host is a name below a public suffix that is known.

    >>> is_registered("www.info.gov.hk"), is_registered("gov.hk"), is_registered("router.lan")
    (True, False, False)
    """
    name = host.removesuffix(".").lower()
    return _below(_known_suffix(name), name) != ""


def is_public(site: str) -> bool:
    """Return whether a site may be one of the public web by its name: below a known public suffix, and as DNS has it.

    Not so are IP addresses, names of the local network and public suffixes, names with an empty label, and those longer
    than DNS allows (63 characters a label, 253 in all; RFC 1035, section 2.3.4).

    >>> [is_public(site) for site in ("www.info.gov.hk:8080", "127.0.0.1", "[::1]", "router.lan", "co.uk", "a..b.com")]
    [True, False, False, False, False, False]
    """
    name = site.partition(":")[0].removesuffix(".")
    if len(name) > _MAX_NAME or max(map(len, name.split("."))) > _MAX_LABEL or name.endswith(".arpa"):
        return False
    return is_registered(name)


def _bare(site: str) -> str:
    return site.partition(":")[0].rstrip(".").lower()


def _below(suffix: str, name: str) -> str:
    """Return the end of a name that has one label more than its public suffix; empty if there is none."""
    before = name.removesuffix(suffix).removesuffix(".")
    return f"{before.rpartition('.')[2]}.{suffix}" if suffix and before else ""


class _Rules(NamedTuple):
    """The rules below a top-level domain."""

    names: frozenset[str]
    wild: frozenset[str]
    """Names below which every label makes a public suffix; they are public suffixes themselves."""
    exceptions: frozenset[str]


def _known_suffix(name: str) -> str:
    """Return the public suffix of a name in lower case by the rules of the list; empty if no rule holds.

    The package does the same in ten times as long: a list of a million hosts would take a minute.
    """
    if ".." in name or name.startswith("."):
        return ""
    rules = _rules(name.rpartition(".")[2])
    longer, rest = "", name
    while rest:
        if rest in rules.exceptions:
            return rest.partition(".")[2]
        if rest in rules.wild:
            return longer or rest
        if rest in rules.names:
            return rest
        longer, rest = rest, rest.partition(".")[2]
    return ""


@functools.lru_cache(maxsize=2**12)
def _rules(top: str) -> _Rules:
    """Return the rules below a top-level domain; the list has 10,000, of which a run needs a few."""
    if top.startswith("xn--"):  # the list has it in Unicode
        with suppress(UnicodeError):
            top = top.encode().decode("idna")
    rules = [form for rule in _rules_below(top) for form in (rule, _in_ascii(rule))]
    return _Rules(
        frozenset(rule for rule in rules if rule[0] not in "*!"),
        frozenset(rule.removeprefix("*.") for rule in rules if rule.startswith("*.")),
        frozenset(rule.removeprefix("!") for rule in rules if rule.startswith("!")),
    )


def _in_ascii(rule: str) -> str:
    mark = "!" if rule.startswith("!") else ""
    return mark + rule.removeprefix("!").encode("idna").decode("ascii")


def _rules_below(top: str) -> Iterator[str]:
    """Yield the rules whose last label is a top-level domain; to split the whole list takes ten times as long."""
    text = _text()
    for found in re.finditer(rf"{re.escape(top)}(?!\S)", text):
        rule = text[text.rfind("\n", 0, found.start()) + 1 : found.end()]
        if _RULE.fullmatch(rule) and rule.rpartition(".")[2].lstrip("!") == top:
            yield rule


@functools.cache
def _text() -> str:
    """Return the list as it is published, with its rules in lower case."""
    return Path(PSLFILE).read_text(encoding="utf-8")
