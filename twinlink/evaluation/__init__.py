"""Precision, recall and F1 of page pairs: by a gold list (`evaluate`, `read_gold`), or by labels (`score_labels`)."""

from __future__ import annotations

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
    "Gold",
    "LabelScores",
    "curve_points",
    "evaluate",
    "judge_pairs",
    "precision_coverage",
    "read_gold",
    "score_labels",
]
