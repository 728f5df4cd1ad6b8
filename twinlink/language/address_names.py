"""Language names in addresses: ``/en/``, ``index_tc.htm``, ``chi.example.hk``."""

from __future__ import annotations

from twinlink.languages import ADDRESS_CODES

__all__ = ["TOKENS", "address_pattern"]

TOKENS = sorted(ADDRESS_CODES, key=lambda token: (-len(token), token))


def address_pattern() -> str:
    """Return a regular expression (RE2, lower case) whose group is the first name of a language in an address.

    The first label of the host counts, its other labels do not (``.de``); then whole words of path and query.

    >>> import re
    >>> addresses = "https://en.x.hk/", "https://x.de/a/index_tc.htm", "https://x.de/"
    >>> [match and match[1] for match in (re.match(address_pattern(), address) for address in addresses)]
    ['en', 'tc', None]
    """
    words = "|".join(token.replace("-", "[-_]") for token in TOKENS)
    return f"^https?://(?:[^/]*/(?:.*?[/._=?&-])?)?({words})(?:[/._=?&-]|$)"
