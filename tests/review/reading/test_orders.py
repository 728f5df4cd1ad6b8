"""The order of the queue, on pairs whose order is known by argument."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.errors import InputError
from twinlink.labels.book import Label
from twinlink.review.reading.orders import ORDERS, REASONS, Order, ordered, reasons
from twinlink.tables import PAIRS


def pairs_of(**columns: Any) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    frame = pd.DataFrame({name: [np.nan] * n for name in PAIRS.names})
    frame = frame.assign(
        url_a=[f"https://a.example/en/{row}" for row in range(n)],
        url_b=[f"https://a.example/tc/{row}" for row in range(n)],
        site="a.example",
        page_a=np.arange(n, dtype=np.int64) * 7919,
        page_b=-np.arange(n, dtype=np.int64) * 104729,
        verdict="pair",
        score=1.0,
        rival=0.0,
    )
    return frame.assign(**columns)


def labels_of(pairs: pd.DataFrame, *rows: int) -> dict[tuple[str, str], Label]:
    both = [(pairs["url_a"].iloc[row], pairs["url_b"].iloc[row]) for row in rows]
    return {pair: Label(*pair, "accept", "ann", datetime(2025, 1, 1, tzinfo=UTC)) for pair in both}


def test_doubt_is_nearness_to_one_half() -> None:
    pairs = pairs_of(probability=[0.99, 0.55, 0.31, 0.7, 0.48])
    assert ordered(pairs, {}, "doubt").tolist() == [4, 1, 2, 3, 0]


def test_doubt_without_probabilities_is_a_low_score() -> None:
    pairs = pairs_of(probability=pd.array([None] * 3, "Float32"), score=[0.9, 0.2, 0.5])
    assert ordered(pairs, {}, "doubt").tolist() == [1, 2, 0]


def test_probable_first() -> None:
    pairs = pairs_of(probability=[0.5, 0.9, 0.9, np.nan], score=[9, 1, 2, 9])
    assert ordered(pairs, {}, "probable").tolist() == [2, 1, 0, 3]


def test_by_site_then_doubt() -> None:
    pairs = pairs_of(probability=[0.9, 0.6, 0.8, 0.7], site=["b", "a", "b", "a"])
    assert ordered(pairs, {}, "site").tolist() == [1, 3, 2, 0]


def test_by_reason_then_doubt() -> None:
    pairs = pairs_of(
        probability=[0.6, 0.9, 0.7, 0.95, 0.8],
        verdict=["pair", "tie", "pair", "pair", "tie"],
        rival=[0, 0, 0.99, 0, 0],
    )
    assert ordered(pairs, {}, "reason").tolist() == [4, 1, 2, 0, 3]


@pytest.mark.parametrize("by", ORDERS)
def test_labelled_pairs_come_last_and_none_is_lost(by: Order) -> None:
    pairs = pairs_of(probability=np.linspace(0.4, 1, 20), site=[f"s{row % 3}" for row in range(20)])
    order = ordered(pairs, labels_of(pairs, 2, 5, 7), by).tolist()
    assert sorted(order) == list(range(20))
    assert set(order[-3:]) == {2, 5, 7}


def test_the_default_is_doubt() -> None:
    pairs = pairs_of(probability=[0.9, 0.6])
    assert ordered(pairs, {}).tolist() == [1, 0]


def test_random_is_mixed_but_stays_when_pairs_come_and_go() -> None:
    rng = np.random.default_rng(1)
    pages = rng.integers(-(2**63), 2**63 - 1, (2, 400))
    pairs = pairs_of(probability=np.linspace(0.5, 1, 400), page_a=pages[0], page_b=pages[1])
    order = ordered(pairs, {}, "random")
    assert abs(np.corrcoef(order, np.arange(400))[0, 1]) < 0.15
    fewer = pairs.iloc[::2].reset_index(drop=True)
    again = ordered(fewer, {}, "random") * 2
    assert again.tolist() == [row for row in order.tolist() if row % 2 == 0]


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=0, max_size=8), st.sampled_from(ORDERS))
def test_every_order_has_every_row_once(probabilities: list[float], by: Order) -> None:
    pairs = pairs_of(probability=np.array(probabilities, np.float64))
    assert sorted(ordered(pairs, {}, by).tolist()) == list(range(len(probabilities)))


def test_no_such_order() -> None:
    with pytest.raises(InputError, match="doubt, random"):
        ordered(pairs_of(probability=[0.5]), {}, "best")  # type: ignore[arg-type]


def test_the_gravest_reason_is_reported() -> None:
    content = np.linspace(0.2, 0.9, 40)
    pairs = pairs_of(
        probability=[0.9] * 40,
        verdict=["tie"] + ["pair"] * 39,
        rival=[0.9, 0.9] + [0.1] * 38,
        alike_a=[1, 1, 1] + [0] * 37,
        content=content[::-1],
        length=np.where(np.arange(40) == 20, 0.1, 0.9),
    )
    found = [REASONS[place] for place in reasons(pairs)]
    assert found[:3] == ["tie", "rival", "alike"]
    assert found[20] == "length"
    assert found[-2:] == ["content", "content"]
    assert found.count("none") == 40 - 6


def test_evidence_that_is_the_same_for_all_is_no_reason() -> None:
    pairs = pairs_of(probability=[0.9] * 10, content=[0.5] * 10)
    assert {REASONS[place] for place in reasons(pairs)} == {"none"}
