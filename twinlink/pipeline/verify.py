"""Pairs that come from elsewhere, judged by structure: parallel or not.

The pages are those of a run, or HTML files. The models over a set of pairs (`twinlink.similarity.models`) assume that
most of the pairs are right; the filters of WebMining and Bitextor judge each pair beside the others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from twinlink.config import IngestSettings, MatchSettings
from twinlink.errors import InputError
from twinlink.pipeline.evidence import PageShape
from twinlink.pipeline.shapes import linearise_pages, read_shapes
from twinlink.pipeline.structural import judge_bitextor2010, judge_webmining
from twinlink.rundir import RunDirectory
from twinlink.similarity.alignment import Alignment, align
from twinlink.similarity.filters import FilterVerdicts, Shapes
from twinlink.similarity.identify import identify_text
from twinlink.similarity.models.judge import judge
from twinlink.similarity.tag_distance import text_in_words, without_heading
from twinlink.spiders.linearise import linearise
from twinlink.spiders.parser import parse_page
from twinlink.spiders.urls import normalise, page_id
from twinlink.tables import PAGES, VERDICTS, iter_parts, read_table

__all__ = ["VERIFIERS", "Summary", "Verified", "VerifierName", "read_pairs", "verify_pairs"]

VerifierName = Literal["strand", "hc1", "hc2", "mixture", "jangeldin", "webmining", "bitextor2010"]
VERIFIERS: tuple[VerifierName, ...] = get_args(VerifierName)
"""Everything that can judge pairs, models first."""

NUMBERS = (
    "cost",
    "tokens_a",
    "tokens_b",
    "length_a",
    "length_b",
    "cost_share",
    "length_difference",
    "correlation",
    "p_value",
    "unequal",
)
"""Columns of `VERDICTS` that the alignment gives."""
PARALLEL, NOT_PARALLEL = "parallel", "not-parallel"
Pair = tuple[str, str]


class _Page(NamedTuple):
    shape: PageShape
    lang: str


class Summary(NamedTuple):
    """What one method says of all pairs."""

    method: VerifierName
    counts: Mapping[str, int]
    """Verdicts, and how many pairs have each."""
    found: Mapping[str, float]
    """What the method found on the set, such as its threshold."""
    notes: tuple[str, ...]
    """Rules for odd sets that stepped in."""
    seconds: float
    """Processor time, reading and aligning the pages left out."""


@dataclass(frozen=True)
class Verified:
    """Verdicts on a list of pairs."""

    table: pa.Table
    """Rows of `VERDICTS`: one for each pair and method, in the order of the pairs; a pair with a page that is missing
    has one row without a method, its verdict the reason."""
    summaries: tuple[Summary, ...]


def read_pairs(path: Path) -> list[Pair]:
    """Read a file of pairs: two tab-separated addresses or file names a line; a header line is left out.

    Raises
    ------
    InputError
        If there is no such file, it is not UTF-8, or a line has not two columns.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; expected lines of two tab-separated addresses or files") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a text file in UTF-8 ({error})") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        first, _, rest = line.partition("\t")
        second = rest.partition("\t")[0]
        if not line.strip() or (number == 1 and not any(sign in first for sign in "/.")):
            continue
        if not first.strip() or not second.strip():
            raise InputError(f"{path}, line {number}: expected two tab-separated columns, got {line[:60]!r}")
        pairs.append((first.strip(), second.strip()))
    if not pairs:
        raise InputError(f"{path}: no pairs in it; expected lines of two tab-separated addresses or files")
    return pairs


def verify_pairs(
    pairs: Sequence[Pair],
    methods: Sequence[VerifierName] = VERIFIERS,
    run: RunDirectory | None = None,
    folder: Path = Path(),
    settings: MatchSettings | None = None,
    ingest_settings: IngestSettings | None = None,
) -> Verified:
    """Judge pairs of pages by structure.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Addresses of pages of ``run``, or without one HTML files; a pair that comes twice is judged once.
    methods : sequence of str
        Of `VERIFIERS`.
    run : RunDirectory, optional
        Its pages are linearised, unless that is done.
    folder : Path
        Where relative file names start.
    settings, ingest_settings : optional
        Thresholds of the methods; how the run's sources are read.
    """
    settings = settings or MatchSettings()
    distinct = list(dict.fromkeys(pairs))
    if run is None:
        pages, missing = _pages_of_files(distinct, folder)
    else:
        pages, missing = _pages_of_run(distinct, run, ingest_settings or IngestSettings())
    there = [pair for pair in distinct if pair[0] in pages and pair[1] in pages]
    judged = _Set(there, pages, settings) if there else None
    rows: list[dict[str, object]] = [
        {"a": a, "b": b, "verdict": missing.get(a) or missing[b]} for a, b in distinct if (a, b) not in set(there)
    ]
    summaries = []
    for method in methods if judged else ():
        assert judged is not None
        more, summary = judged.rows(method)
        rows += more
        summaries.append(summary)
    order = {pair: place for place, pair in enumerate(distinct)}
    rows.sort(key=lambda row: order[str(row["a"]), str(row["b"])])
    return Verified(pa.Table.from_pylist(rows, schema=VERDICTS), tuple(summaries))


