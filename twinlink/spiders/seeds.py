"""Start pages from a file: one address per line."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from twinlink.errors import InputError
from twinlink.inputs import InputFile, read_input_text
from twinlink.redaction import redacted, without_credentials
from twinlink.urls import normalise, root_of

_log = logging.getLogger("twinlink.spiders")

_PROBLEM = "cannot be read as a list of start addresses"
_FILE = InputFile(_PROBLEM, f"{_PROBLEM} (no such file)")


def read_seeds(path: Path) -> list[str]:
    """Read start pages from a file.

    Parameters
    ----------
    path : Path
        UTF-8 text, one address a line; what follows white space on the line is not read. An address without a scheme
        gets ``http://``. Empty lines and lines that begin with ``#`` are comments; repeated addresses count once.

    Returns
    -------
    list of str
        Normalised addresses, in the file's order.

    Raises
    ------
    InputError
        If the file cannot be read, a line is not a web address (its number is told), or none is left.
    """
    lines = read_input_text(path, _FILE).splitlines()
    seeds: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0] if line.strip() else "#"
        if word.startswith("#"):
            continue
        url = normalise(word) if "://" in word else _of_host(word)
        if url is None or "," in root_of(url):  # a comma after a host: several addresses on one line
            raise InputError(f"{path}, line {number}: not a web address: {redacted(word)!r}")
        seeds[url] = None
    if not seeds:
        raise InputError(f"{path}: it has no address; expected one per line")
    warn_of_credentials(line.strip() for line in lines)
    return list(seeds)


def _of_host(word: str) -> str | None:
    """Return the address of a host that is named without a scheme; None for a mere word, which no host is called."""
    host = word.partition("/")[0].partition(":")[0]
    return normalise(f"http://{word}") if "." in host or ":" in word or host == "localhost" else None


def seeds_of(given: Sequence[str]) -> list[str]:
    """Return the start pages that addresses and files of addresses name, each once.

    >>> seeds_of(["http://example.org", "http://example.org/"])
    ['http://example.org/']

    Raises
    ------
    InputError
        If an address is not usable, there is no such file, or there is no address in it.
    """
    seeds: dict[str, None] = {}
    for text in given:
        if "://" not in text:
            if not Path(text).exists() and _of_host(text):
                host = without_credentials(text)
                raise InputError(f"{redacted(text)}: no such file; if a site is meant, write https://{host}")
            seeds.update(dict.fromkeys(read_seeds(Path(text))))
            continue
        url = normalise(text)
        if url is None:
            raise InputError(
                f"not a web address: {redacted(text)!r}; expected one that begins with http:// or https://"
            )
        seeds[url] = None
    warn_of_credentials(given)
    return list(seeds)


def warn_of_credentials(addresses: Iterable[str]) -> None:
    """Log a warning if an address has a user name or a password: the crawler does not send them."""
    with_credentials = next((text for text in addresses if "://" in text and redacted(text) != text), None)
    if with_credentials is not None:
        _log.warning("%s: the user name and the password in the address are not sent", redacted(with_credentials))
