"""Effect of wrong and of true addresses, hreflang and switch links.

::

    python -m experiments.lies SITES... [--share 0.1]

A cell is ``F1 (P / expected P)`` of the list that the default settings report. Switch links and hreflang are generated
from the known pairs, so that sites without them can be measured, too: every page of a known pair points to its partner,
but for a share of the pages of side B, incoming clues are exchanged. Addresses are those of the site, exchanged in the
same way.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.cases import Case, case_words, match_case, outcome_of
from experiments.tables import Column, columns_of, own_cut, print_tables
from twinlink.config import DEFAULT_EVIDENCE, MatchSettings
from twinlink.match.evidence import Side
from twinlink.match.selection import SideMatch
from twinlink.similarity.clues import CLUES
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["exchanged", "main", "measure", "pointed", "with_lying_hreflang"]

SEED = 1
NAMED = {"direct": "switch links", "hreflang": "hreflang"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--share", type=float, default=0.1, help="share of side B's pages that are exchanged")
    given = parser.parse_args(arguments)
    print_tables(columns_of(given.sites, None, lambda case, lexicons: measure(case, lexicons, given.share)))


def measure(case: Case, lexicons: Sequence[Lexicon], share: float) -> Column:
    """Return the table's column of one site."""
    order = exchanged(len(case.side_b.urls), share)
    rows = {"without clues": _cell(case, lexicons), "addresses as they are": _cell(case, lexicons, "pattern")}
    rows["addresses exchanged"] = _cell(case, lexicons, "pattern", order)
    for clue, name in NAMED.items():
        for label, of_page in ((f"true {name}", None), (f"lying {name}", order)):
            links = pointed(case, of_page)
            rows[label] = _cell(replace(case, between=replace(case.between, **{clue: links})), lexicons, clue)
    return {"clues": rows}


def exchanged(n: int, share: float, seed: int = SEED) -> npt.NDArray[np.intp]:
    """Return the numbers 0 to n - 1, with a share of them exchanged in pairs.

    >>> (exchanged(20, 0.2) != np.arange(20)).sum()
    np.int64(4)
    """
    order = np.arange(n)
    chosen = np.random.default_rng(seed).permutation(n)[: int(n * share) // 2 * 2].reshape(-1, 2)
    order[chosen] = chosen[:, ::-1]
    return order


def pointed(case: Case, order: npt.NDArray[np.intp] | None = None) -> sp.csr_array:
    """Return a matrix with 1 where a page of side A points to its partner, or to the page exchanged with it."""
    rows, columns = ({case.gold.key(url): place for place, url in enumerate(side.urls)} for side in _sides(case))
    pairs = [(rows[a], columns[b]) for a, b in case.gold.pairs if a in rows and b in columns]
    places = np.array(pairs, np.int64).reshape(-1, 2)
    targets = places[:, 1] if order is None else order[places[:, 1]]
    shape = (len(case.side_a.urls), len(case.side_b.urls))
    matrix = sp.csr_array((np.ones(len(places), np.float32), (places[:, 0], targets)), shape=shape)
    matrix.sort_indices()
    return matrix


def with_lying_hreflang(case: Case, share: float = 0.1) -> Case:
    """Give a site hreflang that is exchanged on a share of side B's pages."""
    links = pointed(case, exchanged(len(case.side_b.urls), share))
    return replace(case, between=replace(case.between, hreflang=links))


def _sides(case: Case) -> tuple[Side, Side]:
    return case.side_a, case.side_b


def _cell(
    case: Case, lexicons: Sequence[Lexicon], clue: str | None = None, order: npt.NDArray[np.intp] | None = None
) -> str:
    """Match with one clue only, with addresses in another order, and score by the true addresses."""
    kinds = tuple(kind for kind in DEFAULT_EVIDENCE if kind not in CLUES or kind == clue)
    settings = MatchSettings()
    settings = msgspec.structs.replace(settings, weighing=msgspec.structs.replace(settings.weighing, evidence=kinds))
    urls = case.side_b.urls
    moved = urls if order is None else [urls[place] for place in order]
    match = match_case(replace(case, side_b=replace(case.side_b, urls=moved)), case_words(case, lexicons), settings)
    return own_cut(outcome_of(case, SideMatch(case.side_a, case.side_b, match.found, match.keep)))


if __name__ == "__main__":
    main()
