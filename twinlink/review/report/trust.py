"""Sections of the report on the quality of the pairs: probabilities, precision, evidence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from markupsafe import Markup

from twinlink.labels.precision import Estimate
from twinlink.review.charts.charts import Bar, Curve, Series, bars, dumbbells, histogram, lines
from twinlink.review.charts.svg import Alternative
from twinlink.review.reading.columns import floats
from twinlink.review.report.data import Chart, Column, Measured, ReportData, ScoreCounts, Section, Table, known, records
from twinlink.review.report.found import interval_words
from twinlink.review.templating import count, decimal, percent
from twinlink.wording import EVIDENCE_WORDS

__all__ = ["CUTS", "evidence_section", "trust_section"]

CUTS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Minimum probabilities for which the report shows the number and precision of the pairs."""
MAX_WEIGHT_ROWS = 100
LEAST_STEP = 0.02
"""Minimum difference between the shares of two thresholds drawn."""
_SIDES = ("a", "b", "good")  # classes of curves


def trust_section(data: ReportData) -> Section | None:
    """Return the precision of the pairs, expected and measured; None: no pairs."""
    if not len(data.pairs):
        return None
    probabilities = np.sort(floats(data.pairs["probability"].drop_null()))[::-1]
    charts = (
        [_probability_histogram(probabilities), _precision_curve(data, probabilities)] if len(probabilities) else []
    )
    if not len(probabilities) and any(len(each.coverage) for each in data.measured):
        charts.append(_precision_curve(data, probabilities))
    tables = [_cut_table(data, probabilities)] if len(probabilities) else []
    if data.scores is not None:
        charts.append(_score_histogram(data.scores))
        tables.append(_score_table(data.scores))
    return Section("trust", "Precision", "Trust", _trust_words(data, probabilities), charts, tables)


def _trust_words(data: ReportData, probabilities: npt.NDArray[np.float64]) -> list[str | Markup]:
    is_whole = len(probabilities) == len(data.pairs)
    which = "Every pair has" if is_whole else f"{count(len(probabilities))} of the pairs have"
    mean = f", {percent(float(probabilities.mean()))}{interval_words(data.pairs)}" if is_whole else ""
    text = (
        f"{which} a probability of being right, which twinlink estimates on the site itself. Their mean is"
        f" the expected precision{mean}. Label some pairs to check this estimate."
    )
    if not len(probabilities):
        text = "These pairs have no probabilities. Their scores only rank them."
    return [text, *map(_measured_words, data.measured)]


def _measured_words(each: Measured) -> Markup:
    if not each.n:
        text = Markup("By {}, none of the pairs can be judged.").format(each.source)
    elif isinstance(each.precision, Estimate):
        text = _estimate_words(each.source, each.precision)
    else:
        text = Markup("By {}, <b>{}</b> of the pairs are right").format(each.source, percent(each.precision))
    if each.n:
        text += f"; {count(each.n)} were judged."
    if each.recall is not None:
        text += f" {percent(each.recall)} of the pairs in the list were found."
    return text


def _estimate_words(source: str, found: Estimate) -> Markup:
    interval = f"(95 % interval: {percent(found.low)} to {percent(found.high)})"
    if found.is_narrow:
        return Markup("By {}, <b>{}</b> of the pairs are right {}").format(source, percent(found.precision), interval)
    text = Markup("By {}, the precision is too uncertain {}; about {} labels in random order are needed")
    return text.format(source, interval, count(found.needed))


def _probability_histogram(probabilities: npt.NDArray[np.float64]) -> Chart:
    low = min(0.5, float(np.floor(probabilities.min() * 20) / 20))
    edges = np.linspace(low, 1.0, round((1.0 - low) * 40) + 1)
    counts, _ = np.histogram(probabilities, edges)
    sure = int((probabilities >= 0.95).sum())
    text = f"Pairs with a probability of at least 0.95: {count(sure)} of {count(len(probabilities))}."
    picture = histogram(
        Alternative("probabilities", "Pairs by probability", text),
        edges, [Series("pairs", counts.astype(np.float64))], "probability of being right", "pairs",
    )  # fmt: skip
    return Chart("Pairs by probability", picture, text)


