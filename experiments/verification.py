"""Parallel pairs among given ones, by each structural method of `verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import process_time

import msgspec
import numpy as np
import numpy.typing as npt

from experiments.injected import KINDS, RIGHT, PairSet
from experiments.tables import number
from twinlink.baselines.alignment import StructureAlignments, align
from twinlink.baselines.filters import SideShapes
from twinlink.baselines.methods import judge_bitextor2010, judge_webmining
from twinlink.baselines.models.judge import ModelName, judge
from twinlink.baselines.tag_distance import text_in_words, without_heading
from twinlink.config import MatchSettings
from twinlink.pages.linearise import PageShape
from twinlink.similarity.filter_verdicts import FilterVerdicts

__all__ = ["JUDGES", "Judged", "cells_of_kinds", "cells_of_method", "scores_of", "verify"]

Marks = npt.NDArray[np.bool_]
Opinion = tuple[Marks, str]
"""Which pairs are parallel, and a note on how they were found."""
Judge = Callable[[PairSet], Opinion]

WARM_UP = 4
"""Pairs classified before time is measured, so that compilation does not count."""


class Judged(msgspec.Struct, frozen=True, eq=False):
    """Results of one method on a set of pairs."""

    parallel: Marks
    notes: str
    seconds: float
    """Processor time, without reading and linearising the pages."""


def verify(pairs: PairSet) -> dict[str, Judged]:
    """Return the results of each method."""
    return {name: _timed(method, pairs) for name, method in JUDGES.items()}


def _timed(method: Judge, pairs: PairSet) -> Judged:
    method(pairs.first(WARM_UP))
    start = process_time()
    parallel, notes = method(pairs)
    return Judged(parallel, notes, process_time() - start)


def _by_model(model: ModelName, pairs: PairSet) -> Opinion:
    verdicts = judge(_aligned(pairs, chunks=model == "strand"), model)
    facts = [f"{name} {value:.4g}" for name, value in verdicts.found.items()]
    return verdicts.parallel, ", ".join([*facts, *verdicts.notes])


def _by_webmining(pairs: PairSet) -> Opinion:
    a, b = (_shapes(side, lang, _in_words) for side, lang in pairs.sides())
    verdicts = judge_webmining(a, b, pairs.pattern(), MatchSettings())
    return verdicts.failed < 0, _rejected(verdicts)


def _by_bitextor(pairs: PairSet, *, best: bool) -> Opinion:
    """Apply Bitextor's filters; the last one, which keeps the ``best`` pair of a page, is optional."""
    a, b = (_shapes(side, lang, _in_characters) for side, lang in pairs.sides())
    verdicts = judge_bitextor2010(a, b, pairs.pattern(), MatchSettings())
    passed = verdicts.failed < 0
    return passed if best else passed | (verdicts.failed == verdicts.filters.index("best")), _rejected(verdicts)


JUDGES: Mapping[str, Judge] = {
    "STRAND": partial(_by_model, "strand"),
    "HC1": partial(_by_model, "hc1"),
    "HC2": partial(_by_model, "hc2"),
    "mixture": partial(_by_model, "mixture"),
    "Algorithm 1": partial(_by_model, "jangeldin"),
    "WebMining filters": _by_webmining,
    "Bitextor filters": partial(_by_bitextor, best=False),
    "Bitextor, best of page": partial(_by_bitextor, best=True),
}


def _aligned(pairs: PairSet, *, chunks: bool) -> StructureAlignments:
    tokens_a, tokens_b = ([page.tokens for page in side] for side in (pairs.pages_a, pairs.pages_b))
    return align(tokens_a, tokens_b, pairs.rows, pairs.columns, chunks=chunks)


def _in_words(page: PageShape) -> npt.NDArray[np.int32]:
    return text_in_words(page.tokens, page.words)


def _in_characters(page: PageShape) -> npt.NDArray[np.int32]:
    return without_heading(page.tokens)


def _shapes(pages: Sequence[PageShape], lang: str, tokens: Callable[[PageShape], npt.NDArray[np.int32]]) -> SideShapes:
    sizes = np.array([page.n_bytes for page in pages], np.int64)
    return SideShapes([tokens(page) for page in pages], sizes, [lang] * len(pages))


def _rejected(verdicts: FilterVerdicts) -> str:
    counts = verdicts.counts()
    return ", ".join(f"{name} {counts[name]}" for name in verdicts.filters if counts[name])


def scores_of(parallel: Marks, pairs: PairSet) -> tuple[float, float, float]:
    """Return precision, recall and F1; 0 if no pair is right."""
    right = pairs.kinds == RIGHT
    n_found = np.count_nonzero(parallel & right)
    if not n_found:
        return 0.0, 0.0, 0.0
    precision, recall = n_found / np.count_nonzero(parallel), n_found / np.count_nonzero(right)
    return precision, recall, 2 * precision * recall / (precision + recall)


def cells_of_method(judged: Judged, pairs: PairSet) -> dict[str, str]:
    """Return the cells of one method by column."""
    measures = dict(zip(("P", "R", "F1"), map(number, scores_of(judged.parallel, pairs)), strict=True))
    through = {kind: number(_share(judged.parallel[pairs.kinds == k])) for k, kind in enumerate(KINDS)}
    return {**measures, **through, "seconds": f"{judged.seconds:.2f}", "notes": judged.notes}


def cells_of_kinds(pairs: PairSet) -> dict[str, dict[str, str]]:
    """Return the number of pairs of each kind, right ones first, and the similarity of their pages."""
    alignment = _aligned(pairs, chunks=True)
    return {kind: _cells_of_kind(alignment, pairs.kinds == k) for k, kind in enumerate(("right", *KINDS), RIGHT)}


def _cells_of_kind(alignment: StructureAlignments, chosen: Marks) -> dict[str, str]:
    cost, length, r = (
        values[chosen] for values in (alignment.cost_share, alignment.length_difference, alignment.correlation)
    )
    return {
        "pairs": str(np.count_nonzero(chosen)),
        "P_d = 0": number(_share(cost == 0)),
        "P_d < 0.2": number(_share(cost < 0.2)),
        "median P_d": number(_median(cost)),
        "median L_d": number(_median(length)),
        "median r": number(_median(r)),
    }


def _share(marks: Marks) -> float:
    return float(marks.mean()) if len(marks) else float("nan")


def _median(values: npt.NDArray[np.float64]) -> float:
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else float("nan")
