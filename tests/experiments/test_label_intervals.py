"""Intervals from labels in simulated runs: pairs with a label, and a row for each meaning of the probabilities."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from experiments.label_intervals import ORDERS, WAYS, labelled_pairs, main, simulate

pytestmark = pytest.mark.experiments


@pytest.mark.parametrize("order", ORDERS)
def test_no_pair_has_two_labels(order: str) -> None:
    chosen = labelled_pairs(order, np.linspace(0.5, 1, 50), 20, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == len(chosen)
    assert 10 <= len(chosen) <= 20


def test_the_most_doubtful_pairs_come_first() -> None:
    assert labelled_pairs("doubtful first", np.array([0.9, 0.5, 0.7]), 2, np.random.default_rng(0)).tolist() == [1, 2]


@pytest.mark.parametrize("order", ["random", "doubtful first"])
def test_where_all_pairs_have_a_label_precision_is_known(order: str) -> None:
    assert simulate(20, 20, WAYS["regardless"], order, np.random.default_rng(0)) == (True, 0.0)


def test_a_row_for_each_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["label_intervals", "--trials", "1"])
    main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [row[0].removeprefix("| ") for row in rows] == ["probabilities", "---", *WAYS, "mean"]
    assert {len(row) for row in rows} == {4}
