"""The lowest bit of a mask: the interpreter and machine code name the same one."""

from __future__ import annotations

import numpy as np
import pytest

from twinlink.compiled import compiled
from twinlink.similarity.masks import lowest_bit


@compiled
def _position(mask: np.uint64) -> int:
    return int(lowest_bit(mask))


@pytest.mark.parametrize(("mask", "expected"), [(1, 0), (0b1000, 3), (0b110100, 2), (2**63, 63), (2**64 - 1, 0)])
def test_the_lowest_bit(mask: int, expected: int) -> None:
    assert _position(np.uint64(mask)) == _position.interpreted(np.uint64(mask)) == expected
