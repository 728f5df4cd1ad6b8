"""A run in a notebook: its tables as DataFrames, its link graph, and why a pair is one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from twinlink.config import Config
from twinlink.errors import RunError
from twinlink.explain import Explanation, explain
from twinlink.rundir import RunDirectory
from twinlink.tables import CANDIDATES, FILTERS, LANGUAGES, LINKS, PAGES, PAIRS, REJECTS, WEIGHTS, read_table

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

__all__ = ["Run", "mine", "open_run"]


def open_run(path: str | Path) -> Run:
    """Open a run directory that exists.

    Raises
    ------
    RunError
        If there is no such directory, or it is not a run.
    """
    folder = Path(path)
    if not (folder / "config.toml").is_file():
        raise RunError(f"{folder}: not a run directory (no config.toml in it); `twinlink mine … -o {folder}` makes one")
    return Run(folder)


def mine(inputs: str | Sequence[str], *, out: str | Path, langs: Sequence[str] = (), **settings: Any) -> Run:
    """Do the whole job: crawl or read ``inputs``, match, and open the result.

    Parameters
    ----------
    inputs : str or sequence of str
        Addresses, archives, folders.
    out : path
        The run directory; what is done in it already is not done again.
    langs : sequence of str
        Wanted languages; empty: the two most frequent on each site.
    **settings
        Any setting by its name with ``__`` for the dot: ``match__ets__alpha=0.3``.
    """
    from twinlink.pipeline.mine import mine_stages

    given = {name.replace("__", "."): value for name, value in settings.items()}
    config = Config().override({"langs": list(langs), **given})
    run = RunDirectory.create(Path(out))
    with run.lock():
        mine_stages([inputs] if isinstance(inputs, str) else inputs, run, config)
    return Run(run.path)


class Run:
    """The result of a mining job, read when it is asked for.

    Parameters
    ----------
    path : Path
        A run directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._directory = RunDirectory(path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _table(self, stage: str, name: str, schema: pa.Schema) -> pd.DataFrame:
        table = read_table(self._directory.stage_folder(stage) / name, schema)
        frame: pd.DataFrame = table.to_pandas()
        for field in schema:
            if field.nullable and pa.types.is_integer(field.type):  # as floats, ids would lose their last digits
                frame[field.name] = table[field.name].to_pandas(types_mapper={field.type: pd.Int64Dtype()}.get)
        return frame

    @cached_property
    def config(self) -> Config:
        """The settings in force."""
        return Config.load(self._directory.config_file)

    @cached_property
    def pages(self) -> pd.DataFrame:
        """Every kept page, with its language once the run is matched."""
        pages = self._table("ingest", "pages", PAGES)
        if self._directory.read_signature("match") is None:
            return pages
        return pages.merge(self._table("match", "languages", LANGUAGES), on="page_id", how="left")

    @cached_property
    def links(self) -> pd.DataFrame:
        """Every link of a kept page."""
        return self._table("ingest", "links", LINKS)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The page pairs, most probable first."""
        pairs = self._table("match", "pairs", PAIRS)
        return pairs.sort_values(["probability", "score"], ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """Every pair that was looked at, with its numbers."""
        return self._table("match", "candidates", CANDIDATES)

    @cached_property
    def weights(self) -> pd.DataFrame:
        """How much each kind of evidence counted, by site and languages."""
        return self._table("match", "weights", WEIGHTS)

    @cached_property
    def filters(self) -> pd.DataFrame:
        """How many candidates each filter of the method rejected, by site and languages; empty without filters."""
        return self._table("match", "filters", FILTERS)

    @cached_property
    def rejects(self) -> pd.DataFrame:
        """What was dropped, by which stage and why."""
        rejects = self._table("ingest", "rejects.parquet", REJECTS)
        if self._directory.read_signature("match") is None:
            return rejects
        return pd.concat([rejects, self._table("match", "rejects.parquet", REJECTS)], ignore_index=True)

    @cached_property
    def sites(self) -> pd.DataFrame:
        """One row a site: how many pages and pairs."""
        pages = self.pages.groupby("site").size().rename("n_pages")
        pairs = self.pairs.groupby("site").size().rename("n_pairs")
        return pd.concat([pages, pairs], axis=1).fillna(0).astype(int).reset_index()

    def link_matrix(self) -> sp.csr_array:
        """Return the links among kept pages as a boolean matrix; rows and columns in the order of `pages`."""
        from twinlink.graph.links import adjacency

        index = pd.Index(self.pages["page_id"])
        inside = self.links.dropna(subset=["target"])
        return adjacency(
            index.get_indexer(inside["source"]), index.get_indexer(inside["target"].astype("int64")), len(index)
        )

    def graph(self) -> nx.DiGraph[str]:
        """Return the links among kept pages as a networkx graph; nodes are addresses with lang, site and title."""
        from twinlink.graph.export import to_networkx

        graph = to_networkx(self.link_matrix(), list(self.pages["url"]))
        columns = [name for name in ("lang", "site", "title") if name in self.pages]
        for row in self.pages[["url", *columns]].itertuples(index=False):
            graph.nodes[row.url].update({name: getattr(row, name) for name in columns})
        return graph

    def explain(self, url_a: str, url_b: str | None = None) -> Explanation:
        """Return why two pages are a pair or not, or what became of one page."""
        return explain(self, url_a, url_b)
