"""The tables of stage `align`: segments with their probabilities, and the alignment of each page pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinlink.align.filters import UNSURE, Segment, pair_key
from twinlink.align.page_pairs import PairTexts
from twinlink.align.workers import AlignedPage
from twinlink.odds import expit, logit
from twinlink.similarity.probabilities import probability_of_being_right
from twinlink.tables import PAGE_ALIGNMENTS, SEGMENT, SEGMENTS

__all__ = ["page_table", "segment_table", "share_of_wrong", "translation_probabilities"]

LEAST_COMPARED = 20
"""Minimum number of wrong sentence pairs to estimate the probabilities of a site. Our choice."""
LOW = 0.6
"""Share λ of the wrong sentence pairs up to whose score the given ones count in `share_of_wrong`.

Chosen on pairs that were read on six sites (docs/results/sentences.md), and on two with texts moved between pages: the
log loss differs by 7 % between .55 and .65, and is half as high again at .7, where right pairs count, too."""


def translation_probabilities(done: Sequence[AlignedPage], verdicts: Sequence[Sequence[str]]) -> list[float | None]:
    """Return the probability of each bead of a site that passed the filters to be a translation; None for all others.

    Its held-out score (`Segment.held_out`) is compared with those of wrong pairs that pass the same filters, except the
    one for words, see `twinlink.similarity.probabilities.probability_of_being_right`; the share of wrong pairs is that
    of `share_of_wrong`. A repeated pair counts once there, by its first copy; the log odds of its other copies are
    interpolated. None for all if there are fewer than `LEAST_COMPARED` wrong ones.
    """
    segments = [one for page in done for one in page.segments]
    keys = [pair_key(one.source, one.target) if one.source and one.target else b"" for one in segments]
    there = set(keys)
    wrong = {key: score for page in done for key, score in page.wrong if key not in there}
    given = [place for place, verdict in enumerate(chain(*verdicts)) if verdict == SEGMENT]
    probabilities: list[float | None] = [None] * len(segments)
    if given and len(wrong) >= LEAST_COMPARED:
        first = {keys[place]: segments[place].held_out for place in reversed(given)}
        scores = np.sort(np.array(list(first.values())))
        of_wrong = np.array(list(wrong.values()))
        share = share_of_wrong(scores, of_wrong)
        found = probability_of_being_right(scores, of_wrong, share_wrong=share)
        of_given = expit(np.interp([segments[place].held_out for place in given], scores, logit(found)))
        for place, probability in zip(given, of_given.tolist(), strict=True):
            probabilities[place] = probability
    return probabilities


def share_of_wrong(given: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    """Estimate which share of the given sentence pairs is wrong, rather too high than too low (Storey 2002).

    With n given and k wrong pairs, of which λ score at most t::

        π₀ = (1 + |{given ≤ t}|) / (n·|{wrong ≤ t}|/k),    t: quantile `LOW` of the wrong

    Hardly any right pair scores that low. The two densities alone do not determine π₀: a smaller share explains the
    given pairs as well, with right ones that score like wrong ones. Maximum likelihood chooses among the shares by the
    tails of the model; on sites where pairs were read, it is near 0 or far too high.

    Parameters
    ----------
    given : ndarray, shape (n,)
        Scores; at least one.
    wrong : ndarray, shape (k,)
        Scores of known wrong pairs; at least one.

    Returns
    -------
    float, in (0, 1]

    References
    ----------
    Storey (2002), A direct approach to false discovery rates. Journal of the Royal Statistical Society B 64.

    Examples
    --------
    >>> wrong = np.linspace(0, 1, 100)
    >>> share_of_wrong(np.r_[np.linspace(0, 1, 50), np.full(150, 9.0)], wrong)
    0.25833333333333336
    >>> share_of_wrong(wrong, wrong)
    1.0
    """
    level = np.quantile(wrong, LOW)
    n_low = int(np.count_nonzero(given <= level))
    return min(1.0, (1 + n_low) / (len(given) * float(np.mean(wrong <= level))))


def segment_table(
    site: str,
    langs: tuple[str, str],
    pairs: Sequence[PairTexts],
    done: Sequence[AlignedPage],
    verdicts: Sequence[Sequence[str]],
    chances: Sequence[float | None],
) -> pa.Table:
    """Return the table `SEGMENTS` of a site, with the chances of `translation_probabilities`; repeats have none."""
    flat = list(chain(*verdicts))
    rows = [segment for page in done for segment in page.segments]
    sizes = [len(page.segments) for page in done]
    columns: dict[str, Any] = {
        "site": [site] * len(rows),
        "url_a": np.repeat(np.array([pair.url_a for pair in pairs], object), sizes),
        "url_b": np.repeat(np.array([pair.url_b for pair in pairs], object), sizes),
        "lang_a": [langs[0]] * len(rows),
        "lang_b": [langs[1]] * len(rows),
        **dict(
            zip(Segment._fields, zip(*rows, strict=True), strict=True) if rows else dict.fromkeys(Segment._fields, ())
        ),
        "chance": [
            chance if verdict in (SEGMENT, UNSURE) else None for verdict, chance in zip(flat, chances, strict=True)
        ],
        "verdict": flat,
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in SEGMENTS], schema=SEGMENTS)


def page_table(site: str, pairs: Sequence[PairTexts], done: Sequence[AlignedPage]) -> pa.Table:
    """Return the table `PAGE_ALIGNMENTS` of a site."""
    rows = [
        (
            site,
            pair.url_a,
            pair.url_b,
            *page.sentences,
            sum(bool(one.source and one.target) for one in page.segments),
            page.support,
        )
        for pair, page in zip(pairs, done, strict=True)
    ]
    return pa.Table.from_pylist([dict(zip(PAGE_ALIGNMENTS.names, row, strict=True)) for row in rows], PAGE_ALIGNMENTS)
