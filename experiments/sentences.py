"""Sentence pairs of real sites: their number, and the precision of random samples, by lists of judgements.

::

    python -m experiments.sentences SITES... [--draw] [--runs FOLDER]

Each site is mined and aligned with the default settings, on the page pairs that twinlink itself finds. 100 sentence
pairs of each are drawn with a fixed seed. ``--draw`` adds those of them that are not in ``judged/SITE.tsv`` beside this
file, with the last column to be filled in. Without it the list is compared with what comes out now: how many of the
100 have been read, and how many of them are right at each least score. ``--runs`` keeps the runs, and mines a site only
once; it is aligned anew each time, unless ``--keep`` says that what is there is of the present code.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.cases import find_cases, langs_of, read_meta
from experiments.judgements import (
    VERDICTS,
    Judged,
    Key,
    draw,
    key_of,
    merged,
    precision_at,
    read_judged,
    wilson,
    write_judged,
)
from experiments.tables import Column, number, print_tables
from twinlink import mine
from twinlink.align.formats.exports import Row
from twinlink.align.segment_files import export_rows
from twinlink.config import Config
from twinlink.evaluation.gold import evaluate, read_gold
from twinlink.jobs.stages import align_stage
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import SEGMENTS, read_table

__all__ = ["JUDGED", "SEED", "SIZE", "Aligned", "align_site", "list_name", "main", "read_arguments"]

JUDGED = Path(__file__).with_name("judged")
SIZE, SEED = 100, 6
CUTS = (0.5, 0.9, 0.99, 0.999)
CUTS_CHANCE = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98)
CUTS_PER_WORD = (0.0, 0.5, 1.0, 2.0)


class Aligned(NamedTuple):
    """Sentence pairs of a site, as aligned by twinlink."""

    name: str
    folder: Path
    """``RUN/align``."""
    langs: tuple[str, str]
    pages: int
    """Page pairs found."""
    wrong_pages: int
    """Scored page pairs that are not gold."""
    rows: list[Row]
    left_out: Counter[str]
    seconds: float
    """Processor time of the alignment."""


class Read(NamedTuple):
    """A reported sentence pair that was read."""

    probability: float
    per_word: float
    verdict: str
    chance: float = 0.0


def read_arguments(text: str | None, lists: Path, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line of an experiment that aligns sites and compares lists of pairs that were read."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0] if text else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--draw", action="store_true", help="add to the lists what is drawn now and not in them")
    parser.add_argument("--runs", type=Path, help="folder in which the runs are kept")
    parser.add_argument("--keep", action="store_true", help="do not align again what has been aligned")
    parser.add_argument("--judged", type=Path, default=lists, help="folder of the lists")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Align, draw or compare, and print."""
    given = read_arguments(__doc__, JUDGED, arguments)
    columns = {}
    pooled: list[Read] = []
    told: list[Read] = []
    with tempfile.TemporaryDirectory() as temporary:
        for folder in find_cases(given.sites):
            site = align_site(folder, (given.runs or Path(temporary)) / folder.name, keep=given.keep)
            drawn = {key_of(row): row for row in draw(site.rows, SIZE, SEED)}
            file = given.judged / f"{list_name(site.name)}.tsv"
            judged = read_judged(file) if file.exists() else []
            if given.draw:
                judged = merged(judged, drawn)
                write_judged(file, judged)
            read = _read(judged, drawn)
            put_out = _read(judged, {key_of(row): row for row in site.rows})
            pooled += read
            told += put_out
            columns[site.name] = _numbers(site) | _agreement(judged, drawn, site.rows) | _quality(read) | _told(put_out)
    print_tables(columns | {"all": _quality(pooled) | _told(told)}, sites_down=True)


def list_name(site: str) -> str:
    """Return the name of a site's list.

    >>> list_name("apache-en-fr-opaque")
    'apache-en-fr'
    """
    return site.removesuffix("-opaque")


def align_site(folder: Path, out: Path, *, keep: bool = False, method: str = "words") -> Aligned:
    """Mine a site folder, if not done before, and align it; with ``keep`` an existing alignment is used.

    ``method`` is `twinlink.config.align.BitextSettings.method`.
    """
    meta = read_meta(folder)
    found = mine([str(folder / "site")], out=out, langs=langs_of(meta), ingest__base_url=f"http://{meta['host']}/")
    run = RunDirectory(out)
    if not keep:
        shutil.rmtree(out / "align", ignore_errors=True)  # its signature does not depend on the code
    start = time.process_time()
    with run.lock():
        align_stage(run, Config.load(run.config_file).override({"bitext.method": method}))
    seconds = time.process_time() - start
    align = out / "align"
    (side,) = (align / "segments").iterdir()
    lang_a, _, lang_b = side.name.partition("-")
    verdicts = Counter(read_table(side, SEGMENTS, ("verdict",))["verdict"].to_pylist())
    verdicts.pop("segment", None)
    rows = list(export_rows(align / "segments", (lang_a, lang_b)))
    judged = evaluate(zip(found.pairs["url_a"], found.pairs["url_b"], strict=True), read_gold(folder / "gold.tsv"))
    return Aligned(folder.name, align, (lang_a, lang_b), len(found.pairs), judged.n_wrong, rows, verdicts, seconds)


