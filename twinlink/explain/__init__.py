"""Explanations: the evidence of a pair, the rivals that lost, and why a page is in no pair.

`explain` returns an `Explanation`, which prints as text (`text`) and shows itself as tables in a notebook (`html`).
`outcomes` has the words for each outcome.
"""

from __future__ import annotations

from twinlink.explain.explanation import Explanation, explain

__all__ = [
    "Explanation",
    "explain",
]
