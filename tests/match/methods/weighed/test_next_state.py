"""Next state: which candidates the pages of sure pairs keep."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from tests.match.methods.weighed.made_sites import f1, made_site, no_links
from twinlink.match.methods.weighed import next_state


@pytest.mark.parametrize(("n", "seeds"), [(6, (1, 5)), (8, (9, 27)), (10, (5,))])
def test_tiny_sites_keep_their_candidates(n: int, seeds: tuple[int, ...]) -> None:
    """All pairs are sure after the first round: with few candidates left, the second one would find nothing."""
    for seed in seeds:
        site = made_site(n, seed)
        assert len(site.found().matching.rows) >= n
        assert f1(site, site.found()) == 1.0


def test_pages_of_sure_pairs_keep_fewer_candidates_but_not_with_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With labels and few candidates, a look-alike lost its pair in every other round."""
    asked: list[tuple[int, int]] = []

    def strongest(*args: object) -> sp.csr_array:
        asked.append(tuple(int(np.min(most)) for most in args[2:]))  # type: ignore[arg-type]
        return kept_by(*args)  # type: ignore[arg-type]

    kept_by = next_state.strongest
    monkeypatch.setattr(next_state, "strongest", strongest)
    site = made_site(120)
    labels = sp.csr_array((np.ones(10, np.int8), (np.arange(10), np.arange(10))), shape=(120, 120))
    between = replace(no_links(site.a, site.b), labels=labels)
    site.found(between)
    assert asked[0] == (next_state.OF_SURE, next_state.OF_SURE)
    assert asked[-1] == (20, 20)
