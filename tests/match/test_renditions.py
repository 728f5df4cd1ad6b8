"""Renditions: the same text in another form, at an address that differs in one word."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from experiments.robustness import some_pages
from tests.match.methods.weighed.made_sites import MadeSite, made_site, no_links
from twinlink.config import MatchSettings
from twinlink.graph.links import adjacency
from twinlink.match.copies import MOST, find_copies
from twinlink.match.evidence import Side, read_words
from twinlink.match.renditions import ENOUGH, LEAST_PAGES, MOST_RENDITIONS, Renditions, find_renditions
from twinlink.match.selection import match_sides

N = 8
PAGE, PRINTED = b"menu text", b"text"


def texts(n_pages: int, n_forms: int = 2) -> sp.csr_array:
    """Pages of twenty words each that no other page has, in some forms."""
    return sp.csr_array(np.tile(np.repeat(np.eye(n_pages), 20, axis=1), (n_forms, 1)))


def found(pages: str, renditions: str, counts: sp.csr_array | None = None, tags: bytes = PRINTED) -> Renditions:
    """Find the renditions of pages with such addresses; each ``*`` stands for the number of a page."""
    urls = [pattern.replace("*", str(page)) for pattern in (pages, renditions) for page in range(N)]
    return find_renditions(urls, [PAGE] * N + [tags] * N, no_link(2 * N), texts(N) if counts is None else counts)


def no_link(n_pages: int) -> sp.csr_array:
    return sp.csr_array((n_pages, n_pages), dtype=bool)


def is_none(renditions: Renditions) -> bool:
    return renditions.of.tolist() == list(range(len(renditions.of))) and not any(renditions.word)


@pytest.mark.parametrize(
    ("pages", "renditions", "word"),
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
        ("http://en.x.org/a/*", "http://en.m.x.org/a/*", "m."),
        ("http://www.x.org/?id=*", "http://www.x.org/amp/?id=*", "/amp"),
        ("http://x.org/?id=*", "http://x.org/?tmpl=component&print=1&id=*", "&tmpl=component&print=1"),
        ("http://x.org/?topic=*", "http://x.org/?action=printpage;topic=*", "&action=printpage"),
        ("http://x.org/a/*", "http://x.org/layout/set/print/a/*", "/layout/set/print"),
    ],
)
def test_a_word_that_many_addresses_have_more_or_instead(pages: str, renditions: str, word: str) -> None:
    result = found(pages, renditions)
    assert result.of.tolist() == [*range(N), *range(N)]
    assert list(result.word) == [""] * N + [word] * N


@pytest.mark.parametrize(
    ("pages", "renditions"),
    [
        ("http://x.org/*", "http://x.org/2/*"),  # a number is no word
        ("http://x.org/a/*", "http://x.org/b/c/*"),  # two words
        ("http://x.org/*", "http://x.com/*"),
    ],
)
def test_other_changes_of_addresses_tell_nothing(pages: str, renditions: str) -> None:
    assert is_none(found(pages, renditions))


def test_few_pages_tell_nothing() -> None:
    for n in (LEAST_PAGES - 1, LEAST_PAGES):
        urls = [f"http://x.org/{page}{end}" for end in ("", "?print=1") for page in range(n)]
        result = find_renditions(urls, [PAGE] * n + [PRINTED] * n, no_link(2 * n), texts(n))
        assert is_none(result) == (n < LEAST_PAGES)


def test_pages_of_the_same_form_are_no_renditions() -> None:
    """The same software on two systems; a page that is not translated yet, with a note."""
    assert is_none(found("http://x.org/mac/*", "http://x.org/windows/*", tags=PAGE))
    assert is_none(found("http://x.org/*", "http://x.org/windows/*", tags=PAGE))
    assert is_none(found("http://x.org/de/*", "http://x.org/en/*", tags=PAGE[:-2]))


def test_of_pages_of_the_same_form_renditions_are_those_that_only_their_page_links_to() -> None:
    urls = [f"http://x.org/{page}{end}" for end in ("", "?print=1") for page in range(N)]
    pages, renditions = np.arange(N), np.arange(N, 2 * N)
    to_renditions, back, around = (pages, renditions), (renditions, pages), (pages, np.roll(pages, 1))
    for links, is_one in (
        ((to_renditions, back, around), True),
        ((back, around), False),
        ((to_renditions, around), False),  # of as many as link to their page
        ((to_renditions, back, around, (np.roll(pages, 1), renditions)), False),
    ):
        source, target = np.hstack(links)
        graph = adjacency(source, target, 2 * N)
        result = find_renditions(urls, [PAGE] * 2 * N, graph, texts(N))
        assert is_none(result) != is_one


def test_pages_with_other_words_than_those_of_a_menu_are_no_renditions() -> None:
    """An article and its summary in another form; the words of a menu, on most pages, say nothing."""
    counts = texts(N).toarray()
    with_menu = np.hstack([counts, np.repeat([[1.0] * 40, [0.0] * 40], N, axis=0)])
    assert not is_none(found("http://x.org/*", "http://x.org/*?print=1", sp.csr_array(with_menu)))
    counts[N:] *= np.tile(np.arange(20) < 6, N)
    assert is_none(found("http://x.org/*", "http://x.org/*?short=1", sp.csr_array(counts)))


def test_of_a_change_of_renditions_only_pages_with_the_same_text_are() -> None:
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


@pytest.mark.parametrize("n_forms", [MOST_RENDITIONS, MOST_RENDITIONS + 1])
def test_pages_with_many_renditions_have_none(n_forms: int) -> None:
    forms = ["", *(f"?form={letter}" for letter in "abcdef"[:n_forms])]
    urls = [f"http://x.org/{page}{form}" for form in forms for page in range(N)]
    result = find_renditions(urls, [PAGE] * N + [PRINTED] * N * n_forms, no_link(N * len(forms)), texts(N, len(forms)))
    assert is_none(result) == (n_forms > MOST_RENDITIONS)
    if n_forms <= MOST_RENDITIONS:
        assert result.of.tolist() == [*range(N)] * len(forms)


def test_a_rendition_of_a_rendition() -> None:
    forms = ["?a=1&b=1", "?a=1", ""]
    urls = [f"http://x.org/{page}{form}" for form in forms for page in range(N)]
    result = find_renditions(urls, [PRINTED] * N + [PRINTED * 2] * N + [PRINTED * 4] * N, no_link(3 * N), texts(N, 3))
    assert result.of.tolist() == [*range(2 * N, 3 * N)] * 3
    assert list(result.word[2 * N :]) == [""] * N


@given(st.lists(st.text("/?&=.-_:ab1w", max_size=12), min_size=1, max_size=30), st.integers(0, 99))
def test_a_page_that_has_renditions_is_none(ends: list[str], seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = sp.csr_array(random.integers(0, 2, (len(ends), 30)))
    tags = [b"t" * int(n) for n in random.integers(1, 99, len(ends))]
    graph = sp.csr_array(random.integers(0, 20, (len(ends),) * 2) == 0)
    renditions = find_renditions([f"http://x.org{end}" for end in ends], tags, graph, counts)
    assert (renditions.of[renditions.of] == renditions.of).all()
    assert [word != "" for word in renditions.word] == (renditions.of != np.arange(len(ends))).tolist()


def test_other_words_at_the_place_of_a_rendition() -> None:
    """Numbers of pages, users and terms are the same."""
    words = ["node", "print", "user", "term", "event"]
    urls = [f"http://x.org/{word}/{page}" for word in words for page in range(N)]
    counts = np.repeat(np.eye(4 * N), 20, axis=1)
    counts = np.vstack([counts[:N], counts[:N], counts[N:]])
    tags = [PAGE] * N + [PRINTED] * N + [PAGE] * 3 * N
    result = find_renditions(urls, tags, no_link(5 * N), sp.csr_array(counts))
    assert result.of.tolist() == [*range(N), *range(N), *range(2 * N, 5 * N)]


def test_an_address_of_many_words_is_read_in_a_moment() -> None:
    """Words are looked for once: with a search for the end of the name from each, this would take minutes."""
    urls = [f"http://x.org/{'-word' * 20_000}-{page}{end}" for end in ("", "-print") for page in range(N)]
    assert set(find_renditions(urls, [PAGE] * N + [PRINTED] * N, no_link(2 * N), texts(N)).word[N:]) == {"-print"}


def with_renditions(side: Side, pages: list[int], word: str) -> Side:
    """Add a page for printing of each of some pages, which only it links to, in a site of pages with a menu."""
    rows = np.flatnonzero(np.isin(side.page_ids, pages))
    n, both = len(side.urls), some_pages(side, np.append(np.arange(len(side.urls)), rows))
    source, target = side.graph.nonzero()
    source, target = np.append(source, rows), np.append(target, n + np.arange(len(rows)))
    tags = [b"menu" * 20 + tags for tags in both.tags[:n]] + list(both.tags[n:])
    urls = [*both.urls[:n], *(f"{url}?{word}" for url in both.urls[n:])]
    return replace(both, urls=urls, tags=tags, graph=adjacency(source, target, len(urls)))


@pytest.mark.parametrize("words", [("print=1", "print=1"), ("print=yes", "imprimer=oui")])
def test_renditions_share_the_pair_of_their_pages(words: tuple[str, str]) -> None:
    """A page pairs with a page, a page for printing with one for printing, where both languages have it."""
    site = made_site(30)
    printed = MadeSite(
        with_renditions(site.a, list(range(12)), words[0]), with_renditions(site.b, list(range(6, 18)), words[1])
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


def test_copies_of_a_rendition_belong_to_its_page() -> None:
    site = made_site(30)
    a = with_renditions(site.a, list(range(12)), "print=1")
    more = some_pages(a, np.append(np.arange(42), np.arange(30, 42)))
    urls = [*a.urls, *(f"{url}&ref={k}" for k, url in enumerate(a.urls[30:]))]
    for order in (np.arange(54), np.arange(54)[::-1]):
        side = some_pages(replace(more, urls=urls), order)
        words = read_words(side, site.b, [], MatchSettings())
        copies = find_copies(side, site.b, words, no_links(side, site.b), MatchSettings())
        assert copies is not None
        assert len(copies.a.chosen) == 30
        assert {side.urls[page] for page in copies.a.chosen} == set(site.a.urls)


def test_pages_whose_renditions_are_equal_stay_apart() -> None:
    """They differ in a line that pages for printing do not have."""
    site = made_site(30)
    a = with_renditions(site.a, list(range(30)), "print=1")
    blocks = [*a.blocks[:3], [*a.blocks[4], "qaaa"], *a.blocks[4:33], a.blocks[4], *a.blocks[34:]]
    side = replace(a, blocks=blocks, tags=[*a.tags[:33], a.tags[34], *a.tags[34:]])
    copies = find_copies(
        side, site.b, read_words(side, site.b, [], MatchSettings()), no_links(side, site.b), MatchSettings()
    )
    assert copies is not None
    assert copies.a.stands_for.tolist() == [*range(30), *range(30)]


def test_a_label_that_rejects_a_page_is_heard_beside_its_rendition() -> None:
    site = made_site(30)
    a, b = (with_renditions(side, list(range(30)), "print=1") for side in (site.a, site.b))
    row, column = 4, int(np.flatnonzero(b.page_ids == 4)[0])
    labels = sp.csr_array((np.array([-1], np.int8), ([row], [column])), shape=(60, 60))
    match = match_sides(a, b, replace(no_links(a, b), labels=labels), [], MatchSettings())
    rows, columns = match.found.matching.rows[match.keep], match.found.matching.columns[match.keep]
    ids = set(zip(a.page_ids[rows].tolist(), b.page_ids[columns].tolist(), strict=True))
    assert (4, 4) not in ids
    assert ids >= {(page, page) for page in range(30) if page != 4}


def test_some_copies_of_a_page_and_as_many_of_its_rendition_are_all_paired() -> None:
    site, n = made_site(12), MOST - 1
    sides = []
    for side in (site.a, site.b):
        printed = with_renditions(side, list(range(12)), "print=1")
        rows = np.append(np.arange(24), np.repeat(np.arange(24), n))
        both = some_pages(printed, rows)
        urls = [*printed.urls, *(f"{url}#{k}" for k, url in enumerate(both.urls[24:]))]
        sides.append(replace(both, urls=urls))
    assert len(MadeSite(*sides).found().matching.rows) == 24 * MOST
