"""The chart of the rounds of site discovery: outcomes of the sites tried per round, and the pairs so far.

The report contains the chart; `rounds_file` returns the same chart as a separate file.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from twinlink.review.charts.charts import Stack, stacks
from twinlink.review.charts.svg import Alternative, standalone
from twinlink.review.templating import count
from twinlink.wording import ROUND_OUTCOMES

_STYLES = {
    "added": "good",
    "one_language": "quiet",
    "copies": "a",
    "refused": "doubt",
    "dead": "bad",
    "unreadable": "b",
}
"""Class of the part of a column that each count of `twinlink.wording.ROUND_OUTCOMES` has."""
_PARTS = [(style, ROUND_OUTCOMES[name]) for name, style in _STYLES.items()]

LEGEND = (*_PARTS, ("", "pairs so far (line)"))
"""Class and label of each part."""


def rounds_words(rounds: pa.Table) -> str:
    """Return the text of the chart."""
    added, tried = (pc.sum(rounds[name]).as_py() or 0 for name in ("added", "tried"))
    return (
        f"{count(len(rounds))} rounds tried {count(tried)} sites and added {count(added)} of them. Round 0 is the"
        " start. Each round tries the sites with the best links, and adds those that are bilingual."
    )


def rounds_chart(rounds: pa.Table) -> Markup:
    """Draw a column of sites for each round, and a line of the pairs of all sites so far.

    Parameters
    ----------
    rounds : pyarrow.Table
        Columns of `twinlink.tables.ROUNDS`; may be empty.
    """
    columns = [
        Stack(str(row["round"]), tuple(float(row[name]) for name in _STYLES), line=float(row["all_pairs"]))
        for row in rounds.to_pylist()
    ]
    alternative = Alternative("rounds", "Sites tried in each round, and pairs so far", rounds_words(rounds))
    return stacks(alternative, columns, _PARTS, "sites tried", "pairs so far")


def rounds_file(rounds: pa.Table) -> str:
    """Return the chart with its legend as an SVG file."""
    return standalone(rounds_chart(rounds), LEGEND)
