"""Selection of the pairs to keep, for all methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.match.evidence import Between, FoundPairs, Side, Words, read_words
from twinlink.match.labels import apply_labels
from twinlink.match.methods.registry import METHODS
from twinlink.similarity.candidates import within_memory
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.system.memory import memory_reused
from twinlink.system.steps import NO_STEPS, Steps

__all__ = ["SideMatch", "choose_pairs", "match_sides"]

MANY_PAGES = 20_000
"""Pages of both sides beyond which the memory of arrays is used again: on smaller sites none is returned anyway."""
WORDS_SHARE = 0.2
"""Share of the time of a match of two languages that their words take, for progress reports."""

WordsOf = Callable[[Side, Side, Sequence[Lexicon], MatchSettings], Words]
"""Reads the words of two sides, as `read_words` does."""


class SideMatch(msgspec.Struct, frozen=True):
    """Two sides, the result of the method, and the pairs kept."""

    side_a: Side
    side_b: Side
    found: FoundPairs
    keep: npt.NDArray[np.bool_]
    """One per pair of the matching."""
    accepted: npt.NDArray[np.bool_] | None = None
    """Whether a label accepts it, one per pair of the matching; None without accepted pairs."""
    limits: Sequence[str] = ()
    """The setting that leaves a pair out, ``match.min_score`` or ``match.max_pairs``; empty for none. One for each pair
    of the matching."""
    labels: sp.csr_array | None = None
    """See `Between.labels`."""

    def pairs(self, which: npt.NDArray[np.bool_] | None = None) -> list[tuple[str, str]]:
        """Return the addresses of some pairs of the matching; by default of those that are kept."""
        matching, chosen = self.found.matching, self.keep if which is None else which
        rows_and_columns = zip(matching.rows[chosen], matching.columns[chosen], strict=True)
        return [(self.side_a.urls[row], self.side_b.urls[column]) for row, column in rows_and_columns]


def match_sides(
    side_a: Side,
    side_b: Side,
    between: Between,
    lexicons: Sequence[Lexicon],
    settings: MatchSettings,
    steps: Steps = NO_STEPS,
    words_of: WordsOf = read_words,
) -> SideMatch:
    """Match two sides of a site by the method of the settings, and choose the pairs to keep.

    ``words_of`` reads the words of the two sides, where the method needs them.
    """
    is_large = len(side_a.urls) + len(side_b.urls) > MANY_PAGES
    with memory_reused() if is_large else nullcontext():
        found = _found(side_a, side_b, between, lexicons, settings, steps, words_of)
    found, accepted = apply_labels(found, between.labels)
    return choose_pairs(SideMatch(side_a, side_b, found, accepted, accepted, labels=between.labels), settings)


def _found(
    side_a: Side,
    side_b: Side,
    between: Between,
    lexicons: Sequence[Lexicon],
    settings: MatchSettings,
    steps: Steps,
    words_of: WordsOf,
) -> FoundPairs:
    """Return the result of the method of the settings."""
    langs = f"{side_a.lang}-{side_b.lang}"
    method = METHODS[settings.method]
    if method.reads_shapes:
        steps(0.0, f"{langs}: {settings.method}")
        rest = {"steps": steps} if method.reports_steps else {}
        of_shapes: FoundPairs = method.load()(side_a, side_b, between, settings, **rest)
        return of_shapes
    candidates = within_memory(settings.candidates, len(side_a.urls) + len(side_b.urls))
    settings = replace(settings, candidates=candidates)
    steps(0.0, f"{langs}: words")
    words = words_of(side_a, side_b, lexicons, settings)
    steps(WORDS_SHARE, f"{langs}: {settings.method}")
    rest = {"steps": steps.part(WORDS_SHARE, 1.0)} if method.reports_steps else {}
    found: FoundPairs = method.load()(side_a, side_b, words, between, settings, **rest)
    return found


def choose_pairs(match: SideMatch, settings: MatchSettings) -> SideMatch:
    """Return a match with the pairs that are kept, and the settings that exclude the others."""
    found = match.found
    keep = np.ones(len(found.probabilities), np.bool_)
    if not found.is_decided:
        keep = keep_pairs(found.probabilities, settings.min_probability, settings.min_precision, found.threshold)
    low = over = np.zeros(len(keep), np.bool_)
    if settings.min_score is not None:
        keep = found.matching.scores >= settings.min_score
        low = ~keep
    if settings.max_pairs is not None:
        over = keep & (np.arange(len(keep)) >= settings.max_pairs)
        keep = keep & ~over
    limits = np.where(low, "match.min_score", np.where(over, "match.max_pairs", ""))
    return replace(match, keep=keep if match.accepted is None else keep | match.accepted, limits=limits.tolist())
