"""Site folders with known pairs, read the way `twinlink mine` reads them, ready to be measured.

A site folder has ``site/`` (a mirror), ``gold.tsv`` and ``meta.json`` (``lang_a``, ``lang_b``, ``host``);
`experiments.sites` makes such folders.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from twinlink.config import Config
from twinlink.evaluate import Gold, evaluate, precision_coverage, read_gold
from twinlink.graph.matching import greedy_matching
from twinlink.pipeline.evidence import Between, Side
from twinlink.pipeline.ingest import ingest
from twinlink.pipeline.match import site_sides
from twinlink.rundir import RunDirectory
from twinlink.similarity.lexicon import Lexicon, read_lexicon
from twinlink.tables import LINKS, PAGES, iter_parts, read_table

__all__ = ["Case", "find_cases", "find_lexicons", "open_case", "oracle_f1"]


@dataclass(frozen=True)
class Case:
    """One site: its two sides as the matcher sees them, and what is known of its pairs."""

    name: str
    folder: Path
    langs: tuple[str, str]
    side_a: Side
    side_b: Side
    between: Between
    gold: Gold
    ceiling: float
    """Share of the gold pairs whose two pages were found to be in the right languages."""


def find_cases(places: Sequence[Path]) -> list[Path]:
    """Return the site folders among ``places`` and right below them."""
    folders = [folder for place in places for folder in (place, *sorted(place.iterdir()))]
    return [folder for folder in folders if (folder / "meta.json").is_file() and (folder / "site").is_dir()]


def find_lexicons(place: Path | None, langs: tuple[str, str]) -> list[Lexicon]:
    """Return the lexicons in a folder that are named after both languages (``zh-en.tsv.xz``)."""
    wanted = {lang.split("-")[0] for lang in langs}
    files = sorted(place.iterdir()) if place else []
    return [read_lexicon(file) for file in files if set(file.name.split(".")[0].split("-")) == wanted]


@contextmanager
def open_case(folder: Path) -> Iterator[Case]:
    """Read one site folder through stage `ingest` and the language finder."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    langs = (_wanted(meta["lang_a"]), _wanted(meta["lang_b"]))
    config = Config().override({"langs": list(langs), "ingest.base_url": f"http://{meta['host']}/"})
    with tempfile.TemporaryDirectory() as temporary:
        run = RunDirectory.create(Path(temporary))
        ingest(run, [folder / "site"], config.ingest)
        tables = run.stage_folder("ingest")
        (part,) = iter_parts(tables / "pages")
        pages, links = read_table(part, PAGES), read_table(tables / "links" / part.name, LINKS)
        ((side_a, side_b, between),) = site_sides(pages, links, config)
        gold = read_gold(folder / "gold.tsv")
        yield Case(folder.name, folder, langs, side_a, side_b, between, gold, _ceiling(side_a, side_b, gold))


def _wanted(tag: str) -> str:
    """Return the language of a tag without its region; Chinese keeps what the region says of the script.

    >>> _wanted("pt-BR"), _wanted("zh-TW")
    ('pt', 'zh')
    """
    return tag.replace("_", "-").split("-")[0]


def _ceiling(side_a: Side, side_b: Side, gold: Gold) -> float:
    there_a, there_b = ({gold.key(url) for url in side.urls} for side in (side_a, side_b))
    return float(np.mean([a in there_a and b in there_b for a, b in gold.pairs]))


def oracle_f1(scores: sp.csr_array, case: Case) -> float:
    """Return the best F1 that any threshold on ``scores`` reaches after one-to-one matching: what no user can have."""
    matching = greedy_matching(scores, max_pairs=None, min_score=0.0)
    pairs = [
        (case.side_a.urls[row], case.side_b.urls[column])
        for row, column in zip(matching.rows, matching.columns, strict=True)
    ]
    curve = precision_coverage(pairs, matching.scores.tolist(), case.gold)
    return max((2 * p * r / (p + r) for _, p, r in curve if p + r), default=0.0)


def f1_of(pairs: Sequence[tuple[str, str]], case: Case) -> tuple[float, float, float]:
    """Return precision, recall and F1 of some pairs."""
    result = evaluate(pairs, case.gold)
    return result.precision, result.recall, result.f1
