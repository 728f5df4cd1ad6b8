"""Tables of a run as pandas DataFrames, with the same columns for every state of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from twinlink.tables import SITES, read_table

if TYPE_CHECKING:  # those who only count rows do without pandas, which takes .2 s to load
    import pandas as pd

    from twinlink.labels.book import Label

__all__ = [
    "address_pairs",
    "column_texts",
    "label_frame",
    "own_and_canonical",
    "pair_ranks",
    "rank_column",
    "read_frame",
    "site_frame",
    "surest_first",
    "to_frame",
]

LABEL_COLUMNS = ("url_a", "url_b", "verdict", "who", "when", "note")
N_PAIRS = "page pairs of the site; null: the run has not been matched"


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a DataFrame; nullable integers stay integers (``Int64`` and similar).

    >>> to_frame(pa.table({"target": pa.array([2**60 + 1, None])}))
                    target
    0  1152921504606846977
    1                 <NA>
    """
    frame: pd.DataFrame = table.to_pandas()
    for field in table.schema:
        if field.nullable and pa.types.is_integer(field.type):  # as floats, ids would lose digits
            frame[field.name] = table[field.name].to_pandas(types_mapper={field.type: _nullable(field.type)}.get)
    return frame


def _nullable(kind: pa.DataType) -> pd.api.extensions.ExtensionDtype:
    """Return the pandas type of nullable integers: ``Int16``, ``Int32``, ``Int64``."""
    import pandas as pd

    return {16: pd.Int16Dtype(), 32: pd.Int32Dtype()}.get(kind.bit_width, pd.Int64Dtype())


def read_frame(path: Path, schema: pa.Schema) -> pd.DataFrame:
    """Read a table from a file, or from all Parquet files below a folder."""
    return to_frame(read_table(path, schema))


def surest_first(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return page pairs by descending probability, then score."""
    return pairs.sort_values(["probability", "score"], ascending=False, kind="stable", ignore_index=True)


def rank_column(pairs: pd.DataFrame) -> str:
    """Return the column that ranks page pairs: ``score`` where the method gives no probability.

    >>> import pandas as pd
    >>> rank_column(pd.DataFrame({"probability": [None, None], "score": [0.5, 0.4]}))
    'score'
    """
    return "probability" if pairs.empty or pairs["probability"].notna().any() else "score"


def pair_ranks(pairs: pd.DataFrame) -> pd.Series[float]:
    """Return the number that ranks each page pair; 1 for one without a probability among others: it was accepted.

    >>> import pandas as pd
    >>> pair_ranks(pd.DataFrame({"probability": [0.9, None], "score": [0.5, 0.4]})).tolist()
    [0.9, 1.0]
    """
    return pairs[rank_column(pairs)].astype("float64").fillna(1.0)


def address_pairs(pairs: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the two addresses of each page pair, as input of `twinlink.evaluation.gold`."""
    return list(zip(pairs["url_a"], pairs["url_b"], strict=True))


def own_and_canonical(pages: pd.DataFrame) -> list[tuple[str, str | None]]:
    """Return the address of each page, and the one that it names as canonical, None for none."""
    canonical = pages["canonical_url"].astype(object)
    return list(zip(pages["url"], canonical.where(canonical.notna(), None), strict=True))


def column_texts(schema: pa.Schema) -> pd.Series[str]:
    """Return the description of each column of a schema, by its name.

    >>> from twinlink.tables import REJECTS
    >>> column_texts(REJECTS)["reason"]
    'short name, the unit of counting'
    """
    import pandas as pd

    texts = [(field.metadata or {}).get(b"description", b"").decode() for field in schema]
    return pd.Series(texts, index=schema.names, dtype="str", name="description")


def site_frame(pages: pd.DataFrame, pairs: pd.DataFrame | None, ranked: pd.DataFrame | None) -> pd.DataFrame:
    """Return a row per site in the shape of `SITES`, with ``n_pairs`` after ``n_pages``.

    Parameters
    ----------
    pages : DataFrame
        With the columns site and round.
    pairs : DataFrame or None
        With the column site; None: not matched.
    ranked : DataFrame or None
        Table `SITES`; None: not ranked. Then there is a row for each site with pages, and columns of the ranking
        are null.

    Examples
    --------
    >>> import pandas as pd
    >>> pages = pd.DataFrame({"site": ["a.hk", "a.hk"], "round": [0, 0]})
    >>> site_frame(pages, pd.DataFrame({"site": ["a.hk"]}), None)[["site", "state", "n_pages", "n_pairs"]]
       site    state  n_pages  n_pairs
    0  a.hk  crawled        2        1
    """
    import pandas as pd

    sites = _counted(pages) if ranked is None else ranked
    by_site = pd.Series(dtype="int64") if pairs is None else pairs.groupby("site").size()
    counts = sites["site"].map(by_site).astype("Int64")
    names = list(sites.columns)
    place = names.index("n_pages") + 1
    whole = {field.name: _nullable(field.type) for field in SITES if pa.types.is_integer(field.type)}
    sites = sites.assign(n_pairs=counts if pairs is None else counts.fillna(0)).astype(whole)
    return sites[[*names[:place], "n_pairs", *names[place:]]]


def _counted(pages: pd.DataFrame) -> pd.DataFrame:
    """Return the sites of pages in the shape of `SITES`."""
    by_site = pages.groupby("site")
    known = {
        "site": list(by_site.groups),
        "state": ["crawled"] * by_site.ngroups,
        "n_pages": by_site.size().to_numpy(),
        "round": by_site["round"].min().to_numpy(),
    }
    columns = {
        field.name: pa.array(known[field.name], field.type)
        if field.name in known
        else pa.nulls(by_site.ngroups, field.type)
        for field in SITES
    }
    return to_frame(pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in SITES])))


def label_frame(labels: Iterable[Label]) -> pd.DataFrame:
    """Return labels as rows of url_a, url_b, verdict, who, when, note."""
    import pandas as pd

    rows: Sequence[tuple[object, ...]] = [tuple(getattr(label, name) for name in LABEL_COLUMNS) for label in labels]
    frame = pd.DataFrame(rows, columns=list(LABEL_COLUMNS))
    frame["when"] = pd.to_datetime(frame["when"], utc=True)
    texts = [name for name in LABEL_COLUMNS if name != "when"]
    return frame.astype(dict.fromkeys(texts, "str"))
