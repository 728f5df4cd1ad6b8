"""Content similarity S_cb: the share of two pages' words that are translations of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config.match import ContentForm
from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity import kernels, product_kernels
from twinlink.similarity.affordable import pages_with
from twinlink.sparse import as_rows, as_weights, entry_rows, narrow

_ROWS = 500  # rows that are scaled at once: bounds the memory beside the matrix


def combine_translations(*matrices: csr_array) -> csr_array:
    """Combine translation matrices of one shape: each pair of terms gets its largest weight.

    Examples
    --------
    >>> combine_translations(csr_array([[0.5, 0.0]]), csr_array([[0.2, 1.0]])).toarray().tolist()
    [[0.5, 1.0]]
    """
    first, *rest = (as_rows(matrix, "translation").astype(np.float32) for matrix in matrices)
    for matrix in rest:
        first = csr_array(first.maximum(matrix))
    return narrow(first)


def content_similarity(
    counts_a: csr_array, counts_b: csr_array, translation: csr_array, pattern: csr_array, form: ContentForm = "tsim_idf"
) -> csr_array:
    """S_cb of the candidate pairs (Liu et al. 2014: "percentage of translation word pairs"; the formula is left open).

    With n words on page a, m on page b, and s ~ t for terms with ``translation[s, t] > 0``::

        bits      ½ · (words of a with a translation on b / n + words of b with a translation on a / m)
        tsim      L / (n + m - L)
        tsim_idf  the same with word weights
        cosine    ½ · (cos(T'a, b) + cos(a, T'b))

    ``bits`` is Tomás et al. eq. (3), taken from both sides. ``tsim`` is their eq. (2) (STRAND), two-word links /
    (two-word links + words not linked), with the L links of a one-to-one alignment of the words. The alignment is
    greedy: terms of a with few translations choose first, and each takes its strongest free translation. In
    ``tsim_idf``, the default and best in our trials, a term that a page has c times counts as 1 + log c words, each of
    weight idf = log((pages + 1) / (pages with the term + ½)), and a link has the mean idf of its two terms. ``cosine``
    has page vectors (1 + log c)·idf, mapped by the translation matrix with rows (for T'a) or columns (for T'b) of unit
    length; it is a product of matrices, which `candidate_pattern` makes use of. Exchanging the languages changes
    nothing in ``bits`` and ``cosine``, and next to nothing in the others.

    Parameters
    ----------
    counts_a : csr_array, shape (n_pages_a, n_terms_a)
        Count of each term on each page.
    counts_b : csr_array, shape (n_pages_b, n_terms_b)
    translation : csr_array, shape (n_terms_a, n_terms_b), values in (0, 1]
    pattern : csr_array, shape (n_pages_a, n_pages_b)
        Candidate pairs: its stored entries; their values are ignored.
    form : {"tsim_idf", "tsim", "bits", "cosine"}

    Returns
    -------
    csr_array of float32, sparsity of ``pattern`` (zeros stored), values in [0, 1]
        0 where a page has no words or no word translates.

    Raises
    ------
    ShapeError
        If the shapes of the matrices do not match, or one is not sparse.
    ConfigError
        If ``form`` is unknown.
    """
    if form not in get_args(ContentForm):
        raise ConfigError(f"form: expected one of {', '.join(get_args(ContentForm))}, got {form!r}")
    counts_a, counts_b, translation = checked(counts_a, counts_b, translation)
    pattern = as_rows(pattern, "pattern")
    if pattern.shape != (counts_a.shape[0], counts_b.shape[0]):
        raise ShapeError(f"pattern {pattern.shape} does not fit {counts_a.shape[0]} and {counts_b.shape[0]} pages")
    values = _FORMS[form](counts_a, counts_b, narrow(translation), pattern)
    data = np.clip(values, 0.0, 1.0).astype(np.float32)
    return csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def content_vectors(counts_a: csr_array, counts_b: csr_array, translation: csr_array) -> tuple[csr_array, csr_array]:
    """Return vectors of the pages of both languages whose dot products are the ``cosine`` form of S_cb.

    x(a) = [T'a/|T'a|, a/|a|] / √2 and y(b) = [b/|b|, T'b/|T'b|] / √2, as in `content_similarity`.

    Returns
    -------
    two csr_array of float32, shapes (n_pages_a, n_terms) and (n_pages_b, n_terms)
        n_terms is the number of terms of both languages together. A page without words has an empty row.
    """
    a, b = content_sides(counts_a, counts_b, translation)
    return a.vectors(slice(None)), b.vectors(slice(None))


class ContentSide(NamedTuple):
    """The vectors of one language by `content_vectors`; those of some pages are computed when they are needed.

    They take several times the memory of the counts: a page has the translations of its words as well.
    """

    own: csr_array
    """Vectors of the pages in their own words."""
    mapping: csr_array
    """Translation to the other language, rows of unit length."""
    own_first: bool
    """Whether the page's own words come before their translations."""

    def vectors(self, pages: slice) -> csr_array:
        """Return the vectors of some pages."""
        starts, columns, data = kernels.arrays_of(self.own)
        first, last, _ = pages.indices(self.own.shape[0])
        own = starts[first : last + 1], columns, data
        mapping, n_columns = kernels.arrays_of(self.mapping), (self.own.shape[1], self.mapping.shape[1])
        scale, n_own = np.float32(np.sqrt(0.5)), int(own[0][-1] - own[0][0])
        n_most = n_own + _n_summands(columns[own[0][0] : own[0][-1]], self.mapping)

        def write(columns: NDArray[np.uint32], values: NDArray[np.float32]) -> NDArray[np.int64]:
            return product_kernels.with_translations(own, mapping, n_columns, self.own_first, scale, columns, values)

        return _written(write, n_most, (last - first, sum(n_columns)))