def _numbers(site: Aligned) -> Column:
    counts = {
        "page pairs": f"{site.pages:,}",
        "of these wrong": f"{site.wrong_pages}",
        "sentence pairs": f"{len(site.rows):,}",
        "seconds": f"{site.seconds:.0f}",
        "left out": ", ".join(f"{reason} {count}" for reason, count in site.left_out.most_common()),
    }
    return {"Sentence pairs": counts}


def _agreement(judged: Sequence[Judged], drawn: Mapping[Key, Row], rows: Sequence[Row]) -> Column:
    """Compare the list with the present sentence pairs."""
    read = {row.key: row.verdict for row in judged if row.verdict}
    here = {key_of(row) for row in rows}
    lost = Counter(verdict for key, verdict in read.items() if key not in here)
    cells = {
        "judged": f"{len(read)}",
        "still put out": f"{sum(key in here for key in read)}",
        "no longer": ", ".join(f"{verdict} {lost[verdict]}" for verdict in VERDICTS if lost[verdict]) or "–",
        "drawn now": f"{len(drawn)}",
        "of these judged": f"{sum(key in read for key in drawn)}",
    }
    return {"The list and the present output": cells}


def _read(judged: Sequence[Judged], drawn: Mapping[Key, Row]) -> list[Read]:
    """Return the scores and verdicts of the sentence pairs that the list has."""
    verdicts = {row.key: row.verdict for row in judged if row.verdict}
    return [
        Read(row.probability, row.per_word, verdicts[key], row.score) for key, row in drawn.items() if key in verdicts
    ]


def _quality(read: Sequence[Read]) -> Column:
    """Return the number of right sentence pairs by score."""
    counts = Counter(one.verdict for one in read)
    by_score = [(one.chance, one.verdict) for one in read]
    by_chance = [(one.probability, one.verdict) for one in read]
    by_words = [(one.per_word, one.verdict) for one in read]
    return {
        "Verdicts": {verdict: str(counts[verdict]) for verdict in VERDICTS},
        "Correct, by least chance": _by_cut(by_score, CUTS_CHANCE, lenient=False),
        "Correct or partly, by least chance": _by_cut(by_score, CUTS_CHANCE, lenient=True),
        "Correct, by least probability": _by_cut(by_chance, CUTS, lenient=False),
        "Correct or partly, by least probability": _by_cut(by_chance, CUTS, lenient=True),
        "Correct, by least score a word": _by_cut(by_words, CUTS_PER_WORD, lenient=False),
        "Correct or partly, by least score a word": _by_cut(by_words, CUTS_PER_WORD, lenient=True),
    }


def _by_cut(scored: Sequence[tuple[float, str]], cuts: Sequence[float], *, lenient: bool) -> dict[str, str]:
    return {f"≥ {at.least:g}": _share(at.correct + lenient * at.partly, at.judged) for at in precision_at(scored, cuts)}


def _told(read: Sequence[Read]) -> Column:
    """Compare the mean chance with the share of right pairs, in each interval between two cuts.

    All reported lines of the list are used, not only those drawn now.
    """
    cells = {}
    for low, high in itertools.pairwise((*CUTS_CHANCE, 1.1)):
        here = [one for one in read if low <= one.chance < high]
        mean = sum(one.chance for one in here) / max(len(here), 1)
        right = sum(one.verdict == "correct" for one in here)
        cells[f"{low:g} to {min(high, 1):g}"] = f"told {number(mean)}, {_share(right, len(here))}" if here else "–"
    return {"Correct, by the chance told": cells}


def _share(successes: int, trials: int) -> str:
    """Return a share with its interval and its denominator as text.

    >>> _share(8, 10), _share(0, 0)
    ('.800 (.490 to .943) of 10', '–')
    """
    low, high = wilson(successes, trials)
    return f"{number(successes / trials)} ({number(low)} to {number(high)}) of {trials}" if trials else "–"


if __name__ == "__main__":
    main()
