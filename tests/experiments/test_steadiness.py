"""Sites after a change that should change nothing."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from experiments.steadiness import CHANGES, changed
from twinlink.match.evidence import Words
from twinlink.text.words import TermTable


def test_some_counts_are_one_larger_and_the_words_stay_as_they_are() -> None:
    table = TermTable(csr_array(np.ones((50, 20))), [f"word{i}" for i in range(20)])
    words = Words(table, table, csr_array(np.eye(20)))
    draws = [changed(words, seed).a.counts for seed in (0, 0, 1)]
    assert words.a.counts.sum() == 1_000
    assert 1_000 < draws[0].sum() <= 1_000 + CHANGES
    assert (draws[0] != draws[1]).nnz == 0
    assert (draws[0] != draws[2]).nnz > 0
    assert changed(words, 0).b is words.b
