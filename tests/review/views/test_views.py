"""The parts of a view."""

from __future__ import annotations

import pytest

from twinlink.review.views.views import View


@pytest.mark.parametrize(("start", "n_folded"), [(-1, 0), (0, 0), (4, 0), (5, 5), (9, 9)])
def test_only_long_menus_before_the_heading_are_folded(start: int, n_folded: int) -> None:
    view = View("text", rows=range(20), start=start)
    assert list(view.menus) == list(range(n_folded))
