"""The summary of a run for notebooks: stages and results."""

from __future__ import annotations

from html import escape

import pandas as pd

from twinlink.evaluation.expected import expected_of
from twinlink.notebook_tables import cell, html_table
from twinlink.run_tables import RunTables
from twinlink.tables import SEGMENT

_STAGES = ("ingest", "match", "align", "patterns", "rank", "recover")
_MOST = 6  # rows of a list in the summary


def run_html(run: RunTables) -> str:
    """Return the summary of a run as HTML: stages and results."""
    done = [stage for stage in _STAGES if run.has(stage)]
    rows = [cell("<b>stages done</b>") + cell(escape(", ".join(done) or "none"))]
    rows += [cell(f"<b>{name}</b>") + cell(f"<bdi>{escape(text)}</bdi>") for name, text in _facts(run)]
    return html_table(f"Run <b><bdi>{escape(run.path.name)}</bdi></b>", (), rows)


def _meanings(run: RunTables, pages: pd.DataFrame) -> list[str]:
    """Return the languages used for the wanted ones on the run's sites, where they differ."""
    if not run.config.langs or not run.has("match"):
        return []
    from twinlink.language_names import meaning_lines, meanings

    return list(meaning_lines(meanings(run.config.langs, pages.groupby("site", sort=False)["lang"].unique())))


def _facts(run: RunTables) -> list[tuple[str, str]]:
    """Return the results of a run's stages, in words."""
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
    expected = expected_of(pairs)
    precision = "" if expected is None else f", expected precision {expected}"
    return f"{len(pairs):,} ({_counts(langs)}){precision}" if len(pairs) else "0"


def _counts(values: pd.Series[str]) -> str:
    """Return how often each value occurs, the most frequent first."""
    counts = sorted(values.value_counts().items(), key=lambda item: (-item[1], str(item[0])))
    said = ", ".join(f"{name} {count:,}" for name, count in counts[:_MOST])
    return f"{said}, …" if len(counts) > _MOST else said or "none"
