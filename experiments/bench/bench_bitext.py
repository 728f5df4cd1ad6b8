"""Speed of aligning and writing sentences.

::

    python -m experiments.bench.bench_bitext [--beads 50 500 5000] [--units 1000000]

Texts of made-up words with beads of all shapes are aligned, from short pages to one page of many sentences: by lengths
alone as Gale & Church do, over all cells, and by NLTK's form of the same, where that is installed; by lengths and equal
words in the band, once; and in all rounds of learning. Then units are written as TMX. Sentences are those of both
texts. Processor time of one core; memory is the peak of the process so far. ``growth`` is the exponent by which time
grew with the number of beads since the line of the shorter page: 1 for a band, 2 for all cells.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from experiments.textberg import gale_church, score_beads
from twinlink.align.formats.exports import Row, open_for_writing, write_tmx
from twinlink.align.formats.sentence_files import Bead
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import Text, TextPair, align_texts, prepare_texts, scoring_of
from twinlink.align.page_pair import align_pair
from twinlink.config.align import BitextSettings

__all__ = ["by_nltk", "in_rounds", "made_texts", "main", "once"]

Texts = Sequence[str]
MOST_WHOLE = 1000
"""Maximum number of beads for alignment over all cells: for more, NLTK takes minutes and gigabytes."""
SHAPES = [(1, 1), (1, 2), (2, 1), (1, 0), (0, 1), (2, 2)]
SHARES = [88, 4, 4, 1.5, 1.5, 1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--beads", type=int, nargs="+", default=[50, 500, 5000], help="beads of each page")
    parser.add_argument("--units", type=int, default=1_000_000, help="units of the TMX file (default: 1000000)")
    given = parser.parse_args(arguments)
    for align in ALIGNERS.values():  # compiles
        align(*made_texts(120)[:2])
    print(f"peak memory before: {_peak():,} MB")
    before: dict[str, tuple[int, float]] = {}
    for size in given.beads:
        a, b, gold = made_texts(size)
        for name, align in ALIGNERS.items():
            if size <= MOST_WHOLE or name not in WHOLE:
                seconds = _time(name, align, a, b, gold, before.get(name))
                before[name] = size, seconds
    _time_tmx(given.units)


def _time(
    name: str,
    align: Callable[[Texts, Texts], list[Bead]],
    a: Texts,
    b: Texts,
    gold: list[Bead],
    before: tuple[int, float] | None,
) -> float:
    """Print the line of one way to align a page; ``before``: beads and seconds of a shorter page."""
    start = time.process_time()
    found = align(a, b)
    seconds = time.process_time() - start
    score = score_beads(found, gold)
    growth = math.log(seconds / before[1]) / math.log(len(gold) / before[0]) if before else math.nan
    print(
        f"{len(gold):6} beads  {name:24} {(len(a) + len(b)) / seconds:9,.0f} sentences/s"
        f"  growth {growth:4.2f}  strict {score.strict:.3f} lax {score.lax:.3f}  peak {_peak():,} MB",
        flush=True,
    )
    return seconds


def by_nltk(a: Texts, b: Texts) -> list[Bead]:
    """Align by NLTK's Gale-Church."""
    sides: dict[int, tuple[set[int], set[int]]] = {}
    lengths = ([len(text) for text in side] for side in (a, b))
    ends = import_module("nltk.translate.gale_church").align_blocks(*lengths)
    # NLTK returns every pair of sentences of a bead, and nothing for sentences without a partner.
    bead_of: dict[tuple[str, int], int] = {}
    for i, j in ends:
        number = bead_of.get(("a", i), bead_of.get(("b", j), len(sides)))
        bead_of["a", i] = bead_of["b", j] = number
        of_a, of_b = sides.setdefault(number, (set(), set()))
        of_a.add(i)
        of_b.add(j)
    return [(tuple(sorted(of_a)), tuple(sorted(of_b))) for of_a, of_b in sides.values()]


def in_rounds(a: Texts, b: Texts) -> list[Bead]:
    """Align in all rounds."""
    return align_texts(a, b).beads


def once(a: Texts, b: Texts) -> list[Bead]:
    """Align by lengths and equal words."""
    scoring = scoring_of(BitextSettings())
    known = Knowledge.empty(len(scoring.shapes.names))
    aligned, _ = align_pair(prepare_texts(TextPair(Text(a), Text(b))), known, scoring)
    return [(tuple(range(i, i_end)), tuple(range(j, j_end))) for i, i_end, j, j_end in aligned.beads.tolist()]


ALIGNERS: dict[str, Callable[[Texts, Texts], list[Bead]]] = {
    "lengths (Gale & Church)": gale_church,
    **({"NLTK's gale_church": by_nltk} if find_spec("nltk") else {}),
    "lengths and equal words": once,
    "all rounds": in_rounds,
}
WHOLE = ("lengths (Gale & Church)", "NLTK's gale_church")


def made_texts(n_beads: int, seed: int = 1) -> tuple[list[str], list[str], list[Bead]]:
    """Generate two texts of n beads: words by Zipf's law, each with one translation, and some numbers."""
    rng = random.Random(seed)
    words = [f"w{number:04x}" for number in range(4000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    letters = str.maketrans("w0123456789abcdef", "qghjklmnprstvxzuo")
    a: list[str] = []
    b: list[str] = []
    beads: list[Bead] = []
    for da, db in rng.choices(SHAPES, SHARES, k=n_beads):
        text = rng.choices(words, weights, k=rng.randint(4, 25) * max(da, db))
        if rng.random() < 0.2:
            text[0] = str(rng.randint(100, 9999))
        other = [word if word.isdigit() else word[::-1].translate(letters) for word in text]
        beads.append((tuple(range(len(a), len(a) + da)), tuple(range(len(b), len(b) + db))))
        for side, parts, side_text in ((a, da, text), (b, db, other)):
            cuts = [round(k * len(side_text) / max(parts, 1)) for k in range(parts + 1)]
            side += [" ".join(side_text[cuts[k] : cuts[k + 1]]) for k in range(parts)]
    return a, b, beads


def _time_tmx(n_units: int) -> None:
    def rows() -> Iterator[Row]:
        for number in range(n_units):
            yield Row(
                "https://www.example.org/en/page", "https://www.example.org/fr/page", f"Text {number}", "Texte", 0.9
            )

    before = _peak()
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tmx"
        with open_for_writing(path) as file:
            write_tmx(rows(), file, ("en", "fr"), "0", datetime.now(UTC))
        size = path.stat().st_size / 1e6
    seconds = time.process_time() - start
    print(f"TMX: {n_units:,} units, {size:,.0f} MB, {seconds:.1f} s; peak memory {before:,} -> {_peak():,} MB")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
