"""The robustness campaign: effects of servers, files, pauses and kills on a run, as a table.

::

    python -m experiments.campaign [--kills 300] [--archives 10000] [--only hostile] [--seed 1] [-o FILE]
    python -m experiments.campaign --merge hostile.json kills.json more-kills.json -o all.md

One row per kind of attack: how often it was tried and survived, what was lost or came out wrong, pages fetched more
than once, the most memory that was held (by the crawler where one runs, else by the command or the reader), and the
longest time without progress (for files: of one of them). The same seed draws the same kills and damage; so a campaign
can be done in parts, each with its own ``--only``, ``--case`` or seed and its own JSON file, which ``--merge`` puts
together. The file of ``-o`` is written also when the campaign is stopped (Ctrl-C), with what has been tried. Exit code
1 means that something was lost, did not end, or that the crawler held more than 300 MB or was silent for a minute.
Needs Linux, for it looks into ``/proc``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from experiments.campaign.archives import damaged_archives, through_the_command_line
from experiments.campaign.beside import try_beside
from experiments.campaign.case_files import INPUTS
from experiments.campaign.catalogue import CATALOGUE
from experiments.campaign.crawled import crawl_case
from experiments.campaign.inputs import finished_run, try_input
from experiments.campaign.kills import SHARES, kill_stage, served, stages
from experiments.campaign.paused import ENDS, end_paused
from experiments.campaign.table import Row, Trial, as_markdown, joined, merged

__all__ = ["PARTS", "main"]

Named = Iterator[tuple[str, Trial]]
"""Trials, each with its kind."""

_THROUGH_THE_COMMAND_LINE = 100  # every so many damaged archives, one is also read by the command


def hostile(given: argparse.Namespace, folder: Path) -> Named:
    """Crawl each hostile site of the catalogue."""
    for number, case in enumerate(CATALOGUE):
        if not given.case or given.case in case.name:
            yield f"hostile sites: {case.group}", crawl_case(case, folder / str(number))


def beside(given: argparse.Namespace, folder: Path) -> Named:
    """Crawl the server of hostile and good pages."""
    if not given.case:
        yield "24 hostile pages beside 200 good ones", try_beside(folder / "beside")


def files(given: argparse.Namespace, folder: Path) -> Named:
    """Run the command of each hostile file."""
    run = finished_run(folder)
    for hostile_file in INPUTS:
        if not given.case or given.case in hostile_file.name:
            yield "hostile files", try_input(hostile_file, run)


def archives(given: argparse.Namespace, folder: Path) -> Named:  # noqa: ARG001  # as the others
    """Read damaged archives."""
    for trial in damaged_archives(given.archives, given.seed):
        yield "damaged archives, read", trial
    for trial in through_the_command_line(given.archives // _THROUGH_THE_COMMAND_LINE, given.seed):
        yield "damaged archives, through `twinlink ingest`", trial


def paused(given: argparse.Namespace, folder: Path) -> Named:
    """End mining that is paused."""
    for end in ENDS:
        if not given.case or given.case in end.name:
            yield "paused runs that are ended", end_paused(end, folder / end.name)


def kills(given: argparse.Namespace, folder: Path) -> Named:
    """Kill stages."""
    wanted = {name: share for name, share in SHARES.items() if not given.case or given.case in name}
    if not wanted:
        return
    counts = {name: max(1, round(given.kills * share / sum(wanted.values()))) for name, share in wanted.items()}
    with served(folder / "site") as (site, starts, visit):
        for stage in stages(folder, counts, starts, visit):
            for trial in kill_stage(stage, counts[stage.name], given.seed, folder, site):
                yield f"SIGKILL in {stage.name}", trial


PARTS: Mapping[str, Callable[[argparse.Namespace, Path], Named]] = {
    "hostile": hostile, "beside": beside, "files": files, "archives": archives, "paused": paused, "kills": kills,
}  # fmt: skip


def run_parts(given: argparse.Namespace) -> list[Row]:
    """Run the selected parts; print failures as they occur, and write the table, also when interrupted."""
    found: dict[str, list[Trial]] = {}
    try:
        for name in given.only or PARTS:
            with tempfile.TemporaryDirectory(prefix="twinlink-campaign-") as folder:
                for kind, trial in PARTS[name](given, Path(folder)):
                    found.setdefault(kind, []).append(trial)
                    _tell(kind, trial, given.verbose)
    finally:
        rows = [joined(kind, trials) for kind, trials in found.items()]
        _keep(rows, given.out)
    return rows


def _tell(kind: str, trial: Trial, all_: bool) -> None:
    if trial.missed or all_:
        missed = "; ".join(trial.missed)[:1_000]
        print(f"{kind}: {trial.name}: {trial.seconds:.1f} s; {missed}", file=sys.stderr, flush=True)


def read_rows(files: Sequence[Path]) -> list[Row]:
    """Return the rows of JSON files of ``-o``, merged by kind."""
    return merged(Row(**row) for file in files for row in json.loads(file.read_text(encoding="utf-8")))


def _keep(rows: Sequence[Row], out: Path | None) -> None:
    if out is not None:
        out.write_text(_as_json(rows) if out.suffix == ".json" else as_markdown(rows), encoding="utf-8")


def _as_json(rows: Sequence[Row]) -> str:
    return json.dumps([row.as_json() for row in rows], indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--archives", type=int, default=10_000)
    parser.add_argument("--only", action="append", choices=list(PARTS), help="repeatable; default: all parts")
    parser.add_argument("--case", default="", help="only cases whose name has this in it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--out", type=Path, help="write the table there, too: .json for JSON, else Markdown")
    parser.add_argument("--merge", nargs="+", type=Path, metavar="FILE", help="only put JSON files of -o together")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell of every trial")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    rows = read_rows(given.merge) if given.merge else run_parts(given)
    if given.merge:
        _keep(rows, given.out)
    print(_as_json(rows) if given.json else as_markdown(rows), end="")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(1 if any(row.missed for row in rows) else 0)


if __name__ == "__main__":
    main()
