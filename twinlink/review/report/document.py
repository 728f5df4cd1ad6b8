"""Rendering of the report as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from twinlink.review.report.data import ReportData, Section
from twinlink.review.report.found import found_section, languages_section, pairs_section, sites_section
from twinlink.review.report.look_alikes import look_alikes_section
from twinlink.review.report.process import (
    crawl_section,
    links_section,
    patterns_section,
    rejects_section,
    rounds_section,
    settings_section,
)
from twinlink.review.report.trust import evidence_section, trust_section
from twinlink.review.templating import environment, source_hash, static_text


def render_report(data: ReportData, stamp: str = "") -> str:
    """Return the report as HTML.

    The file loads nothing; its policy allows only its own style sheet and the script that sorts tables. All texts of
    pages are escaped, and only http and https addresses become links.

    Parameters
    ----------
    data : ReportData
    stamp : str
        Digest of what the report was made from; `refresh_report` compares it.
    """
    style, script = _inline()
    template = environment().get_template("report.html")
    return template.render(
        data=data,
        sections=report_sections(data),
        policy=report_policy(),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        stamp=stamp,
    )


def report_policy() -> str:
    """Return the Content-Security-Policy of a report."""
    style, script = map(source_hash, _inline())
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _inline() -> tuple[str, str]:
    """Return the style sheet and the script."""
    return f"\n{static_text('base.css')}", f"\n{static_text('sort.js')}"


def report_sections(data: ReportData) -> Sequence[Section]:
    """Return the sections of the report that are not empty."""
    makers = (
        found_section,
        pairs_section,
        languages_section,
        trust_section,
        evidence_section,
        links_section,
        look_alikes_section,
        sites_section,
        patterns_section,
        rounds_section,
        crawl_section,
        rejects_section,
        settings_section,
    )
    return [section for make in makers if (section := make(data)) is not None]
