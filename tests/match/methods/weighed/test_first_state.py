"""First state: candidates by votes, and clues that the pages contradict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.robustness import some_pages
from tests.match.methods.weighed.made_sites import (
    MadeSite,
    as_news,
    check,
    made_site,
    right,
    with_plain_addresses,
    without_tags,
    without_words,
)
from twinlink.config import DEFAULT_EVIDENCE
from twinlink.match.methods.weighed import first_state
from twinlink.similarity import candidates


def test_candidates_of_a_large_site_need_votes_where_words_and_structure_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []

    def with_votes(votes: Sequence[sp.csr_array], least: int) -> sp.csr_array:
        asked.append((len(votes), least))
        return candidates.with_votes(votes, least)

    def n_pairs(votes: int, kinds: Sequence[str] = DEFAULT_EVIDENCE) -> int:
        overrides = {"candidates__votes": votes, "weighing__rounds": 0, "weighing__evidence": list(kinds)}
        return site.found(**overrides).scores.nnz

    monkeypatch.setattr(first_state, "with_votes", with_votes)
    whole = made_site(40)
    site = MadeSite(whole.a, some_pages(whole.b, np.arange(30)))
    monkeypatch.setattr(first_state, "UNVOTED_PAGES", 70)
    small = [n_pairs(votes) for votes in (1, 3)]
    monkeypatch.setattr(first_state, "UNVOTED_PAGES", 69)
    large = [n_pairs(votes) for votes in (1, 2, 3)]
    n_pairs(3, ["content", "learned"])
    assert asked == [(2, 1), (2, 1), (2, 1), (2, 2), (2, 3), (1, 1)]
    assert small[0] == small[1] == large[0] > large[1] > large[2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_numbers_that_each_language_counts_by_itself_say_nothing(seed: int) -> None:
    """News of which a third is missing in either language, each linked to the next and the previous one.

    With these numbers as evidence, 2 of 68 pairs are right.
    """
    site = as_news(made_site(120, seed, noise=0.5, tag_noise=0.5))
    found = site.found()
    check(found, site)
    pairs = site.pairs(found)
    assert "pattern" not in found.evidence
    assert len(pairs & right(site)) >= 0.6 * len(right(site))
    assert len(pairs & right(site)) >= 0.6 * len(pairs)


@pytest.mark.parametrize(("n", "seed"), [(30, 2), (30, 3), (100, 0), (100, 1)])
def test_a_pattern_whose_pairs_teach_words_is_used_even_if_the_pages_contradict_it(n: int, seed: int) -> None:
    """Each page of one side has the numbers of the page behind its partner, as if translations came an issue later."""
    site = with_plain_addresses(made_site(n, seed, numbers=6, tag_noise=0.5))
    numbers = {page: blocks[1] for page, blocks in zip(site.a.page_ids.tolist(), site.a.blocks, strict=True)}
    pages = zip(site.b.page_ids.tolist(), site.b.blocks, strict=True)
    late = MadeSite(site.a, replace(site.b, blocks=[[own[0], numbers[(page + 1) % n]] for page, own in pages]))
    found = late.found()
    assert found.evidence["pattern"].max() > 0
    assert len(late.pairs(found) & right(late)) >= 0.9 * n


def test_numbers_of_pairs_are_evidence_that_the_pages_confirm() -> None:
    site = as_news(with_plain_addresses(made_site(90, numbers=2)), renumbered=False)
    found = site.found()
    assert found.evidence["pattern"].max() > 0
    assert site.pairs(found) >= right(site)


def test_pages_that_only_url_patterns_join_are_candidates() -> None:
    """No word, tag or link says anything; their addresses differ in the language alone."""
    whole = made_site(10)
    site = with_plain_addresses(MadeSite(*(without_tags(without_words(side)) for side in (whole.a, whole.b))))
    found = site.found(weighing__rounds=0)
    assert found.scores.nnz == 10
    assert site.pairs(found, np.ones(len(found.matching.rows), bool)) == right(site)
