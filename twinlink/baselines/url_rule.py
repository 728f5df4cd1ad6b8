"""Bitextor's URL rule: two addresses with at most one difference (Esplà-Gomis & Forcada 2010, section 4.1).

An address is a host, directories, a file name and variables. Two differ once if they are equal but for the file name,
or one directory, or the name or the value of one variable, or if one has one directory or one variable more. Such
addresses meet under the same key once the part is masked or left out: an index from keys to addresses finds them in
O(number of addresses), no two addresses are ever compared.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config.baselines import UrlRuleSettings
from twinlink.urls import DEFAULT_DOCUMENTS

__all__ = ["DIFFERENCES", "UrlPairs", "url_pairs"]

DIFFERENCES = ("", "none", "file", "directory", "more-directory", "variable", "more-variable")
"""Names of the kinds of difference, by number; 0 is not used."""

_NONE, _FILE, _DIRECTORY, _MORE_DIRECTORY, _VARIABLE, _MORE_VARIABLE = range(1, len(DIFFERENCES))

_DEFAULT_DOCUMENTS = frozenset(name.encode() for name in DEFAULT_DOCUMENTS)
_DEFAULT_PORTS = {"http": 80, "https": 443}
# A token is a run of letters, of digits, or one other byte.
_TOKEN = re.compile(rb"[A-Za-z\x80-\xff]+|[0-9]+|.", re.DOTALL)

Numbers = NDArray[np.int64]
PartT = TypeVar("PartT")


class UrlPairs(msgspec.Struct, frozen=True, eq=False):
    """Pairs of addresses with at most one difference."""

    pattern: csr_array
    """int8, sorted: number of the kind of difference in `DIFFERENCES`, the first one that applies."""
    crowded: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """Marks the addresses of either list that have a key with too many addresses."""

    def counts(self) -> dict[str, int]:
        """Return the number of pairs of each kind of difference."""
        found = np.bincount(self.pattern.data, minlength=len(DIFFERENCES)).tolist()
        return dict(zip(DIFFERENCES[1:], found[1:], strict=True))


class _Address(NamedTuple):
    """Parts of an address, percent-encoding undone."""

    host: bytes
    directories: tuple[bytes, ...]
    file: bytes
    variables: tuple[tuple[bytes, bytes], ...]
    """Sorted names and values."""


Masked = Iterator[tuple[object, bytes]]
"""What is left of an address under each of its keys, and what was masked."""


class _Index(NamedTuple):
    """Keys of many addresses, sorted by key, then address."""

    keys: Numbers
    addresses: Numbers
    masked: list[bytes]
    """What each key masks."""


def url_pairs(urls_a: Sequence[str], urls_b: Sequence[str], settings: UrlRuleSettings | None = None) -> UrlPairs:
    """Find the pairs of addresses that Bitextor's rule lets through.

    Compared are host and port, directories, file name and variables. The scheme is none of the paper's three sections
    and is not compared. Read as equal: ways to percent-encode, letter cases of the host, the default port and none, the
    order of variables, an empty query and none, empty directories (``//``) and none, a default document
    (``index.html``) and an empty file name. A variable whose name and value both differ is two differences. Another
    host is a difference that the paper does not name: no pair.

    A key that joins an address with more than ``max_others`` of the other list (1,000 articles in one directory all
    meet under the masked file name) joins only those of its addresses that differ in a single token of the masked part
    (``news-17-en`` and ``news-17-fr``; a token is a run of letters, a run of digits or another character), as long as
    these are ``max_others`` at most. Keys with nothing masked (one more directory or variable) join none then. The
    result marks the addresses of such keys. With ``max_others=0`` there is no such bound.

    Parameters
    ----------
    urls_a, urls_b : sequence of str
        Normalised addresses of the pages of two languages. What is no address has no partner.
    settings : UrlRuleSettings, optional

    Returns
    -------
    UrlPairs
        Pattern of shape (len(urls_a), len(urls_b)).

    Examples
    --------
    >>> french = ["http://a.org/fr/x?id=1", "http://a.org/x?id=1", "http://a.org/y"]
    >>> found = url_pairs(["http://a.org/en/x?id=1"], french)
    >>> found.pattern.toarray().tolist(), found.counts()["directory"]
    ([[3, 4, 0]], 1)
    """
    settings = settings or UrlRuleSettings()
    a, b = ([_address(url) for url in urls] for urls in (urls_a, urls_b))
    joints = _Joints(settings.max_others or max(len(a), len(b)), (len(a), len(b)))
    whole_a, whole_b = _index(a, _whole), _index(b, _whole)
    joints.join(_NONE, whole_a, whole_b)
    for kind, masks in ((_FILE, _masked_file), (_DIRECTORY, _masked_directory), (_VARIABLE, _masked_variable)):
        joints.join(kind, _index(a, masks), _index(b, masks))
    for kind, shorter in ((_MORE_DIRECTORY, _less_directory), (_MORE_VARIABLE, _less_variable)):
        joints.join(kind, _index(a, shorter), whole_b)
        joints.join(kind, whole_a, _index(b, shorter))
    return joints.result()


def _address(url: str) -> _Address | None:
    """Take an address apart; None for what is no address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if not host:
        return None
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    *directories, file = (unquote_to_bytes(part) for part in parts.path.split("/"))
    variables = (_variable(part) for part in parts.query.split("&") if part)
    return _Address(
        host.encode("utf-8", "replace"),
        tuple(filter(None, directories)),
        b"" if file.lower() in _DEFAULT_DOCUMENTS else file,
        tuple(sorted(variables)),
    )


def _variable(part: str) -> tuple[bytes, bytes]:
    name, _, value = part.replace("+", " ").partition("=")
    return unquote_to_bytes(name), unquote_to_bytes(value)


def _whole(address: _Address) -> Masked:
    yield tuple(address), b""


def _masked_file(address: _Address) -> Masked:
    yield (address.host, address.directories, None, address.variables), address.file


def _masked_directory(address: _Address) -> Masked:
    for k, name in enumerate(address.directories):
        directories = (*address.directories[:k], None, *address.directories[k + 1 :])
        yield (address.host, directories, address.file, address.variables), name


def _masked_variable(address: _Address) -> Masked:
    for k, (name, value) in enumerate(address.variables):
        rest = (address.host, address.directories, address.file, _without(address.variables, k))
        yield (*rest, name, None), value
        yield (*rest, None, value), name


def _less_directory(address: _Address) -> Masked:
    for k in range(len(address.directories)):
        yield (address.host, _without(address.directories, k), address.file, address.variables), b""


def _less_variable(address: _Address) -> Masked:
    for k in range(len(address.variables)):
        yield (address.host, address.directories, address.file, _without(address.variables, k)), b""


def _without(parts: tuple[PartT, ...], k: int) -> tuple[PartT, ...]:
    return parts[:k] + parts[k + 1 :]


def _index(addresses: Sequence[_Address | None], masks: Callable[[_Address], Masked]) -> _Index:
    """Return the keys of all addresses."""
    found = ((k, *key) for k, address in enumerate(addresses) if address for key in dict.fromkeys(masks(address)))
    return _sorted_index(found)


def _sorted_index(found: Iterable[tuple[int, object, bytes]]) -> _Index:
    """Return an index of (address, what is left of it, what was masked)."""
    hashes, numbers, masked = array("q"), array("q"), []
    for number, left, part in found:
        # 64 bits: two of 10 million keys are taken for one with a chance of 3 in a million.
        hashes.append(hash(left))
        numbers.append(number)
        masked.append(part)
    keys = np.array(hashes, np.int64)
    order = np.argsort(keys, kind="stable")
    return _Index(keys[order], np.array(numbers, np.int64)[order], [masked[k] for k in order.tolist()])


class _Meetings(NamedTuple):
    """Where two indices have the same key, and not too often: positions in both; and the keys with too many."""

    at_a: Numbers
    at_b: Numbers
    crowded: Numbers


def _meetings(a: _Index, b: _Index, most: int) -> _Meetings:
    common = np.intersect1d(a.keys, b.keys)
    first_a, first_b = np.searchsorted(a.keys, common), np.searchsorted(b.keys, common)
    n_a, n_b = (np.searchsorted(index.keys, common, "right") for index in (a, b))
    n_a, n_b = n_a - first_a, n_b - first_b
    few = np.maximum(n_a, n_b) <= most
    products = (n_a * n_b)[few]
    place = np.arange(products.sum()) - np.repeat(np.cumsum(products) - products, products)
    width = np.repeat(n_b[few], products)
    at_a = np.repeat(first_a[few], products) + place // np.maximum(width, 1)
    at_b = np.repeat(first_b[few], products) + place % np.maximum(width, 1)
    return _Meetings(at_a, at_b, common[~few])


def _token_index(index: _Index, keys: Numbers) -> _Index:
    """Return an index of the addresses under some keys, by what is left of the masked part without one token."""
    found = []
    chosen = np.flatnonzero(np.isin(index.keys, keys))
    for key, address, at in zip(
        index.keys[chosen].tolist(), index.addresses[chosen].tolist(), chosen.tolist(), strict=True
    ):
        tokens = _TOKEN.findall(index.masked[at])
        found += [(address, (key, (*tokens[:k], None, *tokens[k + 1 :])), b"") for k in range(len(tokens))]
    return _sorted_index(found)


class _Joints:
    """The pairs so far."""

    def __init__(self, most: int, shape: tuple[int, int]) -> None:
        self._most = most
        self._shape = shape
        self._pairs = [np.zeros(0, np.int64)]
        self._kinds = [np.zeros(0, np.int8)]
        self._crowded = np.zeros(shape[0], np.bool_), np.zeros(shape[1], np.bool_)

    def join(self, kind: int, a: _Index, b: _Index) -> None:
        """Add the pairs that meet under a key."""
        crowded = self._add(kind, a, b)
        for marks, index in zip(self._crowded, (a, b), strict=True):
            marks[index.addresses[np.isin(index.keys, crowded)]] = True
        if len(crowded) and kind in {_FILE, _DIRECTORY, _VARIABLE}:
            self._add(kind, _token_index(a, crowded), _token_index(b, crowded))

    def _add(self, kind: int, a: _Index, b: _Index) -> Numbers:
        at_a, at_b, crowded = _meetings(a, b, self._most)
        self._pairs.append(np.unique(a.addresses[at_a] * self._shape[1] + b.addresses[at_b]))
        self._kinds.append(np.full(len(self._pairs[-1]), kind, np.int8))
        return crowded

    def result(self) -> UrlPairs:
        """Return all pairs, each with its first kind of difference."""
        pairs, first = np.unique(np.concatenate(self._pairs), return_index=True)
        rows, columns = np.divmod(pairs, max(1, self._shape[1]))
        starts = np.searchsorted(rows, np.arange(self._shape[0] + 1))
        kinds = np.concatenate(self._kinds)[first]
        pattern = csr_array((kinds, columns, starts), shape=self._shape)
        return UrlPairs(pattern, self._crowded)
