"""Registered domains and public suffixes of hosts, by the Public Suffix List of the package ``publicsuffixlist``."""

from __future__ import annotations

import functools
import re

from publicsuffixlist import PublicSuffixList

__all__ = ["is_registered", "public_suffix", "registered_domain"]

_NO_NAME = re.compile(r"[0-9.]+(:[0-9]+)?|\[.*|[^.]*|\..*|.*\.\.[^.:].*")
"""IP addresses, names without a dot, and names with an empty label, which nobody can register."""


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
    if _suffixes().publicsuffix(name) is None:
        return ".".join(name.split(".")[-2:]) if "." in name else site
    return _suffixes().privatesuffix(name) or site


def public_suffix(site: str) -> str:
    """Return the part of a site's name under which anybody can register one; empty for an IP address.

    >>> public_suffix("www.info.gov.hk"), public_suffix("127.0.0.1"), public_suffix("x.example")
    ('gov.hk', '', 'example')
    """
    if _NO_NAME.fullmatch(site):
        return ""
    return _suffixes().publicsuffix(_bare(site)) or _bare(site).rpartition(".")[2]


def is_registered(host: str) -> bool:
    """Return whether a host is a name below a public suffix that is known.

    >>> is_registered("www.info.gov.hk"), is_registered("gov.hk"), is_registered("router.lan")
    (True, False, False)
    """
    return _suffixes().privatesuffix(host) is not None


def _bare(site: str) -> str:
    return site.partition(":")[0].rstrip(".").lower()


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)
