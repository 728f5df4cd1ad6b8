"""Short pages without links: each has the first blocks of its own, and some have no partner.

::

    python -m experiments.short_pages SITES...

Of each page, the first `BLOCKS` blocks are left that are on few other pages of its language. All pages have the tags of
the first one, and no links, so that pages are found by words alone. A cell is ``F1 (P / expected P)`` of the list that
the default settings report: means of five draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace
from scipy.sparse import csr_array

from experiments.cases import Case, case_words, match_case, mean_outcome, outcome_of
from experiments.robustness import DRAWS, one_template
from experiments.tables import Column, own_cut, run
from experiments.untranslated import with_share_of_pairs
from twinlink.match.evidence import Side
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["BLOCKS", "measure", "with_short_pages"]

BLOCKS = 3
"""Number of blocks that are left of a page: mostly a heading and two paragraphs."""
FRAME_SHARE = 0.04
"""A block on more than this share of the pages is part of the frame."""
SHARES = {"all pairs left": 1.0, "nine of ten pairs left": 0.9, "two of three pairs left": 2 / 3}


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the table's column of one site."""
    short, rows = with_short_pages(case), {}
    for label, share in SHARES.items():
        drawn = [with_share_of_pairs(short, share, seed) for seed in range(DRAWS if share < 1 else 1)]
        outcomes = [outcome_of(each, match_case(each, case_words(each, lexicons))) for each in drawn]
        rows[label] = own_cut(mean_outcome(outcomes))
    return {"short pages without links": rows}


def with_short_pages(case: Case) -> Case:
    """Leave the first blocks of each page that are not part of the frame."""
    same = one_template(case)
    return replace(same, side_a=_short(same.side_a), side_b=_short(same.side_b))


def _short(side: Side) -> Side:
    on = Counter(block for page in side.blocks for block in set(page))
    most = max(1, FRAME_SHARE * len(side.blocks))
    blocks = [[block for block in page if on[block] <= most][:BLOCKS] for page in side.blocks]
    no_links = csr_array((len(blocks), len(blocks)), dtype=side.graph.dtype)
    return replace(side, blocks=blocks, graph=no_links, lists=None, contents=None)


if __name__ == "__main__":
    run(__doc__ or "", measure)
