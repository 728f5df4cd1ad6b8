"""News with numbers for addresses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from experiments.cases import Case
from experiments.numbered import as_news
from twinlink.match.evidence import Between, Side


def side(lang: str, keys: list[str]) -> Side:
    n = len(keys)
    graph = sp.csr_array((n, n), dtype=np.bool_)
    return Side(lang, np.arange(n), keys, [["text"]] * n, [b""] * n, graph)


def case(pairs: list[tuple[str, str]], only_a: int, only_b: int) -> Case:
    side_a = side("en", [*(a for a, _ in pairs), *(f"only a {k}" for k in range(only_a))])
    side_b = side("fr", [*(b for _, b in pairs), *(f"only b {k}" for k in range(only_b))])
    gold = SimpleNamespace(pairs=tuple(pairs), key=lambda url: url)
    none = sp.csr_array((len(side_a.urls), len(side_b.urls)), dtype=np.float32)
    return Case("site", Path(), ("en", "fr"), side_a, side_b, Between(none, none.copy()), gold, 1.0)  # type: ignore[arg-type]


def numbers(urls: list[str]) -> list[int]:
    return [int(url.rpartition("/")[2].removesuffix(".html")) for url in urls]


@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_have_one_number_where_all_articles_are_counted_together(seed: int) -> None:
    made = case([(f"a{k}", f"b{k}") for k in range(20)], 10, 10)
    news = as_news(made, seed, together=True)
    of_a, of_b = numbers(news.side_a.urls), numbers(news.side_b.urls)
    assert of_a[:20] == of_b[:20]
    assert len({*of_a, *of_b}) == 40


@pytest.mark.parametrize("seed", [0, 1])
def test_each_language_counts_in_the_same_order_and_links_to_the_next(seed: int) -> None:
    made = case([(f"a{k}", f"b{k}") for k in range(20)], 10, 10)
    news = as_news(made, seed, together=False)
    of_a, of_b = numbers(news.side_a.urls), numbers(news.side_b.urls)
    assert sorted(of_a) == sorted(of_b) == list(range(1, 31))
    assert np.argsort(of_a[:20]).tolist() == np.argsort(of_b[:20]).tolist()
    assert of_a[:20] != of_b[:20]
    linked = news.side_a.graph.tocoo()
    apart = {abs(of_a[i] - of_a[j]) for i, j in zip(linked.row.tolist(), linked.col.tolist(), strict=True)}
    assert apart == {1}
    assert news.side_a.graph.nnz == 2 * 29
