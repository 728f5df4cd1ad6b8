"""How fast sentences are aligned and written.

::

    python -m experiments.bench.bench_bitext [--sentences 5000] [--units 1000000]

Texts of made-up words with beads of all shapes are aligned, from short pages to one page of many sentences; then units
are written as TMX. Processor time of one core; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from experiments.textberg import gale_church, score_beads
from twinlink.bitext.beadfile import Bead
from twinlink.bitext.exports import Row, open_for_writing, write_tmx
from twinlink.bitext.learn import align_texts

__all__ = ["made_texts", "main"]

SHAPES = [(1, 1), (1, 2), (2, 1), (1, 0), (0, 1), (2, 2)]
SHARES = [88, 4, 4, 1.5, 1.5, 1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sentences", type=int, default=5000, help="sentences of the longest page (default: 5000)")
    parser.add_argument("--units", type=int, default=1_000_000, help="units of the TMX file (default: 1000000)")
    given = parser.parse_args(arguments)
    align_texts(["a b", "c"], ["d e", "f"])  # compiles
    gale_church(["a"], ["b"])
    for size in (50, 500, given.sentences):
        a, b, gold = made_texts(size)
        start = time.process_time()
        found = align_texts(a, b)
        seconds = time.process_time() - start
        score = score_beads(found.beads, gold)
        print(
            f"{size:6} beads  all rounds {size / seconds:8,.0f} beads/s  strict {score.strict:.3f} lax {score.lax:.3f}"
        )
    print(f"peak memory {_peak():,} MB")
    _time_tmx(given.units)


def made_texts(n_beads: int, seed: int = 1) -> tuple[list[str], list[str], list[Bead]]:
    """Make two texts of n beads: words by Zipf's law, each with one translation; some numbers."""
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
