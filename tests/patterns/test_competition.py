"""Pairs in the order of their keys, and the pages of each key: as sorted and counted one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.patterns.competition import strengths
from twinlink.patterns.learning import _sorted

N_FORMS = 7


def made_pairs(n: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Pairs of few forms in few places under few keys, so that most columns are tied; columns as of the kernels."""
    rng = np.random.default_rng(seed)
    keys = rng.choice(np.array([1, 5, 2**63, 2**64 - 1], np.uint64), n)
    pages = [rng.integers(N_FORMS, size=n).astype(np.int32) for _ in range(2)]
    return keys, *pages, *(rng.integers(3, size=n) for _ in range(2)), keys.astype(np.int8)


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_sorted_by_key_source_target_and_places(n: int, seed: int) -> None:
    pairs = made_pairs(n, seed)
    met = _sorted(pairs, N_FORMS)
    rows = list(zip(*(column.tolist() for column in pairs), strict=True))
    assert list(zip(*(column.tolist() for column in met.pairs), strict=True)) == sorted(rows)
    keys = sorted(row[0] for row in rows)
    assert met.starts.tolist() == [*(keys.index(key) for key in sorted(set(keys))), n]


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_strength_is_the_number_of_different_pages_on_either_side(n: int) -> None:
    met = _sorted(made_pairs(n, 0), N_FORMS)
    ends = zip(met.starts[:-1].tolist(), met.starts[1:].tolist(), strict=True)
    pages = [set(met.pairs[1][a:b].tolist()) | set(met.pairs[2][a:b].tolist()) for a, b in ends]
    assert strengths(met.starts, met.pairs[1], met.pairs[2], N_FORMS).tolist() == [len(each) for each in pages]
    assert met.strength().tolist() == [len(each) for each in pages]


def test_pairs_of_some_keys_stay_in_order() -> None:
    met = _sorted(made_pairs(300, 1), N_FORMS)
    kept = met.only(np.array([True, False, False, True]))
    ends = met.starts.tolist()
    rows = [*range(ends[1]), *range(ends[3], ends[4])]
    assert [column.tolist() for column in kept.pairs] == [column[rows].tolist() for column in met.pairs]
    assert kept.starts.tolist() == [0, ends[1], ends[1] + ends[4] - ends[3]]
