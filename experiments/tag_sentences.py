"""Sentence pairs of TagAligner beside those of the default aligner, by lists of judgements.

::

    python -m experiments.tag_sentences SITES... [--draw] [--runs FOLDER]

Each site is mined, and its page pairs are aligned by both aligners. 100 sentence pairs of each are drawn as in
`experiments.sentences`: those with the smallest hash, so that a pair of both aligners is drawn from both or from
neither, or nearly so. ``judged/SITE.tsv`` has the verdicts on those of the default aligner,
``judged/tagaligner/SITE.tsv`` on those that only TagAligner put out; ``--draw`` adds what is drawn and in neither list,
with the last column to be filled in.

Printed are, for both aligners, the verdicts on the 100, how many of the 100 the other aligner has, too, and the
verdicts on the rest.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments.cases import find_cases
from experiments.judgements import VERDICTS, Key, draw, key_of, merged, read_judged, write_judged
from experiments.sentences import JUDGED, SEED, SIZE, align_site, list_name
from experiments.tables import print_grid
from twinlink.align.formats.exports import Row

__all__ = ["METHODS", "beside", "main"]

METHODS = ("words", "tagaligner")
"""Settings of ``bitext.method``: the default aligner, and the paper's."""
HEAD = ("site", "aligner", "sentence pairs", *VERDICTS, "not judged", "also by the other", "the rest")


def main(arguments: Sequence[str] | None = None) -> None:
    """Align, draw or compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--draw", action="store_true", help="add to the lists what is drawn now and not in them")
    parser.add_argument("--runs", type=Path, help="folder in which the runs are kept")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="folder of the lists")
    given = parser.parse_args(arguments)
    cells = []
    with tempfile.TemporaryDirectory() as temporary:
        for folder in find_cases(given.sites):
            out = (given.runs or Path(temporary)) / folder.name
            found = {method: align_site(folder, out, method=method).rows for method in METHODS}
            name = list_name(folder.name)
            lists = [place / f"{name}.tsv" for place in (given.judged, given.judged / METHODS[1])]
            if given.draw:
                _add(found, lists)
            verdicts = {row.key: row.verdict for file in lists if file.exists() for row in read_judged(file)}
            cells += [[name, *row] for row in beside(found, verdicts)]
    print_grid("Sentence pairs", [HEAD, *cells])


def _add(found: Mapping[str, Iterable[Row]], lists: Sequence[Path]) -> None:
    """Add what is drawn to the list of each aligner, but for what is in a list already."""
    for rows, file in zip(found.values(), lists, strict=True):
        known = {row.key for each in lists if each.exists() for row in read_judged(each)}
        drawn = {key_of(row): row for row in draw(rows, SIZE, SEED)}
        new = {key: row for key, row in drawn.items() if key not in known}
        if new:
            file.parent.mkdir(exist_ok=True)
            write_judged(file, merged(read_judged(file) if file.exists() else [], new))


def beside(found: Mapping[str, Sequence[Row]], verdicts: Mapping[Key, str], size: int = SIZE) -> list[list[str]]:
    """Return a row for each aligner.

    Examples
    --------
    >>> one, two = (Row("a", "b", text, text, 1.0) for text in ("one", "two"))
    >>> for row in beside({"words": [one], "tagaligner": [one, two]}, {key_of(one): "correct", key_of(two): "wrong"}):
    ...     print(row)
    ['words', '1', '1', '0', '0', '0', '1', '–']
    ['tagaligner', '2', '1', '0', '1', '0', '1', 'wrong 1']
    """
    keys = {method: {key_of(row) for row in rows} for method, rows in found.items()}
    table = []
    for method, rows in found.items():
        drawn = [key_of(row) for row in draw(rows, size, SEED)]
        others = set().union(*(keys[other] for other in found if other != method))
        counts = Counter(verdicts.get(key, "") for key in drawn)
        rest = Counter(verdicts.get(key, "") or "not judged" for key in drawn if key not in others)
        cells = [len(rows), *(counts[verdict] for verdict in (*VERDICTS, "")), sum(key in others for key in drawn)]
        named = ", ".join(f"{verdict} {rest[verdict]}" for verdict in (*VERDICTS, "not judged") if rest[verdict])
        table.append([method, *map(str, cells), named or "–"])
    return table


if __name__ == "__main__":
    main()
