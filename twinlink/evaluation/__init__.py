"""Precision, recall and F1 of page pairs.

- by known pairs: `read_gold`, then `evaluate`; the curve over probabilities: `curve_points`, `precision_coverage`
- expected from the probabilities: `expected_precision`, with an interval
- by labels of reviewers: `score_labels`, with intervals
"""

from __future__ import annotations

from twinlink.evaluation.expected import ExpectedPrecision, expected_precision
from twinlink.evaluation.gold import (
    Counts,
    Evaluation,
    Gold,
    curve_points,
    evaluate,
    judge_pairs,
    precision_coverage,
    read_gold,
)
from twinlink.evaluation.labelled import LabelScores, score_labels

__all__ = [
    "Counts",
    "Evaluation",
    "ExpectedPrecision",
    "Gold",
    "LabelScores",
    "curve_points",
    "evaluate",
    "expected_precision",
    "judge_pairs",
    "precision_coverage",
    "read_gold",
    "score_labels",
]
