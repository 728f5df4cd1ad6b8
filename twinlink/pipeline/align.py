"""Stage `align`: the page pairs of a run go in, their sentence pairs come out.

All page pairs of two languages are aligned in rounds (`twinlink.bitext.learn`), the sites in the order of their names,
the pairs of a site with the most probable first: strict filters first, as in WebMining. The work is cut into tasks that
do not depend on how many workers there are, and what they give is put together in the order of the tasks.
"""

from __future__ import annotations

import pickle
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.bitext.filters import Repeats, Segment, judge_page
from twinlink.bitext.knowledge import Expected, Knowledge
from twinlink.bitext.learn import Text, TextPair, expect, first_batches, fresh, prepare_texts, scoring_of
from twinlink.bitext.nearrepeats import NearRepeats
from twinlink.bitext.pagepair import Aligned, align_pair, support
from twinlink.bitext.pairfile import PairFile
from twinlink.bitext.sentences import Sentence, split_blocks
from twinlink.bitext.sidewords import SideWords
from twinlink.bitext.tagaligner import Outline, align_blocks
from twinlink.bitext.tokens import Tokenizer
from twinlink.bitext.wordlist import count_forms
from twinlink.bitext_config import BitextSettings
from twinlink.errors import InputError
from twinlink.pipeline.evidence import PageShape
from twinlink.pipeline.outlines import TAG_CATEGORIES, outline_of
from twinlink.pipeline.segment_files import export_rows, export_segments, export_words
from twinlink.pipeline.shapes import linearise_pages, read_shapes
from twinlink.pipeline.warm import SITE_TOKENIZER, warm_knowledge
from twinlink.rundir import RunDirectory, Signature, file_digest, site_file
from twinlink.similarity.lexicon_files import Lexicon, read_lexicon
from twinlink.tables import PAGE_ALIGNMENTS, PAGES, PAIRS, SEGMENTS, iter_parts, read_table, write_table

__all__ = ["SITE_TOKENIZER", "align_run", "export_rows", "lexicon_prior"]

TASK_PAIRS = 8
PAIR_COLUMNS = ("url_a", "url_b", "lang_a", "lang_b", "probability", "score", "site", "page_a", "page_b")
Prior = Mapping[str, Mapping[str, float]]
ResultT = TypeVar("ResultT")


class _PagePair(NamedTuple):
    """Two pages of a pair, as they go to a worker."""

    url_a: str
    url_b: str
    blocks_a: list[str]
    blocks_b: list[str]
    outlines: tuple[Outline, Outline] | None = None
    """Where the blocks stand among the tags, where that is wanted and known."""


@dataclass(frozen=True)
class _Languages:
    """All page pairs of two languages of a run."""

    langs: tuple[str, str]
    sites: tuple[str, ...]
    n_pairs: int
    run: RunDirectory

    def pairs(self, site: str, *, outlined: bool = False) -> list[_PagePair]:
        """Return the page pairs of a site, the most probable first, with their outlines if these are wanted."""
        table = read_table(site_file(self.run.stage_folder("match") / "pairs", site), PAIRS, PAIR_COLUMNS)
        lang_a, lang_b = self.langs
        table = table.filter(pc.and_(pc.equal(table["lang_a"], lang_a), pc.equal(table["lang_b"], lang_b)))
        table = table.sort_by(
            [("probability", "descending"), ("score", "descending"), ("url_a", "ascending"), ("url_b", "ascending")]
        )
        pages = read_table(site_file(self.run.stage_folder("ingest") / "pages", site), PAGES, ("page_id", "blocks"))
        place = {number: row for row, number in enumerate(pages["page_id"].to_pylist())}
        blocks_a, blocks_b = (
            pages["blocks"]
            .take(pa.array([place[number] for number in table[name].to_pylist()], pa.int64()))
            .to_pylist()
            for name in ("page_a", "page_b")
        )
        urls = table["url_a"].to_pylist(), table["url_b"].to_pylist()
        pairs = [_PagePair(*row) for row in zip(*urls, blocks_a, blocks_b, strict=True)]
        if not outlined:
            return pairs
        shapes = read_shapes(self.run, site_file(Path(), site).name)
        numbers = table["page_a"].to_pylist(), table["page_b"].to_pylist()
        return [_outlined(pair, shapes[a], shapes[b]) for pair, a, b in zip(pairs, *numbers, strict=True)]


