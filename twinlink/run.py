"""A run in a notebook: its tables as DataFrames, its link graph, and why a pair is one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from twinlink.config import Config
from twinlink.errors import ConfigError, MissingStageError
from twinlink.explain.explanation import Explanation, explain
from twinlink.frames import (
    N_PAIRS,
    address_pairs,
    column_texts,
    label_frame,
    own_and_canonical,
    rank_column,
    read_frame,
    site_frame,
    surest_first,
    to_frame,
)
from twinlink.jobs import notebook as jobs
from twinlink.jobs.notebook import mine
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remembered
from twinlink.tables import (
    CANDIDATES,
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
    import networkx as nx
    import scipy.sparse as sp

    from twinlink.evaluation.gold import Evaluation, Gold
    from twinlink.evaluation.labelled import LabelScores

__all__ = ["Run", "mine", "open_run"]

_SCHEMAS = {
    "pages": PAGES,
    "links": LINKS,
    "pairs": PAIRS,
    "candidates": CANDIDATES,
    "weights": WEIGHTS,
    "filters": FILTERS,
    "look_alikes": LOOK_ALIKES,
    "rejects": REJECTS,
    "segments": SEGMENTS,
    "patterns": PATTERNS,
    "sites": SITES,
    "rounds": ROUNDS,
    "probes": PROBES,
}


def open_run(path: str | Path) -> Run:
    """Open a run directory that exists.

    Raises
    ------
    RunError
        If there is no such directory, or it is not a run.
    """
    return Run(RunDirectory.existing(Path(path)).path)


class Run:
    """The result of a mining job, read when it is asked for.

    A table that is asked for before its stage has been done raises `MissingStageError`, which names the command. Tables
    are read once; `reload` reads them anew.

    Parameters
    ----------
    path : Path
        A run directory.

    Examples
    --------
    >>> import tempfile
    >>> from twinlink.toy import BASE, write_toy
    >>> folder = Path(tempfile.mkdtemp())
    >>> toy = write_toy(folder / "toy")
    >>> run = mine(str(toy), out=folder / "run", langs=("en", "zh"), ingest__base_url=BASE, match__min_score=0.0)
    >>> run.pages["lang"].value_counts().to_dict()
    {'en': 5, 'zh-Hant': 5}
    >>> run.graph().nodes[f"{BASE}/en/c.html"]["partner"]
    'https://toy.example/zh/c.html'
    >>> run.sites[["site", "state", "n_pages", "n_pairs"]].values.tolist()
    [['toy.example', 'crawled', 10, 5]]
    >>> run.columns("sites")["n_pages"]
    'pages of the site that were read'
    >>> run.segments
    Traceback (most recent call last):
    ...
    twinlink.errors.MissingStageError: ...: no align here yet; run `twinlink align ...` first
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._directory = RunDirectory(path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        from twinlink.explain.notebook_html import run_html

        return run_html(self)

    def reload(self) -> Run:
        """Forget all tables, so that they are read anew; return the run."""
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                vars(self).pop(name, None)
        return self

    def has(self, stage: str) -> bool:
        """Return whether a stage has been done for the pages that there are: ingest, match, align, patterns, rank …."""
        return self._directory.read_signature(stage) is not None

    @staticmethod
    def columns(table: str) -> pd.Series[str]:
        """Return what each column of a table holds: ``run.columns("pairs")``.

        Raises
        ------
        ConfigError
            If there is no such table.
        """
        if table not in _SCHEMAS:
            raise ConfigError(f"{table}: no such table; there are {', '.join(_SCHEMAS)}")
        texts = column_texts(_SCHEMAS[table])
        if table == "pages":
            return pd.concat([texts, column_texts(LANGUAGES).drop("page_id")])
        if table == "sites":
            place = list(texts.index).index("n_pages") + 1
            return pd.concat([texts.iloc[:place], pd.Series({"n_pairs": N_PAIRS}), texts.iloc[place:]])
        return texts

    def _table(self, stage: str, name: str, schema: pa.Schema) -> pd.DataFrame:
        return read_frame(self._directory.stage_folder(stage) / name, schema)

    @cached_property
    def config(self) -> Config:
        """The settings that the run remembers, see `twinlink.rundir.remembered`."""
        return remembered(self._directory)

    @cached_property
    def pages(self) -> pd.DataFrame:
        """Every kept page: columns of `twinlink.tables.PAGES`, then lang and lang_score.

        These two come from `match`, or in a run of site discovery from one look at each page; else they are null.
        """
        from twinlink.language.stage import language_tables

        pages = self._table("ingest", "pages", PAGES)
        told = language_tables(self._directory)
        langs = LANGUAGES.empty_table().to_pandas() if told is None else read_frame(told[0], LANGUAGES)
        return pages.merge(langs, on="page_id", how="left")

    @cached_property
    def links(self) -> pd.DataFrame:
        """Every link of a kept page: columns of `twinlink.tables.LINKS`."""
        return self._table("ingest", "links", LINKS)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The page pairs, most probable first: columns of `twinlink.tables.PAIRS`."""
        return surest_first(self._table("match", "pairs", PAIRS))

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """Every pair that was looked at, with its numbers: columns of `twinlink.tables.CANDIDATES`."""
        return self._table("match", "candidates", CANDIDATES)

    @cached_property
    def weights(self) -> pd.DataFrame:
        """How much each kind of evidence counted, by site and languages: columns of `twinlink.tables.WEIGHTS`."""
        return self._table("match", "weights", WEIGHTS)

    @cached_property
    def filters(self) -> pd.DataFrame:
        """How many candidates each filter of the method rejected, by site and languages; empty without filters."""
        return self._table("match", "filters", FILTERS)

    @cached_property
    def look_alikes(self) -> pd.DataFrame:
        """The pages that have near-duplicates, in their groups: columns of `twinlink.tables.LOOK_ALIKES`."""
        return self._table("match", "look_alikes", LOOK_ALIKES)

    @cached_property
    def rejects(self) -> pd.DataFrame:
        """What was dropped, by which stage and why: columns of `twinlink.tables.REJECTS`."""
        rejects = self._table("ingest", "rejects.parquet", REJECTS)
        if not self.has("match"):
            return rejects
        return pd.concat([rejects, self._table("match", "rejects.parquet", REJECTS)], ignore_index=True)

    @cached_property
    def segments(self) -> pd.DataFrame:
        """The beads of the sentence alignment: columns of `twinlink.tables.SEGMENTS`.

        Those with the verdict ``segment`` are handed out, the others say why not.
        """
        return self._table("align", "segments", SEGMENTS)

    @cached_property
    def patterns(self) -> pd.DataFrame:
        """URL patterns of every site, those of most pages first: columns of `twinlink.tables.PATTERNS`."""
        patterns = self._table("patterns", "patterns", PATTERNS)
        order = ["n_pages", "site", "rule"]
        return patterns.sort_values(order, ascending=[False, True, True], kind="stable", ignore_index=True)

    @cached_property
    def sites(self) -> pd.DataFrame:
        """The sites: columns of `twinlink.tables.SITES`, and n_pairs after n_pages.

        A run that has been ranked has a row for every site that its pages link to, the best candidates first; another
        one has a row for each site with pages, and what only `twinlink rank` can tell is null.
        """
        ranked = self._table("rank", "sites.parquet", SITES) if self.has("rank") else None
        pages = self._table("ingest", "pages", PAGES) if ranked is None else pd.DataFrame()
        return site_frame(pages, self.pairs if self.has("match") else None, ranked)

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """The rounds of site discovery: columns of `twinlink.tables.ROUNDS`."""
        from twinlink.rundir.rounds import Rounds

        return to_frame(self._discovered(Rounds(self._directory).table()))

    @cached_property
    def probes(self) -> pd.DataFrame:
        """What site discovery made of each site that it tried: columns of `twinlink.tables.PROBES`."""
        from twinlink.rundir.rounds import Rounds

        return to_frame(self._discovered(Rounds(self._directory).all_verdicts()))

    def _discovered(self, table: pa.Table) -> pa.Table:
        if not table.num_rows:
            command = f"twinlink discover SEED... -o {shlex.quote(str(self.path))}"
            raise MissingStageError(f"{self.path}: no rounds here; run `{command}` first")
        return table

    @property
    def labels(self) -> pd.DataFrame:
        """What people said of pairs: url_a, url_b, verdict (accept, reject), who, when (UTC), note; read every time."""
        from twinlink.labels.book import LabelBook

        return label_frame(LabelBook(self.path).current().values())

    def link_matrix(self) -> sp.csr_array:
        """Return the links among kept pages as a boolean matrix; rows and columns in the order of `pages`."""
        from twinlink.graph.links import adjacency

        index = pd.Index(self.pages["page_id"])
        inside = self.links.dropna(subset=["target"])
        return adjacency(
            index.get_indexer(inside["source"]), index.get_indexer(inside["target"].astype("int64")), len(index)
        )

    def graph(self) -> nx.DiGraph[str]:
        """Return the links among kept pages as a networkx graph.

        Nodes are addresses in the order of `pages`, with site, title, lang and partner: the page it is paired with, the
        most probable one of several languages. What is not known is an empty text, so that every format can be written.
        """
        from twinlink.graph.export import to_networkx

        graph = to_networkx(self.link_matrix(), list(self.pages["url"]))
        partners = self._partners() if self.has("match") else {}
        for row in self.pages[["url", "site", "title", "lang"]].fillna("").itertuples(index=False):
            graph.nodes[row.url].update(
                site=row.site, title=row.title, lang=row.lang, partner=partners.get(str(row.url), "")
            )
        return graph

    def _partners(self) -> dict[str, str]:
        """Return the most probable partner of each page that has one."""
        partners: dict[str, str] = {}
        for url_a, url_b in address_pairs(self.pairs):
            partners.setdefault(url_a, url_b)
            partners.setdefault(url_b, url_a)
        return partners

    def explain(self, url_a: str, url_b: str | None = None) -> Explanation:
        """Return why two pages are a pair or not, or what became of one page; it shows itself in a notebook.

        Raises
        ------
        InputError
            If the run has seen no page of that address.
        """
        return explain(self, url_a, url_b)

    def evaluate(self, gold: str | Path | Gold) -> Evaluation:
        """Return precision, recall and F1 against known pairs.

        Parameters
        ----------
        gold : path or Gold
            A gold file, or what `twinlink.read_gold` made of one; see `twinlink.evaluation.gold`.
        """
        from twinlink.evaluation.gold import evaluate

        return evaluate(address_pairs(self.pairs), self._gold(gold))

    def score_labels(self) -> LabelScores:
        """Return precision, recall and F1 as far as labels tell, each with a 95 % interval.

        ``print`` shows those that labels are enough for, and of the others how many labels would do. Pairs that were
        matched with these labels (``match.labels``) say little of themselves.
        """
        from twinlink.evaluation.labelled import score_labels
        from twinlink.labels.book import LabelBook

        return score_labels(self.pairs, LabelBook(self.path).current())

    def precision_coverage(self, gold: str | Path | Gold) -> pd.DataFrame:
        """Return what the list of pairs is worth when it is cut after each pair, the most probable first.

        Columns: coverage, share of the pairs that are kept, 0 to 1; score, probability of the last one (its score where
        the method tells no probability); precision and recall of those kept. Pairs that are not scored are left out.
        """
        from twinlink.evaluation.gold import precision_coverage

        order = self.pairs[rank_column(self.pairs)]
        rows = precision_coverage(address_pairs(self.pairs), list(order), self._gold(gold))
        curve = pd.DataFrame(rows, columns=["score", "precision", "recall"], dtype="float64")
        curve.insert(0, "coverage", [(row + 1) / len(rows) for row in range(len(rows))])
        return curve

    def _gold(self, gold: str | Path | Gold) -> Gold:
        """Return known pairs that may name the run's pages by their canonical addresses."""
        from twinlink.evaluation.gold import read_gold

        known = read_gold(Path(gold)) if isinstance(gold, str | Path) else gold
        return known.with_canonical(own_and_canonical(self.pages))

    def report(self, target: str | Path | None = None, gold: str | Path | None = None) -> Path:
        """Write the report, one HTML file, and return where it is: ``RUN/report.html`` unless it is named."""
        from twinlink.review.report.stage import write_report

        return write_report(self._directory, *(None if path is None else Path(path) for path in (target, gold)))

    def align(self, lexicons: Sequence[str | Path] = (), **settings: Any) -> Run:
        """Align the sentences of the page pairs, as `twinlink align` does; `segments` has them.

        Parameters
        ----------
        lexicons : sequence of path
            Start values of the word model (``bitext__lexicons``); none: those that the run remembers.
        **settings
            Any setting by its name with ``__`` for the dot; ``forget`` has names that take the default instead of what
            the run remembers.
        """
        jobs.align(self.path, lexicons, settings)
        return self.reload()

    def learn_patterns(self, **settings: Any) -> Run:
        """Learn the URL patterns of the sites, as `twinlink patterns` does; `patterns` has them."""
        jobs.learn_patterns(self.path, settings)
        return self.reload()

    def rank(self, **settings: Any) -> Run:
        """Rank the sites that the pages link to, as `twinlink rank` does; `sites` has them."""
        jobs.rank(self.path, settings)
        return self.reload()
