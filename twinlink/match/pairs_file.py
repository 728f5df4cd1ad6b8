"""The file ``RUN/pairs.tsv``: written when a match ends, unless it would replace pairs by none."""

from __future__ import annotations

from pathlib import Path

from twinlink.config import Config
from twinlink.errors import DamagedError, EmptyMatchError
from twinlink.files import write_text
from twinlink.match.counts import count_match, why_none, without_candidates
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with
from twinlink.tables import PAIRS, count_rows, read_table, tsv_lines


def conclude(run: RunDirectory, folder: Path, config: Config) -> None:
    """Finish a match: write the list of its pairs; refuse to replace a match that has pairs by one without.

    A first match without pairs is kept, because its tables say why, but its settings are not remembered.

    Raises
    ------
    EmptyMatchError
        If there is no pair, and the run has some.
    """
    if n_pairs(folder):
        keep_with(run, folder, config, "match")
    elif before := _pairs_before(run):
        counts = count_match(run, folder)
        no_candidates = without_candidates(config.match, counts.candidates)
        why = why_none(counts.languages, config.langs, counts.reasons, no_candidates, config.ingest.url_prefixes)
        raise EmptyMatchError(run.path, f"The run keeps its {before} pairs", counts, why)
    write_pairs_file(folder, run.top(folder, run.pairs_file.name))


def _pairs_before(run: RunDirectory) -> int:
    try:
        return n_pairs(run.path / "match")
    except DamagedError:  # unreadable results are not kept
        return 0


def write_pairs_file(folder: Path, target: Path) -> None:
    """Write all pairs of a match, most probable first, in the format of ``RUN/pairs.tsv``."""
    table = read_table(folder / "pairs", PAIRS)
    table = table.sort_by([("probability", "descending"), ("score", "descending"), ("url_a", "ascending")])
    write_text(target, "".join(f"{line}\n" for line in tsv_lines(table)))


def n_pairs(folder: Path) -> int:
    """Return the number of pairs of a match in a folder."""
    return count_rows(folder / "pairs")
