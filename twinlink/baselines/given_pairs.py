"""Given pairs judged by the default method, by the words and the structure of their pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.match.evidence import Between, Side
from twinlink.match.selection import match_sides

__all__ = ["GivenPage", "judge_by_default"]

Numbers = npt.NDArray[np.int64]


class GivenPage(NamedTuple):
    """What the default method reads of a page."""

    lang: str
    blocks: Sequence[str]
    tags: bytes
    """One code per start tag, in document order."""


def judge_by_default(
    pages_a: Sequence[GivenPage], pages_b: Sequence[GivenPage], rows: Numbers, columns: Numbers, settings: MatchSettings
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Match all pages of a list of pairs by method ``weighed``, and look the pairs up.

    The pages are matched with each other as if they were a site without links, lexicons and addresses: a pair is
    parallel if the method reports it, so each page is in one parallel pair at most.

    Parameters
    ----------
    pages_a, pages_b : sequence of GivenPage
    rows, columns : ndarray of int, shape (n_pairs,)
        The pairs, as numbers of pages.
    settings : MatchSettings

    Returns
    -------
    ndarray of bool, shape (n_pairs,)
        Whether each pair is reported.
    ndarray of float, shape (n_pairs,)
        Its probability; NaN where the matching does not have the pair.
    """
    settings = replace(settings, method="weighed", lexicons=(), labels=False)
    found = match_sides(_side(pages_a, "a"), _side(pages_b, "b"), _between(len(pages_a), len(pages_b)), (), settings)
    matching = found.found.matching
    place = {pair: k for k, pair in enumerate(zip(matching.rows.tolist(), matching.columns.tolist(), strict=True))}
    at = np.array([place.get(pair, -1) for pair in zip(rows.tolist(), columns.tolist(), strict=True)], np.int64)
    parallel, chances = np.zeros(len(at), np.bool_), np.full(len(at), np.nan)
    is_matched = at >= 0
    parallel[is_matched] = found.keep[at[is_matched]]
    chances[is_matched] = found.found.probabilities[at[is_matched]]
    return parallel, chances


def _side(pages: Sequence[GivenPage], name: str) -> Side:
    """Return pages as a side whose addresses say nothing."""
    n = len(pages)
    return Side(
        lang=Counter(page.lang for page in pages).most_common(1)[0][0],
        page_ids=np.arange(n, dtype=np.int64),
        urls=[f"http://{name}.invalid/{number}" for number in range(n)],
        blocks=[page.blocks for page in pages],
        tags=[page.tags for page in pages],
        graph=_empty(n, n),
    )


def _between(n_a: int, n_b: int) -> Between:
    return Between(direct=_empty(n_a, n_b), hreflang=_empty(n_a, n_b))


def _empty(n_rows: int, n_columns: int) -> sp.csr_array:
    none: sp.csr_array = sp.csr_array((n_rows, n_columns), dtype=np.float32)  # type: ignore[assignment]  # its stubs
    return none
