"""Registered domains and public suffixes of hosts, by the Public Suffix List of the package ``publicsuffixlist``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList

_NO_NAME = re.compile(r"[0-9.]+(:[0-9]+)?|\[.*|[^.]*|\..*|.*\.\.[^.:].*")
"""IP addresses, names without a dot, and names with an empty label, which nobody can register."""
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
    if _suffixes(name).publicsuffix(name) is None:
        return ".".join(name.split(".")[-2:]) if "." in name else site
    return _suffixes(name).privatesuffix(name) or site


def public_suffix(site: str) -> str:
    """Return the part of a site's name under which anybody can register one; empty for an IP address.

    >>> public_suffix("www.info.gov.hk"), public_suffix("127.0.0.1"), public_suffix("x.example")
    ('gov.hk', '', 'example')
    """
    if _NO_NAME.fullmatch(site):
        return ""
    name = _bare(site)
    return _suffixes(name).publicsuffix(name) or name.rpartition(".")[2]


def is_registered(host: str) -> bool:
    """Return whether a host is a name below a public suffix that is known.

    >>> is_registered("www.info.gov.hk"), is_registered("gov.hk"), is_registered("router.lan")
    (True, False, False)
    """
    return _suffixes(host).privatesuffix(host) is not None


def _bare(site: str) -> str:
    return site.partition(":")[0].rstrip(".").lower()


def _suffixes(host: str) -> PublicSuffixList:
    """Return the rules that a host may fall under."""
    return _suffixes_below(host.removesuffix(".").rpartition(".")[2].lower())


@functools.lru_cache(maxsize=2**12)
def _suffixes_below(top: str) -> PublicSuffixList:
    """Return the rules below a top-level domain; the list has 10,000, of which a run needs a few."""
    if top.startswith("xn--"):  # the list has it in Unicode
        with suppress(UnicodeError):
            top = top.encode().decode("idna")
    return PublicSuffixList("\n".join(_rules_below(top)), accept_unknown=False)


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
