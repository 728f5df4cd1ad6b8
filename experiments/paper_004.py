"""The results of Esplà-Gomis & Forcada (Bitextor) on our sites: Figure 1, precision and recall, and TagAligner.

::

    python -m experiments.paper_004 SITES... [--pages 60]

**Figure 1**: a page and its fingerprint. **Results** (section 6): pages, pairs found, precision and recall of method
``bitextor2010`` with N = 10 differences as in the paper, and with N relative to the length of the pages; with the URL
rule and without it. The paper judged a sample of 100 pairs and looked for 300 pages; on our sites all pairs are known.
**TagAligner**: precision and recall of the aligned text blocks, on page pairs whose elements have ids
(`experiments.tag_aligner`); sites without ids are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from experiments.cases import Case, f1_of, find_cases, open_case
from experiments.methods import with_shapes
from experiments.tables import number, print_grid
from experiments.tag_aligner import block_score, read_pairs
from twinlink.baselines.tag_distance import without_heading
from twinlink.config import MatchSettings
from twinlink.config.align import TagAlignerSettings
from twinlink.config.baselines import BitextorSettings
from twinlink.match.selection import match_sides
from twinlink.pages.linearise import linearise
from twinlink.pages.tags import TAG_CODES

__all__ = ["EXAMPLE", "PAPER", "VARIANTS", "fingerprint", "main", "measure"]

EXAMPLE = (
    b"<html><head><title>A page</title></head><body><h1>A page</h1><p>Its <b>first</b> text.</p><hr></body></html>"
)
PAPER = (
    ("www.parl.gc.ca", "56,173", "24,717", ".990", ".853"),
    ("www.dlsi.ua.es", "–", "–", ".860", ".610"),
)
"""Section 6: site, pages, pairs, precision, recall."""
VARIANTS = {
    "N = 10, as in the paper": BitextorSettings(),
    "N = 10, without URLs": BitextorSettings(use_urls=False),
    "N = 10 or 5 %": BitextorSettings(max_difference_share=0.05),
    "N = 10 or 5 %, without URLs": BitextorSettings(max_difference_share=0.05, use_urls=False),
}


class Result(NamedTuple):
    """Pairs of one variant."""

    n_pairs: int
    precision: float
    recall: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--pages", type=int, default=60, help="page pairs of each site for TagAligner (default: 60)")
    given = parser.parse_args(arguments)
    print_grid("Figure 1", [["page", "fingerprint"], [f"`{EXAMPLE.decode()}`", f"`{fingerprint(EXAMPLE)}`"]])
    rows: list[list[str]] = []
    blocks: list[list[str]] = []
    for folder in find_cases(given.sites):
        with open_case(folder) as case:
            rows += _rows(case, measure(with_shapes(case)))
        blocks += tag_aligner(folder, given.pages)
    print_grid("Results", [["site", "variant", "pages", "pairs", "precision", "recall"], *rows])
    paper = [[name, "the paper, N = 10", *cells] for name, *cells in PAPER]
    print_grid("Results of the paper", [["site", "variant", "pages", "pairs", "precision", "recall"], *paper])
    if blocks:
        print_grid("TagAligner", [["site", "page pairs", "known blocks", "precision", "recall"], *blocks])


def fingerprint(body: bytes) -> str:
    """Return the fingerprint of a page as text: tags, and lengths of texts in characters.

    >>> fingerprint(b"<p>Hello</p>")
    '<html> <body> <p> 5 </p> </body> </html>'
    """
    names = {code: tag for tag, code in TAG_CODES.items()}
    return " ".join(_token(token, names) for token in without_heading(linearise(body).tokens).tolist())


def _token(token: int, names: dict[int, str]) -> str:
    if token > 0:
        return str(token)
    code, is_end = divmod(-token - 1, 2)
    return f"<{'/' if is_end else ''}{names[code]}>"


def measure(case: Case) -> dict[str, Result]:
    """Match a site whose pages are linearised by each variant."""
    found = {}
    for name, bitextor in VARIANTS.items():
        settings = replace(MatchSettings(method="bitextor2010"), bitextor=bitextor)
        pairs = match_sides(case.side_a, case.side_b, case.between, (), settings).pairs()
        found[name] = Result(len(pairs), *f1_of(pairs, case)[:2])
    return found


def _rows(case: Case, results: dict[str, Result]) -> list[list[str]]:
    n_pages = len(case.side_a.urls) + len(case.side_b.urls)
    return [
        [case.name, name, str(n_pages), str(each.n_pairs), number(each.precision), number(each.recall)]
        for name, each in results.items()
    ]


def tag_aligner(folder: Path, n_pages: int) -> list[list[str]]:
    """Return the row of a site whose elements have ids, or none."""
    pairs = [pair for pair in read_pairs(folder, n_pages) if pair.gold]
    if not pairs:
        return []
    precision, recall = block_score(pairs, TagAlignerSettings())
    n_blocks = sum(len(pair.gold) for pair in pairs)
    return [[folder.name, str(len(pairs)), str(n_blocks), number(precision), number(recall)]]


if __name__ == "__main__":
    main()
