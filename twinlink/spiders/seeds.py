"""Start pages from a file: one address a line."""

from __future__ import annotations

from pathlib import Path

from twinlink.errors import InputError
from twinlink.spiders.urls import normalise

__all__ = ["read_seeds"]


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
        If the file cannot be read, a line is no web address (its number is told), or none is left.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a UTF-8 text ({error.reason})") from error
    seeds: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0] if line.strip() else "#"
        if word.startswith("#"):
            continue
        url = normalise(word if "://" in word else f"http://{word}")
        if url is None:
            raise InputError(f"{path}, line {number}: not a web address: {word!r}")
        seeds[url] = None
    if not seeds:
        raise InputError(f"{path}: no address in it; expected one a line")
    return list(seeds)
