"""Orders of pairs for review, and the reasons why a pair may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.errors import InputError
from twinlink.labels.book import UNLABELLED, Label, label_codes
from twinlink.labels.teaching_order import asking_order
from twinlink.review.reading.columns import floats
from twinlink.tables import EVIDENCE_FIELDS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ORDERS", "REASONS", "Order", "ordered", "reasons"]

Order = Literal["teach", "doubt", "random", "site", "reason", "probable"]
ORDERS: tuple[Order, ...] = get_args(Order)

Pairs: TypeAlias = "pa.Table | pd.DataFrame"
"""Page pairs: the report has them as an Arrow table, the review as a DataFrame."""

REASONS = ("tie", "rival", "alike", "content", "structure", "links", "length", "none")
"""Why a pair may be wrong, the gravest reason first; `reasons` returns indices in this tuple."""

_NEAR_RIVAL = 0.8  # of a pair's score; set by hand: on the demo site the median is .32, the maximum .83
_WEAK_SHARE = 0.05  # share of the pairs that counts as weakest in a kind of evidence; set by hand
_EVIDENCE = {
    "content": ("content", "learned", "contrast"),
    "structure": ("structure",),
    "links": ("external", "order"),
    "length": ("length",),
}


def ordered(pairs: Pairs, labels: Mapping[tuple[str, str], Label], by: Order = "doubt") -> npt.NDArray[np.intp]:
    """Return the rows of ``pairs`` in an order, those without a label first.

    Parameters
    ----------
    pairs : pyarrow.Table or DataFrame
        Columns of `twinlink.tables.PAIRS`.
    labels : mapping
        `LabelBook.current`.
    by : str
        ``teach``: first doubtful pairs that are similar to many others, with a few sure ones in between
        (`asking_order`); ``doubt``: probability nearest to ½ first (lowest score first if the method gives no
        probability); ``random``: pseudo-random and stable when pairs are added or removed, best for estimating
        precision; ``site``: by site, then by doubt; ``reason``: by `reasons`, then by doubt; ``probable``: most
        probable first.

    Raises
    ------
    InputError
        If the order is unknown.
    """
    if by not in ORDERS:
        raise InputError(f"{by}: no order of pairs; choose from {', '.join(ORDERS)}")
    is_labelled = label_codes(pairs["url_a"], pairs["url_b"], labels) != UNLABELLED
    if by == "teach":
        order = _teaching(pairs.to_pandas() if isinstance(pairs, pa.Table) else pairs)
        return order[np.argsort(is_labelled[order], kind="stable")]
    keys = _keys(pairs, by)
    return np.lexsort((*reversed(keys), is_labelled))


def _teaching(pairs: pd.DataFrame) -> npt.NDArray[np.intp]:
    by_doubt, at_random = (np.lexsort(tuple(reversed(_keys(pairs, by)))) for by in ("doubt", "random"))
    columns = [*(field.name for field in EVIDENCE_FIELDS), "score", "rival"]
    features = np.stack([floats(pairs[name]) for name in columns], axis=1)
    groups = pairs.groupby(["site", "lang_a", "lang_b"], dropna=False).ngroup().to_numpy()
    return asking_order(floats(pairs["probability"]), by_doubt, at_random, features, groups)


def _keys(pairs: Pairs, by: Order) -> list[npt.NDArray[np.generic]]:
    """Return the sort keys, the primary key first."""
    mixed = _mixed(pairs)
    if by == "random":
        return [mixed]
    if by == "probable":
        return [-_filled(pairs["probability"]), -_filled(pairs["score"]), mixed]
    doubt = [*_doubt(pairs), mixed]
    if by == "site":
        sites = pairs["site"] if isinstance(pairs, pa.Table) else pa.array(pairs["site"])
        return [pc.rank(sites, tiebreaker="dense").to_numpy(), *doubt]
    return [reasons(pairs), *doubt] if by == "reason" else doubt


def _doubt(pairs: Pairs) -> list[npt.NDArray[np.generic]]:
    probability = floats(pairs["probability"])
    return [np.abs(np.where(np.isnan(probability), 0.5, probability) - 0.5), _filled(pairs["score"])]


def _filled(values: pa.ChunkedArray | pd.Series) -> npt.NDArray[np.float64]:
    filled: npt.NDArray[np.float64] = np.nan_to_num(floats(values), nan=0.0)
    return filled


def _mixed(pairs: Pairs) -> npt.NDArray[np.uint64]:
    """Return a pseudo-random number for each pair, independent of its quality."""
    first, second = (np.asarray(pairs[name], np.int64).view(np.uint64) for name in ("page_a", "page_b"))
    # splitmix64's constants; page_id is a hash already
    number = (first ^ (second * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed: npt.NDArray[np.uint64] = number ^ (number >> np.uint64(29))
    return mixed


def reasons(pairs: Pairs) -> npt.NDArray[np.int8]:
    """Return the gravest reason why each pair may be wrong, as an index in `REASONS`.

    ``tie``: another page has the same score; ``rival``: another page has nearly the same score; ``alike``: one of its
    pages has near-duplicates; the others: a kind of evidence in which it is among the weakest twentieth of the run.

    Parameters
    ----------
    pairs : pyarrow.Table or DataFrame
        Columns of `twinlink.tables.PAIRS`.
    """
    score, rival = _filled(pairs["score"]), _filled(pairs["rival"])
    alike = np.maximum(_filled(pairs["alike_a"]), _filled(pairs["alike_b"]))
    holds = {
        "tie": np.asarray(pairs["verdict"]) == "tie",
        "rival": (rival > 0) & (rival >= _NEAR_RIVAL * score),
        "alike": alike > 0,
        **{name: _is_weak(pairs, columns) for name, columns in _EVIDENCE.items()},
    }
    found = np.full(len(pairs), REASONS.index("none"), np.int8)
    for place, name in reversed(list(enumerate(REASONS[:-1]))):
        found[holds[name]] = place
    return found


def _is_weak(pairs: Pairs, columns: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return for each pair whether one of these kinds of evidence is in the weakest twentieth and below the median."""
    weak = np.zeros(len(pairs), np.bool_)
    for column in columns:
        values = floats(pairs[column])
        known = values[~np.isnan(values)]
        if len(known):
            least, middle = np.quantile(known, [_WEAK_SHARE, 0.5])
            weak |= (values <= least) & (values < middle)
    return weak
