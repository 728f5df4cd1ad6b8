"""Degraded sites: parts of a side removed, 20 pairs alone, one template for all pages, noise in other languages.

::

    python -m experiments.robustness SITES... [--lexicons FOLDER] [--noise SITE] [--draws 5]

A cell is ``F1 (P / expected P)`` of the default settings. Where pages are removed at random, it is the mean of several
draws: a single one may be .15 higher or lower where pages are alike. With ``--noise``, the pages of side B of another
site are added, up to the number of pages of the site, so that half of the pages are noise. They should be in a language
that the site does not have.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from experiments.cases import Case, case_words, match_case, mean_outcome, open_case, outcome_of
from experiments.site_files import page_file, read_rows
from experiments.tables import Column, columns_of, own_cut, print_tables, site_parser
from twinlink.graph.document_order import sublists
from twinlink.match.evidence import Between, Side
from twinlink.similarity.lexicon_files import Lexicon

__all__ = [
    "NOISE",
    "copy_pages",
    "few_pairs",
    "half_of_a",
    "half_of_b",
    "half_of_either",
    "main",
    "measure",
    "one_template",
    "part_of_b",
    "some_pages",
    "versions",
    "with_noise",
    "with_pages",
]

SEED = 1
DRAWS = 5
FEW = 20
DROPPED = 10
"""One of this many pairs loses a page."""
NOISE = "noise"
"""Folder of the pages that are mixed in."""
_FROM_ROOT = re.compile(rb"""((?:href|src)=["'])/(?!/)""", re.IGNORECASE)
_FIXED = frozenset(("as it is", "all pages with one template"))
"""Versions without a draw."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = site_parser(__doc__)
    parser.add_argument("--noise", type=Path, help="site folder whose side B is mixed in")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of the pages that are removed at random")
    given = parser.parse_args(arguments)
    if given.draws < 1:
        parser.error(f"--draws {given.draws}: expected 1 or more")

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        column = measure(case, lexicons, given.draws)
        if given.noise:
            with tempfile.TemporaryDirectory() as temporary:
                folder, share = with_noise(case.folder, given.noise, Path(temporary))
                with open_case(folder) as noisy:
                    column["made worse"]["noise pages mixed in"] = f"{_cell([noisy], lexicons)} at {share:.0%}"
        return column

    print_tables(columns_of(given.sites, given.lexicons, of_site))


def measure(case: Case, lexicons: Sequence[Lexicon], draws: int = 1) -> Column:
    """Return the table's column of one site: means of several draws where pages are removed at random."""
    drawn = [versions(case, seed) for seed in range(SEED, SEED + draws)]
    cases = {label: [each[label] for each in (drawn[:1] if label in _FIXED else drawn)] for label in drawn[0]}
    return {"made worse": {label: _cell(each, lexicons) for label, each in cases.items()}}


def versions(case: Case, seed: int = SEED) -> dict[str, Case]:
    """Return a site as it is and made worse."""
    half = half_of_b(case, seed)
    return {
        "as it is": case,
        "half of side B removed": half,
        "all pages with one template": one_template(case),
        "both": one_template(half),
        "half of side A removed": half_of_a(case, seed),
        "a third of side B left": part_of_b(case, 1 / 3, seed),
        "20 pairs alone": few_pairs(case, seed),
    }


def _cell(cases: Sequence[Case], lexicons: Sequence[Lexicon]) -> str:
    outcomes = [outcome_of(case, match_case(case, case_words(case, lexicons))) for case in cases]
    return own_cut(mean_outcome(outcomes))


def with_noise(folder: Path, other: Path, out: Path, side: str = "B") -> tuple[Path, float]:
    """Copy a site folder and mix in pages of a side of another site; return the copy and the share of noise."""
    copy = Path(shutil.copytree(folder, out / folder.name))
    addresses = [address for address, of_side, *_ in read_rows(other / "pages.tsv") if of_side == side]
    n_pages = len(read_rows(folder / "pages.tsv"))
    n_there = copy_pages(other, addresses[:n_pages], copy)
    return copy, n_there / (n_there + n_pages)


def copy_pages(other: Path, addresses: Sequence[str], copy: Path) -> int:
    """Copy pages of another site to ``/noise`` with their links among each other; return how many there are."""
    there = [address for address in addresses if page_file(other, address).is_file()]
    for address in there:
        target = page_file(copy, f"/{NOISE}{address}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_FROM_ROOT.sub(rb"\1/%s/" % NOISE.encode(), page_file(other, address).read_bytes()))
    return len(there)


def half_of_b(case: Case, seed: int = SEED) -> Case:
    """Remove a random half of side B, with its links and its gold pairs."""
    return part_of_b(case, 1 / 2, seed)


def part_of_b(case: Case, share: float, seed: int = SEED) -> Case:
    """Keep a random share of side B, with its links and its gold pairs."""
    return with_pages(case, np.arange(len(case.side_a.urls)), _drawn(len(case.side_b.urls), share, seed))


def half_of_a(case: Case, seed: int = SEED) -> Case:
    """Remove a random half of side A, with its links and its gold pairs."""
    return with_pages(case, _drawn(len(case.side_a.urls), 1 / 2, seed), np.arange(len(case.side_b.urls)))


def half_of_either(case: Case, seed: int = SEED) -> Case:
    """Remove a random half of each side: a quarter of the pairs is left, and half of the pages have no partner."""
    return half_of_a(half_of_b(case, seed), seed + DRAWS)


def few_pairs(case: Case, seed: int = SEED) -> Case:
    """Keep the pages of `FEW` random gold pairs; every `DROPPED`-th pair loses a page, on alternating sides."""
    sides = case.side_a, case.side_b
    rows, columns = ({case.gold.key(url): row for row, url in enumerate(side.urls)} for side in sides)
    known = [(rows[a], columns[b]) for a, b in case.gold.pairs if a in rows and b in columns]
    chosen = [known[k] for k in np.random.default_rng(seed).permutation(len(known))[:FEW]]
    kept_a, kept_b = (
        np.sort([pair[side] for k, pair in enumerate(chosen) if k % (2 * DROPPED) != side * DROPPED]) for side in (0, 1)
    )
    return with_pages(case, kept_a, kept_b)


def _drawn(n: int, share: float, seed: int) -> npt.NDArray[np.intp]:
    return np.sort(np.random.default_rng(seed).permutation(n)[: int(n * share)])


def with_pages(case: Case, rows_a: npt.NDArray[np.intp], rows_b: npt.NDArray[np.intp]) -> Case:
    """Keep some pages of each side, the links among them, and their gold pairs."""
    side_a, side_b = some_pages(case.side_a, rows_a), some_pages(case.side_b, rows_b)
    there = {case.gold.key(url) for side in (side_a, side_b) for url in side.urls}
    lost = {case.gold.key(url) for side in (case.side_a, case.side_b) for url in side.urls} - there
    left = tuple(pair for pair in case.gold.pairs if not lost & set(pair))
    between = Between(*(each[rows_a][:, rows_b] for each in (case.between.direct, case.between.hreflang)))
    return replace(case, side_a=side_a, side_b=side_b, between=between, gold=replace(case.gold, pairs=left))


def some_pages(side: Side, rows: npt.NDArray[np.integer]) -> Side:
    """Return some pages of a side, in this order."""
    return replace(
        side,
        page_ids=side.page_ids[rows],
        urls=[side.urls[row] for row in rows],
        blocks=[side.blocks[row] for row in rows],
        tags=[side.tags[row] for row in rows],
        names=[side.names[row] for row in rows] if side.names else (),
        graph=side.graph[rows][:, rows],
        lists=sublists(side.lists, rows) if side.lists else None,
        contents=None if side.contents is None else side.contents[rows],
    )


def one_template(case: Case) -> Case:
    """Give all pages the tags of the first one, so that structure is uninformative."""
    tags = case.side_a.tags[0]
    side_a, side_b = (replace(side, tags=[tags] * len(side.tags)) for side in (case.side_a, case.side_b))
    return replace(case, side_a=side_a, side_b=side_b)


if __name__ == "__main__":
    main()
