"""Kinds of evidence that are made when they are read."""

from __future__ import annotations

import numpy as np
import pytest

from twinlink.similarity.kinds import Kinds, some_kinds, with_replaced

STORED = {"a": np.array([0.1, 0.5], np.float32), "b": np.array([1.0, 2.0])}


def values(kinds: Kinds) -> dict[str, list[float]]:
    return {name: each.tolist() for name, each in kinds.items()}


def test_kinds_are_made_when_they_are_read() -> None:
    reads: list[str] = []

    def read(name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        reads.append(name)
        return np.zeros(1)

    kinds = Kinds(["a", "b"], read)
    assert (len(kinds), list(kinds), "a" in kinds, "c" in kinds) == (2, ["a", "b"], True, False)
    assert kinds.get("c") is None
    assert reads == []
    assert kinds["b"].tolist() == [0.0]
    assert reads == ["b"]
    with pytest.raises(KeyError):
        kinds["c"]


def test_kinds_of_kinds() -> None:
    assert values(some_kinds(STORED, ["b"])) == {"b": [1.0, 2.0]}
    assert list(with_replaced(STORED, {"b": np.zeros(2), "c": np.ones(2)})) == ["a", "b", "c"]
    assert with_replaced(STORED, {"b": np.zeros(2)})["b"].tolist() == [0.0, 0.0]