def _outlined(pair: _PagePair, shape_a: PageShape, shape_b: PageShape) -> _PagePair:
    a, b = outline_of(shape_a.tokens, pair.blocks_a), outline_of(shape_b.tokens, pair.blocks_b)
    return pair._replace(outlines=(a, b)) if a and b else pair


@dataclass(frozen=True)
class _Work:
    """What every task of a round needs beside its pages."""

    langs: tuple[str, str]
    settings: BitextSettings
    known: str
    """File with what is known and the lexicon: each worker reads it once a round."""


@dataclass(frozen=True)
class _AlignedPage:
    """What the last round finds on two pages."""

    segments: list[Segment]
    sentences: tuple[int, int]
    support: float


def align_run(
    run: RunDirectory,
    settings: BitextSettings,
    lexicons: Sequence[Path] = (),
    *,
    warm: Sequence[PairFile] = (),
    executor: Executor | None = None,
    on_pairs: Callable[[int, int], None] | None = None,
    created: datetime | None = None,
) -> Signature:
    """Align the sentences of all page pairs of a run, unless that is done.

    Writes the tables ``align/segments`` (`SEGMENTS`) and ``align/pages`` (`PAGE_ALIGNMENTS`), in each of them a folder
    for each two languages with one file a site; and for each two languages the files for other programs
    ``align/LANG_A-LANG_B.tmx``, ``.tsv`` and the like, with the learned ``.lexicon.tsv``.

    Parameters
    ----------
    run : RunDirectory
        With stage `match` done.
    settings : BitextSettings
    lexicons : sequence of Path, optional
        Lexicon files: start values of the word model.
    warm : sequence of PairFile, optional
        Sentence pairs from elsewhere: the word model learns from them first, and keeps what they taught.
    executor : Executor, optional
        Runs the tasks; the result does not depend on it. Default: this process.
    on_pairs : callable, optional
        Called with the number of page pairs done, each round counted, and of all.
    created : datetime, optional
        Creation date in the TMX, in UTC. Default: now.

    Returns
    -------
    Signature
        Of the result, whether it was made now or found done.

    Raises
    ------
    MissingStageError
        If the pages have not been matched.
    InputError
        If a file of sentence pairs cannot be read, or has none for any two languages of the run; if anchors are wanted,
        and the run's sources do not hold its pages any more.
    LexiconError
        If a lexicon cannot be read.
    """
    pairs = run.stage_folder("match") / "pairs"
    groups = _language_groups(run, pairs)
    inputs = [str(run.read_signature("match")), *map(file_digest, lexicons)]
    inputs += sorted({name for file in warm for group in groups for name in _warm_names(file, group.langs)})
    signature = Signature.of("align", {"bitext": settings}, inputs)
    if run.is_done(signature):
        return signature
    read = [read_lexicon(path) for path in lexicons]
    if settings.anchor_weight:
        linearise_pages(run)
    warmed = warm_knowledge(warm, [group.langs for group in groups], settings)
    total = (settings.run_rounds + 1) * sum(group.n_pairs for group in groups)
    with run.writing(signature) as folder:
        progress = _Progress(total, on_pairs)
        for group in groups:
            prior, warm_words = lexicon_prior(read, group.langs), warmed[group.langs]
            stage = _Stage(group, settings, prior, warm_words, folder, executor, progress)
            known = stage.learn()
            forms: Counter[tuple[int, str, str]] = Counter()
            repeats = Repeats(NearRepeats(settings.filters.near_likeness, settings.filters.near_kept))
            for site in group.sites:
                segments, pages = stage.finish(site, known, repeats, forms)
                name = "-".join(group.langs)
                write_table(segments, SEGMENTS, site_file(folder / "segments" / name, site))
                write_table(pages, PAGE_ALIGNMENTS, site_file(folder / "pages" / name, site))
            export_words(folder, group.langs, known, forms, compress=settings.compress)
            export_segments(folder, group.langs, settings, created or datetime.now(UTC))
    return signature


def _warm_names(file: PairFile, langs: tuple[str, str]) -> Iterator[str]:
    """Yield what the result depends on: the files, and the languages that they are said to be in."""
    for path in file.files(langs):
        if not path.is_file():
            raise InputError(f"{path}: no such file of sentence pairs")
        yield f"{'-'.join(file.langs or ())}={file_digest(path)}"


class _Progress:
    """Counts page pairs."""

    def __init__(self, total: int, tell: Callable[[int, int], None] | None) -> None:
        self._done, self._total, self._tell = 0, total, tell

    def add(self, number: int) -> None:
        """Count some more."""
        self._done += number
        if self._tell:
            self._tell(self._done, self._total)


