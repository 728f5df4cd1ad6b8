"""The tables of stage `align`: segments with their probabilities, and the alignment of each page pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from twinlink.align.filters import UNSURE, Segment, pair_key
from twinlink.align.page_pairs import PairTexts
from twinlink.align.workers import AlignedPage
from twinlink.odds import expit, logit
from twinlink.similarity.probabilities import probability_of_being_right
from twinlink.tables import PAGE_ALIGNMENTS, SEGMENT, SEGMENTS

__all__ = ["page_table", "segment_table", "translation_probabilities"]

LEAST_COMPARED = 20
"""Minimum number of wrong sentence pairs to estimate the probabilities of a site. Our choice."""


def translation_probabilities(done: Sequence[AlignedPage], verdicts: Sequence[Sequence[str]]) -> list[float | None]:
    """Return the probability of each bead of a site that passed the filters to be a translation; None for all others.

    Its held-out score (`Segment.held_out`) is compared with those of wrong pairs that pass the same filters, see
    `twinlink.similarity.probabilities.probability_of_being_right`. A repeated pair counts once there, by its first
    copy; the log odds of its other copies are interpolated. None for all if there are fewer than `LEAST_COMPARED`
    wrong ones.
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
        found = probability_of_being_right(scores, np.array(list(wrong.values())))
        of_given = expit(np.interp([segments[place].held_out for place in given], scores, logit(found)))
        for place, probability in zip(given, of_given.tolist(), strict=True):
            probabilities[place] = probability
    return probabilities


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
