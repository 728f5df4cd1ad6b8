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
    suffixes = _suffixes(name)
    if (registered := suffixes.privatesuffix(name)) is not None:
        return registered
    is_known = "." not in name or suffixes.publicsuffix(name) is not None
    return site if is_known else ".".join(name.split(".")[-2:])


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


def is_public_name(site: str) -> bool:
    """Return whether a site may be one of the public web by its name: below a known public suffix, and as DNS has it.

    Not so are IP addresses, names of the local network and public suffixes, names with an empty label, and those longer
    than DNS allows (63 characters a label, 253 in all; RFC 1035, section 2.3.4).

    >>> names = ("www.info.gov.hk:8080", "127.0.0.1", "[::1]", "router.lan", "co.uk", "a..b.com")
    >>> [is_public_name(site) for site in names]
    [True, False, False, False, False, False]
    """
    name = site.partition(":")[0].removesuffix(".")
    if len(name) > _MAX_NAME or max(map(len, name.split("."))) > _MAX_LABEL or name.endswith(".arpa"):
        return False
    return not _NO_NAME.fullmatch(name) and is_registered(name)


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
