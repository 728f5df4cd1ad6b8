"""Results of a match: the list of pairs, counts, and the error for a match that would replace pairs by none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from twinlink.config import Config
from twinlink.errors import DamagedError, NothingFoundError
from twinlink.files import write_text
from twinlink.language.site_languages import TWO_LANGUAGES, UNDETERMINED
from twinlink.language_names import name_of
from twinlink.languages import languages_of_site
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with
from twinlink.tables import FILTERS, LANGUAGES, PAIRS, REJECTS, count_rows, iter_parts, read_table, tsv_lines

__all__ = [
    "NOT_THERE",
    "EmptyMatchError",
    "MatchCounts",
    "conclude",
    "count_match",
    "matched_langs",
    "n_pairs",
    "why_none",
    "write_pairs_file",
]

NOT_THERE = "no page is in"

_CUTS = {
    "doubtful": "every pair that was found is below the limit (match.min_probability, match.min_precision)",
    "over-limit": "every pair that was found is left out (match.min_score, match.max_pairs)",
}
"""Messages for a match that found pairs and kept none, by the reject reason of their pages."""


@dataclass(frozen=True)
class MatchCounts:
    """Counts over all sites: pages by language, rejects by stage and reason, candidates by filter."""

    n_pages: int
    languages: Mapping[str, int]
    """The most frequent first."""
    rejects: Mapping[tuple[str, str], int]
    filters: Mapping[str, int]

    @property
    def reasons(self) -> set[str]:
        """Why pages have no pair."""
        return {reason for stage, reason in self.rejects if stage == "match"}


class EmptyMatchError(NothingFoundError):
    """A match found no pair and therefore did not replace an earlier match.

    Parameters
    ----------
    run : Path
        The run that was matched.
    ended : str
        How it ended.
    counts : MatchCounts
        Its counts.
    why : str
        Why there is no pair.
    """

    def __init__(self, run: Path, ended: str, counts: MatchCounts, why: str) -> None:
        super().__init__(f"0 pairs: {why}. {ended}")
        self.run = run
        self.counts = counts
        self.why = why


def count_match(run: RunDirectory, folder: Path) -> MatchCounts:
    """Count the results of a match in a folder, which may still be temporary."""
    rejects: Counter[tuple[str, str]] = Counter()
    for file in (run.stage_folder("ingest") / "rejects.parquet", folder / "rejects.parquet"):
        table = read_table(file, REJECTS, ("stage", "reason"))
        rejects.update(zip(table["stage"].to_pylist(), table["reason"].to_pylist(), strict=True))
    langs = Counter(read_table(folder / "languages", LANGUAGES, ("lang",))["lang"].to_pylist())
    filters: Counter[str] = Counter()
    for part in iter_parts(folder / "filters"):
        for row in read_table(part, FILTERS, ("filter", "n_pairs")).to_pylist():
            filters[row["filter"]] += row["n_pairs"]
    return MatchCounts(langs.total(), dict(langs.most_common()), dict(sorted(rejects.items())), dict(filters))


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
        why = why_none(counts.languages, config.langs, counts.reasons)
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


def matched_langs(run: RunDirectory) -> tuple[str, ...]:
    """Return the wanted languages of the current match."""
    signature = run.read_signature("match")
    return tuple(signature.settings.get("langs", ())) if signature else ()


def why_none(languages: Iterable[str], wanted: Iterable[str], reasons: Collection[str] = ()) -> str:
    """Return why a match found no pair, from the languages of its pages and the reasons why pages have none.

    >>> why_none(["en", "zh-Hant"], ["en", "rus"])
    'no page is in rus (Russian), of langs en,rus'
    >>> why_none(["en", "zh-Hant"], ["en", "zh"], ["doubtful", "no-candidate"])
    'every pair that was found is below the limit (match.min_probability, match.min_precision)'
    """
    langs = set(languages)
    there = langs - {UNDETERMINED, TWO_LANGUAGES}
    if not langs:
        return "no page was kept"
    if not there:
        return "the language of no page could be determined"
    if len(there) == 1:
        known = " with a known language" if langs - there else ""
        return f"all pages{known} are in one language"
    tags = list(wanted)
    for tag, meant in languages_of_site(tags, there).items():
        if not meant:
            return f"{NOT_THERE} {name_of(tag)}, of langs {','.join(tags)}"
    cuts = (cut for reason, cut in _CUTS.items() if reason in reasons)
    return next(cuts, "no page of one wanted language has a partner in another")
