"""Pairs of a site whose match is not done: what its method has found so far, in files that the review reads.

These pairs are provisional: a later round or filter may drop or change each of them. They are in no result; their files
lie beside the attempts of the stage (`twinlink.rundir.attempts`) and are removed with them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.files import replacing
from twinlink.match.evidence import Side
from twinlink.rundir.attempts import attempts_of
from twinlink.tables import PAIRS, is_part, named_part

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = ".so_far"
_SCHEMA = pa.schema(
    [PAIRS.field(name) for name in ("url_a", "url_b", "lang_a", "lang_b", "probability", "page_a", "page_b")]
)


def pairs_so_far(
    side_a: Side,
    side_b: Side,
    rows: npt.NDArray[np.integer],
    columns: npt.NDArray[np.integer],
    probabilities: npt.NDArray[np.floating] | None = None,
) -> pa.Table:
    """Return pairs of two sides that may still change, in the given order; without probabilities these are null."""
    known = pa.nulls(len(rows), pa.float32()) if probabilities is None else pa.array(probabilities, pa.float32())
    columns_of = {
        "url_a": [side_a.urls[row] for row in rows.tolist()],
        "url_b": [side_b.urls[column] for column in columns.tolist()],
        "lang_a": pa.repeat(side_a.lang, len(rows)),
        "lang_b": pa.repeat(side_b.lang, len(rows)),
        "probability": known,
        "page_a": side_a.page_ids[rows],
        "page_b": side_b.page_ids[columns],
    }
    return pa.table(columns_of, schema=_SCHEMA)


def keep_so_far(place: Path, site: str, langs: str, pairs: Callable[[], pa.Table]) -> None:
    """Write the pairs so far of two languages of a site, instead of those before.

    Parameters
    ----------
    place : Path
        Folder of the attempts of this call of the stage, see `twinlink.rundir.attempts.attempts_at`.
    site : str
        Name of the file of the site.
    langs : str
        Names the two languages.
    pairs : callable
        Makes the table, see `pairs_so_far`.
    """
    path = place / _FOLDER / site / f"{langs}.parquet"
    for folder in (path.parent.parent, path.parent):  # not its parents: the folder of an ended stage is not made again
        folder.mkdir(exist_ok=True)
    with replacing(path, secrets.token_hex(4)) as temporary:
        pq.write_table(pairs(), temporary)


def read_so_far(run: Path, done: Path) -> pd.DataFrame:
    """Return the provisional pairs of the sites that a match works on, the most probable first.

    Parameters
    ----------
    run : Path
        The run directory.
    done : Path
        Folder with a part for each site that is done; its pairs are final.
    """
    tables = [_SCHEMA.empty_table()]
    for file in sorted(attempts_of(run, "match", f"{_FOLDER}/*/*.parquet")):
        if not is_part(named_part(done, file.parent.name)):
            try:
                tables.append(pq.read_table(file, schema=_SCHEMA))
            except (OSError, pa.ArrowInvalid):  # the site has just been done
                continue
    frame: pd.DataFrame = pa.concat_tables(tables).to_pandas()
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)
