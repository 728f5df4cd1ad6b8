"""News that are numbered in each language by themselves, with links to the next and the previous one.

::

    python -m experiments.numbered SITES...

A cell is ``F1 (P / expected P)`` of the list that the default settings report, the mean of five draws. The pages of a
site stand in one order, as articles by date; each links to those of its language before and behind it, and to no
others. ``/a/17.html`` is the 17th article in its language, or the 17th of all: then two pages with one number are a
pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.cases import Case, Outcome, case_words, match_case, mean_outcome, outcome_of
from experiments.robustness import DRAWS, half_of_either
from experiments.tables import Column, own_cut, run
from twinlink.match.evidence import Side
from twinlink.match.selection import SideMatch
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["as_news", "measure"]


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the table's column of one site: means of several draws."""
    rows = {}
    for label, is_whole in (("", True), (", half of either side removed", False)):
        drawn = [case if is_whole else half_of_either(case, seed) for seed in range(DRAWS)]
        for counted, together in (("all counted together", True), ("each language counted by itself", False)):
            outcomes = [_outcome(each, lexicons, seed, together=together) for seed, each in enumerate(drawn)]
            rows[counted + label] = own_cut(mean_outcome(outcomes))
    return {"numbers": rows}


def _outcome(case: Case, lexicons: Sequence[Lexicon], seed: int, *, together: bool) -> Outcome:
    news = as_news(case, seed, together=together)
    match = match_case(news, case_words(news, lexicons))
    return outcome_of(case, SideMatch(case.side_a, case.side_b, match.found, match.keep))


def as_news(case: Case, seed: int, *, together: bool) -> Case:
    """Return a case whose pages have numbers for addresses, and links to their neighbours.

    Parameters
    ----------
    case : Case
    seed : int
        Of the order of the articles.
    together : bool
        Whether all articles are counted together, those in one language only, too; or each language by itself.
    """
    partner = {b: a for a, b in case.gold.pairs}
    keys_a, keys_b = ([case.gold.key(url) for url in side.urls] for side in (case.side_a, case.side_b))
    articles = list(dict.fromkeys([*keys_a, *(partner.get(key, key) for key in keys_b)]))
    place = dict(zip(articles, np.random.default_rng(seed).permutation(len(articles)).tolist(), strict=True))
    of_a, of_b = [place[key] for key in keys_a], [place[partner.get(key, key)] for key in keys_b]
    side_a, side_b = (
        _numbered(side, name, np.array(places), together=together)
        for side, name, places in ((case.side_a, "a", of_a), (case.side_b, "b", of_b))
    )
    return replace(case, side_a=side_a, side_b=side_b)


def _numbered(side: Side, name: str, places: npt.NDArray[np.int64], *, together: bool) -> Side:
    """Return a side with numbers for addresses and a chain of links, by the places of its pages among all articles."""
    order = np.argsort(places)
    ranks = np.argsort(order)
    numbers = places if together else ranks
    urls = [f"http://www.example.org/{name}/{number + 1}.html" for number in numbers.tolist()]
    chain = np.concatenate([order[:-1], order[1:]]), np.concatenate([order[1:], order[:-1]])
    graph = sp.csr_array((np.ones(len(chain[0]), np.bool_), chain), shape=side.graph.shape)
    graph.sort_indices()
    return replace(side, urls=urls, graph=graph, lists=None)


if __name__ == "__main__":
    run(__doc__ or "", measure)
