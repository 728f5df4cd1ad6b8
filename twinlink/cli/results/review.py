"""Results of the report, of exported labels, and of the demo."""

from __future__ import annotations

from twinlink.cli.results.evaluation import Scores
from twinlink.cli.results.pages import PairsResult
from twinlink.cli.results.record import Record
from twinlink.errors import TwinlinkError

__all__ = ["DemoResult", "LabelsResult", "ReportResult", "ReviewResult"]


class ReportResult(Record, frozen=True, kw_only=True):
    """`twinlink report`: where the report is."""

    run: str
    """The run directory."""
    report: str
    """The file."""
    n_bytes: int
    """Its size."""


class ReviewResult(Record, frozen=True, kw_only=True):
    """`twinlink review`: where it is served, told as soon as it is."""

    run: str
    """The run directory."""
    address: str
    """Address to open in a browser of this machine; it is also the way in, so keep it to yourself."""


class LabelsResult(Record, frozen=True, kw_only=True):
    """`twinlink review --export`: what was written."""

    run: str
    """The run directory."""
    accepted: int
    """Pairs that people took for right."""
    rejected: int
    """Pairs that people took for wrong."""
    exported: str
    """The file."""


class DemoResult(Record, frozen=True, kw_only=True):
    """`twinlink demo`: the pairs of the made site, and how they score."""

    site_pages: int
    """Pages of the made site."""
    pairs: PairsResult
    """As of `twinlink mine`."""
    scores: Scores
    """The measures against the known truth."""
    gold: str
    """File of the known truth."""

    def problem(self) -> TwinlinkError | None:
        """Return the error of a run without pairs."""
        return self.pairs.problem()
