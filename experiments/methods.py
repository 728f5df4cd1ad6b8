"""Comparison of the structural methods: pairs that each verifies and finds, and the baseline of addresses.

::

    python -m experiments.methods SITES... [--lexicons FOLDER]

**Verification**, two tables per site: the right pairs of the site, and for every four of them one wrong pair of each
kind (`experiments.injected`). The first table has the properties of the pairs; the second has, for each method,
precision, recall, F1, the share of each wrong kind that it accepts, processor seconds, and notes (for filters, the
number of pairs that each of them rejected). The same for all sites together: ``F1 (P / R)``.

**Finding**: ``F1 (P / R), processor seconds`` of the list that each method reports. Linearising pages and counting
words have separate rows and are not included in the seconds of the methods. Methods that use URLs find nothing on sites
with opaque addresses.

**Addresses**, on sites with original addresses and links: results of the URL rule and of fingerprints, ``gold pairs
among the candidates / candidates; F1 (P / R)``. All candidates count as found, including several of one page, until
fingerprints choose the best one. Partly translated pages are candidates, but neither right nor wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from time import process_time

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace
from msgspec.structs import replace as with_settings

from experiments.cases import Case, case_words, f1_of, match_case
from experiments.injected import pairs_to_verify
from experiments.linear import read_pages
from experiments.tables import Column, number, print_tables, run
from experiments.verification import cells_of_kinds, cells_of_method, scores_of, verify
from twinlink.baselines.methods import in_characters, judge_bitextor2010
from twinlink.baselines.url_rule import url_pairs
from twinlink.config import MatchSettings
from twinlink.evaluation.gold import evaluate
from twinlink.match.selection import SideMatch, match_sides
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.sparse import entries

__all__ = ["addresses", "finding", "main", "verification", "with_shapes"]

BITEXTOR = MatchSettings(method="bitextor2010")
STRUCTURAL = {
    "bitextor2010": BITEXTOR,
    "bitextor2010 without URLs": with_settings(BITEXTOR, bitextor=with_settings(BITEXTOR.bitextor, use_urls=False)),
    "webmining": MatchSettings(method="webmining"),
    "jangeldin": MatchSettings(method="jangeldin"),
}
WORDED = {"liu2014": MatchSettings(method="liu2014"), "weighed": MatchSettings()}

Measures = tuple[float, float, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sites and print the tables."""
    run(__doc__ or "", measure, arguments)


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Print the tables of one site alone and return its column of the others."""
    start = process_time()
    shaped = with_shapes(case)
    seconds = process_time() - start
    tables = {"Verification, all sites: F1 (P / R)": verification(shaped)}
    tables["Finding: F1 (P / R), seconds"] = {"linearising": f"{seconds:.1f} s", **finding(shaped, lexicons)}
    if not json.loads((case.folder / "meta.json").read_text(encoding="utf-8")).get("opaque"):
        tables["Addresses: gold / candidates; F1 (P / R)"] = addresses(shaped)
    return tables


def with_shapes(case: Case) -> Case:
    """Return a case whose pages are linearised."""
    sides = (replace(side, shapes=read_pages(case.folder / "site", side.urls)) for side in (case.side_a, case.side_b))
    side_a, side_b = sides
    return replace(case, side_a=side_a, side_b=side_b)


def verification(case: Case) -> dict[str, str]:
    """Print the two tables of one site and return each method's ``F1 (P / R)``."""
    pairs = pairs_to_verify(case)
    judged = verify(pairs)
    _print_rows(f"{case.name}: pairs to verify", cells_of_kinds(pairs))
    _print_rows(f"{case.name}: verification", {name: cells_of_method(each, pairs) for name, each in judged.items()})
    return {name: _cell(scores_of(each.parallel, pairs)) for name, each in judged.items()}


def _print_rows(title: str, rows: Mapping[str, Mapping[str, str]]) -> None:
    heads = dict.fromkeys(head for cells in rows.values() for head in cells)
    print_tables({head: {title: {label: cells[head] for label, cells in rows.items()}} for head in heads})


def finding(case: Case, lexicons: Sequence[Lexicon]) -> dict[str, str]:
    """Return the scores of each method: ``F1 (P / R), seconds``."""
    sides = case.side_a, case.side_b, case.between
    cells = {name: _timed(case, partial(match_sides, *sides, (), each)) for name, each in STRUCTURAL.items()}
    start = process_time()
    words = case_words(case, lexicons)
    cells["counting words"] = f"{process_time() - start:.1f} s"
    return cells | {name: _timed(case, partial(match_case, case, words, each)) for name, each in WORDED.items()}


def _timed(case: Case, match: partial[SideMatch]) -> str:
    start = process_time()
    found = match()
    seconds = process_time() - start
    return f"{_cell(f1_of(found.pairs(), case))}, {seconds:.1f} s"


def addresses(case: Case) -> dict[str, str]:
    """Return the pairs found by the URL rule, hreflang and fingerprints, and how addresses differ."""
    by_rule = url_pairs(case.side_a.urls, case.side_b.urls)
    candidates = sp.csr_array(by_rule.pattern)
    shapes = in_characters(case.side_a), in_characters(case.side_b)
    verdicts = judge_bitextor2010(*shapes, candidates, BITEXTOR)
    last = verdicts.filters.index("best")
    near = (verdicts.failed < 0) | (verdicts.failed == last)
    return {
        "URL rule": _among(case, candidates),
        "kinds of difference": ", ".join(f"{kind} {n}" for kind, n in by_rule.counts().items() if n),
        "URL rule, fingerprints": _among(case, candidates, near),
        "URL rule, fingerprints, best of page": _among(case, candidates, verdicts.failed < 0),
        "hreflang": _among(case, case.between.hreflang),
    }


def _among(case: Case, candidates: sp.csr_array, chosen: npt.NDArray[np.bool_] | None = None) -> str:
    """Return the number of right candidates as text; a dash if there are none."""
    rows, columns = (pages if chosen is None else pages[chosen] for pages in entries(candidates))
    pairs = [(case.side_a.urls[row], case.side_b.urls[column]) for row, column in zip(rows, columns, strict=True)]
    if not pairs:
        return "–"
    result = evaluate(pairs, case.gold)
    measures = result.precision, result.recall, result.f1
    return f"{result.n_right} / {len(pairs)}; {_cell(measures)}"


def _cell(measures: Measures) -> str:
    precision, recall, f1 = map(number, measures)
    return f"{f1} ({precision} / {recall})"


if __name__ == "__main__":
    main()
