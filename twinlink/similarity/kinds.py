"""Evidence by its kinds, of which one is made at a time: on a large site, each takes a hundred megabytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kinds", "some_kinds", "with_replaced"]

Floats = NDArray[np.floating]


class Kinds(Mapping[str, Floats]):
    """Kinds of evidence that are made anew whenever they are read.

    Parameters
    ----------
    names : iterable of str
    read : callable
        Takes one of the names, and returns the values of the candidates.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], Floats]) -> None:
        self._names, self._read = dict.fromkeys(names), read

    def __getitem__(self, name: str) -> Floats:
        """Return the values of one kind."""
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def some_kinds(kinds: Mapping[str, Floats], names: Iterable[str]) -> Kinds:
    """Return some of the kinds."""
    return Kinds(names, kinds.__getitem__)


def with_replaced(kinds: Mapping[str, Floats], others: Mapping[str, Floats]) -> Kinds:
    """Return the kinds, with some of them replaced.

    >>> one, two = np.zeros(1), np.ones(1)
    >>> {name: values.tolist() for name, values in with_replaced({"a": one, "b": one}, {"b": two, "c": two}).items()}
    {'a': [0.0], 'b': [1.0], 'c': [1.0]}
    """
    return Kinds([*kinds, *others], lambda name: others[name] if name in others else kinds[name])
