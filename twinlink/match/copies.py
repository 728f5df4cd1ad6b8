"""Copies: pages of one language with the same content at several addresses (``/x``, ``/x/index.html``, ``/x?ref=1``).

Copies would be rivals of each other, and what distinguishes a page from its near-duplicates would be nothing. So one
page stands for all its copies while two sides are matched (`without_copies`), and they share its pair afterwards
(`with_copies`). The renditions of a page (`twinlink.match.renditions`) and their copies are treated like copies of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.graph.document_order import LinkLists, link_lists
from twinlink.graph.links import adjacency
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.match.evidence import Between, FoundPairs, Side, Words
from twinlink.match.measures import pair_matrix
from twinlink.match.renditions import Renditions, find_renditions
from twinlink.patterns.credibility import url_clues
from twinlink.sparse import entries, entry_rows, positions, select
from twinlink.text.words import TermTable

__all__ = ["Copies", "SideCopies", "find_copies", "with_copies", "without_copies"]

MOST = 5
"""Number of copies of one kind on both sides up to which each gets a partner. More of them are pages without content of
their own (messages of errors, pages that a script fills): of these only the pairs that clues join are reported, or one.
Our choice, not tuned."""
COMPARED = 100
"""Number of copies of a page whose addresses are compared, the first ones."""

Numbers = npt.NDArray[np.int64]
_Linked = tuple[sp.csr_array, sp.csr_array]
"""For pages of the two sides, the pairs of pages without copies that they link to, or that link to them; shape
(n_pages, n_pairs)."""


class SideCopies(NamedTuple):
    """Which pages of a side are copies of each other."""

    chosen: Numbers
    """The pages that stand for their copies, in increasing order: of each set the one with the shortest address that is
    no rendition. A page without copies stands for itself."""
    number: Numbers
    """For each page, the place of the one that stands for it among ``chosen``."""
    rendition: npt.NDArray[np.object_]
    """For each page, the word that distinguishes its address as that of a rendition; empty for the others."""

    @property
    def stands_for(self) -> Numbers:
        """For each page, the one that stands for it."""
        return self.chosen[self.number]


class Copies(NamedTuple):
    """Copies on both sides."""

    a: SideCopies
    b: SideCopies
    clues: sp.csr_array
    """How strongly hreflang, URL patterns and accepting labels join two pages; shape (n_pages_a, n_pages_b)."""
    same: tuple[Numbers, Numbers]
    """For each page of each side, the one that would stand for all with the same content, whatever the clues say."""


def find_copies(side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings) -> Copies | None:
    """Find the pages of each side with the same text, the same tags in order, the same images and other sites.

    Renditions are found, too (`find_renditions`). Pages without words have no copies. Where hreflang or URL patterns,
    as far as the settings use them, lead from two such pages to pages of different content, they are no copies of each
    other.

    Returns
    -------
    Copies or None
        None if no page has a copy.
    """
    equal_a, equal_b = _same_content(side_a, words.a.counts), _same_content(side_b, words.b.counts)
    renditions_a, renditions_b = (
        _renditions_and_copies(find_renditions(side.urls, side.tags, side.graph, terms.counts), equal)
        for side, terms, equal in ((side_a, words.a, equal_a), (side_b, words.b, equal_b))
    )
    same_a, same_b = equal_a[renditions_a.of], equal_b[renditions_b.of]
    if all((same == np.arange(len(same))).all() for same in (same_a, same_b)):
        return None
    clues = _clues(side_a, side_b, between, settings)
    a = _chosen(_apart(same_a, _pointed_to(clues, same_b)), side_a, renditions_a)
    b = _chosen(_apart(same_b, _pointed_to(sp.csr_array(clues.T), same_a)), side_b, renditions_b)
    of_contents = _chosen(same_a, side_a, renditions_a).stands_for, _chosen(same_b, side_b, renditions_b).stands_for
    return Copies(a, b, clues, of_contents)


def _same_content(side: Side, counts: sp.csr_array) -> Numbers:
    """Return for each page the first one with the same content."""
    first, n_tags = np.arange(len(side.urls)), Counter(side.tags)
    page_of: dict[tuple[int, bytes], int] = {}
    texts = np.zeros(len(side.urls), np.int64) if side.contents is None else side.contents
    for page, tags in enumerate(side.tags):
        begin, end = counts.indptr[page], counts.indptr[page + 1]
        if n_tags[tags] > 1 and begin < end:
            content = blake2b(tags, digest_size=16)
            content.update(counts.indices[begin:end].tobytes() + counts.data[begin:end].tobytes())
            content.update("\n".join(side.names[page] if side.names else ()).encode("utf-8", "surrogatepass"))
            first[page] = page_of.setdefault((int(texts[page]), content.digest()), page)
    return first


def _renditions_and_copies(renditions: Renditions, same: Numbers) -> Renditions:
    """Return the renditions and their copies, which are renditions of the same page, too.

    Pages whose renditions have the same content stay apart: they may differ in what only they have.
    """
    pages = np.arange(len(same))
    is_rendition = renditions.of != pages
    if not is_rendition.any():
        return renditions
    first = np.full(len(same), -1)  # rendition with each content
    first[same[is_rendition][::-1]] = pages[is_rendition][::-1]
    first[same[renditions.of[is_rendition]]] = -1
    like = np.where(is_rendition | (first[same] < 0), pages, first[same])
    return Renditions(renditions.of[like], renditions.word[like])


def _clues(side_a: Side, side_b: Side, between: Between, settings: MatchSettings) -> sp.csr_array:
    kinds, langs = settings.weighing.evidence, (side_a.lang, side_b.lang)
    known = [between.hreflang] if "hreflang" in kinds else []
    if "pattern" in kinds:
        known.append(url_clues(side_a.urls, side_b.urls, langs, settings.patterns).pairs)
    if between.labels is not None:
        known.append(between.labels.maximum(0))
    clues = sp.csr_array(sum(known, sp.csr_array(between.hreflang.shape, dtype=np.float32)))
    clues.eliminate_zeros()
    return clues


def _pointed_to(clues: sp.csr_array, same: Numbers) -> Numbers:
    """Return for each page the content of the page that its strongest clue points to; -1: it has none."""
    rows = entry_rows(clues)
    order = np.lexsort((clues.indices, -clues.data, rows))
    best = order[np.diff(rows[order], prepend=-1) > 0]
    content = np.full(clues.shape[0], -1)
    content[rows[best]] = same[clues.indices[best]]
    return content


def _apart(same: Numbers, pointed_to: Numbers) -> Numbers:
    """Return numbers of the sets of pages that have the same content, and clues that point to the same content.

    Pages without clues belong to the first one with clues.
    """
    with_clues = np.flatnonzero(pointed_to >= 0)[::-1]
    first = np.full(len(same), -1)
    first[same[with_clues]] = pointed_to[with_clues]
    content = np.where(pointed_to >= 0, pointed_to, first[same])
    sets: Numbers = np.unique(np.stack([same, content]), axis=1, return_inverse=True)[1].reshape(-1)
    return sets


def _chosen(sets: Numbers, side: Side, renditions: Renditions) -> SideCopies:
    order = np.lexsort((np.array([len(url) for url in side.urls]), renditions.word != "", sets))
    first = order[np.diff(sets[order], prepend=-1) > 0]
    page = np.empty(sets.max(initial=-1) + 1, np.int64)
    page[sets[first]] = first
    chosen, number = np.unique(page[sets], return_inverse=True)
    return SideCopies(chosen, number, renditions.word)


def without_copies(
    side_a: Side, side_b: Side, words: Words, between: Between, copies: Copies
) -> tuple[Side, Side, Words, Between]:
    """Return two sides in which one page stands for its copies: it has the links and labels of all of them."""
    a, b = copies.a, copies.b
    merged = Between(
        direct=_merged(between.direct, a, b),
        hreflang=_merged(between.hreflang, a, b),
        labels=None if between.labels is None else _merged_labels(between.labels, a, b),
    )
    return _side(side_a, a), _side(side_b, b), Words(_terms(words.a, a), _terms(words.b, b), words.translation), merged


def _side(side: Side, copies: SideCopies) -> Side:
    chosen, number = copies.chosen.tolist(), copies.number
    sources, targets = entries(side.graph)
    return replace(
        side,
        page_ids=side.page_ids[copies.chosen],
        urls=[side.urls[page] for page in chosen],
        blocks=(),  # their words are counted
        tags=[side.tags[page] for page in chosen],
        graph=adjacency(number[sources], number[targets], len(chosen)),
        lists=None if side.lists is None else _lists(side.lists, copies),
        names=[side.names[page] for page in chosen] if side.names else (),
        shapes=[side.shapes[page] for page in chosen] if side.shapes else (),
        canonical_urls=[side.canonical_urls[page] for page in chosen] if side.canonical_urls else (),
        contents=None,
    )


def _terms(terms: TermTable, copies: SideCopies) -> TermTable:
    return TermTable(sp.csr_array(terms.counts[copies.chosen]), terms.vocabulary)


def _lists(lists: LinkLists, copies: SideCopies) -> LinkLists:
    """Return the links of the chosen pages in document order."""
    sources = np.repeat(np.arange(len(copies.number)), np.diff(lists.starts))
    own = copies.stands_for[sources] == sources
    return link_lists(copies.number[sources[own]], copies.number[lists.targets[own]], len(copies.chosen))


def _merged(matrix: sp.csr_array, a: SideCopies, b: SideCopies) -> sp.csr_array:
    """Return the largest value of each two pages and their copies."""
    rows, columns = (of.number[pages] for of, pages in zip((a, b), entries(matrix), strict=True))
    order = np.lexsort((-matrix.data, columns, rows))
    first = order[np.diff(rows[order] * len(b.chosen) + columns[order], prepend=-1) > 0]
    starts = np.searchsorted(rows[first], np.arange(len(a.chosen) + 1))
    return sp.csr_array((matrix.data[first], columns[first], starts), shape=(len(a.chosen), len(b.chosen)))


def _merged_labels(labels: sp.csr_array, a: SideCopies, b: SideCopies) -> sp.csr_array | None:
    """Merge the labels; one that rejects a pair of copies says nothing of the pair of the pages that they stand for.

    One that rejects a page says that its renditions are wrong, too.
    """
    rows, columns = entries(labels)
    heard = select(labels, (labels.data > 0) | (_without_equals(a)[rows] & _without_equals(b)[columns]))
    return _merged(heard, a, b) if heard.nnz else None


def _without_equals(copies: SideCopies) -> npt.NDArray[np.bool_]:
    """Mark the pages that are no renditions and have no copies but renditions."""
    is_rendition = copies.rendition != ""
    n_equal = np.bincount(copies.number[~is_rendition], minlength=len(copies.chosen))
    marks: npt.NDArray[np.bool_] = ~is_rendition & (n_equal[copies.number] == 1)
    return marks


def with_copies(found: FoundPairs, side_a: Side, side_b: Side, copies: Copies) -> FoundPairs:
    """Return for all pages of two sides what was found without copies.

    Of the copies of two paired pages, as many are paired as the side with fewer of them has: first those that clues
    join, then those that are both no renditions or renditions by the same word, then those that link to the most pairs
    (or are linked from the most, if none links to any), then those with the most similar addresses. If that is more
    than `MOST` of one kind, only those that clues join are, or the two pages that stand for the others. Each pair has
    the evidence and the probability of the one that was found.
    """
    linked = _linked_pairs(found.matching, side_a, side_b, copies)
    pairs = [
        (place, row, column)
        for place, (own, other) in enumerate(_copies_of_pairs(found.matching, copies))
        for row, column in _paired(own, other, side_a, side_b, copies, linked)
    ]
    of, rows, columns = np.array(pairs, np.int64).reshape(-1, 3).T
    like = positions(found.scores, found.matching.rows, found.matching.columns)[of]
    scores, at = _with_entries(found.scores, copies, (rows, columns, like))
    return replace(
        found,
        scores=scores,
        evidence={kind: values[at] for kind, values in found.evidence.items()},
        matching=Matching(rows, columns, found.matching.scores[of]),
        rivals=found.rivals[of],
        probabilities=found.probabilities[of],
        n_equal=None if found.n_equal is None else found.n_equal[of],
        alike=None if found.alike is None else (_alike(found.alike[0], copies.a), _alike(found.alike[1], copies.b)),
        stands_for=copies.same,
    )


def _copies_of_pairs(matching: Matching, copies: Copies) -> list[tuple[Numbers, Numbers]]:
    """Return the copies of the two pages of each pair, those that stand for the others first."""
    of_sides = []
    for side, pages in ((copies.a, matching.rows), (copies.b, matching.columns)):
        order = np.lexsort((side.stands_for != np.arange(len(side.number)), side.number))
        members = np.split(order, np.cumsum(np.bincount(side.number))[:-1])
        of_sides.append([members[page] for page in pages.tolist()])
    return list(zip(*of_sides, strict=True))


def _linked_pairs(matching: Matching, side_a: Side, side_b: Side, copies: Copies) -> list[_Linked]:
    """Return which pairs of pages without copies the pages of all other pairs link to, and which link to them.

    The links of a copy in another part of the site lead to the pages of that part.
    """
    of_sides = ((side_a.graph, copies.a, matching.rows), (side_b.graph, copies.b, matching.columns))
    is_alone = np.logical_and(*(_is_alone(of)[of.chosen[places]] for _, of, places in of_sides))
    linked = []
    for graph, of, places in of_sides:
        alone = of.chosen[places[is_alone]]
        pairs = pair_matrix(alone, np.arange(len(alone)), (len(of.number), len(alone)))
        wanted = np.isin(of.number, places[~is_alone])
        linked.append([_rows_of(each, wanted) @ pairs for each in (graph, sp.csr_array(graph.T))])
    return list(zip(*linked, strict=True))


def _rows_of(graph: sp.csr_array, wanted: npt.NDArray[np.bool_]) -> sp.csr_array:
    """Return the links of some pages alone; shape and numbers stay."""
    return select(graph, wanted[entry_rows(graph)])


def _is_alone(copies: SideCopies) -> npt.NDArray[np.bool_]:
    """Mark the pages without copies."""
    alone: npt.NDArray[np.bool_] = np.bincount(copies.number)[copies.number] == 1
    return alone


def _paired(
    own: Numbers,
    other: Numbers,
    side_a: Side,
    side_b: Side,
    copies: Copies,
    linked: Sequence[_Linked],
) -> list[tuple[np.int64, np.int64]]:
    """Return the pairs of the copies of two paired pages, the best first."""
    if len(own) == len(other) == 1:
        return [(own[0], other[0])]
    from rapidfuzz import fuzz, process  # most sites have no copies

    own, other = own[:COMPARED], other[:COMPARED]
    urls = [side_a.urls[page] for page in own], [side_b.urls[page] for page in other]
    similar = process.cdist(*urls, scorer=fuzz.ratio) / 100
    joined = copies.clues[own][:, other].toarray()
    kind, other_kind = copies.a.rendition[own], copies.b.rendition[other]
    shared = next((n for each in linked if (n := _shared(each, own, other)).any()), np.zeros(joined.shape))
    beside = 2 * (shared + similar) / (shared.max() + 1)  # the addresses decide where links do not
    likeness = 1 + beside + 3 * (kind[:, None] == other_kind) + 6 * (joined > 0) + joined / max(1, joined.max())
    matching = greedy_matching(sp.csr_array(likeness / 13))
    rows, columns = matching.rows, matching.columns
    n_of_kind = Counter(kind[rows])
    is_kept = (joined[rows, columns] > 0) | np.array([n_of_kind[each] <= MOST for each in kind[rows]])
    if not is_kept.any():
        return [(own[0], other[0])]
    return list(zip(own[rows[is_kept]], other[columns[is_kept]], strict=True))


def _shared(linked: _Linked, own: Numbers, other: Numbers) -> npt.NDArray[np.float32]:
    """Return the number of linked pairs that each two pages share."""
    shared: npt.NDArray[np.float32] = (linked[0][own] @ linked[1][other].T).toarray()
    return shared


def _with_entries(
    scores: sp.csr_array, copies: Copies, pairs: tuple[Numbers, Numbers, Numbers]
) -> tuple[sp.csr_array, Numbers]:
    """Return the candidates of all pages, with pairs of copies among them, and the place that each had before.

    The pairs are given as rows, columns, and places of the candidates that they are like.
    """
    shape = len(copies.a.number), len(copies.b.number)
    rows = np.append(copies.a.chosen[entry_rows(scores)], pairs[0])
    columns = np.append(copies.b.chosen[scores.indices], pairs[1])
    keys, first = np.unique(rows * shape[1] + columns, return_index=True)
    at = np.append(np.arange(scores.nnz), pairs[2])[first]
    starts = np.searchsorted(keys, np.arange(shape[0] + 1) * shape[1])
    return sp.csr_array((scores.data[at], keys % shape[1], starts), shape=shape), at


def _alike(alike: sp.csr_array, copies: SideCopies) -> sp.csr_array:
    """Return the near-duplicates of all pages; copies have those of the page that stands for them."""
    of_pages, n = sp.csr_array(alike[copies.number]), len(copies.number)
    return sp.csr_array((of_pages.data, copies.chosen[of_pages.indices], of_pages.indptr), shape=(n, n))
