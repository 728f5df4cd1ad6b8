"""The texts of pages, each distinct one stored once: lines of menus are repeated on every page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, count, pairwise
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.text.cutting import Cut, cut_texts
from twinlink.text.numbered import incidence, numbered, numbered_by_breaks

__all__ = ["PageTexts", "TextSource", "ended_texts", "page_texts", "titled_texts"]

Numbers = NDArray[np.int64]


class PageTexts(Sequence[list[str]]):
    """Texts (blocks, lines, names …) of pages: a sequence that has a list of texts for each page.

    Parameters
    ----------
    starts : ndarray of int64, shape (n_pages + 1,)
        Where the texts of each page begin among those of all.
    numbers : ndarray of int64
        The number of each text, page after page.
    distinct : list of str
        The texts that the numbers mean, in the order of their first appearance.
    cut : callable, optional
        Returns `cut`, where more texts than these were cut together.
    """

    def __init__(
        self, starts: Numbers, numbers: Numbers, distinct: list[str], cut: Callable[[], Cut] | None = None
    ) -> None:
        self.starts, self.numbers, self.distinct = starts, numbers, distinct
        self._cut = cut or (lambda: cut_texts(distinct, str.lower))

    @overload
    def __getitem__(self, page: int) -> list[str]: ...

    @overload
    def __getitem__(self, page: slice) -> list[list[str]]: ...

    def __getitem__(self, page: int | slice) -> list[str] | list[list[str]]:
        """Return the texts of a page in order."""
        if isinstance(page, slice):
            return [self[k] for k in range(*page.indices(len(self)))]
        at = range(len(self))[page]
        return [self.distinct[number] for number in self.numbers[self.starts[at] : self.starts[at + 1]].tolist()]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def cut(self) -> Cut:
        """The tokens of the distinct texts, in lower case; each text is cut only once, also for some of the pages."""
        return self._cut()

    @property
    def counts(self) -> csr_array:
        """float32, page × distinct text: how often."""
        return incidence(self.starts, self.numbers, len(self.distinct))

    @property
    def page_of(self) -> Numbers:
        """The page of each text."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def same(self) -> Numbers:
        """For each page, the first one with the same texts in the same order.

        >>> page_texts([["menu", "one"], ["menu", "two"], ["menu", "one"]]).same.tolist()
        [0, 1, 0]
        """
        first: dict[bytes, int] = {}
        ranges = enumerate(pairwise(self.starts.tolist()))
        found = (first.setdefault(self.numbers[begin:end].tobytes(), page) for page, (begin, end) in ranges)
        return np.fromiter(found, np.int64, len(self))

    def of_pages(self, pages: NDArray[np.integer]) -> PageTexts:
        """Return the texts of some pages."""
        lengths = np.diff(self.starts)[pages]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[pages] - starts[:-1], lengths)
        return self._renumbered(starts, self.numbers[places])

    def where(self, which: NDArray[np.bool_]) -> PageTexts:
        """Return all pages with some of their texts."""
        return self._renumbered(np.concatenate([[0], np.cumsum(which)])[self.starts], self.numbers[which])

    def _renumbered(self, starts: Numbers, numbers: Numbers) -> PageTexts:
        numbers, used = _only_used(numbers, len(self.distinct))
        return PageTexts(starts, numbers, _chosen(self.distinct, used), lambda: self.cut.of_texts(used))


class TextSource:
    """The texts of a site's pages, read when they are needed, and again when they are needed after they were forgotten.

    >>> source = TextSource(lambda: page_texts([["menu", "one"], ["menu"]]))
    >>> some = source.of_pages(np.array([1]))
    >>> source.forget()
    >>> list(some)
    [['menu']]
    """

    def __init__(self, read: Callable[[], PageTexts]) -> None:
        self._read = read
        self._texts: PageTexts | None = None

    def texts(self) -> PageTexts:
        """Return the texts of all pages."""
        if self._texts is None:
            self._texts = self._read()
        return self._texts

    def forget(self) -> None:
        """Free the memory of the texts, and of their tokens."""
        self._texts = None

    def of_pages(self, pages: NDArray[np.integer]) -> Sequence[list[str]]:
        """Return the texts of some pages, a sequence that keeps no text."""
        return _SomePages(self, pages)


