"""Pairs that the first round learns from, by pages and by clues."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from twinlink.match.measures import State
from twinlink.match.methods.weighed.pairs_to_learn import pairs_to_learn
from twinlink.similarity.rivals import Rivalry


@pytest.mark.parametrize(("n_agreed", "is_used"), [(2, False), (3, True)])
def test_a_clue_is_used_at_first_if_the_pages_agree_with_most_of_it(n_agreed: int, is_used: bool) -> None:
    """Five pairs of pages have one address pattern. Where the pages disagree, two others are equally good, so that
    nothing is clear by the pages alone; where they agree, the pair has nothing else."""
    rows, columns, content, pattern = [], [], [], []
    for k in range(5):
        others = () if k < n_agreed else (5 + 2 * k, 6 + 2 * k)
        rows += [k] * (1 + len(others))
        columns += [k, *others]
        content += [0.1 if others else 0.9, *[0.9] * len(others)]
        pattern += [1.0, *[0.0] * len(others)]
    candidates = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(5, 16))
    evidence = {"content": np.array(content), "pattern": np.array(pattern)}
    rivalry = Rivalry(candidates)
    clear = pairs_to_learn(
        State(candidates, {}, (), np.zeros(candidates.shape[0], np.int64)),
        evidence,
        rivalry,
        None,
        lambda pairs: np.zeros(len(rows), np.bool_),
    )
    wanted = 5 if is_used else n_agreed
    assert [columns[k] for k in np.flatnonzero(clear)] == list(range(wanted))


def test_content_alone_tells_if_nothing_is_clear_otherwise() -> None:
    """Three pages of a side link to all others and have one structure: ETS is nearly the same for all candidates."""
    candidates = sp.csr_array(np.ones((3, 3)))
    content = np.array([[0.4, 0.1, 0.1], [0.1, 0.3, 0.1], [0.2, 0.1, 0.2]]).ravel()
    evidence = {"ets": 0.5 + content / 10, "content": content}
    arguments = Rivalry(candidates), None, lambda pairs: np.zeros(9, np.bool_)
    state = State(candidates, {}, (), np.zeros(3, np.int64))
    assert np.flatnonzero(pairs_to_learn(state, evidence, *arguments)).tolist() == [0, 4]
    clue = np.eye(3)[[2, 0, 1]].ravel()
    with_clue = evidence | {"hreflang": clue}  # content does not contradict the only clue
    assert np.flatnonzero(pairs_to_learn(state, with_clue, *arguments)).tolist() == [2, 3, 7]
    evidence["ets"] = clue  # where ETS tells pairs, these count
    assert np.flatnonzero(pairs_to_learn(state, evidence, *arguments)).tolist() == [2, 3, 7]
