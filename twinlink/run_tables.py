"""The tables of a run as pandas DataFrames, each read on first access."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa

from twinlink.config import Config
from twinlink.errors import ConfigError, MissingStageError
from twinlink.files import shell_word
from twinlink.frames import N_PAIRS, column_texts, label_frame, read_frame, site_frame, surest_first, to_frame
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remembered
from twinlink.tables import (
    CANDIDATES,
    CHECKS,
    FILTERS,
    LANGUAGES,
    LINKS,
    LOOK_ALIKES,
    PAGES,
    PAIRS,
    PATTERNS,
    PROBES,
    REJECTS,
    ROUNDS,
    SEGMENTS,
    SITES,
    WEIGHTS,
)

if TYPE_CHECKING:
    import pandas as pd

    from twinlink.ingest.page_addresses import PageAddresses

_SCHEMAS = {
    "pages": PAGES,
    "links": LINKS,
    "pairs": PAIRS,
    "candidates": CANDIDATES,
    "weights": WEIGHTS,
    "filters": FILTERS,
    "checks": CHECKS,
    "look_alikes": LOOK_ALIKES,
    "rejects": REJECTS,
    "segments": SEGMENTS,
    "patterns": PATTERNS,
    "sites": SITES,
    "rounds": ROUNDS,
    "probes": PROBES,
}


ValueT = TypeVar("ValueT")


def _read_once(read: Callable[[Any], ValueT]) -> Callable[[Any], ValueT]:
    """Keep what a method of `RunTables` has read until a job changes the run."""

    @wraps(read)
    def kept(run: RunTables) -> ValueT:
        with run._speaking():
            run._forget_changed()
            if read.__name__ not in run._values:
                run._values[read.__name__] = read(run)
        value: ValueT = run._values[read.__name__]
        return value

    return kept


def _frame_once(read: Callable[[Any], pd.DataFrame]) -> Callable[[Any], pd.DataFrame]:
    """Keep a table as `_read_once` does, and return a copy: its columns are copied when they are changed."""
    kept = _read_once(read)

    @wraps(read)
    def copied(run: RunTables) -> pd.DataFrame:
        return kept(run).copy(deep=False)

    return copied


class RunTables:
    """The tables of a run.

    Access to a table whose stage has not been done raises `MissingStageError`, which says what does it. Tables are
    read once, and again after a job has changed the run or after `reload`. What is done to a table does not change
    the run: each access returns a copy.

    Parameters
    ----------
    path : str or Path
        A run directory; that it is one is not checked (`open_run` does).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._directory = RunDirectory(self.path)
        self._values: dict[str, Any] = {}
        self._results: list[tuple[int, int]] = []

    def reload(self) -> Self:
        """Forget all tables, so that they are read again; return the run."""
        self._values.clear()
        return self

    def _forget_changed(self) -> None:
        """Forget all tables if a stage has a new result: pages and pairs of different jobs do not fit together."""
        results = self._directory.results()
        if results != self._results:
            self._values.clear()
            self._results = results

    def has(self, stage: str) -> bool:
        """Return whether a stage has been done for the current pages: ingest, match, align, patterns, rank …."""
        return self._directory.read_signature(stage) is not None

    @staticmethod
    def columns(table: str) -> pd.Series[str]:
        """Return the description of each column of a table: ``run.columns("pairs")``.

        Raises
        ------
        ConfigError
            If there is no such table.
        """
        if table not in _SCHEMAS:
            raise ConfigError(f"{table}: no such table; there are {', '.join(_SCHEMAS)}")
        import pandas as pd

        texts = column_texts(_SCHEMAS[table])
        if table == "pages":
            return pd.concat([texts, column_texts(LANGUAGES).drop("page_id")])
        if table == "sites":
            place = list(texts.index).index("n_pages") + 1
            return pd.concat([texts.iloc[:place], pd.Series({"n_pairs": N_PAIRS}), texts.iloc[place:]])
        return texts

    def _speaking(self) -> AbstractContextManager[None]:
        """Return a context in which errors say what to do as the user of this object does it: by commands."""
        return nullcontext()

    def _table(self, stage: str, name: str, schema: pa.Schema) -> pd.DataFrame:
        return read_frame(self._directory.stage_folder(stage) / name, schema)

    @property
    @_read_once
    def config(self) -> Config:
        """The settings that the run remembers, see `twinlink.rundir.remembered`."""
        return remembered(self._directory)

    @property
    @_frame_once
    def pages(self) -> pd.DataFrame:
        """Every kept page: columns of `twinlink.tables.PAGES`, then lang and lang_score.

        These two come from `match`, or in a run of site discovery from stage `languages`; else they are null.
        """
        from twinlink.language.stage import language_tables

        pages = self._table("ingest", "pages", PAGES)
        told = language_tables(self._directory)
        langs = LANGUAGES.empty_table().to_pandas() if told is None else read_frame(told[0], LANGUAGES)
        return pages.merge(langs, on="page_id", how="left")

    @property
    @_read_once
    def addresses(self) -> PageAddresses:
        """The addresses that lead to the pages: canonical ones, redirects, duplicates, other spellings."""
        from twinlink.ingest.page_addresses import PageAddresses

        return PageAddresses(self._directory.stage_folder("ingest"))

    @property
    @_frame_once
    def links(self) -> pd.DataFrame:
        """Every link of a kept page: columns of `twinlink.tables.LINKS`."""
        return self._table("ingest", "links", LINKS)

    @property
    @_frame_once
    def pairs(self) -> pd.DataFrame:
        """The page pairs, most probable first: columns of `twinlink.tables.PAIRS`."""
        return surest_first(self._table("match", "pairs", PAIRS))

    @property
    @_frame_once
    def candidates(self) -> pd.DataFrame:
        """Every candidate pair, with its evidence: columns of `twinlink.tables.CANDIDATES`."""
        return self._table("match", "candidates", CANDIDATES)

    @property
    @_frame_once
    def weights(self) -> pd.DataFrame:
        """Weight of each kind of evidence, by site and languages: columns of `twinlink.tables.WEIGHTS`."""
        return self._table("match", "weights", WEIGHTS)

    @property
    @_frame_once
    def filters(self) -> pd.DataFrame:
        """Number of candidates rejected by each filter of the method, by site and languages; empty without filters."""
        return self._table("match", "filters", FILTERS)

    @property
    @_frame_once
    def checks(self) -> pd.DataFrame:
        """The numbers that the method compared with bounds, of every candidate; empty for methods without filters."""
        return self._table("match", "checks", CHECKS)

    @property
    @_frame_once
    def look_alikes(self) -> pd.DataFrame:
        """The pages that have near-duplicates, in their groups: columns of `twinlink.tables.LOOK_ALIKES`."""
        return self._table("match", "look_alikes", LOOK_ALIKES)

    @property
    @_frame_once
    def rejects(self) -> pd.DataFrame:
        """Dropped pages, with stage and reason: columns of `twinlink.tables.REJECTS`."""
        rejects = self._table("ingest", REJECTS_FILE, REJECTS)
        if not self.has("match"):
            return rejects
        import pandas as pd

        return pd.concat([rejects, self._table("match", REJECTS_FILE, REJECTS)], ignore_index=True)

    @property
    @_frame_once
    def segments(self) -> pd.DataFrame:
        """The beads of the sentence alignment: columns of `twinlink.tables.SEGMENTS`.

        Those with the verdict ``segment`` are kept; the verdict of the others is the reason.
        """
        return self._table("align", "segments", SEGMENTS)

    @property
    @_frame_once
    def patterns(self) -> pd.DataFrame:
        """URL patterns of every site, those of most pages first: columns of `twinlink.tables.PATTERNS`."""
        patterns = self._table("patterns", "patterns", PATTERNS)
        order = ["n_pages", "site", "rule"]
        return patterns.sort_values(order, ascending=[False, True, True], kind="stable", ignore_index=True)

    @property
    @_frame_once
    def sites(self) -> pd.DataFrame:
        """The sites: columns of `twinlink.tables.SITES`, and n_pairs after n_pages.

        A run that has been ranked has a row for every site that its pages link to, the best candidates first;
        another one has a row for each site with pages, and the columns of `twinlink rank` are null.
        """
        import pandas as pd

        ranked = self._table("rank", "sites.parquet", SITES) if self.has("rank") else None
        pages = self._table("ingest", "pages", PAGES) if ranked is None else pd.DataFrame()
        return site_frame(pages, self.pairs if self.has("match") else None, ranked)

    @property
    @_frame_once
    def rounds(self) -> pd.DataFrame:
        """The rounds of site discovery: columns of `twinlink.tables.ROUNDS`."""
        from twinlink.rundir.rounds import Rounds

        return to_frame(self._discovered(Rounds(self._directory).table()))

    @property
    @_frame_once
    def probes(self) -> pd.DataFrame:
        """Verdicts of site discovery on each site that it tried: columns of `twinlink.tables.PROBES`."""
        from twinlink.rundir.rounds import Rounds

        return to_frame(self._discovered(Rounds(self._directory).all_verdicts()))

    def _discovered(self, table: pa.Table) -> pa.Table:
        if not table.num_rows:
            command = f"twinlink discover SEED... -o {shell_word(self.path)}"
            raise MissingStageError(f"{self.path}: no rounds here; run `{command}` first")
        return table

    @property
    def labels(self) -> pd.DataFrame:
        """Labels of pairs: url_a, url_b, verdict (accept, reject), who, when (UTC), note; read every time."""
        from twinlink.labels.book import LabelBook

        return label_frame(LabelBook(self.path).current().values())
