"""Sentence alignment on the Text+Berg gold: strict and lax precision, recall and F1, from the two texts alone.

::

    python -m experiments.textberg STEM_A STEM_B GOLD

    python -m experiments.textberg STEM_A STEM_B GOLD --parts 7 14

e.g. ``dev.de dev.fr dev.defr``: files with one sentence per line, and the gold beads. Strict: a bead counts if it is a
gold bead; lax: if it shares a line on each side with a gold bead. Precision is over all reported beads, recall over the
gold beads that have both sides. The share of right beads in each interval of probability is printed, too.

With ``--parts``, the text is cut into short texts at gold beads 1-1; they are aligned one by one and together.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twinlink.align.bands import full_band
from twinlink.align.bead_shapes import GALE_CHURCH_SHAPES, BeadShapes
from twinlink.align.formats.sentence_files import Bead, read_beads
from twinlink.align.kernels import best_path, gale_church_scores
from twinlink.align.learning import Text, TextPair, align_text_pairs, align_texts
from twinlink.align.lengths import START_VARIANCE
from twinlink.align.page_pair import Aligned

__all__ = ["Score", "gale_church", "in_parts", "main", "score_beads"]


class Score(NamedTuple):
    """Precision and recall, strict and lax."""

    strict_precision: float
    strict_recall: float
    lax_precision: float
    lax_recall: float

    @property
    def strict(self) -> float:
        """F1."""
        return _f1(self.strict_precision, self.strict_recall)

    @property
    def lax(self) -> float:
        """F1."""
        return _f1(self.lax_precision, self.lax_recall)


def main(arguments: Sequence[str] | None = None) -> None:
    """Align, score and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("a", type=Path, help="text of the first language, one sentence a line")
    parser.add_argument("b", type=Path, help="text of the second language")
    parser.add_argument("gold", type=Path, help="gold beads, one a line: [0]:[0, 1]")
    parser.add_argument("--parts", type=int, nargs="+", help="cut into so many texts, aligned alone and together")
    given = parser.parse_args(arguments)
    a, b = (path.read_text(encoding="utf-8").splitlines() for path in (given.a, given.b))
    gold = read_beads(given.gold)
    print(f"{'':<22} strict P     R    F1   lax P     R    F1  beads")
    if given.parts:
        _print("one text", align_texts(a, b).beads, gold)
        for number in given.parts:
            for name, beads in in_parts(a, b, gold, number).items():
                _print(f"{number} texts, {name}", beads, gold)
        return
    _print("Gale & Church", gale_church(a, b), gold)
    align_texts(a[:2], b[:2])  # compiles
    start = time.process_time()

    def show(number: int, aligned: Aligned) -> None:
        _print("lengths, equal words" if not number else f"after round {number}", _beads(aligned.beads.tolist()), gold)

    found = align_texts(a, b, on_round=show)
    seconds = time.process_time() - start
    print(f"{len(a) + len(b)} sentences, {seconds:.2f} s: {len(found.beads) / seconds:,.0f} beads/s in all rounds")
    print_bands(found.beads, found.posteriors.tolist(), gold)


def in_parts(a: Sequence[str], b: Sequence[str], gold: Sequence[Bead], number: int) -> dict[str, list[Bead]]:
    """Cut two texts into parts at gold beads 1-1, and align the parts alone and together; return the beads of all."""
    ones = [(one[0], other[0]) for one, other in gold if len(one) == len(other) == 1]
    cuts = [min(ones, key=lambda cut: abs(cut[0] - k * len(a) / number)) for k in range(1, number)]
    places = [(0, 0), *cuts, (len(a), len(b))]
    parts = [TextPair(Text(a[i:k]), Text(b[j:m])) for (i, j), (k, m) in itertools.pairwise(places)]
    alone = [align_texts(part.a.sentences, part.b.sentences) for part in parts]
    found = {"alone": alone, "together": align_text_pairs(parts)}
    return {
        name: [
            (tuple(i + line for line in one), tuple(j + line for line in other))
            for (i, j), part in zip(places, aligned, strict=False)
            for one, other in part.beads
        ]
        for name, aligned in found.items()
    }


def gale_church(a: Sequence[str], b: Sequence[str]) -> list[Bead]:
    """Align by lengths with the bead types and parameters of Gale & Church (1993), over all cells."""
    shapes, band = BeadShapes.of(GALE_CHURCH_SHAPES), full_band(len(a), len(b))
    sums_a, sums_b = (np.cumsum([0.0, *map(len, side)]) for side in (a, b))
    scores = gale_church_scores(sums_a, sums_b, shapes.array, np.log(shapes.start), 1.0, START_VARIANCE, *band)
    _, chosen = best_path(scores, shapes.array, *band)
    ends = np.cumsum(shapes.array[chosen], axis=0)
    starts = ends - shapes.array[chosen]
    return _beads(np.stack([starts[:, 0], ends[:, 0], starts[:, 1], ends[:, 1]], axis=1).tolist())


def score_beads(found: Iterable[Bead], gold: Iterable[Bead]) -> Score:
    """Score beads as the Text+Berg papers do.

    >>> score_beads([((0,), (0,)), ((1,), (1, 2))], [((0,), (0,)), ((1,), (1,)), ((), (2,))])
    Score(strict_precision=0.5, strict_recall=0.5, lax_precision=1.0, lax_recall=1.0)
    """
    found, gold = set(found), set(gold)
    both = [{bead for bead in beads if bead[0] and bead[1]} for beads in (found, gold)]
    precision = _shares(found, gold)
    recall = _shares(both[1], both[0])
    return Score(precision[0], recall[0], precision[1], recall[1])


def print_bands(beads: Sequence[Bead], probabilities: Sequence[float], gold: Sequence[Bead]) -> None:
    """Print the share of right beads in each interval of probability."""
    print("probability       beads   mean  strict    lax")
    edges = [0.0, 0.5, 0.9, 0.99, 1.01]
    for low, high in itertools.pairwise(edges):
        inside = [bead for bead, p in zip(beads, probabilities, strict=True) if low <= p < high and bead[0] and bead[1]]
        if inside:
            mean = np.mean([p for b, p in zip(beads, probabilities, strict=True) if low <= p < high and b[0] and b[1]])
            strict, lax = _shares(set(inside), set(gold))
            print(f"{low:4.2f} to {min(high, 1):4.2f}  {len(inside):8}  {mean:.3f}   {strict:.3f}  {lax:.3f}")


def _print(name: str, found: Sequence[Bead], gold: Sequence[Bead]) -> None:
    s = score_beads(found, gold)
    print(
        f"{name:<22}    {s.strict_precision:.3f} {s.strict_recall:.3f} {s.strict:.3f}"
        f"   {s.lax_precision:.3f} {s.lax_recall:.3f} {s.lax:.3f}  {len(found):5}"
    )


def _beads(rows: Iterable[Sequence[int]]) -> list[Bead]:
    return [(tuple(range(i, i_end)), tuple(range(j, j_end))) for i, i_end, j, j_end in rows]


def _shares(beads: set[Bead], reference: set[Bead]) -> tuple[float, float]:
    """Return the share of beads in the reference, and of beads that share a line on each side with a reference bead."""
    partners: dict[int, set[int]] = {}
    for a, b in reference:
        for line in a:
            partners.setdefault(line, set()).update(b)
    strict = sum(bead in reference for bead in beads)
    lax = sum(
        bead in reference or any(not partners.get(line, set()).isdisjoint(bead[1]) for line in bead[0])
        for bead in beads
    )
    return strict / max(len(beads), 1), lax / max(len(beads), 1)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


if __name__ == "__main__":
    main()
