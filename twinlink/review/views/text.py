"""Two pages as text, side by side: aligned blocks and sentences, and differences between the sides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from twinlink.review.records import Page, Segment
from twinlink.review.views.blocks import align_blocks
from twinlink.review.views.invariants import invariants, keys_of

MAX_BLOCK_CHARACTERS = 8_000
"""Characters shown per block."""
MAX_CHARACTERS = 400_000
"""Characters shown of both pages together, about 150 printed pages."""
MAX_ROWS = 3_000
"""Rows shown."""
_MAX_BLOCKS = 4_000  # considered per page; more than can be shown, unless rows hold several


class Span(NamedTuple):
    """A piece of text; a template escapes it."""

    text: str
    bead: int
    """Number of its bead, equal on both sides: index in the segments plus 1; 0: no bead."""
    missing: bool
    """Whether it is a sentence without a partner."""
    alone: bool
    """Whether it is an invariant that is missing on the other side of the row."""


class Cell(NamedTuple):
    """A block of a page."""

    block: int
    """Its number."""
    spans: tuple[Span, ...]
    left_out: int
    """Number of characters at its end that are not shown."""


class Row(NamedTuple):
    """Blocks shown side by side."""

    a: tuple[Cell, ...]
    b: tuple[Cell, ...]
    kind: Literal["aligned", "only_a", "only_b", "cut"]
    """``cut``: the last row of pages that are too long to be shown completely; it has no cells."""
    left_a: int = 0
    """Number of blocks that are not shown, in a ``cut`` row."""
    left_b: int = 0

    @property
    def differs(self) -> bool:
        """Whether the two sides differ."""
        cells = (*self.a, *self.b)
        return self.kind != "aligned" or any(span.missing or span.alone for cell in cells for span in cell.spans)


def side_by_side(page_a: Page, page_b: Page, segments: Sequence[Segment] = ()) -> tuple[Row, ...]:
    """Put the blocks of two pages into rows.

    Blocks that share a sentence bead are in one row; a row may hold several blocks per side. Blocks without beads are
    aligned by the numbers in them and by their lengths.

    Parameters
    ----------
    page_a, page_b : Page
        The pages.
    segments : sequence of Segment
        Beads of the two pages, in this order of sides; beads outside the pages' blocks are ignored.

    Returns
    -------
    tuple of Row
        In the order of page a; each block is in one row, except those beyond the limits.
    """
    more_a, more_b = (max(len(page.blocks) - _MAX_BLOCKS, 0) for page in (page_a, page_b))
    page_a, page_b = (replace(page, blocks=page.blocks[:_MAX_BLOCKS]) for page in (page_a, page_b))
    beads = [_usable(segment, page_a, page_b) for segment in segments]
    groups = _ordered(page_a, page_b, beads)
    writer = _Writer(page_a, page_b, beads)
    rows: list[Row] = []
    for number, (blocks_a, blocks_b) in enumerate(groups):
        if writer.is_full or number >= MAX_ROWS:
            more_a += sum(len(a) for a, _ in groups[number:])
            more_b += sum(len(b) for _, b in groups[number:])
            break
        rows.append(writer.row(blocks_a, blocks_b))
    if more_a or more_b:
        rows.append(Row((), (), "cut", more_a, more_b))
    return tuple(rows)


_Group = tuple[tuple[int, ...], tuple[int, ...]]  # blocks of each side that share a row
_Places = list[tuple[int, int, int]]  # of the beads of a block: start, end, number of the bead


def _usable(segment: Segment, page_a: Page, page_b: Page) -> Segment | None:
    """Return a segment; None: it points outside the pages, which have been read again since."""
    fits_a = -1 <= segment.block_a < len(page_a.blocks)
    fits_b = -1 <= segment.block_b < len(page_b.blocks)
    return segment if fits_a and fits_b else None


def _ordered(page_a: Page, page_b: Page, beads: Iterable[Segment | None]) -> list[_Group]:
    """Return the blocks of each row."""
    links = sorted({(bead.block_a, bead.block_b) for bead in beads if bead})
    known = ({a for a, _ in links}, {b for _, b in links})
    joined = _joined([(a, b) for a, b in links if a >= 0 and b >= 0])
    linked = ({a for group in joined for a in group[0]}, {b for group in joined for b in group[1]})
    end = ((len(page_a.blocks),), (len(page_b.blocks),))
    groups: list[_Group] = []
    next_a = next_b = 0
    for group in [*joined, end]:
        gap_a = [block for block in range(next_a, group[0][0]) if block not in linked[0]]
        gap_b = [block for block in range(next_b, group[1][0]) if block not in linked[1]]
        groups += _unlinked(page_a, page_b, gap_a, gap_b, known)
        groups.append(group)
        next_a, next_b = max(next_a, group[0][0] + 1), max(next_b, group[1][0] + 1)
    return groups[:-1]


def _joined(links: Sequence[tuple[int, int]]) -> list[_Group]:
    """Return groups of blocks connected by beads, in the order of the first side."""
    group_of: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for a, b in links:
        one, other = (group_of.setdefault(node, {node}) for node in (("a", a), ("b", b)))
        if one is not other:
            small, large = sorted((one, other), key=len)
            large |= small
            group_of |= dict.fromkeys(small, large)
    found = {id(group): group for group in group_of.values()}.values()
    sides = (
        tuple(tuple(sorted(block for side, block in group if side == wanted)) for wanted in "ab") for group in found
    )
    return sorted((a, b) for a, b in sides)


def _unlinked(
    page_a: Page, page_b: Page, gap_a: Sequence[int], gap_b: Sequence[int], known: tuple[set[int], set[int]]
) -> Iterator[_Group]:
    """Yield the rows between two linked groups; blocks known to have no partner get rows of their own."""
    free_a = [block for block in gap_a if block not in known[0]]
    free_b = [block for block in gap_b if block not in known[1]]
    alone_a = [block for block in gap_a if block in known[0]]
    alone_b = [block for block in gap_b if block in known[1]]
    texts_a = [page_a.blocks[block][:MAX_BLOCK_CHARACTERS] for block in free_a]
    texts_b = [page_b.blocks[block][:MAX_BLOCK_CHARACTERS] for block in free_b]
    for place_a, place_b in align_blocks(texts_a, texts_b):
        if place_a is not None:
            while alone_a and alone_a[0] < free_a[place_a]:
                yield (alone_a.pop(0),), ()
        if place_b is not None:
            while alone_b and alone_b[0] < free_b[place_b]:
                yield (), (alone_b.pop(0),)
        yield (() if place_a is None else (free_a[place_a],)), (() if place_b is None else (free_b[place_b],))
    yield from (((block,), ()) for block in alone_a)
    yield from (((), (block,)) for block in alone_b)


class _Writer:
    """Writes rows until `MAX_CHARACTERS` is reached."""

    def __init__(self, page_a: Page, page_b: Page, beads: Sequence[Segment | None]) -> None:
        self._pages = (page_a, page_b)
        self._places: tuple[dict[int, _Places], dict[int, _Places]] = (defaultdict(list), defaultdict(list))
        self._without_partner: set[int] = set()
        self._n_left = MAX_CHARACTERS
        for number, bead in enumerate(beads, start=1):
            if bead is None:
                continue
            if bead.block_a < 0 or bead.block_b < 0:
                self._without_partner.add(number)
            self._places[0][bead.block_a].append((bead.start_a, bead.end_a, number))
            self._places[1][bead.block_b].append((bead.start_b, bead.end_b, number))

    @property
    def is_full(self) -> bool:
        """Whether no further row can be shown."""
        return self._n_left <= 0

    def row(self, blocks_a: Sequence[int], blocks_b: Sequence[int]) -> Row:
        """Return the row of some blocks."""
        kind: Literal["aligned", "only_a", "only_b"]
        kind = "aligned" if blocks_a and blocks_b else "only_a" if blocks_a else "only_b"
        facing_a, facing_b = (self._keys(side, blocks) for side, blocks in enumerate((blocks_a, blocks_b)))
        is_pair = kind == "aligned"
        cells_a = tuple(self._cell(0, block, facing_b if is_pair else None) for block in blocks_a)
        cells_b = tuple(self._cell(1, block, facing_a if is_pair else None) for block in blocks_b)
        return Row(cells_a, cells_b, kind)

    def _keys(self, side: int, blocks: Sequence[int]) -> Counter[str]:
        texts = (self._pages[side].blocks[block][:MAX_BLOCK_CHARACTERS] for block in blocks)
        return sum(map(keys_of, texts), Counter[str]())

    def _cell(self, side: int, block: int, facing: Counter[str] | None) -> Cell:
        """Return a block; its invariants are matched against those in ``facing``."""
        whole = self._pages[side].blocks[block]
        text = whole[: max(min(MAX_BLOCK_CHARACTERS, self._n_left), 0)]
        self._n_left -= len(text)
        marks = [] if facing is None else list(_alone(text, facing))
        pieces = _pieces(text, sorted(self._places[side].get(block, ())))
        spans = [span for piece in pieces for span in self._spans(text, piece, marks)]
        return Cell(block, tuple(spans), len(whole) - len(text))

    def _spans(self, text: str, piece: tuple[int, int, int], marks: Sequence[tuple[int, int]]) -> Iterator[Span]:
        """Yield a sentence, divided at the invariants that are missing on the other side."""
        start, end, bead = piece
        missing = bead in self._without_partner
        for mark_start, mark_end in marks:
            left, right = max(start, mark_start), min(end, mark_end)
            if left < right:
                if start < left:
                    yield Span(text[start:left], bead, missing, alone=False)
                yield Span(text[left:right], bead, missing, alone=True)
                start = right
        if start < end:
            yield Span(text[start:end], bead, missing, alone=False)


def _alone(text: str, facing: Counter[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of invariants that occur less often on the other side, or not at all."""
    left = facing.copy()
    for found in invariants(text):
        if left[found.key] > 0:
            left[found.key] -= 1
        else:
            yield found.start, found.end


def _pieces(text: str, places: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the text in pieces: start, end, number of the bead or 0; of overlapping beads the first one counts."""
    done = 0
    for first, last, bead in places:
        start, end = max(first, done), min(last, len(text))
        if start >= end:
            continue
        if done < start:
            yield done, start, 0
        yield start, end, bead
        done = end
    if done < len(text):
        yield done, len(text), 0
