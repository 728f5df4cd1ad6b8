"""Pairs that come from elsewhere, judged by structure and by the default method: parallel or not.

The pages are those of a run, or HTML files. The models over a set of pairs (`twinlink.baselines.models`) assume that
most of the pairs are right; the filters of WebMining and Bitextor judge each pair beside the others, and the default
method matches all pages of the list. The overall verdict is that of most methods.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.baselines.alignment import StructureAlignments, align
from twinlink.baselines.filters import SideShapes
from twinlink.baselines.given_pairs import GivenPage, judge_by_default
from twinlink.baselines.methods import judge_bitextor2010, judge_webmining
from twinlink.baselines.models.judge import judge
from twinlink.baselines.tag_distance import text_in_words, without_heading
from twinlink.config import IngestSettings, MatchSettings
from twinlink.errors import InputError
from twinlink.files import write_text
from twinlink.ingest.page_addresses import PageAddresses
from twinlink.ingest.shapes import linearise_pages, read_shapes
from twinlink.inputs import InputFile, read_input, read_input_text
from twinlink.language.identify import identify_text
from twinlink.pages.linearise import PageShape, linearise
from twinlink.pages.parser import parse_page
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.decision import least_probability
from twinlink.similarity.filter_checks import Check, check_of, pair_texts
from twinlink.similarity.filter_verdicts import FilterVerdicts
from twinlink.sparse import positions
from twinlink.tables import PAGES, VERDICTS, iter_parts, read_table, tsv_lines
from twinlink.urls import normalise, page_id, root_of

__all__ = [
    "OVERALL",
    "VERIFIERS",
    "Summary",
    "Verified",
    "VerifierName",
    "read_pairs",
    "verify_pairs",
    "write_verdicts",
]

VerifierName = Literal["strand", "hc1", "hc2", "mixture", "jangeldin", "webmining", "bitextor2010", "weighed"]
VERIFIERS: tuple[VerifierName, ...] = get_args(VerifierName)
"""Everything that can judge pairs, models first, the default method last."""
OVERALL = "overall"
"""Name of the verdict of more than half of the methods, where there are several."""

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
MIN_GROUP = 10
"""Pairs of the same two languages that are judged by themselves; fewer are put to the others, for the languages of
single pages may be misjudged."""
PARALLEL, NOT_PARALLEL = "parallel", "not-parallel"
Pair = tuple[str, str]
_LINES = "lines of two tab-separated addresses or files"
_FILE = InputFile(f"cannot be read; expected {_LINES}", f"no such file; expected {_LINES}")
_PAGE = InputFile(limit=IngestSettings().max_page_bytes)


class _Page(NamedTuple):
    identity: str
    """Equal for two names of one page."""
    shape: PageShape
    given: GivenPage

    @property
    def lang(self) -> str:
        """Its language."""
        return self.given.lang

    @property
    def text_length(self) -> int:
        """Characters of its text."""
        return int(self.shape.tokens[self.shape.tokens > 0].sum())


class PairSet(NamedTuple):
    """Pairs that are judged together."""

    langs: Pair
    """Their two languages; that whose texts are shorter in most pairs is the first page of L_d and of all models."""
    size: int
    """Number of pairs."""


class Summary(NamedTuple):
    """Verdicts of one method on all pairs."""

    method: str
    """One of `VERIFIERS`, or `OVERALL`."""
    counts: Mapping[str, int]
    """Number of pairs by verdict."""
    found: Mapping[str, float]
    """What the method found on the set, such as its threshold; of several sets, each name ends with the languages."""
    notes: tuple[str, ...]
    """Rules for unusual sets that were applied."""
    seconds: float
    """Processor time, reading and aligning the pages left out."""


class Verified(msgspec.Struct, frozen=True):
    """Verdicts on a list of pairs."""

    table: pa.Table
    """Rows of `VERDICTS`: one for each pair and method, in the order of the pairs, and one for the overall verdict if
    there are several methods; a pair with a missing page has one row without a method, its verdict the reason."""
    summaries: tuple[Summary, ...]
    sets: tuple[PairSet, ...] = ()
    """The sets that were judged, each by itself."""


def read_pairs(path: Path) -> list[Pair]:
    """Read a file of pairs: two tab-separated addresses or file names a line; a header line is left out.

    A header is a first line whose first name has neither dot nor slash and is no file beside the list.

    Raises
    ------
    InputError
        If there is no such file, it is not UTF-8, or a line has not two columns.
    """
    lines = read_input_text(path, _FILE).splitlines()
    pairs = []
    for number, line in enumerate(lines, 1):
        first, _, rest = line.partition("\t")
        second = rest.partition("\t")[0]
        if not line.strip() or (number == 1 and _is_header(first.strip(), path.parent)):
            continue
        if not first.strip() or not second.strip():
            raise InputError(f"{path}, line {number}: expected two tab-separated columns, got {line[:60]!r}")
        pairs.append((first.strip(), second.strip()))
    if not pairs:
        raise InputError(f"{path}: no pairs in it; expected lines of two tab-separated addresses or files")
    return pairs


def _is_header(first: str, folder: Path) -> bool:
    return not any(sign in first for sign in "/.") and not (first and (folder / first).is_file())


def verify_pairs(
    pairs: Sequence[Pair],
    methods: Sequence[VerifierName] = VERIFIERS,
    run: RunDirectory | None = None,
    folder: Path = Path(),
    settings: MatchSettings | None = None,
) -> Verified:
    """Judge pairs of pages by structure, and by the default method.

    Pairs of different languages are different sets: texts in one language may be half as long as in another. Each set
    of at least `MIN_GROUP` pairs is judged by itself, with the shorter language first (`PairSet.langs`), so that the
    order of the columns does not matter. The columns of a pair are in the order of that pair.

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
    settings : MatchSettings, optional
        Thresholds of the methods.
    """
    settings = settings or MatchSettings()
    distinct = list(dict.fromkeys(pairs))
    pages, missing = _pages_of_files(distinct, folder) if run is None else _pages_of_run(distinct, run)
    why_not = {pair: reason for pair in distinct if (reason := _why_not(pair, pages, missing))}
    there = [pair for pair in distinct if pair not in why_not]
    rows: list[dict[str, object]] = [{"a": a, "b": b, "verdict": reason} for (a, b), reason in why_not.items()]
    summaries = []
    sets = [_Set(group, pages, settings) for group in _by_languages(there, pages)]
    for method in methods if sets else ():
        judged = [each.rows(method) for each in sets]
        rows += [row for more, _ in judged for row in more]
        summaries.append(_together([summary for _, summary in judged], [each.described.langs for each in sets]))
    if len(summaries) > 1:
        overall, summary = _overall(rows)
        rows += overall
        summaries.append(summary)
    order = {pair: place for place, pair in enumerate(distinct)}
    rows.sort(key=lambda row: order[str(row["a"]), str(row["b"])])
    table = pa.Table.from_pylist(rows, schema=VERDICTS)
    return Verified(table, tuple(summaries), tuple(each.described for each in sets))


def _overall(rows: Sequence[dict[str, object]]) -> tuple[list[dict[str, object]], Summary]:
    """Return the verdict of more than half of the methods on each pair; its score is their share."""
    of_pair: dict[tuple[object, object], list[dict[str, object]]] = {}
    for row in rows:
        if "method" in row:
            of_pair.setdefault((row["a"], row["b"]), []).append(row)
    made: list[dict[str, object]] = []
    for judged in of_pair.values():
        share = sum(row["verdict"] == PARALLEL for row in judged) / len(judged)
        verdict = PARALLEL if share > 0.5 else NOT_PARALLEL
        accepting = ", ".join(str(row["method"]) for row in judged if row["verdict"] == PARALLEL)
        own = {"method": OVERALL, "verdict": verdict, "score": share, "checks": accepting, "cluster": None}
        made.append({**judged[0], **own})
    counts = Counter({PARALLEL: 0})
    counts.update(str(row["verdict"]) for row in made)
    return made, Summary(OVERALL, counts, {}, (), 0.0)


def write_verdicts(verified: Verified, target: Path) -> None:
    """Write verdicts as tab-separated values, the names of the columns first."""
    write_text(target, "".join(f"{line}\n" for line in tsv_lines(verified.table)))


def _why_not(pair: Pair, pages: Mapping[str, _Page], missing: Mapping[str, str]) -> str:
    """Return why a pair cannot be judged; empty if it can."""
    for name in pair:
        if name in missing:
            return missing[name]
    if pages[pair[0]].identity == pages[pair[1]].identity:
        return "same-page"
    return "empty-page" if any(not len(pages[name].shape.words) for name in pair) else ""


def _by_languages(pairs: Sequence[Pair], pages: Mapping[str, _Page]) -> list[list[Pair]]:
    """Put pairs of the same two languages together; a few stray ones go to the largest group."""
    groups: dict[frozenset[str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(frozenset(pages[name].lang for name in pair), []).append(pair)
    ordered = sorted(groups.values(), key=len, reverse=True)
    kept = [group for group in ordered if len(group) >= MIN_GROUP] or ordered[:1]
    strays = [pair for group in ordered for pair in group if group not in kept]
    return [[*group, *(strays if place == 0 else ())] for place, group in enumerate(kept)]


def _turned(langs: Sequence[Pair], excess: Sequence[int]) -> tuple[list[bool], Pair]:
    """Return which pairs stand the other way round than their set, and the two languages in the order of the set.

    The set has the two languages that most pairs have. First comes the one whose page is shorter in most pairs. A page
    whose language is misjudged leaves it to the other page of the pair; where neither page tells, the pair stands as
    most pairs do.

    Parameters
    ----------
    langs : sequence of (str, str)
        Languages of the pages of each pair.
    excess : sequence of int
        Characters that the first page of the pair has more than the second.

    Examples
    --------
    >>> langs = [("en", "kk"), ("en", "kk"), ("kk", "en"), ("en", "ru"), ("ru", "en"), ("ru", "ru")]
    >>> _turned(langs, [9, 7, -8, 9, -9, 1])
    ([True, True, False, True, False, True], ('kk', 'en'))
    """
    one, other = Counter(langs).most_common(1)[0][0]
    turned = [one != other and (a == other or b == one) and a != one and b != other for a, b in langs]
    balance = sum(np.sign(more) * (-1 if turn else 1) for more, turn in zip(excess, turned, strict=True))
    if one != other and (balance, one) > (0, other):
        return [not turn for turn in turned], (other, one)
    return turned, (one, other)


def _together(summaries: Sequence[Summary], langs: Sequence[Pair]) -> Summary:
    """Put the summaries of several sets together."""
    if len(summaries) == 1:
        return summaries[0]
    counts: Counter[str] = Counter()
    found: dict[str, float] = {}
    for summary, pair in zip(summaries, langs, strict=True):
        counts.update(summary.counts)
        found |= {f"{name} {'-'.join(pair)}": value for name, value in summary.found.items()}
    notes = dict.fromkeys([f"{len(summaries)}-language-pairs", *(note for each in summaries for note in each.notes)])
    return Summary(summaries[0].method, counts, found, tuple(notes), sum(each.seconds for each in summaries))


class _Set:
    """A set of pairs whose pages are there, aligned once for all methods."""

    def __init__(self, pairs: Sequence[Pair], pages: Mapping[str, _Page], settings: MatchSettings) -> None:
        self._pairs, self._settings = pairs, settings
        excess = [pages[a].text_length - pages[b].text_length for a, b in pairs]
        turned, langs = _turned([(pages[a].lang, pages[b].lang) for a, b in pairs], excess)
        self._turned, self.described = np.array(turned), PairSet(langs, len(pairs))
        pairs = [pair[::-1] if turned else pair for pair, turned in zip(pairs, self._turned, strict=True)]
        names_a, names_b = (list(dict.fromkeys(ends)) for ends in zip(*pairs, strict=True))
        self._a, self._b = [pages[name] for name in names_a], [pages[name] for name in names_b]
        place_a, place_b = ({name: k for k, name in enumerate(names)} for names in (names_a, names_b))
        self._rows = np.array([place_a[a] for a, _ in pairs])
        self._columns = np.array([place_b[b] for _, b in pairs])
        self.alignment: StructureAlignments = align(
            [page.shape.tokens for page in self._a], [page.shape.tokens for page in self._b], self._rows, self._columns
        )

    def rows(self, method: VerifierName) -> tuple[list[dict[str, object]], Summary]:
        """Return a row for each pair, and the summary."""
        start = time.process_time()
        found: Mapping[str, float] = {}
        notes: tuple[str, ...] = ()
        checks: Sequence[Check]
        if method == "webmining" or method == "bitextor2010":  # noqa: PLR1714  (mypy understands it)
            verdicts, scores, checks = self._filtered(method)
        elif method == "weighed":
            sides = [page.given for page in self._a], [page.given for page in self._b]
            parallel, scores = judge_by_default(*sides, self._rows, self._columns, self._settings)
            verdicts = [PARALLEL if yes else NOT_PARALLEL for yes in parallel.tolist()]
            least = least_probability(self._settings.min_probability, self._settings.min_precision)
            checks = [replace(check_of("probability", scores, least, ">="), passed=parallel)]
        else:
            judged = judge(self.alignment, method, self._settings.models)
            verdicts = [PARALLEL if yes else NOT_PARALLEL for yes in judged.parallel.tolist()]
            scores, found, notes, checks = judged.score, judged.found, judged.notes, judged.checks
        seconds = time.process_time() - start
        counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys([PARALLEL, *verdicts])}
        told = _told(verdicts, scores, checks)
        rows = [
            {"a": a, "b": b, "method": method, **own, **numbers}
            for (a, b), own, numbers in zip(self._pairs, told, self._numbers(), strict=True)
        ]
        return rows, Summary(method, counts, found, notes, seconds)

    def _filtered(
        self, method: Literal["webmining", "bitextor2010"]
    ) -> tuple[list[str], npt.NDArray[np.float64], list[Check]]:
        """Return the reason why each pair was rejected, or that it is parallel, its score, and its checks."""
        shape = (len(self._a), len(self._b))
        pattern = sp.csr_array((np.ones(len(self._pairs), np.bool_), (self._rows, self._columns)), shape=shape)
        pattern.sort_indices()
        ask = judge_webmining if method == "webmining" else judge_bitextor2010
        judged: FilterVerdicts = ask(_shapes(self._a, method), _shapes(self._b, method), pattern, self._settings)
        place = positions(pattern, self._rows, self._columns)
        reasons = judged.reasons()
        checks = [check.at(place) for check in judged.checks]
        return [reasons[k] or PARALLEL for k in place.tolist()], judged.scores[place], checks

    def _numbers(self) -> list[dict[str, object]]:
        """Return the columns that the alignment gives, pair by pair, as the pairs were given."""
        columns = {name: getattr(self.alignment, name).astype(np.float64) for name in NUMBERS}
        for one, other in (("tokens_a", "tokens_b"), ("length_a", "length_b")):
            a, b = columns[one], columns[other]
            columns[one], columns[other] = np.where(self._turned, b, a), np.where(self._turned, a, b)
        columns["length_difference"] = np.where(self._turned, -1, 1) * columns["length_difference"]
        arrays = {name: pa.array(x, VERDICTS.field(name).type, from_pandas=True) for name, x in columns.items()}
        rows: list[dict[str, object]] = pa.table(arrays).to_pylist()
        return rows


def _told(
    verdicts: Sequence[str], scores: npt.NDArray[np.float64], checks: Sequence[Check]
) -> Iterator[dict[str, object]]:
    """Yield what a method says of each pair: the columns from ``verdict`` to ``cluster``."""
    clusters = next((check.values.astype(np.int64).tolist() for check in checks if check.name == "cluster"), None)
    texts = pair_texts(checks, len(verdicts))
    for k, (verdict, score, text) in enumerate(zip(verdicts, scores.tolist(), texts, strict=True)):
        own = {"verdict": verdict, "score": None if np.isnan(score) else score, "checks": text}
        yield own if clusters is None else {**own, "cluster": clusters[k]}


def _shapes(pages: Sequence[_Page], method: Literal["webmining", "bitextor2010"]) -> SideShapes:
    shapes = [page.shape for page in pages]
    tokens = [
        text_in_words(shape.tokens, shape.words) if method == "webmining" else without_heading(shape.tokens)
        for shape in shapes
    ]
    return SideShapes(tokens, np.array([shape.n_bytes for shape in shapes], np.int64), [page.lang for page in pages])


def _pages_of_files(pairs: Sequence[Pair], folder: Path) -> tuple[dict[str, _Page], dict[str, str]]:
    """Return the pages that are there by their names, and why the others are not."""
    pages, missing = {}, {}
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        try:
            body = read_input(folder / name, _PAGE)
        except InputError:
            missing[name] = _why_missing(folder / name)
            continue
        form = linearise(body)
        page = parse_page(body, "http://localhost/")
        shape = PageShape(form.tokens, form.words, len(body))
        pages[name] = _Page(str((folder / name).resolve()), shape, _given(page.blocks, page.tags))
    return pages, missing


def _given(blocks: Sequence[str], tags: bytes) -> GivenPage:
    return GivenPage(identify_text("\n".join(blocks))[0], blocks, tags)


def _why_missing(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size > _PAGE.limit:
            return "too-large"
        return "unreadable" if path.exists() else "no-such-file"
    except (OSError, ValueError):  # a name that cannot be one
        return "no-such-file"


def _pages_of_run(pairs: Sequence[Pair], run: RunDirectory) -> tuple[dict[str, _Page], dict[str, str]]:
    linearise_pages(run)
    ingest = run.stage_folder("ingest")
    names = _numbers({name for pair in pairs for name in pair}, PageAddresses(ingest))
    wanted = set(names.values())
    known: dict[int, _Page] = {}
    for part in iter_parts(ingest / "pages"):
        shapes = read_shapes(run, part.name)
        table = read_table(part, PAGES, ("page_id", "blocks", "tags"))
        columns = table["page_id"].to_pylist(), table["blocks"], table["tags"]
        for number, blocks, tags in zip(*columns, strict=True):
            if number in wanted:
                known[number] = _Page(str(number), shapes[number], _given(blocks.as_py(), tags.as_py()))
    pages = {name: known[number] for name, number in names.items()}
    return pages, {name: "not-in-run" for pair in pairs for name in pair if name not in pages}


def _numbers(names: Collection[str], pages: PageAddresses) -> dict[str, int]:
    """Return the page_id of each address that leads to a page; of each path, where all pages are of one host."""
    roots = {root_of(url) for url in pages.own}
    root = roots.pop() if len(roots) == 1 else ""
    urls = {name: normalise(name if "://" in name else f"{root}/{name.lstrip('/')}") for name in names}
    found = pages.find(url for url in urls.values() if url)
    return {name: page_id(found[url]) for name, url in urls.items() if url in found}
