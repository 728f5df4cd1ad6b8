"""The page pairs of an export, by languages and probability, with titles and texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.errors import ConfigError
from twinlink.language_names import check_two, languages_meant
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.tables import PAGE_PAIRS, PAGES, PAIRS, iter_parts, read_table

__all__ = ["ChosenPairs", "PairChoice"]

_ROWS = 512
"""Pairs whose texts are in memory at a time."""
_COLUMNS = ("url_a", "url_b", "lang_a", "lang_b", "probability", "score", "site", "verdict", "page_a", "page_b")
_PAGE_COLUMNS = ("page_id", "title", "blocks")

Langs = tuple[str, str]


class PairChoice(msgspec.Struct, frozen=True):
    """Which page pairs are exported.

    Examples
    --------
    >>> PairChoice(min_probability=1.2)
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: minimum probability: expected a number from 0 to 1, got 1.2
    """

    langs: tuple[str, ...] = ()
    """Only pairs between these languages, as users write them; empty: all."""
    min_probability: float = 0.0
    """Minimum probability of a pair. A pair whose only evidence is a reviewer's label has none and is kept."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_probability <= 1:
            raise ConfigError(f"minimum probability: expected a number from 0 to 1, got {self.min_probability}")


class ChosenPairs:
    """The chosen page pairs of a matched run, read site by site.

    Parameters
    ----------
    run : RunDirectory
        With stage `match` done.
    choice : PairChoice

    Raises
    ------
    MissingStageError
        If the pages have not been matched.
    ConfigError
        If a minimum probability is wanted of pairs without any, a language of which the run has no pair, or only one.
    """

    def __init__(self, run: RunDirectory, choice: PairChoice) -> None:
        check_two(choice.langs)
        self._pages = run.stage_folder("ingest") / "pages"
        self._parts = list(iter_parts(run.stage_folder("match") / "pairs"))
        self._min_probability = choice.min_probability
        there = self._languages_there()
        is_cut = bool(choice.langs and there)  # a run without pairs has no languages to name
        meant = languages_meant(choice.langs, {lang for langs in there for lang in langs}) if is_cut else {}
        self._languages = {langs for langs in there if not meant or _are_wanted(langs, list(meant.values()))}
        if choice.min_probability:
            self._check_probabilities()

    def by_site(self) -> Iterator[tuple[Path, pa.Table]]:
        """Yield the file of the pages of each site, and its chosen pairs, the most probable first."""
        for part in self._parts:
            table = read_table(part, PAIRS, _COLUMNS)
            wanted = [langs in self._languages for langs in _languages_of(table)]
            table = table.filter(pa.array(wanted, pa.bool_()))
            if self._min_probability:
                is_probable = pc.greater_equal(table["probability"], self._min_probability)
                table = table.filter(pc.fill_null(is_probable, True))
            if table.num_rows:
                order = [("probability", "descending"), ("score", "descending"), ("url_a", "ascending")]
                yield site_file(self._pages, table["site"][0].as_py()), table.sort_by(order)

    def with_texts(self) -> Iterator[tuple[Langs, pa.Table]]:
        """Yield the chosen pairs with titles and texts (`PAGE_PAIRS`) by languages, some hundred at a time."""
        for part, pairs in self.by_site():
            pages = read_table(part, PAGES, _PAGE_COLUMNS)
            row_of = {number: row for row, number in enumerate(pages["page_id"].to_pylist())}
            of_pairs = _languages_of(pairs)
            for langs in sorted(set(of_pairs)):
                chosen = pairs.filter(pa.array([each == langs for each in of_pairs], pa.bool_()))
                for start in range(0, chosen.num_rows, _ROWS):
                    yield langs, _with_texts(chosen.slice(start, _ROWS), pages, row_of)

    def _languages_there(self) -> set[Langs]:
        return {langs for part in self._parts for langs in _languages_of(read_table(part, PAIRS, ("lang_a", "lang_b")))}

    def _check_probabilities(self) -> None:
        columns = [read_table(part, PAIRS, ("probability",))["probability"] for part in self._parts]
        if any(map(len, columns)) and all(column.null_count == len(column) for column in columns):
            raise ConfigError("minimum probability: the method of this match gives no probabilities; leave it out")


def _languages_of(table: pa.Table) -> list[Langs]:
    return list(zip(table["lang_a"].to_pylist(), table["lang_b"].to_pylist(), strict=True))


def _are_wanted(langs: Langs, meant: list[list[str]]) -> bool:
    """Return whether two languages are those of two different wanted ones."""
    sides = [{place for place, names in enumerate(meant) if lang in names} for lang in langs]
    return any(one != other for one in sides[0] for other in sides[1])


def _with_texts(pairs: pa.Table, pages: pa.Table, row_of: dict[int, int]) -> pa.Table:
    """Add titles and texts to page pairs."""
    columns = {name: pairs[name] for name in pairs.column_names}
    for side in "ab":
        rows = pages.take(pa.array([row_of[number] for number in pairs[f"page_{side}"].to_pylist()], pa.int64()))
        columns[f"title_{side}"] = rows["title"]
        columns[f"text_{side}"] = pc.binary_join(rows["blocks"], "\n")
    return pa.table([columns[field.name] for field in PAGE_PAIRS], schema=PAGE_PAIRS)
