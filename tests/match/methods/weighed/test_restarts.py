"""Restarts of the rounds: where they are worth it, and what they start from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from twinlink.config import Config
from twinlink.match.evidence import Between, Side, read_words
from twinlink.match.measures import SiteMeasures, State
from twinlink.match.methods.weighed import restarts as module
from twinlink.match.methods.weighed.restarts import CHANCE, ENOUGH, STARTS, are_enough, is_risky, restarts
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import Weighing

N = 3
FULL = sp.csr_array(np.ones((N, N), np.float32))
HALVES = np.arange(N) % 2
FORM = " ".join(str(n) for n in range(2000, 2060))
FORMS = (f"{FORM} 1001", f"{FORM} 1002", "1003")
OWN = ("1001 1002", "1003 1004", "1005 1006")
TURN = np.array([2, 0, 1])
Texts = tuple[str, ...]


def side_of(lang: str, texts: Texts) -> Side:
    urls = [f"http://x.example/{lang}/{n}" for n in range(len(texts))]
    none = sp.csr_array((len(texts), len(texts)), dtype=np.bool_)
    return Side(lang, np.arange(len(texts)), urls, [[text] for text in texts], [b""] * len(texts), none)


def site_of(texts: Texts, other: Texts = OWN, kinds: Texts = ("contrast",)) -> SiteMeasures:
    settings = Config().override({"match.weighing.evidence": kinds}).match
    none = sp.csr_array((len(texts), len(other)), dtype=np.float32)
    a, b = side_of("xa", texts), side_of("xb", other)
    return SiteMeasures(a, b, read_words(a, b, [], settings), Between(none, none), settings)


def result(mistaken: float) -> Weighing:
    """Return the result of a round that pairs equal pages."""
    pairs = np.array([0, 4, 8])
    ones = np.ones(N)
    return Weighing(np.zeros(9), pairs, ones, ones, ones, ones.astype(np.int64), mistaken, {})


@pytest.mark.parametrize(
    ("texts", "mistaken", "kinds", "expected"),
    [
        (FORMS, 0.11, ("contrast",), True),
        (FORMS, 0.09, ("contrast",), False),
        (OWN, 0.5, ("contrast",), False),
        (FORMS, 0.5, ("content",), False),
    ],
    ids=["look-alikes", "their siblings are clearly worse", "no look-alikes", "nothing to choose by"],
)
def test_look_alikes_that_may_be_exchanged_are_a_risk(
    texts: Texts, mistaken: float, kinds: Texts, expected: bool
) -> None:
    assert is_risky(site_of(texts, kinds=kinds), Rivalry(FULL), result(mistaken)) is expected


def test_some_starts_leave_the_order_out_and_some_draw_pairs() -> None:
    states = [*restarts(site_of(FORMS), State(FULL, {}, (), HALVES))]
    assert [(state.order_first, state.chance is not None) for state in states] == [
        (order_first, seed > 0) for order_first, seed in STARTS
    ]
    drawn = np.array([state.chance for state in states if state.chance is not None])
    assert (np.abs(drawn) <= CHANCE).all()
    assert len(np.unique(drawn)) == drawn.size


def test_a_larger_site_starts_again_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [most for most, _ in module.N_STARTS]
    assert sizes == sorted(sizes)
    monkeypatch.setattr(module, "N_STARTS", ((N * 3, 9), (N * 4, 5), (N * 5, 1)))
    found = []
    for n in (3, 4, 5):
        site = site_of(FORMS, tuple(map(str, range(n))))
        found.append(restarts(site, State(sp.csr_array(np.ones((N, n), np.float32)), {}, (), HALVES)))
    assert [len(states) for states in found] == [9, 5, 1]
    assert not found[2][0].order_first
    assert found[2][0].chance is None


@pytest.mark.parametrize(
    ("objectives", "expected"),
    [([5.0] * (ENOUGH - 1), False), ([5.0] * ENOUGH, True), ([5.0] * ENOUGH + [5.1], False), ([0.0] * ENOUGH, True)],
)
def test_equal_results_are_enough(objectives: list[float], expected: bool) -> None:
    assert are_enough(objectives) is expected


def test_chance_depends_on_the_words_of_the_pages_alone() -> None:
    first = [state.chance for state in restarts(site_of(FORMS, OWN), State(FULL, {}, (), HALVES))][1]
    turned = [
        state.chance for state in restarts(site_of(tuple(OWN[k] for k in TURN), FORMS), State(FULL, {}, (), HALVES))
    ][1]
    assert first is not None
    assert turned is not None
    assert first.reshape(N, N).T[TURN] == pytest.approx(turned.reshape(N, N))
