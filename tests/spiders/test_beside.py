"""Hostile pages beside good ones on one server, over HTTP: the good ones come in, and the crawler stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.campaign import beside
from experiments.campaign.beside import GOOD, N_HOSTILE, hostile_pages, try_beside


@pytest.mark.experiments
def test_24_hostile_pages_keep_none_of_200_good_ones_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No page is asked for twice: a good one must not be, and to wait for a slow one again tells nothing new."""
    monkeypatch.setattr(beside, "SETTINGS", {**beside.SETTINGS, "retries": 0})
    told: list[str] = []
    assert (len(GOOD), len(hostile_pages())) == (200, N_HOSTILE)
    trial = try_beside(tmp_path / "run", tell=told.append)
    assert trial.missed == (), told
    assert trial.extra == 0, told
