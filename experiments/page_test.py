"""The page test by sentences: its effect on the matcher, and as content filter of WebMining.

::

    python -m experiments.page_test SITES... [--lexicons FOLDER] [--near 2]

For each site, ``F1 (P / R), processor seconds`` of the reported list: by method ``weighed``; the same without the pairs
that fail the page test; weighed once more, without and with the test as an additional kind of evidence, for the
candidates that are among the best few of either page (seconds of the test included in both); by ``webmining`` with
structure only, and with the content filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import process_time

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from experiments.cases import Case, case_words, f1_of, match_case
from experiments.methods import with_shapes
from experiments.tables import Column, columns_of, print_tables, site_parser
from twinlink.baselines.page_test import PageTest
from twinlink.config import CandidateSettings, MatchSettings
from twinlink.config.align import SegmentFilterSettings
from twinlink.config.baselines import WebminingSettings
from twinlink.graph.matching import Matching
from twinlink.match.methods.weighed.round import match_by_odds
from twinlink.match.selection import SideMatch, match_sides
from twinlink.similarity.candidates import strongest
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import weigh
from twinlink.sparse import entries, members, positions

__all__ = ["main", "measure"]

LIKELY = 0.9
MIN_SUPPORT = SegmentFilterSettings().min_support


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sites and print the tables."""
    parser = site_parser(__doc__)
    parser.add_argument("--near", type=int, default=2, help="candidates of each page that are tested (default: 2)")
    given = parser.parse_args(arguments)
    near: int = given.near
    print_tables(columns_of(given.sites, given.lexicons, lambda case, lexicons: measure(case, lexicons, near)))


def measure(case: Case, lexicons: Sequence[Lexicon], near: int) -> Column:
    """Return the rows of one site."""
    start = process_time()
    match = match_case(case, case_words(case, lexicons))
    rows = {"weighed": _cell(case, match, start)}
    start = process_time()
    vetoed = replace(match, keep=match.keep & (_tested(case, match) >= MIN_SUPPORT))
    rows["weighed, pairs that fail taken out"] = _cell(case, vetoed, start)
    start = process_time()
    tested = _best_tested(case, match, near)
    rows["weighed once more"] = _cell(case, _weighed_again(match, {}), start)
    rows["weighed once more, test as evidence"] = _cell(case, _weighed_again(match, {"sentences": tested}), start)
    shaped = with_shapes(case)
    for name, content in (("webmining, structure", False), ("webmining, content", True)):
        start = process_time()
        settings = MatchSettings(method="webmining", webmining=WebminingSettings(content=content))
        found = match_sides(shaped.side_a, shaped.side_b, shaped.between, (), settings)
        rows[name] = _cell(case, found, start)
    return {"The page test: F1 (P / R), seconds": rows}


def _tested(case: Case, match: SideMatch) -> npt.NDArray[np.float64]:
    """Return the support of every reported pair of a matching, 0 for the others."""
    matching = match.found.matching
    kept = match.keep
    supports = np.zeros(len(kept))
    test = PageTest(case.side_a, case.side_b)
    supports[kept] = test.supports(matching.rows[kept], matching.columns[kept], _teachers(match))
    return supports


def _teachers(match: SideMatch) -> list[tuple[int, int]]:
    """Return the pairs that are probably right, the most probable first."""
    probabilities, matching = match.found.probabilities, match.found.matching
    order = np.argsort(-probabilities, kind="stable")
    order = order[probabilities[order] >= LIKELY]
    return list(zip(matching.rows[order].tolist(), matching.columns[order].tolist(), strict=True))


def _best_tested(case: Case, match: SideMatch, near: int) -> npt.NDArray[np.float64]:
    """Return the support of the best few candidates of each page, 0 for the others."""
    scores = match.found.scores
    best = members(scores, strongest(scores, CandidateSettings(per_page=near)))
    rows, columns = entries(scores)
    supports = np.zeros(scores.nnz)
    supports[best] = PageTest(case.side_a, case.side_b).supports(rows[best], columns[best], _teachers(match))
    return supports


def _weighed_again(match: SideMatch, more: Mapping[str, npt.NDArray[np.float64]]) -> SideMatch:
    """Weigh the evidence of the last round once more, together with new evidence, learning from probable pairs."""
    found, settings = match.found, MatchSettings()
    pairs = found.matching
    clear = np.zeros(found.scores.nnz, np.bool_)
    clear[positions(found.scores, pairs.rows, pairs.columns)[found.probabilities > LIKELY]] = True
    kinds = {name: values.astype(np.float64) for name, values in found.evidence.items()}
    rivalry = Rivalry(found.scores)
    result = weigh({**kinds, **more}, rivalry, clear, partial(match_by_odds, rivalry), settings.weighing)
    rows, columns = (pages[result.pairs] for pages in entries(found.scores))
    matching = Matching(rows, columns, found.scores.data[result.pairs])
    keep = keep_pairs(result.probabilities, settings.min_probability)
    return replace(match, found=replace(found, matching=matching, probabilities=result.probabilities), keep=keep)


def _cell(case: Case, match: SideMatch, start: float) -> str:
    seconds = process_time() - start
    precision, recall, f1 = f1_of(match.pairs(), case)
    return f"{f1:.3f} ({precision:.3f} / {recall:.3f}), {seconds:.1f} s"


if __name__ == "__main__":
    main()
