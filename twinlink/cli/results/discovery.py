"""Results of site discovery: its rounds, and their counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from twinlink.cli.results.record import Record

if TYPE_CHECKING:
    from twinlink.rundir.rounds import Rounds

_SITES_SHOWN = 5  # of a round, by verdict


class FailedSite(msgspec.Struct, frozen=True):
    """A site without a page."""

    site: str
    """The site."""
    verdict: str
    """Its verdict."""
    reason: str
    """Reason of the verdict."""


class RoundResult(Record, frozen=True, kw_only=True):
    """A round of discovery."""

    counts: dict[str, int]
    """The round's row of ``rounds.tsv``."""
    failed: list[FailedSite]
    """Sites that gave no page, five at most."""
    n_failed: int
    """All of them."""
    verdicts: str
    """File of the verdicts on sites."""

    @classmethod
    def of(cls, row: Mapping[str, int], out: Path) -> RoundResult:
        """Make it of one round of the run in ``out``."""
        from twinlink.rundir.rounds import VERDICTS_FILE

        rounds = _rounds(out)
        verdicts = rounds.verdicts(row["round"])
        failed = [each for each in verdicts.to_pylist() if not each["pages"]] if verdicts is not None else []
        return cls(
            counts={name: int(value) for name, value in row.items()},
            failed=[FailedSite(each["site"], each["verdict"], each["reason"]) for each in failed[:_SITES_SHOWN]],
            n_failed=len(failed),
            verdicts=str(rounds.folder / VERDICTS_FILE),
        )


class DiscoveryResult(Record, frozen=True, kw_only=True):
    """`twinlink discover`: all rounds, and their files."""

    run: str
    """The run directory."""
    rounds: list[RoundResult]
    """All finished rounds."""
    exhausted: bool
    """Whether no site was left to try before the last wanted round."""
    table: str
    """File of the rounds."""
    picture: str
    """Chart of the rounds."""
    verdicts: str
    """File of the verdicts on sites."""
    pairs: str
    """File of the page pairs: by URL patterns, or by the match if there is one (``discover.pairs``)."""
    n_unpaired: int
    """Added sites in two languages without a URL pattern, whose pages a match can pair; 0 after a match."""
    sites: str
    """File of the sites that may come next."""

    @classmethod
    def of(cls, out: Path, wanted: int) -> DiscoveryResult:
        """Make it from the rounds of the run in ``out``, of which ``wanted`` were wanted after the first."""
        from twinlink.patterns.stage import PAIRS_FILE
        from twinlink.rundir.directory import RunDirectory
        from twinlink.rundir.rounds import PLOT_FILE, ROUNDS_FILE, VERDICTS_FILE
        from twinlink.sites.stage import SITES_FILE

        rounds, run = _rounds(out), RunDirectory(out)
        is_matched = run.read_signature("match") is not None
        shown = [RoundResult.of(row, out) for row in rounds.table().to_pylist()]
        return cls(
            run=str(out),
            rounds=shown,
            exhausted=len(shown) <= wanted,
            table=str(rounds.folder / ROUNDS_FILE),
            picture=str(rounds.folder / PLOT_FILE),
            verdicts=str(rounds.folder / VERDICTS_FILE),
            pairs=str(run.pairs_file if is_matched else out / "patterns" / PAIRS_FILE),
            n_unpaired=0 if is_matched else sum(map(_has_no_pattern, rounds.all_verdicts().to_pylist())),
            sites=str(out / "rank" / SITES_FILE),
        )


def _has_no_pattern(verdict: Mapping[str, Any]) -> bool:
    """Return whether a site was added for the pairs that a match of its probed pages found, or for its languages."""
    return bool(verdict["added"] and (verdict["pairs"] or verdict["verdict"] == "two-languages"))


def _rounds(out: Path) -> Rounds:
    from twinlink.rundir.directory import RunDirectory
    from twinlink.rundir.rounds import Rounds

    return Rounds(RunDirectory(out))
