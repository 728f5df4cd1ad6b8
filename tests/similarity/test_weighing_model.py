"""The model of the evidence: its bound, and the shares of the kinds of evidence in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import STANDINGS, Logistic
from twinlink.similarity.weighing_model import MAX_LOG_ODDS, Model, _shares

SIGNS = np.array([1.0, -1.0, 1.0, -1.0])


def shares(first: float, second: float, weights: list[float], clue: float = 0.0) -> dict[str, float]:
    """Two kinds whose columns rise and fall by ``first`` and ``second``; a clue that adds ``clue`` to half the rows."""
    n = len(STANDINGS)
    z = np.ones((4, 2 * n + 1))
    z[:, :n], z[:, n:-1] = (first * SIGNS)[:, None], (second * SIGNS)[:, None]
    model = Logistic(np.zeros(2 * n), np.ones(2 * n), np.array([*np.repeat(weights, n), 100.0]))
    return _shares(model, z, ["first", "second"], {"clue": clue * SIGNS / 2} if clue else {})


@pytest.mark.parametrize(
    ("first", "second", "weights", "expected"),
    [
        (0.0, 1.0, [1.0, 1.0], [0, 1]),  # what is the same for all candidates adds nothing, whatever its weight
        (1.0, 0.0, [1.0, 1.0], [1, 0]),
        (1.0, 1.0, [0.0, 2.0], [0, 1]),  # nor does what has no weight
        (1.0, 1.0, [1.0, -3.0], [0.25, 0.75]),
        (3.0, 1.0, [1.0, 1.0], [0.75, 0.25]),
        (0.0, 0.0, [1.0, 1.0], [0.5, 0.5]),  # the intercept is nobody's
    ],
)
def test_a_kind_has_a_share_as_it_moves_the_log_odds(
    first: float, second: float, weights: list[float], expected: list[float]
) -> None:
    assert list(shares(first, second, weights).values()) == pytest.approx(expected)


def test_clues_have_their_share_beside_the_kinds() -> None:
    """Four columns add 1 each or take it: the deviation of the kind is 4, that of the clue is half of 8."""
    assert shares(1.0, 0.0, [1.0, 1.0], clue=8.0) == pytest.approx({"first": 0.5, "second": 0, "clue": 0.5})


@pytest.mark.parametrize("sign", [1, -1])
def test_log_odds_go_up_to_their_bound(sign: int) -> None:
    n = len(STANDINGS)
    model = Model(Logistic(np.zeros(n), np.ones(n), sign * np.array([*np.full(n, 1e6), 0.0])), {})
    odds = model.log_odds({"one": np.array([0.5])}, Rivalry(csr_array(np.ones((1, 1)))))
    assert odds.tolist() == [sign * MAX_LOG_ODDS] == [sign * 20]
