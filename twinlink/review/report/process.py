"""Sections of the report on the run: links, patterns, rounds, crawl, rejects, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec.structs import replace

from twinlink.review.charts.charts import Curve, lines
from twinlink.review.charts.facing import facing_chart
from twinlink.review.charts.link_matrix import is_dense, link_matrix_chart
from twinlink.review.charts.rounds import LEGEND, rounds_chart, rounds_words
from twinlink.review.charts.svg import Alternative
from twinlink.review.report.data import Chart, Column, ReportData, Section, SiteGraph, Table, records, total
from twinlink.review.templating import count, percent, shortened
from twinlink.wording import ENDS, ROUND_OUTCOMES, STAGES, reason_words

__all__ = [
    "crawl_section",
    "graph_charts",
    "links_section",
    "patterns_section",
    "rejects_section",
    "rounds_section",
    "settings_section",
]

MAX_CRAWL_SITES = 200
MAX_SETTINGS = 20_000


def links_section(data: ReportData) -> Section | None:
    """Return the link graphs of the sites with the most pairs; None: there are none."""
    if not data.graphs:
        return None
    text = (
        "A link between two pages of one language is mirrored if their partners are linked, too. The more links are"
        " mirrored, the more the links reveal about partners."
    )
    charts = [
        chart
        for number, graph in enumerate(data.graphs)
        for chart in graph_charts(number, graph, len(data.sites), is_in_review=data.is_in_review)
    ]
    return Section("links", "Links of the two languages", "Links", [text], charts)


def graph_charts(number: int, graph: SiteGraph, n_sites: int, *, is_in_review: bool) -> Iterator[Chart]:
    """Yield the links of a site as a matrix and, where they are few, as arcs.

    Parameters
    ----------
    number : int
        Number of the site on the page.
    graph : SiteGraph
    n_sites : int
        Number of sites of the run; the charts of several are headed by their names.
    is_in_review : bool
        Whether the titles lead to the links of their pages in the review.
    """
    found, langs = graph.found, graph.langs
    shown = f"{count(len(found.rows))} pairs with the most links between them, of {count(found.n_pairs)}."
    if len(found.rows) == found.n_pairs:
        shown = f"All {count(found.n_pairs)} pairs." if found.n_pairs > 1 else "The one pair."
    mirrored = "There are no links among the paired pages, except menus."
    if found.mirrored is not None:
        mirrored = (
            f"{percent(found.mirrored)} of the {count(found.n_links)} links inside a language, among all paired pages,"
            " are mirrored in the other."
        )
    menus = f" {count(found.n_menu)} links to menu entries are left out." if found.n_menu else ""
    alternative = Alternative(
        f"graph-{number}", f"Link graph of {graph.site}, {langs[0]} facing {langs[1]}", f"{shown} {mirrored}"
    )
    title = shortened(graph.site, 60) if n_sites > 1 else ""
    cells = [
        ("", "links in both languages: mirrored"),
        ("a", f"links in {langs[0]} only"),
        ("b", f"links in {langs[1]} only"),
    ]
    order = "Each row is a pair that links, each column a pair that is linked to; the numbers are those of the list."
    names = list(zip(graph.titles_a, graph.titles_b, strict=True))
    targets = [(f"/graph/{a}?facing={b}", f"/graph/{b}?facing={a}") for a, b in graph.pages] if is_in_review else []
    picture = link_matrix_chart(replace(alternative, name=f"matrix-{number}"), found)
    yield Chart(title, picture, f"{shown} {mirrored}{menus} {order}", cells, is_wide=True, names=names, targets=targets)
    if is_dense(found):
        return
    picture = facing_chart(alternative, found, graph.titles_a, graph.titles_b, langs)
    legend = [
        ("a", f"links in {langs[0]} that are mirrored"),
        ("b", f"links in {langs[1]} that are mirrored"),
        ("quiet", "links that are not mirrored"),
    ]
    text = "The same with partners on one line; arcs are links inside a language, dashed if they are not mirrored."
    yield Chart("", picture, text, legend, is_wide=True, is_for_wide_screens=True)


def patterns_section(data: ReportData) -> Section | None:
    """Return the URL patterns; None: they were not learned."""
    if not data.pattern_verdicts:
        return None
    n_patterns = sum(data.pattern_verdicts.values())
    columns = [
        Column("Pattern", "code"),
        Column("Site", "code"),
        Column("Pages", "count", "pages of the site in pairs of this pattern"),
        Column("Share of the site", "share", "local credibility C(p,w)"),
        Column("Sites that have it", "count"),
        Column("Verdict"),
        Column("Languages", "langs"),
        Column("Example", "page"),
        Column("Its partner", "page"),
    ]
    rows = [
        (
            row.rule, row.site, int(row.n_pages), float(row.local), int(row.n_sites), row.verdict,
            (row.source_lang, row.target_lang) if row.source_lang and row.target_lang else None,
            _example(data, row.example_a), _example(data, row.example_b),
        )
        for row in records(data.patterns)
    ]  # fmt: skip
    verdicts = ", ".join(f"{count(n)} {name}" for name, n in data.pattern_verdicts.items())
    text = (
        "The differences between the addresses of partners. A pattern is credible if many pages of its site have it; a"
        f" weak one is rescued if it is credible on other sites. Of {count(n_patterns)}: {verdicts}."
    )
    caption = f"Patterns by number of pages: {count(len(rows))} of {count(n_patterns)}"
    return Section(
        "patterns", "URL patterns", "Patterns", [text], tables=[Table(caption, columns, rows, is_tall=len(rows) > 15)]
    )


def _example(data: ReportData, url: str) -> tuple[str, str, str]:
    return url, data.example_titles.get(url, ""), ""


def rounds_section(data: ReportData) -> Section | None:
    """Return the rounds of site discovery; None: there are none."""
    if not len(data.rounds):
        return None
    rounds = data.rounds
    names = ("round", "tried", *ROUND_OUTCOMES, "pages", "pairs", "all_pairs")
    shown = [Column(name.replace("_", " ").capitalize(), "count") for name in names]
    rows = [tuple(int(row[name]) for name in names) for row in rounds.to_pylist()]
    return Section(
        "rounds",
        "Rounds of discovery",
        "Rounds",
        [rounds_words(rounds)],
        [Chart("", rounds_chart(rounds), "", LEGEND)],
        [Table("Rounds", shown, rows)],
    )


def crawl_section(data: ReportData) -> Section | None:
    """Return the progress of the crawl; None: no crawl, and no page has a time."""
    if not data.crawl and not len(data.fetched):
        return None
    text = [ENDS.get(str(data.crawl.get("end", "")), "")] if data.crawl else []
    if data.crawl.get("queued"):
        text.append(f"{count(data.crawl['queued'])} addresses are still queued.")
    facts = [
        (name, written(data.crawl[key]))
        for key, name, written in (
            ("pages", "Pages fetched", count),
            ("redirects", "Redirects", count),
            ("rejected", "Rejected", count),
            ("bytes", "Received", _megabytes),
        )
        if key in data.crawl
    ]
    charts = [_progress_chart(data.fetched)] if len(data.fetched) > 1 else []
    tables = _crawl_tables(data.crawl)
    return Section("crawl", "The crawl", "Crawl", [each for each in text if each], charts, tables, facts)


def _progress_chart(fetched: Any) -> Chart:
    begin, end = int(fetched[0]), int(fetched[-1])
    seconds = (fetched - begin).astype(np.float64)
    unit, name = next((pair for pair in _UNITS if end - begin >= 2 * pair[0]), _UNITS[-1])
    first, last = (_moment(second) for second in (begin, end))
    text = f"{count(len(fetched))} pages, the first {first}, the last {last} (UTC)."
    curve = Curve("pages", seconds / unit, np.arange(1.0, len(fetched) + 1), is_step=len(fetched) < 100)
    picture = lines(
        Alternative("progress", "Pages over time", text), [curve], f"{name} since the first page", "pages",
        (0.0, max((end - begin) / unit, 1e-9)), (0.0, float(len(fetched))), x_text=lambda v: f"{v:g}", y_text=count,
    )  # fmt: skip
    return Chart("Pages over time", picture, text)


_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))


def _moment(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _megabytes(n: float) -> str:
    return f"{n / 1e6:,.1f} MB"


def _crawl_tables(crawl: Mapping[str, Any]) -> list[Table]:
    sites = sorted(crawl.get("sites", ()), key=lambda site: -site.get("pages", 0))
    if len(sites) < 2:
        return []
    columns = [Column("Site", "code"), Column("Pages", "count"), Column("Rejected", "count"), Column("Queued", "count")]
    columns += [Column("Seconds", "count"), Column("Ended by")]
    rows = [
        (
            site.get("site", ""), site.get("pages", 0), site.get("rejected", 0), site.get("queued", 0),
            round(site.get("seconds") or 0), site.get("ended", ""),
        )
        for site in sites[:MAX_CRAWL_SITES]
    ]  # fmt: skip
    caption = f"Sites by pages: {count(len(rows))} of {count(len(sites))}"
    return [Table(caption, columns, rows, is_tall=len(rows) > 15, folded="The crawl site by site")]


def rejects_section(data: ReportData) -> Section | None:
    """Return the rejects by reason; None: there are none."""
    if not len(data.rejects) and not len(data.filters):
        return None
    rejects = data.rejects
    text = (
        f"{count(total(rejects['n']))} pages, files or parts of files were left out, or pages got no partner. Each is"
        " counted under a reason."
    )
    columns = [Column("Reason", "tight"), Column("How many", "bar"), Column("What it means"), Column("When", "tight")]
    columns.append(Column("Example", "page"))
    most = max(rejects["n"].to_pylist(), default=1)
    rows = [
        (
            row.reason, (int(row.n), row.n / most, _STAGE_STYLES.get(row.stage, "")), reason_words(row.reason),
            STAGES.get(row.stage, row.stage), _example(data, row.url),
        )
        for row in records(rejects)
    ]  # fmt: skip
    tables = [Table("Reasons, the most frequent first", columns, rows, is_tall=len(rows) > 25)] if rows else []
    if len(data.filters):
        filters = [
            ("passed all" if row.filter == "kept" else row.filter, int(row.n_pairs)) for row in records(data.filters)
        ]
        filter_columns = [Column("Filter", "code"), Column("Candidates", "count")]
        tables.append(Table("Candidates by the filter that rejected them", filter_columns, filters))
    found = set(rejects["stage"].to_pylist())
    there = [stage for stage in STAGES if stage in found]
    legend = [(_STAGE_STYLES[stage], STAGES[stage]) for stage in there]
    return Section("rejects", "Rejects by reason", "Rejects", [text] if rows else [], tables=tables, legend=legend)


_STAGE_STYLES = {"crawl": "crawl", "ingest": "ingest", "match": "match", "recover": ""}
"""Classes of the colours; an empty one has the colour of bars."""


def settings_section(data: ReportData) -> Section:
    """Return version, signatures and settings."""
    facts = [("Version", data.version), *((f"Signature of {name}", text) for name, text in data.signatures.items())]
    text = "Equal signatures mean equal results."
    code = data.settings
    if len(code) > MAX_SETTINGS:
        code = f"{code[:MAX_SETTINGS]}\n# … the rest is in config.toml"
    return Section("settings", "Settings and signatures", "Settings", [text], facts=facts, code=code)
