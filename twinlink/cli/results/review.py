"""Results of the report, of exported labels, and of the demo."""

from __future__ import annotations

from twinlink.cli.results.evaluation import Scores
from twinlink.cli.results.pages import PairsResult
from twinlink.cli.results.record import Record
from twinlink.errors import TwinlinkError


class ReportResult(Record, frozen=True, kw_only=True):
    """`twinlink report`: the report."""

    run: str
    """The run directory."""
    report: str
    """The file."""
    n_bytes: int
    """Its size."""


class ReviewResult(Record, frozen=True, kw_only=True):
    """`twinlink review`: its address, printed as soon as it is served."""

    run: str
    """The run directory."""
    address: str
    """Address to open in a browser of this machine; it contains the access token, so keep it secret."""


class LabelsResult(Record, frozen=True, kw_only=True):
    """`twinlink review --export`: the exported labels."""

    run: str
    """The run directory."""
    accepted: int
    """Accepted pairs."""
    rejected: int
    """Rejected pairs."""
    written: int
    """Labels in the file: a gold list has only the accepted pairs."""
    exported: str
    """The file."""


class DemoResult(Record, frozen=True, kw_only=True):
    """`twinlink demo`: the pairs of the demo site, and their scores."""

    site_pages: int
    """Pages of the demo site, without its calendar, which has no end."""
    calendar_pages: int
    """Pages of the calendar that were crawled."""
    pairs: PairsResult
    """As of `twinlink mine`."""
    scores: Scores
    """The measures against the known truth."""
    gold: str
    """File of the known truth."""
    gold_months: int
    """Pairs in it that are months of the calendar; the other pairs are in the site from the start."""

    def problem(self) -> TwinlinkError | None:
        """Return the error of a run without pairs."""
        return self.pairs.problem()
