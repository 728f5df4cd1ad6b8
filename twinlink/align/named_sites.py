"""Sites that a text names by addresses and host names, and how much of the text these make up."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from twinlink.domains import is_registered, public_suffix, registered_domain

__all__ = ["NamedSites", "are_others", "named_sites"]

_ADDRESS = re.compile(
    r"(?<![\w.%+-])(?P<before>(?:https?|ftp|rsync)://|[\w.%+-]+@)?"
    r"(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[a-z]{2,})(?![\w@-])(?P<after>[/:][^\s<>\"]*)?"
)
_FILE_ENDINGS = frozenset("ai app cc gz map md mov pl ps py rs sh so st zip".split())
"""Top-level domains that names of files end in, too."""
_PLACEHOLDERS = frozenset("domain example exemple mydomain yourdomain".split())
"""Names of hosts in instructions, which are translated: the reserved one (RFC 2606), and usual ones."""


class NamedSites(NamedTuple):
    """Sites that a text names."""

    names: frozenset[str]
    """What their owners have chosen: ``debian`` of ``ftp.de.debian.org``, and the suffix where that is of several parts
    (``gc.ca``), which a government or a country uses in several languages."""
    share: float
    """How much of the text is addresses, 0 to 1."""


def named_sites(text: str) -> NamedSites:
    """Return the sites that a text names; none if one is a placeholder.

    >>> named_sites("Germany: ftp.fau.de: HTTP")
    NamedSites(names=frozenset({'fau'}), share=0.44)
    >>> named_sites("https://example.com/a, httpd.conf and setup.py").names
    frozenset()
    """
    found = [match for match in _ADDRESS.finditer(text) if _is_site(match)]
    names = frozenset(name for match in found for name in _names_of(match["host"].lower()))
    if names & _PLACEHOLDERS:
        return NamedSites(frozenset(), 0.0)
    return NamedSites(names, round(sum(len(match[0]) for match in found) / max(len(text), 1), 4))


def are_others(a: NamedSites, b: NamedSites) -> bool:
    """Return whether two texts name sites, and none that both name."""
    return bool(a.names and b.names) and not a.names & b.names


def _is_site(match: re.Match[str]) -> bool:
    host = match["host"].lower()
    may_be_file = not match["before"] and host.count(".") == 1 and host.rpartition(".")[2] in _FILE_ENDINGS
    return not may_be_file and is_registered(host)


@cache
def _names_of(host: str) -> frozenset[str]:
    suffix = public_suffix(host)
    name = registered_domain(host).removesuffix(f".{suffix}")
    return frozenset({name, suffix} if "." in suffix else {name})
