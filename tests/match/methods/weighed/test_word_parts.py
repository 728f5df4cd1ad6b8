from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.similarity.test_contrast import symmetric
from twinlink.config import Config
from twinlink.match.methods.weighed import word_parts as module
from twinlink.match.methods.weighed.word_parts import is_unsure, parts_of


def test_pages_without_near_duplicates_are_dealt_out() -> None:
    assert parts_of(symmetric(7), 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert parts_of(symmetric(0), 3).tolist() == []


def test_a_page_and_its_version_for_printing_are_in_one_part() -> None:
    parts = parts_of(symmetric(12, *((page, page + 6) for page in range(6))), 3)
    assert parts[:6].tolist() == parts[6:].tolist()
    assert np.bincount(parts).tolist() == [4, 4, 4]


def test_a_group_with_more_pages_than_a_part_is_dealt_out() -> None:
    """Eight of nine pages are near-duplicates: in one part, nothing but one page would teach them."""
    parts = parts_of(symmetric(9, *((0, page) for page in range(1, 8))), 3)
    assert np.bincount(parts[:8]).tolist() == [3, 3, 2]


@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=20), st.integers(1, 9))
def test_each_page_has_a_part_and_small_groups_stay_together(
    n: int, pairs: list[tuple[int, int]], n_parts: int
) -> None:
    near = symmetric(n, *((one, other) for one, other in pairs if one < n and other < n and one != other))
    parts = parts_of(near, n_parts)
    assert len(parts) == n
    assert ((parts >= 0) & (parts < n_parts)).all()
    _, group = sp.csgraph.connected_components(near, directed=False)
    for members in (np.flatnonzero(group == number) for number in np.unique(group)):
        assert len(members) * n_parts > n or len(np.unique(parts[members])) == 1


def site(n_words: int = 100, uses: bool = True, rounds: int = 3) -> SimpleNamespace:
    settings = Config().match
    terms = SimpleNamespace(counts=sp.csr_array(np.ones((1, n_words))))
    weighing = SimpleNamespace(rounds=rounds, evidence=settings.weighing.evidence)
    return SimpleNamespace(
        uses=lambda kind: uses and kind == "learned",
        settings=SimpleNamespace(weighing=weighing),
        words=SimpleNamespace(a=terms, b=terms),
        alike_a=symmetric(40),
    )


@pytest.mark.parametrize(
    ("n_sure", "n_pairs", "of_site", "expected"),
    [
        (11, 20, site(), True),
        (12, 20, site(), False),
        (0, 19, site(), False),
        (11, 20, site(n_words=101), False),
        (11, 20, site(uses=False), False),
        (11, 20, site(rounds=0), False),
    ],
    ids=["half are sure", "most are sure", "few pairs", "many words", "words are not learned", "no further round"],
)
def test_where_few_pairs_of_a_small_site_are_sure_it_is_unsure(
    monkeypatch: pytest.MonkeyPatch, n_sure: int, n_pairs: int, of_site: SimpleNamespace, expected: bool
) -> None:
    monkeypatch.setattr(module, "FEW_WORDS", 200)
    presence = np.r_[np.full(n_sure, 0.95), np.full(n_pairs - n_sure, 0.9)]
    result = SimpleNamespace(presence=presence, pairs=np.arange(n_pairs))
    assert is_unsure(of_site, result) is expected  # type: ignore[arg-type]
