"""Which pairs are handed out: a method for every two languages, and agreement among three or more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.config import MatchSettings
from twinlink.pipeline.addresses import match_urls
from twinlink.pipeline.evidence import Between, Found, Side, Words, read_words
from twinlink.pipeline.labelled import heeded
from twinlink.pipeline.liu2014 import match_liu2014
from twinlink.pipeline.structural import STRUCTURAL
from twinlink.pipeline.weighed import match_weighed
from twinlink.similarity.candidates import within_memory
from twinlink.similarity.decision import hand_out
from twinlink.similarity.lexicon import Lexicon

__all__ = ["SideMatch", "match_sides", "reconcile"]

METHODS: Mapping[str, Callable[[Side, Side, Words, Between, MatchSettings], Found]] = {
    "weighed": match_weighed,
    "liu2014": match_liu2014,
    "urls": match_urls,
}
"""Methods that read the pages' words."""

MAX_SUPPORT = 50.0
"""Most that a third language can change the odds of a pair: its two pairs may be wrong for one common reason."""

Partners = Mapping[int, tuple[int, float]]
"""page_id → page_id of its partner, and the probability of the pair."""


@dataclass(frozen=True)
class SideMatch:
    """Two sides, what was found between them, and which pairs are handed out."""

    side_a: Side
    side_b: Side
    found: Found
    keep: npt.NDArray[np.bool_]
    """One a pair of the matching."""
    accepted: npt.NDArray[np.bool_] | None = None
    """Whether somebody has accepted it, one a pair of the matching; None: nobody has any."""
    limits: Sequence[str] = ()
    """The setting that leaves a pair out, ``match.min_score`` or ``match.max_pairs``; empty for none. One for each pair
    of the matching."""
    labels: sp.csr_array | None = None
    """See `Between.labels`."""

    def pairs(self, which: npt.NDArray[np.bool_] | None = None) -> list[tuple[str, str]]:
        """Return the addresses of some pairs of the matching; by default of those that are handed out."""
        matching, chosen = self.found.matching, self.keep if which is None else which
        rows_and_columns = zip(matching.rows[chosen], matching.columns[chosen], strict=True)
        return [(self.side_a.urls[row], self.side_b.urls[column]) for row, column in rows_and_columns]


def match_sides(
    side_a: Side, side_b: Side, between: Between, lexicons: Sequence[Lexicon], settings: MatchSettings
) -> SideMatch:
    """Match two sides of a site by the method of the settings, and choose what is handed out."""
    if settings.method in STRUCTURAL:
        found = STRUCTURAL[settings.method](side_a, side_b, between, settings)
    else:
        candidates = within_memory(settings.candidates, len(side_a.urls) + len(side_b.urls))
        settings = msgspec.structs.replace(settings, candidates=candidates)
        words = read_words(side_a, side_b, lexicons, settings)
        found = METHODS[settings.method](side_a, side_b, words, between, settings)
    found, accepted = heeded(found, between.labels)
    return _chosen(SideMatch(side_a, side_b, found, accepted, accepted, labels=between.labels), settings)


def reconcile(matches: Sequence[SideMatch], settings: MatchSettings) -> list[SideMatch]:
    """Let pairs a-b and b-c speak for or against a-c, in every three languages of a site.

    Pages a and c that are both paired with pages of a third language, with probabilities p and q, must be paired with
    one and the same page b if all three are versions of one text. With s = p·q the odds of a-c are multiplied by
    s/(1-s) if they are, and divided by it if they are not, each at most by `MAX_SUPPORT`. Nothing changes on a site of
    two languages, and where the method tells no probabilities.
    """
    if any(each.found.is_decided for each in matches):
        return list(matches)
    partners = {(each.side_a.lang, each.side_b.lang): _partners(each) for each in matches}
    partners |= {(b, a): _turned(pairs) for (a, b), pairs in partners.items()}
    langs = sorted({lang for pair in partners for lang in pair})
    return [_supported(each, partners, langs, settings) for each in matches]


def _chosen(match: SideMatch, settings: MatchSettings) -> SideMatch:
    """Return a match with the pairs that are handed out, and what leaves out the others."""
    found = match.found
    keep = np.ones(len(found.probabilities), np.bool_)
    if not found.is_decided:
        keep = hand_out(found.probabilities, settings.min_probability, settings.min_precision)
    low = over = np.zeros(len(keep), np.bool_)
    if settings.min_score is not None:
        keep = found.matching.scores >= settings.min_score
        low = ~keep
    if settings.max_pairs is not None:
        over = keep & (np.arange(len(keep)) >= settings.max_pairs)
        keep = keep & ~over
    limits = np.where(low, "match.min_score", np.where(over, "match.max_pairs", ""))
    return replace(match, keep=keep if match.accepted is None else keep | match.accepted, limits=limits.tolist())


def _partners(match: SideMatch) -> Partners:
    matching, found = match.found.matching, match.found
    pages_a, pages_b = match.side_a.page_ids[matching.rows], match.side_b.page_ids[matching.columns]
    pairs = zip(pages_a.tolist(), pages_b.tolist(), found.probabilities.tolist(), strict=True)
    return {a: (b, probability) for a, b, probability in pairs}


def _turned(partners: Partners) -> Partners:
    return {b: (a, probability) for a, (b, probability) in partners.items()}


def _supported(
    match: SideMatch, partners: Mapping[tuple[str, str], Partners], langs: Sequence[str], settings: MatchSettings
) -> SideMatch:
    """Return a match with its probabilities changed by the third languages."""
    lang_a, lang_b = match.side_a.lang, match.side_b.lang
    pairs = list(_partners(match).items())
    factors = np.ones(len(pairs))
    for third in langs:
        of_a, of_b = partners.get((lang_a, third)), partners.get((lang_b, third))
        if third not in (lang_a, lang_b) and of_a is not None and of_b is not None:
            factors *= [_factor(of_a.get(a), of_b.get(b)) for a, (b, _) in pairs]
    if (factors == 1).all():
        return match
    old = np.clip(match.found.probabilities.astype(np.float64), 1e-6, 1 - 1e-6)
    odds = old / (1 - old) * factors
    found = replace(match.found, probabilities=odds / (1 + odds))
    return _chosen(replace(match, found=found), settings)


def _factor(of_a: tuple[int, float] | None, of_b: tuple[int, float] | None) -> float:
    """Return by how much the odds of a pair change; 1 where the third language knows only one of its pages."""
    if of_a is None or of_b is None:
        return 1.0
    sure = min(of_a[1] * of_b[1], 1 - 1e-6)
    # Two doubtful pairs say nothing, least of all the opposite; NaN is an accepted pair of unknown probability.
    if not sure > 0.5:
        return 1.0
    ratio = min(sure / (1 - sure), MAX_SUPPORT)
    return ratio if of_a[0] == of_b[0] else 1 / ratio
