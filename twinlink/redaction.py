"""User names and passwords in addresses: they are neither shown nor stored."""

from __future__ import annotations

import re

# A password may hold "/", "?" and "#", which should be escaped; so what follows "name:" and is no port belongs to it.
# Words of a command line may lack the scheme ("name:password@host"); a mail address has no password.
_SECRET = re.compile(
    r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]+:[/\\]+)(?:[^/\\?#\s\[]+:(?!\d*(?:[/\\?#\s]|\Z))\S*|[^/\\?#\s]*)@"
    r"|\A(?!mailto:)[^\s/:@=]+:[^\s/@]+@"
)


def redacted(text: str) -> str:
    """Return a text with an ellipsis for the user name and the password of each address in it.

    >>> redacted("mine http://me:secret@example.org/ -o run"), redacted("https://example.org/@me:x@y")
    ('mine http://…@example.org/ -o run', 'https://example.org/@me:x@y')
    """
    return _SECRET.sub(lambda found: f"{found['scheme'] or ''}…@", text)


def without_credentials(address: str) -> str:
    """Return an address without user name and password.

    >>> without_credentials("http://me:secret@example.org/")
    'http://example.org/'
    """
    return _SECRET.sub(lambda found: found["scheme"] or "", address)