@dataclass(frozen=True)
class _Stage:
    """The rounds over all page pairs of two languages."""

    group: _Languages
    settings: BitextSettings
    prior: Prior
    warm: Knowledge | None
    folder: Path
    executor: Executor | None
    progress: _Progress

    def learn(self) -> Knowledge:
        """Run all rounds, and return what they taught."""
        known = self._empty()
        for number in range(self.settings.run_rounds):
            before, known = known, self._empty()
            for site in self.group.sites:
                pairs = self._pairs(site)
                batches = first_batches(len(pairs), self.settings.batch) if number == 0 else [range(len(pairs))]
                for batch in batches:
                    teacher = known if number == 0 else before
                    for parts in self._run(_expect_pages, [pairs[k] for k in batch], teacher):
                        for part in parts:
                            known.add(part)
        return known

    def finish(
        self, site: str, known: Knowledge, repeats: Repeats, forms: Counter[tuple[int, str, str]]
    ) -> tuple[pa.Table, pa.Table]:
        """Align the pages of a site with what is known, and judge the beads."""
        pairs = self._pairs(site)
        done: list[_AlignedPage] = []
        for pages, counted in self._run(_align_pages, pairs, known):
            done += pages
            forms.update(counted)
        filters = self.settings.filters
        language = SideWords(known.words, self.group.langs, SITE_TOKENIZER).language
        verdicts = [judge_page(page.segments, page.support, filters, known.lengths, language) for page in done]
        repeats.judge([page.segments for page in done], verdicts, filters.boilerplate_share)
        return (
            _segment_table(site, self.group.langs, pairs, done, verdicts),
            _page_table(site, pairs, done),
        )

    def _pairs(self, site: str) -> list[_PagePair]:
        return self.group.pairs(site, outlined=self.settings.anchor_weight > 0)

    def _empty(self) -> Knowledge:
        return fresh(self.warm, self.settings)

    def _run(
        self, function: Callable[[_Work, list[_PagePair]], ResultT], pairs: list[_PagePair], known: Knowledge
    ) -> Iterator[ResultT]:
        """Run a function over tasks of some pairs each, and yield the results in order."""
        file = self.folder / f".known-{uuid.uuid4().hex}"  # a name of its own: workers keep what they have read by name
        file.write_bytes(pickle.dumps((known, self.prior), protocol=5))
        work = _Work(self.group.langs, self.settings, str(file))
        tasks = [pairs[start : start + TASK_PAIRS] for start in range(0, len(pairs), TASK_PAIRS)]
        try:
            run = self.executor.map if self.executor else map
            for task, result in zip(tasks, run(partial(function, work), tasks), strict=True):
                yield result
                self.progress.add(len(task))
        finally:
            file.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _read_known(file: str) -> tuple[Knowledge, Prior]:
    known: tuple[Knowledge, Prior] = pickle.loads(Path(file).read_bytes())  # noqa: S301  (written above)
    return known


def _expect_pages(work: _Work, pairs: list[_PagePair]) -> list[Expected]:
    """Align some pages and count what that shows (runs in a worker)."""
    return [_align(work, pair)[2] for pair in pairs]


def _align_pages(work: _Work, pairs: list[_PagePair]) -> tuple[list[_AlignedPage], Counter[tuple[int, str, str]]]:
    """Align some pages, and count the forms of their words (runs in a worker)."""
    pages = []
    forms: Counter[tuple[int, str, str]] = Counter()
    for pair in pairs:
        sides, aligned, _ = _align(work, pair)
        segments = list(_segments(pair, sides, aligned))
        pages.append(_AlignedPage(segments, (len(sides[0]), len(sides[1])), support(aligned)))
        for number, (sentences, lang) in enumerate(zip(sides, work.langs, strict=True)):
            counted = count_forms([sentence.text for sentence in sentences], lang, SITE_TOKENIZER)
            forms.update({(number, *key): count for key, count in counted.items()})
    return pages, forms


