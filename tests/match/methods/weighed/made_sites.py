"""Made sites: two languages of invented words, a hidden dictionary, links on both sides."""

from __future__ import annotations

from hashlib import blake2b

import msgspec
import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace
from numpy.typing import NDArray

from experiments.robustness import some_pages
from twinlink.config import Config
from twinlink.graph.document_order import link_lists
from twinlink.graph.links import adjacency
from twinlink.match.evidence import Between, FoundPairs, Side, read_words
from twinlink.match.methods.weighed import match_weighed
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.rivals import Rivalry

N_WORDS, N_TAGS = 300, 30
LETTERS = "abcdefghij"


class MadeSite(msgspec.Struct, frozen=True):
    """Page k of side A and page k of side B are versions of one text as long as `page_ids` are equal."""

    a: Side
    b: Side

    def found(self, between: Between | None = None, **overrides: object) -> FoundPairs:
        settings = Config().override({f"match.{name.replace('__', '.')}": v for name, v in overrides.items()}).match
        words = read_words(self.a, self.b, [], settings)
        return match_weighed(self.a, self.b, words, between or no_links(self.a, self.b), settings)

    def pairs(self, found: FoundPairs, keep: NDArray[np.bool_] | None = None) -> set[tuple[int, int]]:
        matching = found.matching
        ids = zip(self.a.page_ids[matching.rows].tolist(), self.b.page_ids[matching.columns].tolist(), strict=True)
        chosen = keep_pairs(found.probabilities) if keep is None else keep
        return {pair for pair, kept in zip(ids, chosen.tolist(), strict=True) if kept}


def no_links(a: Side, b: Side) -> Between:
    none = sp.csr_array((len(a.urls), len(b.urls)), dtype=np.float32)
    return Between(none, none.copy())


def invented(prefix: str, k: int) -> str:
    return prefix + LETTERS[k // 100] + LETTERS[k // 10 % 10] + LETTERS[k % 10]


def opaque_names(lang: str, n: int) -> list[str]:
    """Names that tell nothing."""
    return [blake2b(f"{lang} {k}".encode(), digest_size=8).hexdigest() for k in range(n)]


def with_plain_addresses(site: MadeSite) -> MadeSite:
    """Addresses that are the same but for the language."""
    sides = (
        replace(side, urls=[f"http://made.example/{side.lang}/{k}" for k in side.page_ids]) for side in (site.a, site.b)
    )
    return MadeSite(*sides)


def made_site(n: int, seed: int = 0, noise: float = 0.2, numbers: int = 1, tag_noise: float = 0.1) -> MadeSite:
    """n texts in two languages.

    ``noise`` is the share of words (``tag_noise``: of tags) that are replaced at random on each side; each page has
    ``numbers`` numbers that both languages share; nine of ten links stand on both sides. Side B is in another order.
    """
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, N_WORDS + 1) ** -0.7
    texts = rng.choice(N_WORDS, (n, 40), p=frequency / frequency.sum())
    shared = rng.integers(1000, 1000 + 3 * n, (n, numbers))
    tags = rng.integers(1, 12, (n, N_TAGS))
    links = rng.integers(0, n, (2, 4 * n))
    hidden = rng.permutation(N_WORDS)

    def side(lang: str, vocabulary: list[str]) -> Side:
        words = np.where(rng.random(texts.shape) < noise, rng.integers(0, N_WORDS, texts.shape), texts)
        codes = np.where(rng.random(tags.shape) < tag_noise, rng.integers(1, 12, tags.shape), tags).astype(np.uint8)
        source, target = links[:, rng.random(4 * n) < 0.9]
        blocks = [
            [" ".join(vocabulary[w] for w in page), " ".join(map(str, own))]
            for page, own in zip(words, shared, strict=True)
        ]
        urls = [f"http://made.example/{name}" for name in opaque_names(lang, n)]
        return Side(lang, np.arange(n), urls, blocks, [row.tobytes() for row in codes], adjacency(source, target, n))

    a = side("xa", [invented("q", k) for k in range(N_WORDS)])
    b = side("xb", [invented("z", k) for k in hidden])
    return MadeSite(a, some_pages(b, rng.permutation(n)))


def permuted(site: MadeSite) -> MadeSite:
    """Put side B, its lists of links included, in another order: ties are not to be decided by numbers."""
    return MadeSite(site.a, some_pages(site.b, np.random.default_rng(1).permutation(len(site.b.urls))))


def with_own_images(side: Side) -> Side:
    """Each page has an image of its own, which tells nothing: so pages of equal words and tags are no copies."""
    return replace(side, names=[(f"{side.lang}{page}.png",) for page in range(len(side.urls))])


def without_words(side: Side) -> Side:
    return replace(side, blocks=[["..."]] * len(side.urls))


