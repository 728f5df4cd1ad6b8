"""Method `weighed` on made sites."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.robustness import some_pages
from tests.match.methods.weighed.made_sites import (
    N_TAGS,
    MadeSite,
    check,
    f1,
    made_site,
    no_links,
    opaque_names,
    permuted,
    right,
    with_own_images,
    with_plain_addresses,
    without_tags,
    without_words,
)
from twinlink.config import DEFAULT_EVIDENCE
from twinlink.graph.document_order import link_lists
from twinlink.graph.links import adjacency
from twinlink.match.evidence import Between, Side, as_scores
from twinlink.similarity.decision import keep_pairs


def test_scores_keep_the_order_of_log_odds() -> None:
    """As float32, from end to end."""
    scores = as_scores(np.linspace(-20, 20, 40_001)).astype(np.float32)
    assert (np.diff(scores) > 0).all()
    assert 0 < scores[0] < scores[-1] < 1


@pytest.mark.parametrize("seed", [0, 1])
def test_all_pairs_are_found_without_a_lexicon(seed: int) -> None:
    site = made_site(40, seed)
    found = site.found()
    check(found, site)
    assert site.pairs(found) == right(site)
    assert found.probabilities.mean() > 0.95
    assert found.evidence["learned"].max() > found.evidence["content"].max()


@pytest.mark.parametrize("seed", [0, 1])
def test_half_of_a_side_removed_leaves_precision_and_its_estimate(seed: int) -> None:
    whole = made_site(40, seed)
    site = MadeSite(whole.a, some_pages(whole.b, np.arange(20)))
    found = site.found()
    check(found, site)
    pairs = site.pairs(found)
    precision = len(pairs & right(site)) / len(pairs)
    assert precision >= 0.95
    assert len(pairs) >= 19
    assert found.probabilities[keep_pairs(found.probabilities)].mean() == pytest.approx(precision, abs=0.05)


def test_where_no_page_has_a_partner_pairs_are_not_said_to_be_sure() -> None:
    """Pairs taken at random must not vouch for each other with the words that they taught."""
    expected = []
    for n, seed in ((40, 100), (100, 50)):
        a, b = made_site(n).a, made_site(n, seed).b
        site = MadeSite(a, b)
        found = site.found()
        check(found, site)
        expected.append(found.probabilities.mean())
    assert np.mean(expected) < 0.7
    assert max(expected) < 0.8


def test_links_help_where_words_are_weak() -> None:
    inside = tuple(kind for kind in DEFAULT_EVIDENCE if kind not in ("ets", "external"))
    with_links, without = [], []
    for seed in range(2):
        site = made_site(40, seed, noise=0.8, tag_noise=0.6)
        with_links.append(f1(site, site.found()))
        without.append(f1(site, site.found(weighing__evidence=inside)))
    assert np.mean(with_links) > np.mean(without) + 0.2


@pytest.mark.parametrize("kind", ["direct", "hreflang"])
def test_links_between_the_sides_are_used(kind: str) -> None:
    """Words, tags and links within the sides say nothing; links between versions stand on nine of ten pages."""
    site = made_site(40, noise=1, numbers=0, tag_noise=1)
    unlinked = sp.csr_array((40, 40), dtype=bool)
    site = MadeSite(replace(site.a, graph=unlinked), replace(site.b, graph=unlinked))
    linked = np.arange(40) % 10 > 0
    links = sp.csr_array(((site.a.page_ids[:, None] == site.b.page_ids) * linked[:, None]).astype(np.float32))
    between = replace(no_links(site.a, site.b), **{kind: links})
    found = site.found(between)
    check(found, site)
    assert len(site.pairs(found) & right(site)) >= 36
    assert max(found.weights, key=found.weights.__getitem__) == kind
    unaware = site.found(between, weighing__evidence=tuple(each for each in DEFAULT_EVIDENCE if each != kind))
    assert kind not in unaware.evidence
    assert len(site.pairs(unaware) & right(site)) < 10


def test_credible_url_patterns_are_evidence_where_nothing_else_is() -> None:
    site = made_site(40, noise=1, numbers=0, tag_noise=1)
    unlinked = sp.csr_array((40, 40), dtype=bool)
    site = MadeSite(replace(site.a, graph=unlinked), replace(site.b, graph=unlinked))
    found = with_plain_addresses(site).found()
    check(found, site)
    assert len(site.pairs(found) & right(site)) >= 36
    assert "pattern" not in site.found().evidence
    assert len(site.pairs(site.found()) & right(site)) < 10


def test_leftovers_whose_addresses_lack_a_partner_are_less_likely() -> None:
    """Each side has lost a page, and half of the tags of the two pages left over are equal."""
    whole = with_plain_addresses(made_site(40, noise=0.5))
    a, b = some_pages(whole.a, np.arange(39)), some_pages(whole.b, np.flatnonzero(whole.b.page_ids != 38))
    half, row = N_TAGS // 2, b.page_ids.tolist().index(39)
    b = replace(b, tags=[*b.tags[:row], whole.a.tags[38][:half] + b.tags[row][half:], *b.tags[row + 1 :]])
    site = MadeSite(a, b)
    chances = []
    for kinds in (DEFAULT_EVIDENCE, tuple(kind for kind in DEFAULT_EVIDENCE if kind != "pattern")):
        found = site.found(weighing__evidence=kinds)
        check(found, site)
        is_it = (a.page_ids[found.matching.rows] == 38) & (b.page_ids[found.matching.columns] == 39)
        chances.append(float(found.probabilities[is_it].sum()))
    assert chances[0] < 0.1
    assert chances[1] > 0.9


def test_the_order_of_links_tells_look_alikes_apart() -> None:
    """Ten pages of their own and three kinds of ten look-alikes each; one page links to all, in one order.

    Look-alikes differ by a number that says nothing: it is another one in the other language.
    """
    texts = made_site(14)
    order = np.random.default_rng(0).permutation(np.arange(1, 41))

    def side(text: Side) -> Side:
        in_order = some_pages(text, np.argsort(text.page_ids))
        pages = some_pages(in_order, np.r_[0, np.arange(1, 11), np.tile([11, 12, 13], 10)])
        links = np.zeros(40, np.int64), order
        first = 5000 if text.lang == "xa" else 6000
        return replace(
            pages,
            page_ids=np.arange(41),
            blocks=[[*blocks, str(first + page)] for page, blocks in enumerate(pages.blocks)],
            urls=[f"http://made.example/{name}" for name in opaque_names(text.lang, 41)],
            graph=adjacency(*links, 41),
            lists=link_lists(*links, 41),
        )

    site = permuted(MadeSite(side(texts.a), side(texts.b)))
    found = site.found()
    check(found, site)
    assert f1(site, found) > 0.95
    unaware = site.found(weighing__evidence=tuple(kind for kind in DEFAULT_EVIDENCE if kind != "order"))
    assert f1(site, unaware) < 0.5
    alike = site.a.page_ids[unaware.matching.rows] > 10
    assert unaware.probabilities[alike].max() < 0.2


def test_a_link_to_every_page_makes_no_candidate() -> None:
    site = MadeSite(*(without_tags(without_words(side)) for side in (made_site(10).a, made_site(10).b)))
    links = sp.csr_array(np.full((10, 10), 0.1, np.float32))
    assert site.found(replace(no_links(site.a, site.b), direct=links)).scores.nnz == 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_sites(n: int) -> None:
    site = made_site(n)
    found = site.found()
    check(found, site)
    assert site.pairs(found, np.ones(len(found.matching.rows), bool)) == right(site)


def test_a_single_pair_is_as_likely_as_not() -> None:
    assert made_site(1).found().probabilities.tolist() == [0.5]


@pytest.mark.parametrize(("n_a", "n_b"), [(0, 0), (0, 3), (3, 0)])
def test_a_side_without_pages(n_a: int, n_b: int) -> None:
    whole = made_site(3)
    site = MadeSite(some_pages(whole.a, np.arange(n_a)), some_pages(whole.b, np.arange(n_b)))
    found = site.found()
    check(found, site)
    assert len(found.matching.rows) == 0


@pytest.mark.parametrize("rounds", [0, 3])
def test_pages_without_words_and_tags_have_no_candidates(rounds: int) -> None:
    whole = made_site(6)
    site = MadeSite(without_tags(without_words(whole.a)), without_tags(without_words(whole.b)))
    found = site.found(weighing__rounds=rounds)
    check(found, site)
    assert found.scores.nnz == 0


def test_structure_alone_is_enough() -> None:
    whole = made_site(20)
    site = MadeSite(without_words(whole.a), without_words(whole.b))
    assert site.pairs(site.found()) == right(site)


def test_identical_pages_are_not_likely() -> None:
    """They differ in their images; any pair is as good as any other."""
    whole, unlinked = made_site(12), sp.csr_array((12, 12), dtype=bool)
    copies = (some_pages(side, np.repeat(np.flatnonzero(side.page_ids == 0), 12)) for side in (whole.a, whole.b))
    site = MadeSite(*(replace(with_own_images(side), graph=unlinked) for side in copies))
    found = site.found()
    check(found, site)
    assert len(found.matching.rows) == 12
    assert found.probabilities.max() < 0.5


def test_where_each_page_has_a_near_copy_pairs_are_found() -> None:
    """Each page has a version for printing, with a word more: nothing is clear, but for near-duplicates."""
    whole = made_site(30)

    def printed(side: Side) -> Side:
        pages = some_pages(side, np.r_[np.arange(30), np.arange(30)])
        blocks = [[*blocks, *["print"] * (page >= 30)] for page, blocks in enumerate(pages.blocks)]
        urls = [f"http://made.example/{name}" for name in opaque_names(side.lang, 60)]
        return replace(pages, page_ids=pages.page_ids + 30 * (np.arange(60) // 30), blocks=blocks, urls=urls)

    site = MadeSite(*map(printed, (whole.a, whole.b)))
    assert len(site.pairs(site.found()) & right(site)) >= 54


def test_a_tie_is_counted_and_not_guessed() -> None:
    """Two equal pages on each side without links: as many ways to pair them; the other pairs do not suffer."""
    whole = made_site(40)
    copied = (some_pages(side, np.r_[np.arange(40), np.flatnonzero(side.page_ids == 0)]) for side in (whole.a, whole.b))
    site = MadeSite(*(replace(with_own_images(side), graph=sp.csr_array((41, 41), dtype=bool)) for side in copied))
    found = site.found()
    tied = site.a.page_ids[found.matching.rows] == 0
    assert found.n_equal is not None
    assert found.n_equal[tied].tolist() == [2, 2]
    assert (found.n_equal[~tied] == 1).all()
    assert (found.probabilities[tied] <= 0.5).all()
    assert site.pairs(found, found.probabilities > 0.5) == {pair for pair in right(site) if pair != (0, 0)}
    assert found.alike is not None
    pages = found.matching.rows[tied], found.matching.columns[tied]
    counts = [np.diff(alike.indptr)[of].tolist() for alike, of in zip(found.alike, pages, strict=True)]
    assert counts == [[1, 1], [1, 1]]


@pytest.mark.parametrize("kinds", [*((kind,) for kind in DEFAULT_EVIDENCE), ("learned", "external"), ()])
def test_any_choice_of_evidence_works(kinds: tuple[str, ...]) -> None:
    site = made_site(8)
    linked = sp.csr_array(np.eye(8, dtype=np.float32))
    found = site.found(Between(linked, linked), weighing__evidence=kinds)
    check(found, site)
    assert set(found.evidence) <= set(kinds)


def test_exchanging_the_sides_gives_the_same_pairs() -> None:
    site = made_site(40, noise=0.5)
    turned = MadeSite(site.b, site.a)
    assert turned.pairs(turned.found()) == {(b, a) for a, b in site.pairs(site.found())}


def test_the_order_of_the_pages_does_not_matter() -> None:
    site = made_site(40, noise=0.5)
    rng = np.random.default_rng(0)
    moved = MadeSite(some_pages(site.a, rng.permutation(40)), some_pages(site.b, rng.permutation(40)))
    assert moved.pairs(moved.found()) == site.pairs(site.found())


def test_names_of_pages_do_not_matter_and_the_same_input_gives_the_same_numbers() -> None:
    site = made_site(20)
    urls = [f"http://made.example/{k * 7919 % 1000}" for k in range(20)]
    first, second = site.found(), MadeSite(replace(site.a, urls=urls), replace(site.b, urls=urls[::-1])).found()
    assert first.scores.data.tolist() == second.scores.data.tolist()
    assert first.matching.rows.tolist() == second.matching.rows.tolist()
    assert first.probabilities.tolist() == second.probabilities.tolist()
