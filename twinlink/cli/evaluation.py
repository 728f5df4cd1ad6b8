"""Scores of `twinlink evaluate`: pairs of the run, or of two languages, by known pairs, by labels, or by both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from twinlink.cli.results.evaluation import CurvePoint, ScoresResult
from twinlink.errors import ConfigError, GoldError, InputError
from twinlink.evaluation.gold import Gold, evaluate, precision_coverage, read_gold
from twinlink.evaluation.labelled import count_labels, evaluate_with_gold, score_labels
from twinlink.files import shell_word
from twinlink.frames import address_pairs, pair_ranks, rank_column
from twinlink.labels.book import UNLABELLED, Label, LabelBook, label_codes
from twinlink.labels.precision import estimate
from twinlink.language_names import languages_meant, meanings, read_languages
from twinlink.rundir.directory import RunDirectory

if TYPE_CHECKING:
    import pandas as pd

    from twinlink.evaluation.gold import Counts
    from twinlink.run import Run

__all__ = ["between", "gold_between", "judge", "missing_gold", "two_languages"]

Labels = dict[tuple[str, str], Label]
Two = tuple[frozenset[str], frozenset[str]]
"""The languages of a run that match two given ones."""


def judge(found: Run, gold: Path | None, labels: bool, langs: str, curve: bool) -> ScoresResult:
    """Score the pairs of a run by known pairs, by labels, or by both.

    Raises
    ------
    InputError
        If neither is given, there are no labels, or the two are wanted with a curve.
    """
    if gold is None and not labels:
        raise InputError("no reference for the scores: give --gold FILE, or --labels, or both")
    if gold is not None and labels and curve:
        raise InputError("--curve: expected --gold or --labels, not both")
    known = None if gold is None else found.addresses.known_pairs(read_gold(gold))
    book_labels = _labels(found) if labels else {}
    table = found.pairs
    meant: dict[str, dict[str, int]] = {}
    if langs:
        wanted = two_languages(found, langs)
        meant = meanings(_read(langs), [found.pages["lang"]])
        table = table.loc[between(table["lang_a"], table["lang_b"], wanted)]
        known = known and gold_between(known, found, wanted)
        book_labels = _labels_between(book_labels, found, wanted)
    addresses: tuple[list[str], int] = [], 0
    if gold is not None and known is not None:
        addresses = missing_gold(found, gold, known.known(), known.key), len(known.known())
    points = (rank_column(table), _curve(table, known, book_labels)) if curve else None
    by_labels = score_labels(table, book_labels) if labels else None
    scored = _scored(address_pairs(table), known, book_labels, found)
    shaped = labels and _matched_with_labels(found.path)
    return ScoresResult.made_of(
        scored, found.path, addresses, by_labels, points, matched_with_labels=shaped, meant=meant
    )


def _curve(table: pd.DataFrame, known: Gold | None, book_labels: Labels) -> list[CurvePoint]:
    """Return the measures of the list cut after each scored pair; by labels, where these are enough."""
    ranks = pair_ranks(table).to_numpy(np.float64)
    if known is not None:
        points = precision_coverage(address_pairs(table), ranks.tolist(), known)
        return [CurvePoint(*map(float, point)) for point in points]
    codes = label_codes(table["url_a"], table["url_b"], book_labels)
    cuts = np.unique(ranks[codes != UNLABELLED])[::-1]
    found = [(cut, estimate(ranks[ranks >= cut], codes[ranks >= cut])) for cut in cuts.tolist()]
    return [CurvePoint(cut, each.precision, None, each.low, each.high) for cut, each in found if each.is_narrow]


def _matched_with_labels(run: Path) -> bool:
    signature = RunDirectory(run).read_signature("match")
    return bool(signature and signature.settings["match"]["labels"])


def _scored(pairs: list[tuple[str, str]], known: Gold | None, book_labels: Labels, found: Run) -> Counts:
    if known is None:
        return count_labels(pairs, book_labels)
    return evaluate_with_gold(pairs, book_labels, known, _langs(found)) if book_labels else evaluate(pairs, known)


def _langs(found: Run) -> dict[str, str]:
    return dict(zip(found.pages["url"], found.pages["lang"], strict=True))


def _labels(found: Run) -> Labels:
    book_labels = LabelBook(found.path).current()
    if not book_labels:
        raise InputError(f"{found.path}: no labels here yet; make some with `twinlink review {shell_word(found.path)}`")
    return book_labels


def _labels_between(book_labels: Labels, found: Run, wanted: Two) -> Labels:
    langs = _langs(found)
    counted = between((langs.get(a, "") for a, _ in book_labels), (langs.get(b, "") for _, b in book_labels), wanted)
    return {pair: label for (pair, label), is_one in zip(book_labels.items(), counted, strict=True) if is_one}


def two_languages(found: Run, langs: str) -> Two:
    """Return the languages of the run that each of two named ones means; it must have both."""
    wanted = _read(langs)
    if len(wanted) != 2:
        raise ConfigError(f"--langs {langs}: expected two languages, e.g. en,zh")
    one, other = languages_meant(wanted, found.pages["lang"], "--langs").values()
    return frozenset(one), frozenset(other)


def _read(langs: str) -> tuple[str, ...]:
    return read_languages(langs.split(","), "--langs")


def between(langs_a: Iterable[str], langs_b: Iterable[str], wanted: Two) -> list[bool]:
    """Return, for each pair of languages, whether it is the wanted one, in either order."""
    both = zip(langs_a, langs_b, strict=True)
    return [_are(pair, wanted) or _are(pair[::-1], wanted) for pair in both]


def _are(langs: tuple[str, ...], wanted: Two) -> bool:
    return all(lang in meant for lang, meant in zip(langs, wanted, strict=True))


def gold_between(gold: Gold, found: Run, wanted: Two) -> Gold:
    """Remove gold pairs with a page that the run has in another language."""
    langs = zip(found.pages["url"], found.pages["lang"], strict=True)
    others = {gold.key(url) for url, lang in langs if not any(lang in meant for meant in wanted)}
    return replace(gold, pairs=tuple(pair for pair in gold.pairs if others.isdisjoint(pair)))


def missing_gold(found: Run, path: Path, known: frozenset[str], key: Callable[[str], str]) -> list[str]:
    """Return the addresses of a gold list that the run has not, in order.

    Raises
    ------
    GoldError
        If it names no page of the run.
    """
    there = {key(url) for url in found.pages["url"]}
    missing = known - there
    if len(missing) == len(known):
        example = min(missing)
        raise GoldError(
            f"{path}: none of its {len(known)} addresses is in the run, e.g. {example}; is it the right gold file?"
        )
    return sorted(missing)
