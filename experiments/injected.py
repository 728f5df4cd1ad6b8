"""Pairs to verify: the right pairs of a site, and wrong pairs of three kinds, chosen deterministically.

``shifted``
    a page with the partner of the next pair in size;
``same template``
    a page with the page that is nearest in structure (lowest P_d) among those that are not its partner;
``half translated``
    a page with its partner, of which the second half is missing (`experiments.linear.first_half`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.cases import Case
from experiments.linear import first_half
from twinlink.baselines.alignment import align
from twinlink.baselines.distance_line import shifted_partners
from twinlink.pages.linearise import PageShape
from twinlink.similarity.candidates import candidate_pattern, tag_vectors
from twinlink.sparse import entries

__all__ = ["KINDS", "RIGHT", "PairSet", "gold_rows", "pairs_to_verify"]

KINDS = ("shifted", "same template", "half translated")
RIGHT = -1
SHARE = 4
"""Right pairs for each injected pair of a kind."""
MIN_TEXTS = 4
"""Minimum number of texts of a page that is cut in half."""

Numbers = npt.NDArray[np.int64]
Pairs = tuple[Numbers, Numbers]
Test = Callable[[int, int], bool]


class PairSet(msgspec.Struct, frozen=True, eq=False):
    """Pairs of pages, sorted by row, then column; none twice."""

    langs: tuple[str, str]
    pages_a: Sequence[PageShape]
    pages_b: Sequence[PageShape]
    """The pages of the site, followed by those cut in half."""
    rows: Numbers
    columns: Numbers
    kinds: npt.NDArray[np.int8]
    """Number of the kind of `KINDS`, or `RIGHT`."""

    def pattern(self) -> sp.csr_array:
        """Return the pairs as a matrix; its stored entries are in the order of the pairs."""
        shape = len(self.pages_a), len(self.pages_b)
        starts = np.searchsorted(self.rows, np.arange(shape[0] + 1))
        return sp.csr_array((np.ones(len(self.rows), np.bool_), self.columns, starts), shape=shape)

    def sides(self) -> tuple[tuple[Sequence[PageShape], str], ...]:
        """Return the pages of either side with their language."""
        return (self.pages_a, self.langs[0]), (self.pages_b, self.langs[1])

    def first(self, n: int) -> PairSet:
        """Return the first pairs only."""
        return replace(self, rows=self.rows[:n], columns=self.columns[:n], kinds=self.kinds[:n])


def pairs_to_verify(case: Case, share: int = SHARE) -> PairSet:
    """Return the right pairs of a site, and for every ``share`` of them at most one wrong pair of each kind.

    The pages of the case are to be linearised (`experiments.methods.with_shapes`).
    """
    pages_a, pages_b = case.side_a.shapes, case.side_b.shapes
    rows, columns = gold_rows(case)
    n_each = len(rows) // share
    wrong = _wrong_test(case)
    sizes = np.array([len(page.tokens) for page in pages_a], np.int64)
    shifted = _some(_that(shifted_partners(rows, columns, sizes[rows]), wrong), n_each)
    template = _same_template(case, _without(wrong, shifted), n_each)
    long_enough = np.array([len(page.words) >= MIN_TEXTS for page in pages_b], np.bool_)[columns]
    halved = _some((rows[long_enough], columns[long_enough]), n_each)
    halves = halved[0], len(pages_b) + np.arange(len(halved[0]))
    every = ((rows, columns), shifted, template, halves)
    all_rows, all_columns = (np.concatenate(part) for part in zip(*every, strict=True))
    kinds = np.repeat(np.arange(RIGHT, len(KINDS)), [len(part) for part, _ in every]).astype(np.int8)
    order = np.lexsort((all_columns, all_rows))
    both = [*pages_b, *(first_half(pages_b[page]) for page in halved[1].tolist())]
    return PairSet(case.langs, pages_a, both, all_rows[order], all_columns[order], kinds[order])


def gold_rows(case: Case) -> Pairs:
    """Return rows and columns of the gold pairs with both pages identified as their right language."""
    at_a, at_b = ({case.gold.key(url): row for row, url in enumerate(s.urls)} for s in (case.side_a, case.side_b))
    found = sorted((at_a[a], at_b[b]) for a, b in case.gold.pairs if a in at_a and b in at_b)
    rows, columns = np.array(found, np.int64).reshape(-1, 2).T
    return rows, columns


def _wrong_test(case: Case) -> Test:
    """Return a test for certainly wrong pairs, which considers equal pages and partly translated pages."""
    gold = case.gold
    not_wrong = {(gold.group(a), gold.group(b)) for a, b in (*gold.pairs, *gold.ignored)}
    keys_a, keys_b = ([gold.key(url) for url in side.urls] for side in (case.side_a, case.side_b))

    def wrong(row: int, column: int) -> bool:
        a, b = keys_a[row], keys_b[column]
        unscored = a in gold.unscored and b in gold.unscored
        return (gold.group(a), gold.group(b)) not in not_wrong and not unscored

    return wrong


def _without(wrong: Test, taken: Pairs) -> Test:
    there = set(zip(*(part.tolist() for part in taken), strict=True))
    return lambda row, column: (row, column) not in there and wrong(row, column)


def _that(pairs: Pairs, test: Test) -> Pairs:
    passed = np.array([test(*pair) for pair in zip(*(part.tolist() for part in pairs), strict=True)], np.bool_)
    return pairs[0][passed], pairs[1][passed]


def _some(pairs: Pairs, n: int) -> Pairs:
    """Return at most n of the pairs, evenly spaced in the order of the rows."""
    order = np.lexsort((pairs[1], pairs[0]))
    chosen = order[np.linspace(0, len(order) - 1, min(n, len(order))).astype(np.int64)] if len(order) else order
    return pairs[0][chosen], pairs[1][chosen]


def _same_template(case: Case, wrong: Test, n: int) -> Pairs:
    """Return pages that have a partner, each with its nearest wrong candidate by runs of three tags."""
    candidates = candidate_pattern(*tag_vectors(case.side_a.tags, case.side_b.tags))
    rows, columns = _that(entries(candidates), wrong)
    partnered = gold_rows(case)
    has_candidates = np.isin(partnered[0], rows)
    chosen, _ = _some((partnered[0][has_candidates], partnered[1][has_candidates]), n)
    near = np.isin(rows, chosen)
    rows, columns = rows[near], columns[near]
    tokens_a, tokens_b = ([page.tokens for page in side.shapes] for side in (case.side_a, case.side_b))
    cost = align(tokens_a, tokens_b, rows, columns, chunks=False).cost_share
    order = np.lexsort((columns, cost, rows))
    return _first_of_each(rows[order], columns[order])


def _first_of_each(rows: Numbers, columns: Numbers) -> Pairs:
    _, first = np.unique(rows, return_index=True)
    return rows[first], columns[first]