def _precision_curve(data: ReportData, probabilities: npt.NDArray[np.float64]) -> Chart:
    curves = []
    if len(probabilities):
        n = np.arange(1, len(probabilities) + 1)
        curves.append(Curve("expected", n / len(n), np.cumsum(probabilities) / n))
    for style, each in zip(_SIDES[1:], data.measured, strict=False):
        if len(each.coverage):
            curves.append(Curve(each.source, each.coverage, each.precisions, style))
        elif len(probabilities):
            curves += _curve_of_cuts(each, probabilities, style)
    least = min((float(each.y[len(each.y) // 20 :].min()) for each in curves), default=0.0)
    least = min([least, *(float(each.low.min()) for each in curves if each.low is not None)])
    floor = max(0.0, np.floor(least * 10 - 1e-9) / 10)
    text = "The most probable pairs come first: the fewer are kept, the higher their expected precision."
    if not len(probabilities):
        text = "The pairs with the best scores come first."
    spoken = "; ".join(f"{each.label}: {percent(float(each.y[-1]))} of all pairs right" for each in curves)
    picture = lines(
        Alternative("precision", "Precision by share of pairs kept", f"{text} {spoken}."),
        curves, "share of pairs kept", "right", (0.0, 1.0), (floor, 1.0), x_text=lambda share: percent(share, 0),
    )  # fmt: skip
    legend = [(curve.style, curve.label) for curve in curves]
    return Chart("Precision and coverage", picture, text, legend if len(curves) > 1 else ())


def _curve_of_cuts(each: Measured, probabilities: npt.NDArray[np.float64], style: str) -> list[Curve]:
    """Return the precision by labels at each threshold, as points with intervals; inconclusive ones are left out."""
    points: list[tuple[float, float, float, float]] = []
    for cut, found in sorted(each.cuts.items()):
        share = float((probabilities >= cut).mean())
        if isinstance(found, Estimate) and found.is_narrow and (not points or points[-1][0] - share >= LEAST_STEP):
            points.append((share, found.precision, found.low, found.high))
    if not points:
        return []
    x, y, low_ends, high_ends = (np.array(axis) for axis in zip(*reversed(points), strict=True))
    return [Curve(each.source, x, y, style, low_ends, high_ends, dots=True)]


def _cut_table(data: ReportData, probabilities: npt.NDArray[np.float64]) -> Table:
    """Return the number and precision of the pairs at each minimum probability."""
    columns = [
        Column("Least", "decimal", "minimum probability of the pairs that are kept"),
        Column("Kept", "count"),
        Column("Of all", "share"),
        Column("Expected right", "share"),
        Column("Wrong", "count", "pairs that are expected to be wrong"),
        *(Column(f"Right by {each.source}", "share", "–: too few were judged") for each in data.measured),
    ]
    rows: list[tuple[Any, ...]] = []
    for cut in CUTS:
        kept = probabilities[probabilities >= cut]
        if not len(kept) or (rows and len(kept) == rows[-1][1]):
            continue
        measured = [_conclusive(each.cuts.get(cut)) for each in data.measured]
        wrong = len(kept) - float(kept.sum())
        rows.append((cut, len(kept), len(kept) / len(probabilities), float(kept.mean()), round(wrong), *measured))
    return Table("What is kept when match.min_probability is raised", columns, rows, is_small=len(data.measured) < 2)


def _conclusive(found: float | Estimate | None) -> float | None:
    """Return a precision; None: too few pairs were judged."""
    if isinstance(found, Estimate):
        return found.precision if found.is_narrow else None
    return found


def _score_histogram(scores: ScoreCounts) -> Chart:
    pairs, others = (values.astype(np.float64) for values in (scores.pairs, scores.others))
    text = (
        "Pages were matched by their scores. The further apart the two distributions are, the more reliable the"
        f" matching. Pairs: {count(pairs.sum())}, other candidates: {count(others.sum())}."
    )
    series = [Series("others", others / max(others.sum(), 1), "quiet"), Series("pairs", pairs / max(pairs.sum(), 1))]
    picture = histogram(
        Alternative("scores", "Scores of pairs and of other candidates", text),
        scores.edges, series, "score", "share of each", as_share=True,
    )  # fmt: skip
    return Chart("Scores", picture, text, [("", "pairs"), ("quiet", "other candidates")])


def _score_table(scores: ScoreCounts) -> Table:
    """Return the histogram of scores as a table; empty bins are left out."""
    columns = [Column("From", "decimal"), Column("To", "decimal"), Column("Pairs", "count"), Column("Others", "count")]
    bins = zip(scores.edges[:-1], scores.edges[1:], scores.pairs.tolist(), scores.others.tolist(), strict=True)
    rows = [(float(low), float(high), *counts) for low, high, *counts in bins if any(counts)]
    return Table("Candidates by score", columns, rows, folded="Scores as a table")


def evidence_section(data: ReportData) -> Section | None:
    """Return the kinds of evidence with weights and means; None: no candidate was measured."""
    if not data.evidence or not len(data.pairs):
        return None
    weights = _mean_weights(data.weights)
    found = [_Kind(name, weights.get(name, math.nan), *means) for name, means in data.evidence.items()]
    found.sort(key=lambda kind: (*_falling(kind.weight), *_falling(kind.pairs)))
    rows = [
        (kind.name, EVIDENCE_WORDS.get(kind.name, ""), known(kind.weight), known(kind.pairs), known(kind.others))
        for kind in found
    ]
    columns = [
        Column("Evidence"),
        Column("What it says"),
        Column("Weight", "share", "weights of all kinds add up to 100 %"),
        Column("Pairs", "decimal", "mean over pairs"),
        Column("Others", "decimal", "mean over other candidates"),
    ]
    text = (
        f"{count(data.n_candidates)} pairs of pages were candidates. A kind of evidence is informative if the means of"
        " pairs and of other candidates are far apart. Missing values are left out of the means."
    )
    tables = [Table("Kinds of evidence, the heaviest first", columns, rows), *_weight_tables(data.weights)]
    return Section("evidence", "Evidence for the pairs", "Evidence", [text], _evidence_charts(found), tables)


class _Kind(NamedTuple):
    """A kind of evidence: its weight and means, NaN where they are not known."""

    name: str
    weight: float
    pairs: float
    others: float


def _falling(value: float) -> tuple[bool, float]:
    """Return a key that sorts the largest value first, and NaN last."""
    return (True, 0.0) if math.isnan(value) else (False, -value)


def _mean_weights(weights: pa.Table) -> dict[str, float]:
    """Return the mean weight of each kind over sites and languages; a missing weight counts 0."""
    matches = set()
    sums: dict[str, float] = defaultdict(float)
    for row in records(weights):
        matches.add((row.site, row.lang_a, row.lang_b))
        sums[row.evidence] += known(row.weight) or 0.0
    return {name: value / len(matches) for name, value in sums.items()}


def _evidence_charts(found: Sequence[_Kind]) -> list[Chart]:
    """Return charts of the weights, and of the means of pairs and others, in the same order."""
    names = [kind.name for kind in found]
    low, high = (np.array([getattr(kind, of) for kind in found], np.float64) for of in ("others", "pairs"))
    spoken = "; ".join(
        f"{name}: pairs {_spoken(b)}, others {_spoken(a)}" for name, a, b in zip(names, low, high, strict=True)
    )
    apart = Alternative("evidence-means", "Mean of each kind of evidence for pairs and for other candidates", spoken)
    legend = [("", "pairs"), ("ring", "other candidates")]
    charts = [Chart("Pairs against other candidates, means", dumbbells(apart, names, low, high), "", legend)]
    weights = [known(kind.weight) for kind in found]
    if any(weight is not None for weight in weights):
        given = [
            Bar(name, weight or 0.0, note="–" if weight is None else percent(weight))
            for name, weight in zip(names, weights, strict=True)
        ]
        spoken = "; ".join(f"{bar.label} {bar.note}" for bar in given)
        picture = bars(Alternative("evidence-weights", "Weight of each kind of evidence", spoken), given)
        words = [("", "share of the weight of all kinds")]
        charts.insert(0, Chart("Weight of each kind", picture, "", words))
    return charts


def _weight_tables(weights: pa.Table) -> Sequence[Table]:
    """Return a table of the weights, one row per site and language pair; empty if there is only one row."""
    wide: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    of_kind: dict[str, list[float]] = defaultdict(list)
    for row in records(weights):
        if (weight := known(row.weight)) is not None:
            wide[row.site, row.lang_a, row.lang_b][row.evidence] = weight
            of_kind[row.evidence].append(weight)
    if len(wide) < 2:
        return []
    order = sorted(of_kind, key=lambda name: (-float(np.mean(of_kind[name])), name))
    columns = [Column("Site", "code"), Column("Languages", "langs"), *(Column(name, "share") for name in order)]
    rows = [
        (site, (lang_a, lang_b), *map(wide[site, lang_a, lang_b].get, order))
        for site, lang_a, lang_b in sorted(wide)[:MAX_WEIGHT_ROWS]
    ]
    caption = f"Weights on each site: {count(len(rows))} of {count(len(wide))}"
    return [Table(caption, columns, rows, is_tall=len(rows) > 15, folded="Weights site by site")]


def _spoken(value: float) -> str:
    return "not known" if np.isnan(value) else decimal(value, 2)