def translated(vectors: csr_array, translation: csr_array) -> csr_array:
    """Return the product of vectors and their translation, both nonnegative; the columns of a row are in any order."""
    x, y, n_columns = kernels.arrays_of(vectors), kernels.arrays_of(translation), translation.shape[1]

    def write(columns: NDArray[np.uint32], values: NDArray[np.float32]) -> NDArray[np.int64]:
        return product_kernels.product(x, y, n_columns, columns, values)

    return _written(write, _n_summands(vectors.indices, translation), (vectors.shape[0], n_columns))


def _n_summands(terms: NDArray[np.integer], translation: csr_array) -> int:
    """Return the number of translations of some terms together."""
    return int(np.diff(translation.indptr)[terms].sum(dtype=np.int64))


def _written(
    write: Callable[[NDArray[np.uint32], NDArray[np.float32]], NDArray[np.int64]], n_most: int, shape: tuple[int, int]
) -> csr_array:
    """Return a matrix of at most ``n_most`` entries whose columns and values are written by a kernel.

    The room that they do not need is never touched, so it takes no memory.
    """
    columns, values = np.empty(n_most + 1, np.uint32), np.empty(n_most + 1, np.float32)
    starts = write(columns, values)
    for array in (columns, values):
        array.resize(int(starts[-1]), refcheck=False)
    return narrow(csr_array((values, columns.view(np.int32), starts), shape=shape))


def content_sides(counts_a: csr_array, counts_b: csr_array, translation: csr_array) -> tuple[ContentSide, ContentSide]:
    """Return the vectors of `content_vectors` without computing them yet."""
    return _sides(*checked(counts_a, counts_b, translation))


def _sides(counts_a: csr_array, counts_b: csr_array, translation: csr_array) -> tuple[ContentSide, ContentSide]:
    translation = narrow(translation)  # its products, too, then have indices of 32 bits
    forth, back = unit_rows(translation), unit_rows(csr_array(translation.T))
    a = ContentSide(_page_vectors(counts_a), forth, own_first=False)
    return a, ContentSide(_page_vectors(counts_b), back, own_first=True)


def checked(counts_a: csr_array, counts_b: csr_array, translation: csr_array) -> tuple[csr_array, csr_array, csr_array]:
    """Return counts and translations that fit each other, without stored zeros, not copied where they are right."""
    a, b, links = (
        as_weights(counts_a, "counts_a"),
        as_weights(counts_b, "counts_b"),
        as_weights(translation, "translation"),
    )
    expected = (a.shape[1], b.shape[1])
    if links.shape != expected:
        raise ShapeError(f"expected a translation matrix of shape {expected} for these counts, got {links.shape}")
    return a, b, links


def idf(counts: csr_array) -> NDArray[np.float32]:
    """Return log((pages + 1) / (pages with the term + ½)) of each term: positive even for a term on all pages."""
    return np.log((counts.shape[0] + 1) / (pages_with(counts) + 0.5)).astype(np.float32)


def _damped(counts: csr_array) -> csr_array:
    """1 + log count."""
    return csr_array((1 + np.log(counts.data), counts.indices, counts.indptr), shape=counts.shape)


def page_vectors(counts: csr_array) -> csr_array:
    """Rows (1 + log count)·idf of unit length; the matrix shares no array with ``counts``."""
    vectors = _page_vectors(as_weights(counts, "counts"))
    return csr_array((vectors.data, vectors.indices.copy(), vectors.indptr.copy()), shape=vectors.shape)


def _page_vectors(counts: csr_array) -> csr_array:
    data = (1 + np.log(counts.data)) * idf(counts)[counts.indices]
    return unit_rows(csr_array((data, counts.indices, counts.indptr), shape=counts.shape))


