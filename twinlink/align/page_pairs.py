"""The page pairs of a run as input of stage `align`: by languages, with text blocks and outlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.align.outlines import outline_of
from twinlink.align.tag_aligner import Outline
from twinlink.ingest.shapes import read_shapes
from twinlink.pages.linearise import PageShape
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.tables import PAGES, PAIRS, iter_parts, read_table
from twinlink.tables.parquet import columns_of, iter_batches

__all__ = ["LanguagePairs", "PairTexts", "language_pairs"]

PAIR_COLUMNS = ("url_a", "url_b", "lang_a", "lang_b", "probability", "score", "site", "page_a", "page_b")


class PairTexts(NamedTuple):
    """Two pages of a pair, as they go to a worker."""

    url_a: str
    url_b: str
    blocks_a: list[str]
    blocks_b: list[str]
    outlines: tuple[Outline, Outline] | None = None
    """Where the blocks stand among the tags, where that is wanted and known."""


class LanguagePairs(msgspec.Struct, frozen=True):
    """All page pairs of two languages of a run."""

    langs: tuple[str, str]
    sites: tuple[str, ...]
    n_pairs: int
    run: RunDirectory

    def part(self, site: str) -> Path:
        """Return the part of the table of pairs that has those of a site."""
        return site_file(self.run.stage_folder("match") / "pairs", site)

    def pairs(self, site: str, *, outlined: bool = False) -> list[PairTexts]:
        """Return the page pairs of a site, the most probable first, with their outlines if these are wanted."""
        table = read_table(self.part(site), PAIRS, PAIR_COLUMNS)
        lang_a, lang_b = self.langs
        table = table.filter(pc.and_(pc.equal(table["lang_a"], lang_a), pc.equal(table["lang_b"], lang_b)))
        table = table.sort_by(
            [("probability", "descending"), ("score", "descending"), ("url_a", "ascending"), ("url_b", "ascending")]
        )
        numbers = table["page_a"].to_pylist(), table["page_b"].to_pylist()
        blocks = self._blocks(site, {number for of_side in numbers for number in of_side})
        blocks_a, blocks_b = ([blocks[number] for number in of_side] for of_side in numbers)
        urls = table["url_a"].to_pylist(), table["url_b"].to_pylist()
        pairs = [PairTexts(*row) for row in zip(*urls, blocks_a, blocks_b, strict=True)]
        if not outlined:
            return pairs
        shapes = read_shapes(self.run, site_file(Path(), site).name)
        return [_outlined(pair, shapes[a], shapes[b]) for pair, a, b in zip(pairs, *numbers, strict=True)]

    def _blocks(self, site: str, pages: AbstractSet[int]) -> dict[int, list[str]]:
        """Return the blocks of some pages of a site; the others are not all in memory at once."""
        part = site_file(self.run.stage_folder("ingest") / "pages", site)
        wanted, blocks = pa.array(sorted(pages), pa.int64()), dict[int, list[str]]()
        for batch in iter_batches(part, columns_of(PAGES, ("page_id", "blocks"))):
            some = batch.filter(pc.is_in(batch["page_id"], wanted))
            blocks.update(zip(some["page_id"].to_pylist(), some["blocks"].to_pylist(), strict=True))
        return blocks


def _outlined(pair: PairTexts, shape_a: PageShape, shape_b: PageShape) -> PairTexts:
    a, b = outline_of(shape_a.tokens, pair.blocks_a), outline_of(shape_b.tokens, pair.blocks_b)
    return pair._replace(outlines=(a, b)) if a and b else pair


def language_pairs(run: RunDirectory) -> list[LanguagePairs]:
    """Return the page pairs of a matched run by their languages, in the order of these.

    Raises
    ------
    MissingStageError
        If the pages have not been matched.
    """
    sites: dict[tuple[str, str], dict[str, int]] = {}
    for part in iter_parts(run.stage_folder("match") / "pairs"):
        table = read_table(part, PAIRS, ("site", "lang_a", "lang_b"))
        for row, number in Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)).items():
            site, *langs = row
            sites.setdefault((langs[0], langs[1]), {})[site] = number
    return [
        LanguagePairs(langs, tuple(sorted(found)), sum(found.values()), run) for langs, found in sorted(sites.items())
    ]
