"""Variants: the same text in another form, at an address that differs in one word."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.match.methods.test_weighed import MadeSite, made_site, no_links, take
from twinlink.config import MatchSettings
from twinlink.graph.links import adjacency
from twinlink.match.copies import find_copies
from twinlink.match.evidence import Side, read_words
from twinlink.match.variants import ENOUGH, LEAST_PAGES, MOST_VARIANTS, Variants, find_variants

N = 8
PAGE, PRINTED = b"headline menu text end", b"text"


def texts(n_pages: int, n_forms: int = 2) -> sp.csr_array:
    """Pages of twenty words each that no other page has, in some forms."""
    return sp.csr_array(np.tile(np.repeat(np.eye(n_pages), 20, axis=1), (n_forms, 1)))


def found(pages: str, variants: str, counts: sp.csr_array | None = None, tags: bytes = PRINTED) -> Variants:
    """Find the variants of pages with such addresses; each ``*`` stands for the number of a page."""
    urls = [pattern.replace("*", str(page)) for pattern in (pages, variants) for page in range(N)]
    return find_variants(urls, [PAGE] * N + [tags] * N, texts(N) if counts is None else counts)


def is_none(variants: Variants) -> bool:
    return variants.of.tolist() == list(range(len(variants.of))) and not any(variants.word)


@pytest.mark.parametrize(
    ("pages", "variants", "word"),
    [
        ("http://x.org/*", "http://x.org/*?print=1", "&print=1"),
        ("http://x.org/show.php?id=*", "http://x.org/show.php?print=yes&id=*", "&print=yes"),
        ("http://x.org/show.php?id=*", "http://x.org/print.php?id=*", "/print"),
        ("http://x.org/node/*", "http://x.org/print/*", "/print"),
        ("http://x.org/a/*/", "http://x.org/textonly/a/*/", "/textonly"),
        ("http://x.org/a/*", "http://x.org/a/*/print", "/print"),
        ("http://x.org/a/*/", "http://x.org/a/*/print/", "/print"),
        ("http://x.org/a_*.html", "http://x.org/a_*_print.html", "_print"),
        ("http://x.org/*.html", "http://x.org/print-*.html", "/print"),
        ("http://www.x.org/a/*", "http://m.x.org/a/*", "m."),
        ("http://www.x.org/?id=*", "http://www.x.org/amp/?id=*", "/amp"),
    ],
)
def test_a_word_that_many_addresses_have_more_or_instead(pages: str, variants: str, word: str) -> None:
    result = found(pages, variants)
    assert result.of.tolist() == [*range(N), *range(N)]
    assert list(result.word) == [""] * N + [word] * N


@pytest.mark.parametrize(
    ("pages", "variants"),
    [
        ("http://x.org/*", "http://x.org/2/*"),  # a number is no word
        ("http://x.org/a/*", "http://x.org/b/c/*"),  # two words
        ("http://x.org/*", "http://x.com/*"),
    ],
)
def test_other_changes_of_addresses_tell_nothing(pages: str, variants: str) -> None:
    assert is_none(found(pages, variants))


def test_few_pages_tell_nothing() -> None:
    for n in (LEAST_PAGES - 1, LEAST_PAGES):
        urls = [f"http://x.org/{page}{end}" for end in ("", "?print=1") for page in range(n)]
        result = find_variants(urls, [PAGE] * n + [PRINTED] * n, texts(n))
        assert is_none(result) == (n < LEAST_PAGES)


def test_pages_of_the_same_form_are_no_variants() -> None:
    """The same software on two systems."""
    assert is_none(found("http://x.org/mac/*", "http://x.org/windows/*", tags=PAGE))
    assert is_none(found("http://x.org/*", "http://x.org/windows/*", tags=PAGE))


def test_pages_with_other_words_than_those_of_a_menu_are_no_variants() -> None:
    """An article and its summary in another form; the words of a menu, on most pages, say nothing."""
    counts = texts(N).toarray()
    with_menu = np.hstack([counts, np.repeat([[1.0] * 40, [0.0] * 40], N, axis=0)])
    assert not is_none(found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(with_menu)))
    counts[N:] *= np.tile(np.arange(20) < 6, N)
    assert is_none(found("http://x.org/*", "http://x.org/*?short=1", sp.csr_array(counts)))


def test_of_a_change_of_variants_only_pages_with_the_same_text_are() -> None:
    counts = texts(N).toarray()
    counts[N] = counts[1]
    result = found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(counts))
    assert result.of.tolist() == [*range(N), N, *range(1, N)]
    assert result.word[N] == ""
    counts[N:-1] = np.roll(counts[N:-1], 1, axis=0)
    assert is_none(found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(counts)))


def test_a_short_page_is_one_where_longer_ones_are() -> None:
    counts = texts(N).toarray()
    counts[0, 1:], counts[N, 1:] = 0, 0
    assert counts[0].sum() * np.log(N) < ENOUGH
    assert found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(counts)).of[N] == 0
    counts[:, 1:] *= np.arange(20 * N - 1) % 20 == 0
    assert is_none(found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(counts)))


@pytest.mark.parametrize("n_forms", [MOST_VARIANTS, MOST_VARIANTS + 1])
def test_pages_with_many_variants_have_none(n_forms: int) -> None:
    forms = ["", *(f"?form={letter}" for letter in "abcdef"[:n_forms])]
    urls = [f"http://x.org/{page}{form}" for form in forms for page in range(N)]
    result = find_variants(urls, [PAGE] * N + [PRINTED] * N * n_forms, texts(N, len(forms)))
    assert is_none(result) == (n_forms > MOST_VARIANTS)
    if n_forms <= MOST_VARIANTS:
        assert result.of.tolist() == [*range(N)] * len(forms)


def test_a_variant_of_a_variant() -> None:
    forms = ["?a=1&b=1", "?a=1", ""]
    urls = [f"http://x.org/{page}{form}" for form in forms for page in range(N)]
    result = find_variants(urls, [PRINTED] * N + [PRINTED * 6] * N + [PRINTED * 12] * N, texts(N, 3))
    assert result.of.tolist() == [*range(2 * N, 3 * N)] * 3
    assert list(result.word[2 * N :]) == [""] * N


@given(st.lists(st.text("/?&=.-_:ab1w", max_size=12), min_size=1, max_size=30), st.integers(0, 99))
def test_a_page_that_has_variants_is_none(ends: list[str], seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = sp.csr_array(random.integers(0, 2, (len(ends), 30)))
    tags = [b"t" * int(n) for n in random.integers(1, 99, len(ends))]
    variants = find_variants([f"http://x.org{end}" for end in ends], tags, counts)
    assert (variants.of[variants.of] == variants.of).all()
    assert [word != "" for word in variants.word] == (variants.of != np.arange(len(ends))).tolist()


def with_variants(side: Side, pages: list[int], word: str) -> Side:
    """Add a page for printing of each of some pages, which only it links to, in a site of pages with a menu."""
    rows = np.flatnonzero(np.isin(side.page_ids, pages))
    n, both = len(side.urls), take(side, np.append(np.arange(len(side.urls)), rows))
    source, target = side.graph.nonzero()
    source, target = np.append(source, rows), np.append(target, n + np.arange(len(rows)))
    tags = [b"menu entries, many of them" + tags for tags in both.tags[:n]] + list(both.tags[n:])
    urls = [*both.urls[:n], *(f"{url}?{word}" for url in both.urls[n:])]
    return replace(both, urls=urls, tags=tags, graph=adjacency(source, target, len(urls)))


@pytest.mark.parametrize("words", [("print=1", "print=1"), ("print=yes", "imprimer=oui")])
def test_variants_share_the_pair_of_their_pages(words: tuple[str, str]) -> None:
    """A page pairs with a page, a page for printing with one for printing, where both languages have it."""
    site = made_site(30)
    printed = MadeSite(
        with_variants(site.a, list(range(12)), words[0]), with_variants(site.b, list(range(6, 18)), words[1])
    )
    words_of_site = read_words(printed.a, printed.b, [], MatchSettings())
    copies = find_copies(printed.a, printed.b, words_of_site, no_links(printed.a, printed.b), MatchSettings())
    assert copies is not None
    assert [len(side.chosen) for side in (copies.a, copies.b)] == [30, 30]
    matching = printed.found().matching
    pairs = list(zip(matching.rows.tolist(), matching.columns.tolist(), strict=True))
    assert all(printed.a.page_ids[row] == printed.b.page_ids[column] for row, column in pairs)
    assert all((row < 30) == (column < 30) for row, column in pairs)
    assert {int(printed.a.page_ids[row]) for row, _ in pairs if row >= 30} == set(range(6, 12))
    assert len(pairs) == 36
