"""Stage `align`: from the page pairs of a run to their sentence pairs.

All page pairs of two languages are aligned in rounds (`twinlink.align.learning`), the sites in the order of their
names, the pairs of a site with the most probable first: strict filters first, as in WebMining. The work is cut into
tasks that do not depend on how many workers there are; their results are put together in the order of the tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from twinlink.align.filters import Repeats, drop_unsure, judge_page
from twinlink.align.formats.sentence_pairs import PairFile
from twinlink.align.knowledge import Knowledge
from twinlink.align.learning import first_batches, fresh
from twinlink.align.near_repeats import NearRepeats
from twinlink.align.page_pairs import LanguagePairs, PairTexts, language_pairs
from twinlink.align.prior_pairs import SITE_TOKENIZER, warm_knowledge
from twinlink.align.segment_files import export_again, export_all, export_words
from twinlink.align.segment_tables import page_table, segment_table, translation_probabilities
from twinlink.align.side_words import SideWords
from twinlink.align.tokens import Tokenizer
from twinlink.align.workers import AlignedPage, Forms, Prior, Work, align_pages, expect_pages
from twinlink.config import Config
from twinlink.config.align import BitextSettings
from twinlink.errors import DamagedError, NothingFoundError
from twinlink.ingest.shapes import linearise_pages
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with, remember
from twinlink.rundir.signature import Signature, file_digest
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.lexicon_sets import Lexicons, write_record
from twinlink.system.workers import in_order, sharing
from twinlink.tables import PAGE_ALIGNMENTS, SEGMENT, SEGMENTS, iter_parts, part_like, part_writer, read_table

__all__ = ["align_run", "lexicon_prior"]

TASK_PAIRS = 8
_STEP_PAGES = 100  # pages between two reports of a step
RESULT = "chances-6"
"""Part of the signature; changed when the same input gives another result within one version."""
ResultT = TypeVar("ResultT")


def align_run(
    run: RunDirectory,
    settings: BitextSettings,
    lexicons: Sequence[str | Path] = (),
    *,
    warm: Sequence[PairFile] = (),
    executor: Executor | None = None,
    on_pairs: Callable[[int, int, str], None] | None = None,
    created: datetime | None = None,
    config: Config | None = None,
) -> Signature:
    """Align the sentences of all page pairs of a run, unless that is done; write the export files.

    Writes the tables ``align/segments`` (`SEGMENTS`) and ``align/pages`` (`PAGE_ALIGNMENTS`), in each of them a folder
    for each two languages with one file per site; and for each two languages the files for other programs
    ``align/LANG_A-LANG_B.tmx``, ``.tsv`` and the like, with the learned ``.lexicon.tsv``.

    Parameters
    ----------
    run : RunDirectory
        With stage `match` done.
    settings : BitextSettings
    lexicons : sequence of str or Path, optional
        Lexicon files, and ``auto`` for the dictionaries that are installed: start values of the word model.
    warm : sequence of PairFile, optional
        Sentence pairs from elsewhere: the word model learns from them first, and keeps what they taught.
    executor : Executor, optional
        Runs the tasks; the result does not depend on it. Default: this process.
    on_pairs : callable, optional
        Called with the number of page pairs done, each round counted, of all, and what is being done.
    created : datetime, optional
        Creation date in the TMX, in UTC. Default: now.
    config : Config, optional
        All settings of the call: the run remembers those that this stage uses.

    Returns
    -------
    Signature
        Of the result, new or reused.

    Raises
    ------
    MissingStageError
        If the pages have not been matched.
    InputError
        If a file of sentence pairs cannot be read, or has none for any two languages of the run; if anchors are wanted,
        and the run's sources do not hold its pages any more.
    LexiconError
        If a lexicon cannot be read.
    NothingFoundError
        If there is no sentence pair, and an earlier alignment has some; the earlier alignment is kept.
    """
    groups, created = language_pairs(run), created or datetime.now(UTC)
    languages = [group.langs for group in groups]
    known_words = Lexicons(lexicons, sorted({lang for langs in languages for lang in langs}))
    signature = _signature(run, settings, languages, known_words, warm)
    if run.is_done(signature):
        export_again(run.stage_folder("align"), languages, settings, created)
        if config is not None:
            remember(run, config, "align")
        return signature
    if on_pairs is not None:
        on_pairs(0, 0, "what is known before")
    if _reads_tags(settings):
        linearise_pages(run)
    warmed = warm_knowledge(warm, languages, settings)
    total = (settings.run_rounds + 1) * sum(group.n_pairs for group in groups)
    with run.writing(signature) as folder:
        progress = _Progress(total, on_pairs)
        for group in groups:
            progress.begin(f"{'-'.join(group.langs)}: known words")
            prior = lexicon_prior(known_words.between(*group.langs), group.langs)
            _Stage(group, settings, prior, warmed[group.langs], folder, executor, progress).write()
        _check_sentences(run, folder)
        progress.begin("files of sentence pairs")
        export_all(folder, languages, settings, created)
        if known_words.is_auto:
            write_record(known_words.record(languages), folder)
        if config is not None:
            keep_with(run, folder, config, "align")
    return signature


def _signature(
    run: RunDirectory,
    settings: BitextSettings,
    languages: Sequence[tuple[str, str]],
    lexicons: Lexicons,
    warm: Sequence[PairFile],
) -> Signature:
    """Return the signature of the tables, which do not depend on the settings of the exports."""
    inputs = [RESULT, str(run.read_signature("match")), *lexicons.digests]
    inputs += sorted({name for file in warm for langs in languages for name in _warm_names(file, langs)})
    # Lexicon files and sentence pairs from elsewhere are part of the inputs, by their content.
    tables_only = replace(settings, formats=(), min_score=0.0, compress="", lexicons=(), warm=())
    return Signature.of("align", {"bitext": tables_only}, inputs, pages=str(run.read_signature("ingest")))


def _reads_tags(settings: BitextSettings) -> bool:
    """Return whether pages are compared by their tags."""
    return settings.method == "tagaligner" or settings.anchor_weight > 0


def _check_sentences(run: RunDirectory, folder: Path) -> None:
    """Refuse to replace sentence pairs by none."""
    if _has_sentences(folder):
        return
    try:
        had_some = _has_sentences(run.path / "align")
    except DamagedError:  # unreadable results are not kept
        return
    if had_some:
        raise NothingFoundError("0 sentence pairs: all were left out. The run keeps its earlier sentence pairs")


def _has_sentences(folder: Path) -> bool:
    parts = iter_parts(folder / "segments")
    return any(pc.any(pc.equal(read_table(part, SEGMENTS, ("verdict",))["verdict"], SEGMENT)).as_py() for part in parts)


def _warm_names(file: PairFile, langs: tuple[str, str]) -> Iterator[str]:
    """Yield what the result depends on: the files, and their stated languages."""
    for path in file.files(langs):
        yield f"{'-'.join(file.langs or ())}={file_digest(path)}"


class _Progress:
    """Counts page pairs, and names the step."""

    def __init__(self, total: int, tell: Callable[[int, int, str], None] | None) -> None:
        self._done, self._total, self._tell = 0, total, tell
        self._step = ""

    def begin(self, step: str) -> None:
        """Report that a step begins."""
        self._step = step
        self.add(0)

    def add(self, number: int) -> None:
        """Count some more."""
        self._done += number
        if self._tell:
            self._tell(self._done, self._total, self._step)


class _Stage(msgspec.Struct, frozen=True):
    """The rounds over all page pairs of two languages."""

    group: LanguagePairs
    settings: BitextSettings
    prior: Prior
    warm: Knowledge | None
    folder: Path
    executor: Executor | None
    progress: _Progress

    @property
    def name(self) -> str:
        """The two languages."""
        return "-".join(self.group.langs)

    def write(self) -> None:
        """Align all page pairs; write their tables, and the learned words."""
        known = self.learn()
        forms: Forms = Counter()
        filters = self.settings.filters
        near = NearRepeats(filters.near_likeness, filters.near_kept, ignore_digits=filters.ignore_digits)
        repeats = Repeats(near, ignore_digits=filters.ignore_digits)
        with part_writer() as writer:
            for site in self.group.sites:
                segments, pages = self.finish(site, known, repeats, forms)
                part = self.group.part(site)
                writer.write([segments], SEGMENTS, part_like(self.folder / "segments" / self.name, part))
                writer.write([pages], PAGE_ALIGNMENTS, part_like(self.folder / "pages" / self.name, part))
        self.progress.begin(f"{self.name}: learned words")
        export_words(self.folder, self.group.langs, known, forms, compress=self.settings.compress)

    def learn(self) -> Knowledge:
        """Run all rounds, and return the learned statistics."""
        known = self._empty()
        for number in range(self.settings.run_rounds):
            self.progress.begin(f"{self.name}: round {number + 1} of {self.settings.run_rounds}")
            before, known = known, self._empty()
            for site in self.group.sites:
                pairs = self._pairs(site)
                batches = first_batches(len(pairs), self.settings.batch) if number == 0 else [range(len(pairs))]
                for batch in batches:
                    teacher = known if number == 0 else before
                    for parts in self._run(expect_pages, [pairs[k] for k in batch], teacher):
                        for part in parts:
                            known.add(part)
        return known

    def finish(self, site: str, known: Knowledge, repeats: Repeats, forms: Forms) -> tuple[pa.Table, pa.Table]:
        """Align the pages of a site with the learned statistics, and judge the beads."""
        pairs = self._pairs(site)
        self.progress.begin(f"{self.name}: sentence pairs")
        done: list[AlignedPage] = []
        for pages, counted in self._run(align_pages, pairs, known):
            done += pages
            forms.update(counted)
        filters = self.settings.filters
        language = SideWords(known.words, self.group.langs, SITE_TOKENIZER).language
        verdicts = [
            judge_page(page.segments, page.support, filters, known.lengths, language, is_foreign=page.is_foreign)
            for page in self._stepwise(done, "filters")
        ]
        chances = translation_probabilities(done, verdicts)
        # Before the repeats: a copy that is dropped does not displace a later one.
        drop_unsure(verdicts, chances, filters.min_chance)
        self.progress.begin(f"{self.name}: repeated sentences")
        repeats.judge([page.segments for page in done], verdicts, filters.boilerplate_share)
        self.progress.begin(f"{self.name}: tables")
        return (
            segment_table(site, self.group.langs, pairs, done, verdicts, chances),
            page_table(site, pairs, done),
        )

    def _stepwise(self, pages: Sequence[AlignedPage], step: str) -> Iterator[AlignedPage]:
        """Yield the pages, and report the step as it goes on."""
        for number, page in enumerate(pages):
            if number % _STEP_PAGES == 0:
                self.progress.begin(f"{self.name}: {step}, {number} of {len(pages)}")
            yield page

    def _pairs(self, site: str) -> list[PairTexts]:
        return self.group.pairs(site, outlined=_reads_tags(self.settings))

    def _empty(self) -> Knowledge:
        return fresh(self.warm, self.settings)

    def _run(
        self, function: Callable[[Work, list[PairTexts]], ResultT], pairs: list[PairTexts], known: Knowledge
    ) -> Iterator[ResultT]:
        """Run a function over tasks of some pairs each, and yield the results in order."""
        tasks = (pairs[start : start + TASK_PAIRS] for start in range(0, len(pairs), TASK_PAIRS))
        with sharing((known, self.prior), self.folder) as shared:
            work = Work(self.group.langs, self.settings, shared)
            for task, result in in_order(self.executor, partial(function, work), tasks):
                yield result
                self.progress.add(len(task))


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