def _align(work: _Work, pair: _PagePair) -> tuple[tuple[list[Sentence], list[Sentence]], Aligned, Expected]:
    known, prior = _read_known(work.known)
    scoring = scoring_of(work.settings)
    sides = split_blocks(pair.blocks_a, work.langs[0]), split_blocks(pair.blocks_b, work.langs[1])
    texts = TextPair(
        *(
            Text([one.text for one in sentences], lang, [one.block for one in sentences])
            for sentences, lang in zip(sides, work.langs, strict=True)
        )
    )
    anchors = align_blocks(*pair.outlines, TAG_CATEGORIES, work.settings.tags) if pair.outlines else None
    prepared = prepare_texts(texts, SITE_TOKENIZER, prior, anchors)
    aligned, links = align_pair(prepared, known, scoring)
    return sides, aligned, expect(prepared, aligned, links, len(scoring.shapes.names))


def _segments(pair: _PagePair, sides: tuple[list[Sentence], list[Sentence]], aligned: Aligned) -> Iterator[Segment]:
    beads = aligned.beads.tolist()
    for (i, i_end, j, j_end), posterior, per_word in zip(beads, aligned.posteriors, aligned.per_word, strict=True):
        places = [_place(sides[0][i:i_end]), _place(sides[1][j:j_end])]
        source, target = (
            blocks[block][start:end] if block >= 0 else ""
            for blocks, (block, start, end) in zip((pair.blocks_a, pair.blocks_b), places, strict=True)
        )
        kind = f"{i_end - i}-{j_end - j}"
        yield Segment(source, target, kind, float(posterior), float(per_word), *places[0], *places[1])


def _place(sentences: Sequence[Sentence]) -> tuple[int, int, int]:
    """Block, start and end of some sentences of one block."""
    return (sentences[0].block, sentences[0].start, sentences[-1].end) if sentences else (-1, 0, 0)


def _language_groups(run: RunDirectory, pairs: Path) -> list[_Languages]:
    sites: dict[tuple[str, str], dict[str, int]] = {}
    for part in iter_parts(pairs):
        table = read_table(part, PAIRS, ("site", "lang_a", "lang_b"))
        for row, number in Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)).items():
            site, *langs = row
            sites.setdefault((langs[0], langs[1]), {})[site] = number
    return [_Languages(langs, tuple(sorted(found)), sum(found.values()), run) for langs, found in sorted(sites.items())]


def lexicon_prior(
    lexicons: Iterable[Lexicon], langs: tuple[str, str], tokenizer: Tokenizer = SITE_TOKENIZER
) -> dict[str, dict[str, float]]:
    """Return the entries of one word on each side, by their stems; either column may be either language."""
    prior: dict[str, dict[str, float]] = {}
    for lexicon in lexicons:
        for entry in lexicon.entries:
            for a, b in ((entry.head, entry.translation), (entry.translation, entry.head)):
                keys = _keys(a, langs[0], tokenizer), _keys(b, langs[1], tokenizer)
                if len(keys[0]) == len(keys[1]) == 1:
                    found = prior.setdefault(keys[0][0], {})
                    found[keys[1][0]] = max(found.get(keys[1][0], 0.0), entry.weight)
    return prior


def _keys(text: str, lang: str, tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.key(word, lang) for word in tokenizer.split(text, lang)]


def _segment_table(
    site: str,
    langs: tuple[str, str],
    pairs: Sequence[_PagePair],
    done: Sequence[_AlignedPage],
    verdicts: Sequence[Sequence[str]],
) -> pa.Table:
    rows = [segment for page in done for segment in page.segments]
    sizes = [len(page.segments) for page in done]
    columns: dict[str, Any] = {
        "site": [site] * len(rows),
        "url_a": np.repeat(np.array([pair.url_a for pair in pairs], object), sizes),
        "url_b": np.repeat(np.array([pair.url_b for pair in pairs], object), sizes),
        "lang_a": [langs[0]] * len(rows),
        "lang_b": [langs[1]] * len(rows),
        **dict(
            zip(Segment._fields, zip(*rows, strict=True), strict=True) if rows else dict.fromkeys(Segment._fields, ())
        ),
        "verdict": [verdict for said in verdicts for verdict in said],
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in SEGMENTS], schema=SEGMENTS)


def _page_table(site: str, pairs: Sequence[_PagePair], done: Sequence[_AlignedPage]) -> pa.Table:
    rows = [
        (
            site,
            pair.url_a,
            pair.url_b,
            *page.sentences,
            sum(bool(one.source and one.target) for one in page.segments),
            page.support,
        )
        for pair, page in zip(pairs, done, strict=True)
    ]
    return pa.Table.from_pylist([dict(zip(PAGE_ALIGNMENTS.names, row, strict=True)) for row in rows], PAGE_ALIGNMENTS)
