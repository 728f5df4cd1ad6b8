"""When content contradicts a pair that URL patterns join: two of its eight chance pairs are as similar as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from twinlink.match.methods import urls
from twinlink.sparse import entries


def contradicted(monkeypatch: pytest.MonkeyPatch, n_pairs: int, alike: Sequence[tuple[int, int]]) -> list[int]:
    """Return the pairs (k, k) that are contradicted where they have S_in .5, and some chance pairs have it, too."""
    own = sp.csr_array(np.eye(n_pairs, dtype=np.float32) / 2)

    def measured(_a: object, _b: object, _words: object, pattern: sp.csr_array, _settings: object) -> Any:
        rows, columns = (each.tolist() for each in entries(pattern))
        values = [0.5 if entry in alike else 0.0 for entry in zip(rows, columns, strict=True)]
        data = np.array(values, np.float32)
        return None, None, sp.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    monkeypatch.setattr(urls, "_alike", measured)
    nothing: Any = None
    kept = urls._more_than_chance(nothing, nothing, nothing, own, own, nothing)
    return np.flatnonzero(~kept).tolist()


def test_one_similar_chance_pair_contradicts_nothing_and_two_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six pairs, chance pairs are those whose numbers differ by 1, 2, 4 or 5, in a circle."""
    assert contradicted(monkeypatch, 6, []) == []
    assert contradicted(monkeypatch, 6, [(0, 1)]) == []
    assert contradicted(monkeypatch, 6, [(0, 1), (0, 2)]) == [0]
    assert contradicted(monkeypatch, 6, [(0, 1), (2, 0)]) == [0]
    assert contradicted(monkeypatch, 6, [(0, 1), (0, 3)]) == [], "three further is no chance pair"


def test_content_counts_where_it_tells_two_thirds_of_the_pairs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(row, column) for row in range(3) for column in range(3, 6)]
    of_two = [(0, 1), (0, 2), (5, 4), (5, 3)]
    assert contradicted(monkeypatch, 6, of_two) == [0, 5]
    assert contradicted(monkeypatch, 6, [*rows, *of_two]) == []


@pytest.mark.parametrize(("n_pairs", "expected"), [(4, []), (5, [0])])
def test_fewer_than_five_pairs_tell_nothing(monkeypatch: pytest.MonkeyPatch, n_pairs: int, expected: list[int]) -> None:
    assert contradicted(monkeypatch, n_pairs, [(0, 1), (0, 2), (0, 3)]) == expected
