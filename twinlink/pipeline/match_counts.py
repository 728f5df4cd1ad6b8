"""What a match brought, in numbers; and the error of one that brought no pair where an earlier one had some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from twinlink.errors import NothingFoundError
from twinlink.languages import languages_of_site
from twinlink.rundir import RunDirectory
from twinlink.similarity.language import TWO_LANGUAGES, UNDETERMINED
from twinlink.tables import FILTERS, LANGUAGES, REJECTS, count_rows, iter_parts, read_table
from twinlink.wanted import name_of

__all__ = ["NOT_THERE", "EmptyMatchError", "MatchCounts", "count_match", "matched_langs", "n_pairs", "why_none"]

NOT_THERE = "no page is in"


@dataclass(frozen=True)
class MatchCounts:
    """Pages by language, rejects by stage and reason, candidates by filter: of all sites together."""

    n_pages: int
    languages: Mapping[str, int]
    """The most frequent first."""
    rejects: Mapping[tuple[str, str], int]
    filters: Mapping[str, int]


class EmptyMatchError(NothingFoundError):
    """A match found no pair, and so did not take the place of an earlier one.

    Parameters
    ----------
    run : Path
        The run that was matched.
    ended : str
        What became of it.
    counts : MatchCounts
        What was counted.
    why : str
        Why there is no pair.
    """

    def __init__(self, run: Path, ended: str, counts: MatchCounts, why: str) -> None:
        super().__init__(f"0 pairs: {why}. {ended}")
        self.run = run
        self.counts = counts
        self.why = why


def count_match(run: RunDirectory, folder: Path) -> MatchCounts:
    """Count what a match of a run left in a folder, which need not be in its place."""
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


def n_pairs(folder: Path) -> int:
    """Return the number of pairs that a match left in a folder."""
    return count_rows(folder / "pairs")


def matched_langs(run: RunDirectory) -> tuple[str, ...]:
    """Return the languages that were wanted of the match that is in force."""
    signature = run.read_signature("match")
    return tuple(signature.settings.get("langs", ())) if signature else ()


def why_none(languages: Iterable[str], wanted: Iterable[str]) -> str:
    """Return why a match found no pair.

    >>> why_none(["en", "zh-Hant"], ["en", "rus"])
    'no page is in rus (Russian), of langs en,rus'
    """
    langs = set(languages)
    there = langs - {UNDETERMINED, TWO_LANGUAGES}
    if not langs:
        return "no page was kept"
    if not there:
        return "of no page one language could be told"
    if len(there) == 1:
        known = " whose language could be told" if langs - there else ""
        return f"all pages{known} are in one language"
    tags = list(wanted)
    for tag, meant in languages_of_site(tags, there).items():
        if not meant:
            return f"{NOT_THERE} {name_of(tag)}, of langs {','.join(tags)}"
    return "no page of one wanted language has a partner in another"