class _SomePages(Sequence[list[str]]):
    def __init__(self, source: TextSource, pages: NDArray[np.integer]) -> None:
        self._source, self._pages = source, pages

    @overload
    def __getitem__(self, page: int) -> list[str]: ...

    @overload
    def __getitem__(self, page: slice) -> list[list[str]]: ...

    def __getitem__(self, page: int | slice) -> list[str] | list[list[str]]:
        return self.texts()[page] if isinstance(page, slice) else self._source.texts()[int(self._pages[page])]

    def __len__(self) -> int:
        return len(self._pages)

    def texts(self) -> PageTexts:
        return self._source.texts().of_pages(self._pages)


def page_texts(pages: Iterable[Iterable[str]]) -> PageTexts:
    """Find the distinct texts of pages.

    >>> texts = page_texts([["menu", "one"], ["menu", "two", "two"]])
    >>> texts.distinct, texts.counts.toarray().tolist()
    (['menu', 'one', 'two'], [[1.0, 1.0, 0.0], [1.0, 0.0, 2.0]])
    >>> list(texts)
    [['menu', 'one'], ['menu', 'two', 'two']]
    """
    if isinstance(pages, PageTexts):
        return pages
    if isinstance(pages, _SomePages):
        return pages.texts()
    rows = [page if isinstance(page, (list, tuple)) else [*page] for page in pages]
    starts = np.concatenate([[0], np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)))])
    return PageTexts(starts, *numbered(chain.from_iterable(rows)))


def ended_texts(texts: Iterable[str]) -> PageTexts:
    r"""Find the distinct texts of pages, given those of all pages in a row, with a line break at the end of each page.

    A list for each page would take most of the time where pages are many and short.

    >>> list(ended_texts(["menu", "one", "\n", "\n", "menu", "\n"]))
    [['menu', 'one'], [], ['menu']]
    """
    return PageTexts(*numbered_by_breaks(texts))


def titled_texts(titles: pa.ChunkedArray, blocks: Iterable[pa.Array]) -> PageTexts:
    """Return the text of pages by two columns of their table: the title, if there is one, and the blocks.

    Parameters
    ----------
    titles : pa.ChunkedArray of string, shape (n_pages,)
    blocks : iterable of pa.Array, lists of string
        The chunks of the column; one is needed at a time.

    Examples
    --------
    >>> titles, blocks = pa.chunked_array([["Home", ""]]), [pa.array([["menu", "Home"]]), pa.array([["menu"]])]
    >>> list(titled_texts(titles, blocks))
    [['Home', 'menu', 'Home'], ['menu']]
    """
    titled = pc.fill_null(pc.not_equal(titles, ""), False)
    has_title: NDArray[np.bool_] = titled.to_numpy()
    ids: dict[str, int] = defaultdict(count().__next__)
    codes = [_numbered(chunk, ids) for chunk in titles.filter(titled).chunks]
    lengths = [np.zeros(0, np.int64)]
    for chunk in blocks:
        lengths.append(pc.fill_null(pc.list_value_length(chunk), 0).to_numpy(zero_copy_only=False).astype(np.int64))
        codes.append(_numbered(chunk.flatten(), ids))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths) + has_title)])
    is_title = np.zeros(starts[-1], np.bool_)
    is_title[starts[:-1][has_title]] = True
    numbers = np.empty(starts[-1], np.int64)
    numbers[is_title], numbers[~is_title] = np.split(np.concatenate([lengths[0], *codes]), [has_title.sum()])
    numbers, used = _only_used(numbers, len(ids))
    return PageTexts(starts, numbers, _chosen(list(ids), used))


def _only_used(numbers: Numbers, n_texts: int) -> tuple[Numbers, Numbers]:
    """Number the texts that are used in the order of their first appearance; return these numbers, and the old ones."""
    places = np.arange(len(numbers))
    first = np.zeros(n_texts, np.int64)
    first[numbers[::-1]] = places[::-1]
    used = numbers[first[numbers] == places]
    place = np.zeros(n_texts, np.int64)
    place[used] = np.arange(len(used))
    return place[numbers], used


def _chosen(texts: Sequence[str], numbers: Numbers) -> list[str]:
    return [*map(texts.__getitem__, numbers.tolist())]


def _numbered(texts: pa.Array, ids: Mapping[str, int]) -> Numbers:
    """Return the number of each text; new ones get the next numbers."""
    coded = texts.dictionary_encode()
    distinct = np.fromiter(map(ids.__getitem__, coded.dictionary.to_pylist()), np.int64, len(coded.dictionary))
    return np.asarray(distinct[coded.indices.to_numpy()])
