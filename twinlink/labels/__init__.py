"""Labels of page pairs by reviewers: storage, precision estimates, order of questions.

- storage: `LabelBook` keeps labels by address, append-only; `Label`, `export_labels`
- precision: `estimate`, `share_of`: the share of right pairs, with intervals of 95 %
- order: `teaching_order`, `asking_order`: the most informative pairs first
"""

from __future__ import annotations

from twinlink.labels.book import ACCEPTED, REJECTED, UNLABELLED, Label, LabelBook, Step, export_labels
from twinlink.labels.precision import Estimate, Share, estimate, share_of
from twinlink.labels.teaching_order import asking_order, teaching_order

__all__ = [
    "ACCEPTED",
    "REJECTED",
    "UNLABELLED",
    "Estimate",
    "Label",
    "LabelBook",
    "Share",
    "Step",
    "asking_order",
    "estimate",
    "export_labels",
    "share_of",
    "teaching_order",
]
