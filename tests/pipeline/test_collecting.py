"""How often garbage is collected is put back, whatever happens."""

from __future__ import annotations

import gc

import pytest

from twinlink.pipeline.collecting import seldom_collecting


def test_collects_seldom_and_puts_back() -> None:
    before = gc.get_threshold()
    with seldom_collecting():
        assert gc.get_threshold()[0] > before[0]
        with seldom_collecting():
            pass
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_puts_back_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="broken"), seldom_collecting():
        raise ValueError("broken")
    assert gc.get_threshold() == before


def test_is_a_decorator() -> None:
    assert seldom_collecting()(gc.get_threshold)()[0] > gc.get_threshold()[0]
