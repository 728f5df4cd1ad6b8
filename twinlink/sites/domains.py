"""Registered domains and public suffixes of site names."""

from __future__ import annotations

import functools
import re

from publicsuffixlist import PublicSuffixList

__all__ = ["public_suffix", "registered_domain"]

_NO_NAME = re.compile(r"[0-9.]+(:[0-9]+)?|\[.*|[^.]*")


def registered_domain(site: str) -> str:
    """Return the part of a site's name that its owner has registered; the name itself where there is none.

    >>> registered_domain("www.info.gov.hk:8080"), registered_domain("127.0.0.1:80"), registered_domain("localhost")
    ('info.gov.hk', '127.0.0.1:80', 'localhost')
    """
    if _NO_NAME.fullmatch(site):
        return site
    domain: str | None = _suffixes().privatesuffix(site.partition(":")[0])
    return domain or site


def public_suffix(site: str) -> str:
    """Return the part of a site's name under which anybody can register one; empty for an IP address.

    >>> public_suffix("www.info.gov.hk"), public_suffix("127.0.0.1"), public_suffix("x.example")
    ('gov.hk', '', 'example')
    """
    if _NO_NAME.fullmatch(site):
        return ""
    suffix: str | None = _suffixes().publicsuffix(site.partition(":")[0])
    return suffix or ""


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
