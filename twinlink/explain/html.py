"""An explanation as tables with bars, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd

from twinlink.explain.text import Explained
from twinlink.notebook_tables import WORDS, WRAPPED, address, bar, cell, html_table
from twinlink.similarity.filter_checks import verdict_of

_MARKS = {"pair": "✓", "no pair": "✗", "not kept": "–"}


def explanation_html(explanation: Explained) -> str:
    """Return an explanation as HTML: the verdict, the evidence with its weights, the rivals."""
    mark = _MARKS.get(explanation.state, "")
    verdict = f'<p><b><span aria-hidden="true">{mark}</span> {address(explanation.url)}</b><br>'
    parts = [f"{verdict}<bdi>{escape(explanation.verdict)}</bdi></p>"]
    parts += [f"<p><bdi>{escape(note)}</bdi></p>" for note in explanation.notes]
    if explanation.shown is not None:
        parts.append(_evidence_html(explanation))
    if explanation.shown is not None and len(explanation.checks):
        parts.append(_checks_html(explanation.checks, explanation.shown))
    if len(explanation.candidates):
        parts.append(_rivals_html(explanation.candidates, explanation.titles))
    return f"<div>{''.join(parts)}</div>"


def _evidence_html(explanation: Explained) -> str:
    assert explanation.shown is not None, "there are two pages to show"
    about = " ↔ ".join(map(address, explanation.shown))
    table = explanation.evidence.to_dict("records")
    rows = [
        cell(f"<b>{escape(row['evidence'])}</b>")
        + bar(row["weight"], f"{row['weight']:.2f}")
        + bar(row["value"])
        + bar(row["rival"])
        + cell(escape(row["meaning"]), WORDS)
        for row in table
    ]
    return html_table(f"Evidence for {about}", ("evidence", "weight", "value", "best rival", "what it is"), rows)


def _checks_html(checks: pd.DataFrame, shown: tuple[str, str]) -> str:
    rows = [
        cell(f"<b>{escape(row['check'])}</b>")
        + cell("" if pd.isna(row["value"]) else f"{row['value']:.4f}")
        + cell("" if pd.isna(row["bound"]) else f"{escape(row['relation'])} {row['bound']:.4f}")
        + cell(verdict_of(row["relation"], row["value"], row["passed"]))
        + cell(escape(row["meaning"]), WORDS)
        for row in checks.to_dict("records")
    ]
    about = " ↔ ".join(map(address, shown))
    return html_table(f"Checks of {about}", ("check", "value", "bound", "", "what it is"), rows)


def _rivals_html(candidates: pd.DataFrame, titles: Mapping[str, str]) -> str:
    table = candidates.to_dict("records")
    rows = [
        cell(_page(row["url_a"], titles), WRAPPED)
        + cell(_page(row["url_b"], titles), WRAPPED)
        + bar(row["score"])
        + cell(row["pair"] and "pair")
        for row in table
    ]
    return html_table("Candidates, best first", ("page", "page", "score", ""), rows)


def _page(url: str, titles: Mapping[str, str]) -> str:
    """Return the address of a page under its title."""
    title = titles.get(url, "")
    return (f"<bdi>{escape(title)}</bdi><br>" if title else "") + address(url)