def unit_rows(matrix: csr_array) -> csr_array:
    """Scale rows to unit length; empty rows stay empty."""
    data = np.empty(matrix.nnz, np.float32)
    for first in range(0, matrix.shape[0], _ROWS):
        starts = matrix.indptr[first : first + _ROWS + 1]
        values = matrix.data[starts[0] : starts[-1]]
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        lengths = np.sqrt(np.bincount(rows, np.square(values, dtype=np.float64), minlength=len(starts) - 1))
        lengths[lengths == 0] = 1.0
        data[starts[0] : starts[-1]] = values / lengths[rows]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _binary(matrix: csr_array) -> csr_array:
    return csr_array((np.ones(matrix.nnz, np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def dots_of_pairs(x: csr_array, y: csr_array, pattern: csr_array) -> NDArray[np.float32]:
    """Return the dot product of row i of x and row j of y for each stored entry (i, j) of a pattern."""
    starts, columns, _ = kernels.arrays_of(pattern)
    return kernels.pattern_dot(kernels.arrays_of(x), kernels.arrays_of(y), x.shape[1], starts, columns)


def _pair_sizes(
    a: csr_array, b: csr_array, weights_a: NDArray[np.float32], weights_b: NDArray[np.float32], pattern: csr_array
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weight of all words of both pages of each pair."""
    rows = entry_rows(pattern)
    return (a @ weights_a)[rows], (b @ weights_b)[pattern.indices]


def _ones(counts: csr_array) -> NDArray[np.float32]:
    return np.ones(counts.shape[1], np.float32)


def _cosine(
    counts_a: csr_array, counts_b: csr_array, translation: csr_array, pattern: csr_array
) -> NDArray[np.float32]:
    a, b = _sides(counts_a, counts_b, translation)
    return dots_of_pairs(a.vectors(slice(None)), b.vectors(slice(None)), pattern)


def _bits(counts_a: csr_array, counts_b: csr_array, translation: csr_array, pattern: csr_array) -> NDArray[np.float32]:
    links = _binary(translation)
    # Terms of one language with a translation on each page of the other.
    reached_a = _binary(csr_array(_binary(counts_b) @ links.T))
    reached_b = _binary(csr_array(_binary(counts_a) @ links))
    n, m = _pair_sizes(counts_a, counts_b, _ones(counts_a), _ones(counts_b), pattern)
    of_a = dots_of_pairs(counts_a, reached_a, pattern) / np.maximum(n, 1)
    of_b = dots_of_pairs(reached_b, counts_b, pattern) / np.maximum(m, 1)
    return np.asarray((of_a + of_b) / 2, dtype=np.float32)


def _tsim(counts_a: csr_array, counts_b: csr_array, translation: csr_array, pattern: csr_array) -> NDArray[np.float32]:
    return _aligned_share(counts_a, counts_b, translation, pattern, _ones(counts_a), _ones(counts_b))


def _tsim_idf(
    counts_a: csr_array, counts_b: csr_array, translation: csr_array, pattern: csr_array
) -> NDArray[np.float32]:
    return _aligned_share(_damped(counts_a), _damped(counts_b), translation, pattern, idf(counts_a), idf(counts_b))


def _aligned_share(
    a: csr_array,
    b: csr_array,
    translation: csr_array,
    pattern: csr_array,
    weights_a: NDArray[np.float32],
    weights_b: NDArray[np.float32],
) -> NDArray[np.float32]:
    """L / (n + m - L) with L the weight of the links, n and m the weight of all words of the two pages."""
    needy = np.argsort(np.diff(translation.indptr), kind="stable")
    needy = needy[np.diff(translation.indptr)[needy] > 0]  # the other terms have no link
    wanted = np.flatnonzero(np.bincount(translation.indices, minlength=translation.shape[1]))
    terms = csr_array(a[:, needy])
    terms.sort_indices()
    links = _strongest_first(csr_array(translation[needy][:, wanted]))
    of_link = np.repeat(weights_a[needy], np.diff(links.indptr)) + weights_b[wanted][links.indices]
    valued = csr_array((of_link / 2, links.indices, links.indptr), shape=links.shape)
    starts, columns, _ = kernels.arrays_of(pattern)
    others = kernels.arrays_of(csr_array(b[:, wanted]))
    linked = kernels.aligned_words(
        kernels.arrays_of(terms), others, kernels.arrays_of(valued), len(wanted), starts, columns
    )
    n, m = _pair_sizes(a, b, weights_a, weights_b, pattern)
    rest = n + m - linked
    return np.asarray(linked / np.where(rest > 0, rest, 1), dtype=np.float32)


def _strongest_first(matrix: csr_array) -> csr_array:
    """Order each row's entries by descending value in single precision, not negative, then column.

    Row and value are packed into one number, which sorts some ten times as fast as both: the bits of a float increase
    with its value.
    """
    matrix.sort_indices()
    strength = (matrix.data.astype(np.float32) + np.float32(0)).view(np.uint32)  # adding 0 turns -0.0 into 0.0
    weakness = np.uint64(2**32 - 1) - strength
    order = np.argsort(entry_rows(matrix).astype(np.uint64) << np.uint64(32) | weakness, kind="stable")
    return csr_array((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


_FORMS: Mapping[ContentForm, Callable[[csr_array, csr_array, csr_array, csr_array], NDArray[np.float32]]] = {
    "tsim_idf": _tsim_idf,
    "tsim": _tsim,
    "bits": _bits,
    "cosine": _cosine,
}
