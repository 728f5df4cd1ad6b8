"""The benchmark of ETS measures what it says."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.bench.bench_ets import make_site, median_times, print_first_call, print_large, print_ratio


def test_site_has_the_size_that_was_asked_for() -> None:
    site = make_site(300, 280, candidates=20, degree=12)
    assert site.internal.shape == (300, 280)
    assert site.internal.dtype == np.float32
    assert site.source.nnz / 300 == site.target.nnz / 280 == 12
    assert np.diff(site.internal.indptr).min() >= 15  # a few are drawn twice
    assert site.internal.diagonal().min() >= 0.3  # each translation is a candidate
    with_menu = make_site(300, 280, candidates=20, degree=12, menu=5)
    assert np.diff(with_menu.source.indptr)[:5].tolist() == [299] * 5


def test_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    site = make_site(30, 25, candidates=5, degree=4)
    print_large(site, rounds=2, threads=1, runs=1)
    print_ratio(site, threads=1, runs=1)
    printed = capsys.readouterr().out
    assert "30 x 25 pages" in printed
    assert "2 rounds of ETS" in printed
    assert "equal: True" in printed


def test_the_first_call_compiles_where_no_code_is_on_disk(capsys: pytest.CaptureFixture[str]) -> None:
    print_first_call()
    anew, _ = (float(line.split()[-2]) for line in capsys.readouterr().out.splitlines())
    assert anew > 0  # the interpreter's call of two pages was 0.00


def test_medians_are_taken_over_the_runs() -> None:
    calls: list[int] = []
    times = median_times(lambda: calls.append(1), runs=3)
    assert len(calls) == 3
    assert 0 <= times.clock < 1
