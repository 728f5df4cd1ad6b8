"""Families: the versions of one page in all languages of a site, as evidence for each other.

Pages a and c are versions of one text if both are paired with the same page of a third language. So every further
language, wanted or not, is evidence: it raises or lowers the probability of a pair, or finds a better one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.language.site_languages import TWO_LANGUAGES
from twinlink.languages import UNDETERMINED
from twinlink.match.evidence import FoundPairs, as_log_odds, as_scores
from twinlink.match.labels import excluded
from twinlink.match.selection import SideMatch, choose_pairs
from twinlink.match.sides import Group
from twinlink.odds import expit, logit
from twinlink.similarity.probabilities import shares_of_rivals
from twinlink.similarity.rivals import Rivalry
from twinlink.sparse import positions, select, with_values

__all__ = ["groups_beside", "reconcile"]

MAX_SUPPORT = 50.0
"""Limit of the factor by which a third language changes the odds of a pair: its two pairs may share one error."""
LEAST_PAGES = 0.5
"""Minimum size of a language that is not wanted, as a share of the smaller wanted side. Our choice, not tuned."""
IN_DOUBT = 0.01
"""Expected share of wrong pairs and of right pairs that are not kept; below it no other language is matched."""
_LEAST, _MOST = 1e-4, 1 - 1e-6  # probabilities that a third language can change

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]


class _Versions(NamedTuple):
    """For each page of one side, its version on another side, and the probability of the pair."""

    page: npt.NDArray[np.int64]
    """Row of the other side, of copies the one that stands for all; -1 for none."""
    probability: Floats


def groups_beside(
    langs: Sequence[str], groups: Sequence[Group], matches: Sequence[SideMatch], settings: MatchSettings
) -> list[tuple[Group, Group]]:
    """Return the further languages to match with the wanted ones, where the pairs of these are doubtful.

    Parameters
    ----------
    langs : sequence of str
        Language of every page of the site.
    groups : sequence of Group
        The wanted languages.
    matches : sequence of SideMatch
        Of the wanted languages.
    settings : MatchSettings
        ``other_langs`` is the largest number of further languages: those with most pages.
    """
    if not settings.other_langs or not any(_is_in_doubt(each.found) for each in matches):
        return []
    taken = {langs[row] for group in groups for row in group.rows} | {UNDETERMINED, TWO_LANGUAGES}
    least = LEAST_PAGES * min(len(group.rows) for group in groups)
    counts = Counter(lang for lang in langs if lang not in taken)
    others = [lang for lang, n in sorted(counts.items(), key=lambda each: (-each[1], each[0])) if n >= least]
    beside = [
        Group(lang, lang, np.flatnonzero([each == lang for each in langs])) for lang in others[: settings.other_langs]
    ]
    return [(group, other) for other in beside for group in groups]


def _is_in_doubt(found: FoundPairs) -> bool:
    probabilities = found.probabilities[np.isfinite(found.probabilities)]
    return not found.is_decided and np.minimum(probabilities, 1 - probabilities).sum() > IN_DOUBT * max(
        len(probabilities), 1
    )


def reconcile(matches: Sequence[SideMatch], beside: Sequence[SideMatch], settings: MatchSettings) -> list[SideMatch]:
    """Use pairs a-b and b-c as evidence for or against a-c, for every three languages of a site.

    With p and q the probabilities of a-b and c-b', and s = p·q > ½, the odds of a candidate a-c are multiplied by
    s/(1-s) if b = b', and divided by it if not, each at most by `MAX_SUPPORT`. A candidate that becomes more likely
    than the pairs of its two pages replaces them; the pages left over are matched again.

    Parameters
    ----------
    matches : sequence of SideMatch
        Of every two wanted languages.
    beside : sequence of SideMatch
        Of wanted languages with other languages, which serve as evidence only.
    settings : MatchSettings

    Returns
    -------
    list of SideMatch
        The wanted ones. Nothing changes on a site of two languages, and where the method gives no probabilities.
    """
    everything = [*matches, *beside]
    if len(everything) < 2 or any(each.found.is_decided for each in everything):
        return list(matches)
    versions = {(each.side_a.lang, each.side_b.lang): _versions(each) for each in everything}
    versions |= {(each.side_b.lang, each.side_a.lang): _versions(each, turned=True) for each in everything}
    return [_supported(each, versions, settings) for each in matches]


def _versions(match: SideMatch, *, turned: bool = False) -> _Versions:
    matching = match.found.matching
    rows, columns = (matching.columns, matching.rows) if turned else (matching.rows, matching.columns)
    side = match.side_b if turned else match.side_a
    page, probability = np.full(len(side.urls), -1, np.int64), np.zeros(len(side.urls))
    copies = match.found.stands_for
    page[rows] = columns if copies is None else copies[0 if turned else 1][columns]
    probability[rows] = np.nan_to_num(match.found.probabilities)  # NaN: accepted, without other evidence
    return _Versions(page, probability)


def _supported(match: SideMatch, versions: Mapping[tuple[str, str], _Versions], settings: MatchSettings) -> SideMatch:
    """Return a match with the evidence of the third languages."""
    rivalry = Rivalry(match.found.scores)
    support = np.zeros(len(rivalry.rows))
    for third in sorted({lang for pair in versions for lang in pair} - {match.side_a.lang, match.side_b.lang}):
        of_a, of_b = versions.get((match.side_a.lang, third)), versions.get((match.side_b.lang, third))
        if of_a is not None and of_b is not None:
            support += _support(of_a, of_b, rivalry)
    if not support.any():
        return match
    return choose_pairs(_weighed_again(match, rivalry, support), settings)


def _support(of_a: _Versions, of_b: _Versions, rivalry: Rivalry) -> Floats:
    """Return what a third language adds to the log odds of each candidate."""
    page_a, page_b = of_a.page[rivalry.rows], of_b.page[rivalry.columns]
    sure = np.minimum(of_a.probability[rivalry.rows] * of_b.probability[rivalry.columns], _MOST)
    # Two doubtful pairs are no evidence, for or against.
    heard = (page_a >= 0) & (page_b >= 0) & (sure > 0.5)
    amount = np.minimum(logit(np.where(heard, sure, 0.5)), np.log(MAX_SUPPORT))
    return np.where(page_a == page_b, amount, -amount)


def _weighed_again(match: SideMatch, rivalry: Rivalry, support: Floats) -> SideMatch:
    """Return a match with pairs and probabilities updated by some support."""
    found = match.found
    old = positions(found.scores, found.matching.rows, found.matching.columns)
    before = _probabilities(found, rivalry, old)
    odds = logit(np.clip(before, _LEAST, _MOST)) + support
    if match.labels is not None:
        odds[excluded(rivalry.rows, rivalry.columns, match.labels)] = -np.inf
    settled = old[:0] if match.accepted is None else old[match.accepted]
    odds[settled] = np.inf
    in_play = np.zeros(len(odds), np.bool_)
    in_play[old] = in_play[support > 0] = True
    new = _rematched(found.scores, odds, in_play)
    after = expit(odds)
    unheard = old[support[old] == 0]
    after[unheard], after[settled] = before[unheard], before[settled]
    contested = np.where(in_play, after, 0)
    after /= np.maximum(1, np.maximum(*rivalry.sums(contested)))
    if match.accepted is not None:
        after[settled] = found.probabilities[match.accepted]
    return _with_pairs(match, rivalry, new, after, support)


def _rematched(pattern: sp.csr_array, odds: Floats, in_play: npt.NDArray[np.bool_]) -> Positions:
    """Match one to one by odds: first the changed candidates, then the pages left over."""
    ranks = as_scores(odds) / 2
    scores = with_values(pattern, np.where(in_play, 0.5 + ranks, ranks))
    matching = greedy_matching(select(scores, odds > -np.inf))
    return positions(pattern, matching.rows, matching.columns)


def _with_pairs(
    match: SideMatch, rivalry: Rivalry, pairs: Positions, probabilities: Floats, support: Floats
) -> SideMatch:
    """Return a match with other pairs of its candidates."""
    found = match.found
    old = positions(found.scores, found.matching.rows, found.matching.columns)
    scores = found.scores.data.astype(np.float64)
    pairs = np.sort(pairs)
    pairs = pairs[np.argsort(-scores[pairs], kind="stable")]
    n_equal = None
    if found.n_equal is not None:
        ways = np.ones(len(scores), np.int64)
        ways[old] = np.where(support[old] > 0, 1, found.n_equal)
        n_equal = ways[pairs]
    matching = Matching(rivalry.rows[pairs], rivalry.columns[pairs], found.scores.data[pairs])
    accepted = None
    if match.accepted is not None:
        accepted = np.isin(pairs, old[match.accepted])
    rivals = rivalry.rivals(scores)[pairs]
    changed = replace(found, matching=matching, rivals=rivals, probabilities=probabilities[pairs], n_equal=n_equal)
    return replace(match, found=changed, accepted=accepted)


def _probabilities(found: FoundPairs, rivalry: Rivalry, pairs: Positions) -> Floats:
    """Return the probability of every candidate: the method's for its matching, shares among rivals for the others."""
    shares = shares_of_rivals(as_log_odds(found.scores.data), rivalry)
    presence = [np.zeros(n) for n in rivalry.shape]
    told = np.nan_to_num(found.probabilities)
    for of_page, pages in zip(presence, (rivalry.rows, rivalry.columns), strict=True):
        of_page[pages[pairs]] = np.minimum(told / np.maximum(shares[pairs], _LEAST), 1)
    probabilities: Floats = shares * np.maximum(presence[0][rivalry.rows], presence[1][rivalry.columns])
    probabilities[pairs] = told
    return probabilities
