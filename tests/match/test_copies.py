"""Copies are matched as one page: what is found is what would be found without them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from experiments.robustness import some_pages
from tests.match.methods.weighed.made_sites import (
    MadeSite,
    check,
    made_site,
    no_links,
    opaque_names,
    right,
    with_own_images,
)
from twinlink.config import Config, MatchSettings
from twinlink.graph.document_order import link_lists
from twinlink.match.copies import MOST, SideCopies, _merged, find_copies, without_copies
from twinlink.match.evidence import Between, FoundPairs, Side, read_words
from twinlink.match.methods.weighed import match_weighed
from twinlink.match.selection import match_sides
from twinlink.similarity.rivals import Rivalry
from twinlink.sparse import positions

Numbers = NDArray[np.int64]
N = 30


def with_copies_of(side: Side, pages: Numbers) -> Side:
    """Add a copy of each of these pages, with a longer address, the same links, and no links to it."""
    rows = np.append(np.arange(len(side.urls)), pages)
    copied = some_pages(side, rows)
    graph = sp.csr_array((len(rows), len(rows)), dtype=bool).tolil()
    graph[:, : len(side.urls)] = side.graph.toarray()[rows]
    ends = [""] * len(side.urls) + [f"/{name}" for name in opaque_names(side.lang, len(pages))]
    urls = [url + end for url, end in zip(copied.urls, ends, strict=True)]
    return replace(copied, urls=urls, graph=sp.csr_array(graph))


def rows_of(side: Side, ids: list[int]) -> Numbers:
    return np.flatnonzero(np.isin(side.page_ids, ids))


def copied_site(site: MadeSite, of_a: list[int], of_b: list[int]) -> MadeSite:
    return MadeSite(with_copies_of(site.a, rows_of(site.a, of_a)), with_copies_of(site.b, rows_of(site.b, of_b)))


def found_copies(site: MadeSite, between: Between | None = None) -> tuple[SideCopies, SideCopies] | None:
    settings = MatchSettings()
    words = read_words(site.a, site.b, [], settings)
    found = find_copies(site.a, site.b, words, between or no_links(site.a, site.b), settings)
    return None if found is None else found[:2]


def test_different_pages_have_no_copies() -> None:
    assert found_copies(made_site(N)) is None


@pytest.mark.parametrize("change", ["words", "tags", "images"])
def test_a_page_that_differs_in_anything_is_no_copy(change: str) -> None:
    site = made_site(N)
    side = with_copies_of(site.a, np.array([3]))
    changed = {
        "words": {"blocks": [*side.blocks[:-1], [*side.blocks[-1], "more"]]},
        "tags": {"tags": [*side.tags[:-1], side.tags[-1] + b"\1"]},
        "images": {"names": [("one.png",)] * N + [("other.png",)]},
    }
    assert found_copies(MadeSite(side, site.b)) is not None
    assert found_copies(MadeSite(replace(side, **changed[change]), site.b)) is None


def test_pages_without_words_have_no_copies() -> None:
    site = made_site(N)
    side = with_copies_of(site.a, np.array([3, 3]))
    texts = zip(side.page_ids, side.blocks, strict=True)
    empty = replace(side, blocks=[[] if page == 3 else blocks for page, blocks in texts])
    assert found_copies(MadeSite(empty, site.b)) is None


def test_the_page_with_the_shortest_address_stands_for_its_copies() -> None:
    site = made_site(N)
    side = with_copies_of(site.a, np.array([3, 5, 3]))
    side = replace(side, urls=["/short" if row == N + 2 else url for row, url in enumerate(side.urls)])
    copies = found_copies(MadeSite(side, site.b))
    assert copies is not None
    expected = np.arange(N + 3)
    expected[[3, N]], expected[N + 1] = N + 2, 5
    assert copies[0].stands_for.tolist() == expected.tolist()
    assert copies[1].stands_for.tolist() == list(range(N))


@pytest.mark.parametrize("seed", [0, 1])
def test_copies_change_nothing_for_the_other_pages(seed: int) -> None:
    site = made_site(N, seed)
    copied = copied_site(site, of_a=list(range(12)), of_b=list(range(6, 18)))
    before, after = site.found(), copied.found()
    check(replace(after, rivals=_rivals(after)), copied)
    was = dict(zip(_ids(site, before), before.probabilities.tolist(), strict=True))
    now: dict[tuple[int, int], list[float]] = {}
    for pair, probability in zip(_ids(copied, after), after.probabilities.tolist(), strict=True):
        now.setdefault(pair, []).append(probability)
    assert set(was) == set(now)
    for (page_a, page_b), probability in was.items():
        both = 6 <= page_a < 12 and page_a == page_b
        assert now[page_a, page_b] == [probability] * (2 if both else 1)


def _ids(site: MadeSite, found: FoundPairs) -> list[tuple[int, int]]:
    matching = found.matching
    ids = site.a.page_ids[matching.rows].tolist(), site.b.page_ids[matching.columns].tolist()
    return list(zip(*ids, strict=True))


def _rivals(found: FoundPairs) -> NDArray[np.float64]:
    """The best other candidates of all pages: copies count as rivals there, but not in the result."""
    scores, matching = found.scores, found.matching
    return Rivalry(scores).rivals(scores.data.astype(float))[positions(scores, matching.rows, matching.columns)]


def test_of_two_copies_the_one_with_the_similar_address_is_in_the_pair() -> None:
    site = made_site(N)
    a = with_copies_of(site.a, rows_of(site.a, [4]))
    urls_a = [f"http://made.example/x/{k}" for k in range(N)] + ["http://made.example/long/way/to/four"]
    row = int(rows_of(site.b, [4])[0])
    urls_b = [f"http://made.example/y/{k}" for k in range(N)]
    urls_b[row] = "http://made.example/long/way/to/quatre"
    copied = MadeSite(replace(a, urls=urls_a), replace(site.b, urls=urls_b))
    matching = copied.found().matching
    partner = dict(zip(matching.columns.tolist(), matching.rows.tolist(), strict=True))
    assert partner[row] == N


@pytest.mark.parametrize("has_links", [True, False])
def test_of_two_copies_the_one_beside_pairs_is_in_the_pair(has_links: bool) -> None:
    """The copy stands in another part of the site, and its address is the similar one; two pages of this part link."""
    site = made_site(N)
    page, row = int(rows_of(site.a, [4])[0]), int(rows_of(site.b, [4])[0])
    sides = []
    for side, own in ((site.a, page), (site.b, row)):
        graph = side.graph.tolil()
        graph[own, :] = graph[own, :] if has_links else False
        sides.append(replace(side, graph=sp.csr_array(graph), urls=[f"http://made.example/x/{k}" for k in range(N)]))
    side = with_copies_of(sides[0], np.array([page]))
    graph = side.graph.tolil()
    graph[N, :] = False
    apart = replace(side, graph=sp.csr_array(graph), urls=[*sides[0].urls, "http://made.example/to/four"])
    other = replace(
        sides[1], urls=["http://made.example/to/vier" if k == row else url for k, url in enumerate(sides[1].urls)]
    )
    matching = MadeSite(apart, other).found().matching
    assert dict(zip(matching.columns.tolist(), matching.rows.tolist(), strict=True))[row] == page


def test_more_than_a_few_copies_on_both_sides_have_one_pair() -> None:
    site = made_site(N)
    for n in (MOST - 1, MOST):
        copied = copied_site(site, of_a=[], of_b=[])
        a, b = (with_copies_of(side, np.repeat(rows_of(side, [4]), n)) for side in (copied.a, copied.b))
        pairs = _ids(MadeSite(a, b), MadeSite(a, b).found())
        assert pairs.count((4, 4)) == (n + 1 if n < MOST else 1)
        assert len(set(pairs)) == N


def test_of_many_copies_those_that_hreflang_joins_are_paired() -> None:
    site, n = made_site(N), MOST + 3
    a, b = (with_copies_of(side, np.repeat(rows_of(side, [4]), n)) for side in (site.a, site.b))
    joined = [(N + k, N + n - 1 - k) for k in range(n)]
    links = sp.csr_array((np.ones(n, np.float32), np.array(joined).T), shape=(N + n, N + n))
    between = replace(no_links(a, b), hreflang=links)
    matching = MadeSite(a, b).found(between).matching
    pairs = set(zip(matching.rows.tolist(), matching.columns.tolist(), strict=True))
    assert set(joined) <= pairs


def test_pages_with_the_same_words_in_other_texts_are_no_copies() -> None:
    """C and C++ are the same word."""
    site = made_site(N)
    side = with_copies_of(site.a, np.array([3]))
    assert found_copies(MadeSite(replace(side, contents=np.r_[np.arange(N), 3]), site.b)) is not None
    assert found_copies(MadeSite(replace(side, contents=np.arange(N + 1)), site.b)) is None


def test_hreflang_that_is_not_used_tells_no_copies_apart() -> None:
    site = made_site(N)
    a = with_copies_of(site.a, np.array([4]))
    linked = np.zeros((N + 1, N), np.float32)
    linked[4, rows_of(site.b, [4])] = linked[N, rows_of(site.b, [5])] = 1
    between = replace(no_links(a, site.b), hreflang=sp.csr_array(linked))
    settings = Config().override({"match.weighing.evidence": ["content", "structure"]}).match
    found = find_copies(a, site.b, read_words(a, site.b, [], settings), between, settings)
    assert found is not None
    assert found.a.stands_for[N] == 4


@pytest.mark.parametrize("is_known", [True, False])
def test_pages_whose_clues_point_to_different_pages_are_no_copies(is_known: bool) -> None:
    """English has one text for two errors; the translations differ."""
    site = made_site(N)
    a = with_copies_of(site.a, np.array([4]))
    b = site.b
    linked = np.zeros((N + 1, N), np.float32)
    other = int(rows_of(b, [5])[0])
    linked[4, rows_of(b, [4])] = linked[N, other] = is_known
    between = replace(no_links(a, b), hreflang=sp.csr_array(linked))
    copies = found_copies(MadeSite(a, b), between)
    assert (copies is None or copies[0].stands_for[N] == N) == is_known


def test_links_of_copies_are_links_of_the_page_that_stands_for_them() -> None:
    site = made_site(3)
    a = some_pages(site.a, np.array([0, 1, 2, 1, 0]))
    source, target = np.array([3, 3, 2, 4, 1]), np.array([2, 4, 3, 1, 3])
    graph = sp.csr_array((np.ones(5, bool), (source, target)), shape=(5, 5))
    a = replace(a, urls=["/0", "/1", "/2", "/1/copy", "/0/copy"], graph=graph, lists=link_lists(source, target, 5))
    between = Between(*(sp.csr_array(np.eye(5, 3, k=-2, dtype=np.float32) * share) for share in (0.25, 1.0)))
    words = read_words(a, site.b, [], MatchSettings())
    copies = find_copies(a, site.b, words, no_links(a, site.b), MatchSettings())
    assert copies is not None
    side, _, few_words, merged = without_copies(a, site.b, words, between, copies)
    assert side.urls == ["/0", "/1", "/2"]
    assert side.graph.toarray().astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert side.lists is not None
    assert [side.lists.targets[begin:end].tolist() for begin, end in pairwise(side.lists.starts)] == [[], [], [1]]
    assert few_words.a.counts.shape[0] == 3
    assert merged.direct.toarray().tolist() == [[0, 0, 0.25], [0, 0.25, 0], [0.25, 0, 0]]


def test_labels_of_copies_are_heard() -> None:
    """A label that rejects a pair of a copy says nothing of the page that stands for it."""
    site = made_site(N)
    a = with_copies_of(site.a, np.array([4]))
    right_row, wrong_row = int(rows_of(site.b, [4])[0]), int(rows_of(site.b, [7])[0])
    for row, value, partner in ((right_row, 1, N), (right_row, -1, 4), (wrong_row, 1, N)):
        labels = sp.csr_array((np.array([value], np.int8), ([N], [row])), shape=(N + 1, N))
        between = replace(no_links(a, site.b), labels=labels)
        match = match_sides(a, site.b, between, [], MatchSettings())
        matching = match.found.matching
        partners = dict(zip(matching.columns[match.keep].tolist(), matching.rows[match.keep].tolist(), strict=True))
        assert partners.get(row) == partner


def test_pages_with_images_of_their_own_keep_their_rows() -> None:
    site = made_site(N)
    copied = copied_site(site, of_a=[1, 2], of_b=[1, 2])
    apart = MadeSite(with_own_images(copied.a), with_own_images(copied.b))
    assert found_copies(apart) is None
    assert {pair for pair in apart.pairs(apart.found()) if pair[0] > 2} == {p for p in right(site) if p[0] > 2}


def test_copies_beside_an_empty_side() -> None:
    site = made_site(N)
    a = with_copies_of(site.a, np.array([4]))
    empty = some_pages(site.b, np.zeros(0, np.int64))
    assert not len(MadeSite(a, empty).found().matching.rows)


def test_a_side_of_copies_only() -> None:
    site = made_site(2)
    copied = MadeSite(
        *(some_pages(side, np.repeat(np.flatnonzero(side.page_ids == 0), 3)) for side in (site.a, site.b))
    )
    words = read_words(copied.a, copied.b, [], MatchSettings())
    found = match_weighed(copied.a, copied.b, words, no_links(copied.a, copied.b), MatchSettings())
    assert sorted(found.matching.rows.tolist()) == sorted(found.matching.columns.tolist()) == [0, 1, 2]
    assert found.stands_for is not None
    assert [pages.tolist() for pages in found.stands_for] == [[0, 0, 0], [0, 0, 0]]


@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 6))
def test_merged_matrix_has_the_largest_value_of_each_two_sets(seed: int, n_a: int, n_b: int) -> None:
    random = np.random.default_rng(seed)
    dense = random.integers(-1, 3, (n_a, n_b)) * random.integers(0, 2, (n_a, n_b))
    sides = []
    for n in (n_a, n_b):
        chosen, number = np.unique(random.integers(0, n, n), return_inverse=True)
        sides.append(SideCopies(chosen, number, np.full(n, "", object)))
    merged = _merged(sp.csr_array(dense.astype(np.float32)), *sides)
    assert merged.has_canonical_format
    expected = np.zeros(merged.shape)
    for place_a in range(merged.shape[0]):
        for place_b in range(merged.shape[1]):
            block = dense[sides[0].number == place_a][:, sides[1].number == place_b]
            stored = block[block != 0]
            expected[place_a, place_b] = stored.max() if stored.size else 0
    np.testing.assert_array_equal(merged.toarray(), expected)
