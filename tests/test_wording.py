"""Every reason that a stage can give has words, and every kind of evidence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import twinlink
from twinlink.align.filters import REASONS
from twinlink.spiders.failures import failure_reason
from twinlink.spiders.frontier import LATER
from twinlink.tables import EVIDENCE_FIELDS
from twinlink.wording import EVIDENCE_WORDS, SENTENCE_REASONS, STAGES, reason_words

PLACES = {
    "Reject": 2,
    "Outcome": 1,
    "Verdict": 1,
    "_Why": 2,
    "RefusedError": 0,
    "UnusableError": 0,
    "UnreadError": 0,
    "BrowserError": 0,
}
"""Classes that have a reason, and its place among their arguments."""
ELSEWHERE = (
    *LATER,
    *("page-limit", "interrupted", "budget-pages"),  # what a crawl leaves over
    *("damaged-record", "truncated"),  # places of an archive
    *("timeout", "dns", "tls", "connection", failure_reason(ValueError())[0]),
    *("soft-404", "known-page", "wrong-language", "empty-page"),  # verdicts on guessed addresses
)
"""Reasons that a variable or a result holds."""


def reasons() -> Iterator[str]:
    """Yield the reasons that the code writes out, `http-` for all with this beginning."""
    for file in Path(twinlink.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for argument in given(node) if isinstance(node, ast.Call) else ():
                parts = [part.value for part in ast.walk(argument) if isinstance(part, ast.Constant)]
                yield from (part for part in parts if isinstance(part, str) and re.fullmatch("[a-z0-9-]+", part))


def given(call: ast.Call) -> list[ast.expr]:
    """Return what a call gives as a reason."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "_replace":
        return [word.value for word in call.keywords if word.arg == "reason"]
    place = PLACES.get(call.func.id) if isinstance(call.func, ast.Name) else None
    return [] if place is None else call.args[place : place + 1]


def test_each_reason_has_words() -> None:
    found = {*reasons(), *ELSEWHERE}
    assert len(found) > len(ELSEWHERE)
    assert [reason for reason in sorted(found) if not reason_words(reason)] == []


def test_every_reason_against_a_sentence_pair_has_words_in_the_order_of_the_tests() -> None:
    assert tuple(SENTENCE_REASONS) == REASONS


def test_a_stage_that_rejects_has_words() -> None:
    assert list(STAGES) == ["crawl", "ingest", "match", "recover"]


def test_every_kind_of_evidence_has_words() -> None:
    assert sorted(EVIDENCE_WORDS) == sorted(field.name for field in EVIDENCE_FIELDS)
