"""Sites of which each known pair but some has lost a page."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.untranslated import with_share_of_pairs
from tests.experiments.test_numbered import case
from twinlink.evaluation.gold import Gold


@pytest.mark.parametrize(("share", "n_left"), [(0.0, 0), (0.2, 4), (1.0, 20)])
def test_each_pair_but_a_share_loses_one_page_of_either_side_in_turn(share: float, n_left: int) -> None:
    pairs = [(f"/a{k}.html", f"/b{k}.html") for k in range(20)]
    whole = replace(case(pairs, 0, 0), gold=Gold(tuple(pairs)))
    made = with_share_of_pairs(whole, share, 0)
    assert len(made.gold.pairs) == n_left
    assert [len(side.urls) for side in (made.side_a, made.side_b)] == [n_left + (20 - n_left) // 2] * 2
    of_a, of_b = ({int(url[2:-5]) for url in side.urls} for side in (made.side_a, made.side_b))
    assert of_a | of_b == set(range(20))
    assert {int(a[2:-5]) for a, _ in made.gold.pairs} == of_a & of_b


def test_pages_in_no_known_pair_stay() -> None:
    pairs = [(f"/a{k}.html", f"/b{k}.html") for k in range(20)]
    whole = replace(case(pairs, 0, 0), gold=Gold(tuple(pairs[:4])))
    made = with_share_of_pairs(whole, 0.0, 0)
    assert [len(side.urls) for side in (made.side_a, made.side_b)] == [18, 18]
