"""How a run and an explanation show themselves in a notebook: small tables that take the notebook's own colours.

Colours are those of the text around, at most mixed with transparency, so that light and dark notebooks both work. There
is no script, no style sheet and no picture; without the styles (as on some sites that show notebooks) every number is
still there. All that comes from pages is escaped, and held apart where it is written from right to left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from twinlink.align.filters import SEGMENT

if TYPE_CHECKING:
    from twinlink.explain.explanation import Explanation
    from twinlink.run import Run

__all__ = ["bar", "explanation_html", "run_html"]

_LEFT = "text-align:left;vertical-align:top"
_WRAPPED = f"{_LEFT};overflow-wrap:anywhere"
_MUTED = "opacity:.75"
_MARKS = {"pair": "✓", "no pair": "✗", "not kept": "–"}
_STAGES = ("ingest", "match", "align", "patterns", "rank", "recover")
_MOST = 6  # rows of a list in the summary


def bar(share: float, text: str = "") -> str:
    """Return a bar with its number beside it; what is not from 0 to 1 is cut there.

    >>> "width:50.0%" in bar(0.5), "0.5000" in bar(0.5)
    (True, True)
    """
    if math.isnan(share):
        return "<td></td>"
    width = 100 * min(1.0, max(0.0, share))
    filled = f'<span style="display:block;height:.6em;width:{width:.1f}%;background:currentColor;opacity:.55"></span>'
    frame = "display:inline-block;width:5em;border:1px solid currentColor;border-radius:2px;vertical-align:middle"
    return (
        f'<td style="{_LEFT};white-space:nowrap"><span aria-hidden="true" style="{frame}">{filled}</span> '
        f"{text or f'{share:.4f}'}</td>"
    )


def _address(url: str) -> str:
    """Return a page's address as a link; only web addresses become links."""
    shown = f"<bdi>{escape(url)}</bdi>"
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" rel="noopener noreferrer" target="_blank">{shown}</a>'


def _table(caption: str, head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of rows that are whole (``<td>…</td>``)."""
    titles = "".join(f'<th scope="col" style="{_LEFT}">{escape(title)}</th>' for title in head)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table><caption style="{_LEFT};{_MUTED}">{caption}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(html: object, style: str = _LEFT) -> str:
    return f'<td style="{style}">{html}</td>'


def explanation_html(explanation: Explanation) -> str:
    """Return an explanation as HTML: the verdict, the evidence with its weights, the rivals."""
    mark = _MARKS.get(explanation.state, "")
    verdict = f'<p><b><span aria-hidden="true">{mark}</span> {_address(explanation.url)}</b><br>'
    parts = [f"{verdict}<bdi>{escape(explanation.verdict)}</bdi></p>"]
    parts += [f"<p><bdi>{escape(note)}</bdi></p>" for note in explanation.notes]
    if explanation.shown is not None:
        parts.append(_evidence_html(explanation))
    if len(explanation.candidates):
        parts.append(_rivals_html(explanation.candidates))
    return f"<div>{''.join(parts)}</div>"


def _evidence_html(explanation: Explanation) -> str:
    assert explanation.shown is not None, "somebody looked"
    about = " ↔ ".join(map(_address, explanation.shown))
    table = explanation.evidence.to_dict("records")
    rows = [
        _cell(f"<b>{escape(row['evidence'])}</b>")
        + bar(row["weight"], f"{row['weight']:.2f}")
        + bar(row["value"])
        + bar(row["rival"])
        + _cell(escape(row["meaning"]), f"{_LEFT};{_MUTED}")
        for row in table
    ]
    return _table(f"Evidence for {about}", ("evidence", "weight", "value", "best rival", "what it is"), rows)


def _rivals_html(candidates: pd.DataFrame) -> str:
    table = candidates.to_dict("records")
    rows = [
        _cell(_address(row["url_a"]), _WRAPPED)
        + _cell(_address(row["url_b"]), _WRAPPED)
        + bar(row["score"])
        + _cell(row["pair"] and "pair")
        for row in table
    ]
    return _table("Candidates, best first", ("page", "page", "score", ""), rows)


def run_html(run: Run) -> str:
    """Return the summary of a run as HTML: what has been done, and what came out."""
    done = [stage for stage in _STAGES if run.has(stage)]
    rows = [_cell("<b>stages done</b>") + _cell(escape(", ".join(done) or "none"))]
    rows += [_cell(f"<b>{name}</b>") + _cell(f"<bdi>{escape(text)}</bdi>") for name, text in _facts(run)]
    return _table(f"Run <b><bdi>{escape(run.path.name)}</bdi></b>", (), rows)


def _meanings(run: Run, pages: pd.DataFrame) -> list[str]:
    """Return what the wanted languages mean on the run's sites, where that is not what is written."""
    if not run.config.langs or not run.has("match"):
        return []
    from twinlink.language_names import meaning_lines, meanings

    return list(meaning_lines(meanings(run.config.langs, pages.groupby("site", sort=False)["lang"].unique())))


def _facts(run: Run) -> list[tuple[str, str]]:
    """Return what a run's stages have found, in words."""
    facts = []
    if run.has("ingest"):
        pages = run.pages
        facts.append(("pages", f"{len(pages):,} ({_counts(pages['lang'].fillna('not known'))})"))
        facts += [("languages", line) for line in _meanings(run, pages)]
        facts += [("sites", f"{pages['site'].nunique():,}"), ("links", f"{len(run.links):,}")]
    if run.has("match"):
        facts += [("pairs", _pairs(run.pairs))]
    if run.has("align"):
        facts.append(("sentence pairs", f"{int((run.segments['verdict'] == SEGMENT).sum()):,}"))
    if run.has("patterns"):
        facts.append(("URL patterns", _counts(run.patterns["verdict"])))
    if run.has("ingest"):
        facts.append(("rejects", _counts(run.rejects["reason"])))
    return facts


def _pairs(pairs: pd.DataFrame) -> str:
    langs = pairs["lang_a"].str.cat(pairs["lang_b"], sep="–")
    chances = pairs["probability"]
    precision = f", expected precision {chances.mean():.3f}" if chances.notna().all() else ""
    return f"{len(pairs):,} ({_counts(langs)}){precision}" if len(pairs) else "0"


def _counts(values: pd.Series[str]) -> str:
    """Return how often each value occurs, the most frequent first."""
    counts = sorted(values.value_counts().items(), key=lambda item: (-item[1], str(item[0])))
    said = ", ".join(f"{name} {count:,}" for name, count in counts[:_MOST])
    return f"{said}, …" if len(counts) > _MOST else said or "none"
