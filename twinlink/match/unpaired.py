"""Reasons why pages are in no pair: one reason per page, from the last stage that it reached in any two languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from twinlink.language.site_languages import TWO_LANGUAGES
from twinlink.languages import UNDETERMINED
from twinlink.match.labels import rejected_pages
from twinlink.match.selection import SideMatch
from twinlink.tables import Reject

_GOOD = "the matching gave each of its candidates to another page that is equally good or better"
_CROWDED = (
    "its address differs in one place from too many others (match.url_rule.max_others), and in more than one token"
)
_APART = "labels rejected pairs, and the remaining pages were not matched again"
_SHOWN = 100  # characters of the text of a placeholder
_OUTVOTED = "pages in further languages are evidence for other pairs of its candidates"


class _Why(NamedTuple):
    """Why a page has no partner in another language. Of several languages, the largest value counts."""

    stage: int
    """Last stage that the page reached."""
    order: float
    """Order within the stage: number of the filter, or probability."""
    reason: str
    detail: str


_NO_CANDIDATE, _FILTERED, _LOST, _LEFT_OUT, _LABELLED = range(5)


def unpaired_pages(
    urls: Sequence[str],
    langs: Sequence[str],
    wanted: npt.NDArray[np.bool_],
    matches: Sequence[SideMatch],
    placeholders: Mapping[int, str] | None = None,
) -> list[Reject]:
    """Return a reason for every page of a site that is in no pair.

    Parameters
    ----------
    urls, langs : sequence of str
        Of all pages.
    wanted : ndarray of bool
        Whether each page is in one of the languages that are matched.
    matches : sequence of SideMatch
        Of every two languages of the site.
    placeholders : mapping from int to str, optional
        Numbers of the pages that were left out as placeholders, and the text that they share.
    """
    shared = placeholders or {}
    paired = {url for match_ in matches for pair in match_.pairs() for url in pair}
    furthest: dict[str, _Why] = {}
    for match_ in matches:
        for url, why in _reasons(match_):
            furthest[url] = max(furthest.get(url, why), why)
    rejects = []
    for page, (url, lang, is_wanted) in enumerate(zip(urls, langs, wanted.tolist(), strict=True)):
        if url in paired:
            continue
        if page in shared:
            reason, detail = "placeholder", f"'{shared[page][:_SHOWN]}'"
        else:
            reason, detail = furthest[url][2:] if url in furthest else _of_language(lang, is_wanted=is_wanted)
        rejects.append(Reject(url, "match", reason, detail))
    return rejects


def _of_language(lang: str, *, is_wanted: bool) -> tuple[str, str]:
    """Return why a page was not compared with pages of another language."""
    if lang == UNDETERMINED:
        return "no-language", ""
    if lang == TWO_LANGUAGES:
        return "two-languages", "block by block in two of the wanted languages"
    if not is_wanted:
        return "other-language", lang
    return "only-language", f"no page of its site is in a matched language other than {lang}"


def _reasons(match_: SideMatch) -> Iterator[tuple[str, _Why]]:
    """Yield the reason of each page without a pair in two languages; some pages occur more than once."""
    yield from _by_candidates(match_)
    yield from _copies(match_)
    yield from _left_out(match_)
    for url, other in rejected_pages(match_.labels, match_.side_a.urls, match_.side_b.urls):
        yield url, _Why(_LABELLED, 1.0, "label", f"not with {other}: a label rejects the pair")


def _by_candidates(match_: SideMatch) -> Iterator[tuple[str, _Why]]:
    """Yield each page that is in no pair of the matching, with a reason from its candidates."""
    found = match_.found
    entries, filters = found.scores.tocoo(), [name for name in found.n_filtered if name != "kept"]
    place = {"": len(filters), **{name: number for number, name in enumerate(filters)}}
    passed = np.array([place[name] for name in found.filter_of or [""] * entries.nnz], np.int64)
    stands_for_a, stands_for_b = found.stands_for or (None, None)
    of_a = _Ends.of(match_.side_a.urls, entries.row, found.matching.rows, found.matching.scores, stands_for_a)
    of_b = _Ends.of(match_.side_b.urls, entries.col, found.matching.columns, found.matching.scores, stands_for_b)
    for own, other, crowded in zip((of_a, of_b), (of_b, of_a), found.crowded or (None, None), strict=True):
        furthest, is_cheated = np.full(len(own.urls), -1), np.zeros(len(own.urls), np.bool_)
        np.maximum.at(furthest, own.pages, passed)
        is_cheated[own.pages[(passed == len(filters)) & (other.score[other.pages] < entries.data)]] = True
        for row in np.flatnonzero(own.score < 0).tolist():
            why = _lost(int(furthest[row]), filters)
            if why.stage == _LOST and is_cheated[row]:
                # Only what is applied after the matching leaves a page unmatched though it is better for another one.
                is_labelled = match_.labels is not None
                why = _Why(_LABELLED, 0.0, "label", _APART) if is_labelled else why._replace(detail=_OUTVOTED)
            is_crowded = why.stage == _NO_CANDIDATE and crowded is not None and bool(crowded[row])
            yield own.urls[row], why._replace(reason="crowded-address", detail=_CROWDED) if is_crowded else why


def _copies(match_: SideMatch) -> Iterator[tuple[str, _Why]]:
    """Yield each page that is in no pair of the matching, with the copy of it that is, or that was compared for it."""
    found = match_.found
    if found.stands_for is None:
        return
    sides = (match_.side_a, match_.side_b), found.stands_for, (found.matching.rows, found.matching.columns)
    for side, stands_for, paired in zip(*sides, strict=True):
        of_set = np.arange(len(stands_for))
        of_set[stands_for[paired[::-1]]] = paired[::-1]  # the first pair of a set of copies comes last
        other, is_paired = of_set[stands_for], np.isin(np.arange(len(stands_for)), paired)
        for page in np.flatnonzero(~is_paired & (other != np.arange(len(stands_for)))).tolist():
            yield side.urls[page], _Why(_LOST, 1.0, "copy", f"the same content as {side.urls[other[page]]}")


class _Ends(NamedTuple):
    """The pages of one side."""

    urls: Sequence[str]
    pages: npt.NDArray[np.integer]
    """The page of each candidate."""
    score: npt.NDArray[np.float32]
    """That of the pair of the matching that each page is in, -1 for none."""

    @classmethod
    def of(
        cls,
        urls: Sequence[str],
        pages: npt.NDArray[np.integer],
        matched: npt.NDArray[np.integer],
        scores: npt.NDArray[np.float32],
        stands_for: npt.NDArray[np.integer] | None,
    ) -> _Ends:
        """Note the scores of the matched pages, also for those that stand for a matched copy."""
        score = np.full(len(urls), -1, np.float32)
        if stands_for is not None:
            np.maximum.at(score, stands_for[matched], scores)
        score[matched] = scores
        return cls(urls, pages, score)


def _lost(furthest: int, filters: Sequence[str]) -> _Why:
    """Return why a page is not in the matching, given the number of filters that one of its candidates has passed."""
    if furthest < 0:
        return _Why(_NO_CANDIDATE, 0.0, "no-candidate", "it has no candidate")
    if furthest < len(filters):
        return _Why(_FILTERED, furthest, f"filter-{filters[furthest]}", "none of its candidates passed this filter")
    return _Why(_LOST, 0.0, "no-partner-left", _GOOD)


def _left_out(match_: SideMatch) -> Iterator[tuple[str, _Why]]:
    """Yield each page whose pair of the matching is not kept, with that pair."""
    found, dropped = match_.found, np.flatnonzero(~match_.keep)
    n_equal = np.ones(len(match_.keep), np.int64) if found.n_equal is None else found.n_equal
    for place, (url_a, url_b) in zip(dropped.tolist(), match_.pairs(~match_.keep), strict=True):
        probability, n, limit = float(found.probabilities[place]), int(n_equal[place]), match_.limits[place]
        for url, other in ((url_a, url_b), (url_b, url_a)):
            if limit:
                text = f"{limit} leaves out its pair with {other}, of score {found.matching.scores[place]:.4f}"
                yield url, _Why(_LEFT_OUT, 1.0, "over-limit", text)
                continue
            is_tie = n > 1 and n * probability > 0.5  # one of them is probably right
            equal = f", one of {n} pairs that are equally good" if is_tie else ""
            text = f"probability {probability:.4f} with {other}{equal}"
            yield url, _Why(_LEFT_OUT, probability, "tie" if is_tie else "doubtful", text)
