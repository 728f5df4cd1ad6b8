"""Site folders with known pairs, read as `twinlink mine` reads them, for experiments.

A site folder has ``site/`` (a mirror), ``gold.tsv`` and ``meta.json`` (``lang_a``, ``lang_b``, ``host``);
`experiments.sites` makes such folders.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
from msgspec.structs import astuple

from twinlink.config import Config, InternalSettings, MatchSettings
from twinlink.config.match import SharedTokens
from twinlink.evaluation.gold import Gold, evaluate, precision_coverage, read_gold
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.ingest.stage import ingest
from twinlink.languages import base_language
from twinlink.match.evidence import Between, Side, Words, read_words
from twinlink.match.methods.registry import METHODS
from twinlink.match.selection import SideMatch
from twinlink.match.shared_names import read_links
from twinlink.match.site import PAGE_COLUMNS, site_sides
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.lexicon_files import Lexicon, read_lexicon
from twinlink.tables import PAGES, iter_parts, part_like, read_table


class Case(msgspec.Struct, frozen=True):
    """One site: its two sides as input of the matcher, and its gold pairs."""

    name: str
    folder: Path
    langs: tuple[str, str]
    side_a: Side
    side_b: Side
    between: Between
    gold: Gold
    ceiling: float
    """Share of the gold pairs with both pages identified as their right language."""


def find_cases(places: Sequence[Path]) -> list[Path]:
    """Return the site folders among ``places`` and among their direct subfolders."""
    folders = [folder for place in places for folder in (place, *sorted(place.iterdir()))]
    return [folder for folder in folders if (folder / "meta.json").is_file() and (folder / "site").is_dir()]


def find_lexicons(place: Path | None, langs: tuple[str, str]) -> list[Lexicon]:
    """Return the lexicons in a folder that are named after both languages (``zh-en.tsv.xz``)."""
    wanted = {lang.split("-")[0] for lang in langs}
    files = sorted(place.iterdir()) if place else []
    return [read_lexicon(file) for file in files if set(file.name.split(".")[0].split("-")) == wanted]


def read_meta(folder: Path) -> dict[str, Any]:
    """Return what ``meta.json`` says of a site folder."""
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return meta


def langs_of(meta: Mapping[str, Any]) -> tuple[str, str]:
    """Return the languages of the two sides of a site, without script and region.

    >>> langs_of({"lang_a": "pt-BR", "lang_b": "zh-TW"})
    ('pt', 'zh')
    """
    return base_language(meta["lang_a"]), base_language(meta["lang_b"])


@contextmanager
def ingested(folder: Path) -> Iterator[tuple[RunDirectory, Config]]:
    """Read one site folder through stage `ingest` into a run, which is removed at the end."""
    meta = read_meta(folder)
    config = Config().override({"langs": list(langs_of(meta)), "ingest.base_url": f"http://{meta['host']}/"})
    with tempfile.TemporaryDirectory() as temporary:
        run = RunDirectory.create(Path(temporary))
        ingest(run, [folder / "site"], config.ingest)
        yield run, config


def site_tables(folder: Path) -> tuple[pa.Table, pa.Table]:
    """Return the pages and links of one site folder, as stage `match` reads them."""
    with ingested(folder) as (run, _):
        return _read_site(run)


def _read_site(run: RunDirectory) -> tuple[pa.Table, pa.Table]:
    tables = run.stage_folder("ingest")
    (part,) = iter_parts(tables / "pages")
    pages = read_table(part, PAGES, PAGE_COLUMNS)
    return pages, read_links(part_like(tables / "links", part), pages["site"][0].as_py())


@contextmanager
def open_case(folder: Path) -> Iterator[Case]:
    """Read one site folder through stage `ingest` and the language finder."""
    with ingested(folder) as (run, config):
        pages, links = _read_site(run)
        ((side_a, side_b, between),) = site_sides(pages, links, config)
        gold = read_gold(folder / "gold.tsv")
        langs = langs_of(read_meta(folder))
        yield Case(folder.name, folder, langs, side_a, side_b, between, gold, _ceiling(side_a, side_b, gold))


def _ceiling(side_a: Side, side_b: Side, gold: Gold) -> float:
    there_a, there_b = ({gold.key(url) for url in side.urls} for side in (side_a, side_b))
    return float(np.mean([a in there_a and b in there_b for a, b in gold.pairs]))


def oracle_f1(scores: sp.csr_array, case: Case, match: Callable[[sp.csr_array], Matching] = greedy_matching) -> float:
    """Return the best F1 of any threshold on ``scores`` after one-to-one matching, which a user cannot know."""
    matching = match(scores)
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


class Outcome(msgspec.Struct, frozen=True):
    """Scores of a list of pairs, and its expected precision."""

    oracle: float
    """F1 at the best threshold on the same scores."""
    precision: float
    recall: float
    f1: float
    expected: float
    """Mean probability of the reported pairs; NaN if there are none."""


def mean_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the mean of each score over the outcomes that have one.

    >>> mean_outcome([Outcome(1.0, 1.0, 0.5, 0.6, 0.9), Outcome(0.0, 0.0, 0.0, 0.0, float("nan"))]).expected
    0.9
    """
    scores = [
        [value for value in score if not math.isnan(value)] for score in zip(*map(astuple, outcomes), strict=True)
    ]
    return Outcome(*(float(np.mean(values)) if values else math.nan for values in scores))


def case_words(case: Case, lexicons: Sequence[Lexicon] = (), shared: SharedTokens = "all") -> Words:
    """Return the words of a site and their translations: the slow part, which does not depend on most settings."""
    settings = MatchSettings(internal=InternalSettings(shared_tokens=shared))
    return read_words(case.side_a, case.side_b, lexicons, settings)


def match_case(case: Case, words: Words, settings: MatchSettings | None = None) -> SideMatch:
    """Match a site whose words are known, as `twinlink.match.match_sides` does."""
    settings = settings or MatchSettings()
    found = METHODS[settings.method].load()(case.side_a, case.side_b, words, case.between, settings)
    keep = keep_pairs(found.probabilities, settings.min_probability, settings.min_precision, found.threshold)
    return SideMatch(case.side_a, case.side_b, found, keep)


def outcome_of(case: Case, match: SideMatch, keep: npt.NDArray[np.bool_] | None = None) -> Outcome:
    """Score the reported pairs of a matching, or another selection of its pairs."""
    chosen = match.keep if keep is None else keep
    expected = float(match.found.probabilities[chosen].mean()) if chosen.any() else float("nan")
    return Outcome(oracle_f1(match.found.scores, case), *f1_of(match.pairs(chosen), case), expected)


def verdicts_of(case: Case, match: SideMatch) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the probability of every pair of a matching, and whether it is right; unscored pairs are left out."""
    everything = np.ones(len(match.keep), np.bool_)
    curve = precision_coverage(match.pairs(everything), match.found.probabilities.tolist(), case.gold)
    right = np.round([precision * rank for rank, (_, precision, _) in enumerate(curve, 1)])
    return np.array([chance for chance, _, _ in curve]), np.diff(np.r_[0, right]).astype(np.bool_)