class _Set:
    """A set of pairs whose pages are there, aligned once for all methods."""

    def __init__(self, pairs: Sequence[Pair], pages: Mapping[str, _Page], settings: MatchSettings) -> None:
        self._pairs, self._settings = pairs, settings
        names_a, names_b = (list(dict.fromkeys(ends)) for ends in zip(*pairs, strict=True))
        self._a, self._b = [pages[name] for name in names_a], [pages[name] for name in names_b]
        place_a, place_b = ({name: k for k, name in enumerate(names)} for names in (names_a, names_b))
        self._rows = np.array([place_a[a] for a, _ in pairs])
        self._columns = np.array([place_b[b] for _, b in pairs])
        self.alignment: Alignment = align(
            [page.shape.tokens for page in self._a], [page.shape.tokens for page in self._b], self._rows, self._columns
        )

    def rows(self, method: VerifierName) -> tuple[list[dict[str, object]], Summary]:
        """Return a row for each pair, and the summary."""
        start = time.process_time()
        found: Mapping[str, float] = {}
        notes: tuple[str, ...] = ()
        if method == "webmining" or method == "bitextor2010":  # noqa: PLR1714  (mypy understands it)
            verdicts, scores = self._filtered(method)
        else:
            judged = judge(self.alignment, method, self._settings.models)
            verdicts = [PARALLEL if yes else NOT_PARALLEL for yes in judged.parallel.tolist()]
            scores, found, notes = judged.score, judged.found, judged.notes
        seconds = time.process_time() - start
        counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys([PARALLEL, *verdicts])}
        numbers = self._numbers()
        rows = [
            {"a": a, "b": b, "method": method, "verdict": verdict, "score": score, **own}
            for (a, b), verdict, score, own in zip(self._pairs, verdicts, scores.tolist(), numbers, strict=True)
        ]
        return rows, Summary(method, counts, found, notes, seconds)

    def _filtered(self, method: Literal["webmining", "bitextor2010"]) -> tuple[list[str], npt.NDArray[np.float64]]:
        """Return the reason why each pair was rejected, or that it is parallel, and its score."""
        shape = (len(self._a), len(self._b))
        pattern = sp.csr_array((np.ones(len(self._pairs), np.bool_), (self._rows, self._columns)), shape=shape)
        pattern.sort_indices()
        ask = judge_webmining if method == "webmining" else judge_bitextor2010
        judged: FilterVerdicts = ask(_shapes(self._a, method), _shapes(self._b, method), pattern, self._settings)
        place = np.searchsorted(
            np.repeat(np.arange(shape[0]), np.diff(pattern.indptr)) * shape[1] + pattern.indices,
            self._rows * shape[1] + self._columns,
        )
        reasons = judged.reasons()
        return [reasons[k] or PARALLEL for k in place.tolist()], judged.scores[place]

    def _numbers(self) -> list[dict[str, object]]:
        """Return the columns that the alignment gives, pair by pair."""
        columns = [getattr(self.alignment, name).tolist() for name in NUMBERS]
        return [dict(zip(NUMBERS, row, strict=True)) for row in zip(*columns, strict=True)]


def _shapes(pages: Sequence[_Page], method: Literal["webmining", "bitextor2010"]) -> Shapes:
    shapes = [page.shape for page in pages]
    tokens = [
        text_in_words(shape.tokens, shape.words) if method == "webmining" else without_heading(shape.tokens)
        for shape in shapes
    ]
    return Shapes(tokens, np.array([shape.n_bytes for shape in shapes], np.int64), [page.lang for page in pages])


def _pages_of_files(pairs: Sequence[Pair], folder: Path) -> tuple[dict[str, _Page], dict[str, str]]:
    """Return the pages that are there by their names, and why the others are not."""
    pages, missing = {}, {}
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        try:
            body = (folder / name).read_bytes()
        except (OSError, ValueError):
            missing[name] = "no-such-file"
            continue
        form = linearise(body)
        text = "\n".join(parse_page(body, "http://localhost/").blocks)
        pages[name] = _Page(PageShape(form.tokens, form.words, len(body)), identify_text(text)[0])
    return pages, missing


def _pages_of_run(
    pairs: Sequence[Pair], run: RunDirectory, settings: IngestSettings
) -> tuple[dict[str, _Page], dict[str, str]]:
    linearise_pages(run, settings)
    names = {name: _number(name) for pair in pairs for name in pair}
    wanted = set(names.values())
    known: dict[int, _Page] = {}
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        shapes = read_shapes(run, part.name)
        table = read_table(part, PAGES, ("page_id", "blocks"))
        for number, blocks in zip(table["page_id"].to_pylist(), table["blocks"], strict=True):
            if number in wanted:
                known[number] = _Page(shapes[number], identify_text("\n".join(blocks.as_py()))[0])
    pages = {name: known[number] for name, number in names.items() if number is not None and number in known}
    return pages, {name: "not-in-run" for name in names if name not in pages}


def _number(url: str) -> int | None:
    normal = normalise(url)
    return None if normal is None else page_id(normal)