def without_tags(side: Side) -> Side:
    return replace(side, tags=[b""] * len(side.urls))


def right(site: MadeSite) -> set[tuple[int, int]]:
    return {(page, page) for page in set(site.a.page_ids.tolist()) & set(site.b.page_ids.tolist())}


def check(found: FoundPairs, site: MadeSite) -> None:
    """What holds of every result."""
    n = found.scores.nnz
    assert found.scores.shape == (len(site.a.urls), len(site.b.urls))
    assert found.scores.has_sorted_indices
    assert ((found.scores.data >= 0) & (found.scores.data <= 1)).all()
    for values in found.evidence.values():
        assert values.shape == (n,)
        assert values.dtype == np.float32
        assert ((values >= 0) & (values <= 1)).all()
    matching = found.matching
    for pages in (matching.rows, matching.columns):
        assert len(set(pages.tolist())) == len(pages)
    assert (np.diff(matching.scores) <= 0).all()
    assert found.n_equal is not None
    assert ((found.probabilities >= 0) & (found.probabilities <= 1 / found.n_equal + 1e-9)).all()
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    assert found.probabilities.shape == found.rivals.shape == matching.rows.shape
    all_rivals = Rivalry(found.scores).rivals(found.scores.data.astype(float))
    entries = found.scores.tocoo()
    place = {pair: k for k, pair in enumerate(zip(entries.row.tolist(), entries.col.tolist(), strict=True))}
    at = [place[pair] for pair in zip(matching.rows.tolist(), matching.columns.tolist(), strict=True)]
    assert found.rivals.tolist() == all_rivals[at].tolist()
    assert found.scores.data[at].tolist() == matching.scores.tolist()
    assert set(found.weights) == set(found.evidence)
    if found.weights:
        assert sum(found.weights.values()) == pytest.approx(1)


def f1(site: MadeSite, found: FoundPairs) -> float:
    pairs = site.pairs(found, np.ones(len(found.matching.rows), bool))
    return 2 * len(pairs & right(site)) / (len(pairs) + len(right(site)))


N_FORMS, N_PLACES, N_REMARKS, N_RESULTS = 8, 8, 6, 16


def site_of_results(*, by_title: bool) -> MadeSite:
    """Forms with results that differ in the word of a place and in a remark; page 0 lists them, form by form.

    In the list, each language sorts the results of a form by its own word for the place, or both have one order.
    """
    rng = np.random.default_rng(0)
    texts = made_site(1 + N_FORMS, noise=0)
    results = [
        (form, *divmod(choice, N_REMARKS))
        for form in range(1, 1 + N_FORMS)
        for choice in sorted(rng.permutation(N_PLACES * N_REMARKS)[:N_RESULTS].tolist())
    ]
    n = 1 + len(results)

    def side(text: Side, prefix: str, places: list[int]) -> Side:
        forms = some_pages(text, np.argsort(text.page_ids))
        pages = some_pages(forms, np.r_[0, [form for form, _, _ in results]])
        remarks = [[invented(prefix, 100 + 8 * remark + word) for word in range(8)] for remark in range(N_REMARKS)]
        own = [f"{invented(prefix, places[place])} {' '.join(remarks[remark])}" for _, place, remark in results]
        keys = [(form, places[place] if by_title else place) for form, place, _ in results]
        links = np.zeros(n - 1, np.int64), 1 + np.lexsort(np.array(keys).T[::-1])
        return replace(
            pages,
            page_ids=np.arange(n),
            blocks=[pages.blocks[0], *([*blocks, own[page]] for page, blocks in enumerate(pages.blocks[1:]))],
            urls=[f"http://made.example/{name}" for name in opaque_names(text.lang, n)],
            graph=adjacency(*links, n),
            lists=link_lists(*links, n),
        )

    a, b = side(texts.a, "qp", list(range(N_PLACES))), side(texts.b, "zp", rng.permutation(N_PLACES).tolist())
    return permuted(MadeSite(a, b))


def as_news(site: MadeSite, *, renumbered: bool = True) -> MadeSite:
    """Remove a third of either side, put the rest in the order of their texts, and link each page to its neighbours."""

    def side(pages: Side, seed: int) -> Side:
        there = np.random.default_rng(seed).random(len(pages.urls)) < 2 / 3
        left = some_pages(pages, np.argsort(pages.page_ids)[there])
        n = len(left.urls)
        graph = adjacency(np.r_[0 : n - 1, 1:n], np.r_[1:n, 0 : n - 1], n)
        urls = [f"http://made.example/{left.lang}/{number}" for number in range(n)] if renumbered else left.urls
        return replace(left, urls=urls, graph=graph)

    return MadeSite(side(site.a, 11), side(site.b, 12))
