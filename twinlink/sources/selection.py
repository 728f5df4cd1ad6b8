"""Selection of addresses by prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from twinlink.errors import InputError
from twinlink.urls import normalise

__all__ = ["wanted_addresses"]


def wanted_addresses(prefixes: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a normalised address begins with one of ``prefixes``.

    Parameters
    ----------
    prefixes : iterable of str
        ``https://www.example.org/en/``; without a scheme, ``www.example.org/en/``, it includes http and https. A
        host alone selects exactly this host. Without prefixes, every address is selected.

    Raises
    ------
    InputError
        If one is no beginning of an address.

    Examples
    --------
    >>> is_wanted = wanted_addresses(["Example.org", "https://www.example.org/en"])
    >>> [is_wanted(url) for url in ("http://example.org/a", "http://example.organic/", "https://www.example.org/en/b")]
    [True, False, True]
    """
    beginnings = tuple(beginning for prefix in prefixes for beginning in _beginnings(prefix))
    return (lambda url: url.startswith(beginnings)) if beginnings else (lambda _: True)


def _beginnings(prefix: str) -> list[str]:
    schemes = ("",) if "://" in prefix else ("http://", "https://")
    urls = [normalise(scheme + prefix.strip()) for scheme in schemes]
    if not prefix.strip() or None in urls:
        raise InputError(f"{prefix!r}: expected the beginning of an address, such as https://www.example.org/en/")
    return [url for url in urls if url is not None]
