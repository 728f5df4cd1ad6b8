"""Stage `match`: matches every site of a run, except those with a reusable earlier result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from twinlink.config import Config, MatchSettings
from twinlink.ingest.shapes import read_shapes
from twinlink.language.site_languages import LanguageFinder, site_languages
from twinlink.languages import canonical_language
from twinlink.match.expected_memory import expected_bytes, too_large
from twinlink.match.labels import (
    PairLabel,
    labels_digest,
    labels_in_force,
    labels_within,
)
from twinlink.match.methods.registry import METHODS, check_cut
from twinlink.match.pairs_file import conclude, n_pairs, write_pairs_file
from twinlink.match.reuse import RESULT_COLUMNS, EarlierMatch, site_digest, write_digests
from twinlink.match.shared_names import read_links
from twinlink.match.sides import language_groups, language_pairs
from twinlink.match.site import PAGE_COLUMNS, match_site
from twinlink.match.site_tables import SiteResult, write_site
from twinlink.match.so_far import keep_so_far
from twinlink.patterns.library import read_libraries
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.attempts import attempts_at, new_attempt, take_attempt
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remember
from twinlink.rundir.signature import Signature, file_digest
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.lexicon_sets import Lexicons, write_record
from twinlink.system.memory import Memory, give_back, in_words
from twinlink.system.scratch import scratch_in
from twinlink.system.side_by_side import on_cores
from twinlink.system.steps import NO_STEPS, Steps, read_steps, steps_to_file
from twinlink.system.workers import Room, Shared, as_done, is_elsewhere, n_forked, n_workers, sharing
from twinlink.tables import (
    PAGES,
    REJECTS,
    PartWriter,
    Reject,
    by_file,
    columns_of,
    count_rows,
    file_of,
    iter_batches,
    iter_parts,
    part_like,
    part_size,
    part_writer,
    read_table,
    write_table,
)

__all__ = ["match"]

TASK_BYTES = 2**18
"""Bytes of the files of sites that are matched as one task: some 250 pages, half a second."""
STEP_BYTES = 2**18
"""Bytes of the file of a site from which its pairs so far can be read, and another process reports its steps; of a
smaller site only that it is done."""
DONE = "done"
"""Step of a site that is done, while the other sites of its task are not."""

_FACTS = [name for name in PAGE_COLUMNS if name != "blocks"]
_BLOCKS = columns_of(PAGES, ["blocks"])
_log = logging.getLogger("twinlink.memory")

OnPages = Callable[[int, int, str], None]
"""Receives the number of pages done and of all pages, and the step."""


def match(
    run: RunDirectory,
    config: Config,
    on_pages: OnPages | None = None,
    find_languages: LanguageFinder = site_languages,
    executor: Executor | None = None,
) -> Signature:
    """Match every site of a run, except those whose pages and links have not changed since their last match.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``langs``, ``language`` and ``match`` are used.
    on_pages : callable, optional
        Called at each step with the number of pages done, where those of a site in work count by its steps, the number
        of all pages, and the step.
    find_languages : LanguageFinder, optional
        Another language finder; its name is part of the signature.
    executor : Executor, optional
        Matches the sites; the result does not depend on it. By default this process does.

    Returns
    -------
    Signature
        Of the result, new or reused.

    Raises
    ------
    ConfigError
        If an expected precision is requested of a method without probabilities.
    MissingStageError
        If the pages have not been ingested, or not linearised for a method that needs it.
    EmptyMatchError
        If no pair was found, and an earlier match has some; the earlier match is kept.
    """
    check_cut(config.match)
    run.stage_folder("ingest")
    langs = tuple(canonical_language(tag) for tag in config.langs)
    settings = _signed_settings(config, langs, find_languages)
    libraries = _that_count(config.match).patterns.libraries
    lexicons = Lexicons(config.match.lexicons, langs)
    read_libraries(libraries)  # raises a clear error
    file_digests = [RESULT_COLUMNS, *lexicons.digests, *(file_digest(Path(name)) for name in libraries)]
    labels = labels_in_force(run, config.match)
    ingested = str(run.read_signature("ingest"))
    inputs = [ingested, *file_digests, *filter(None, [labels_digest(labels)])]
    signature = Signature.of("match", settings, inputs, pages=ingested)
    if run.is_done(signature):
        write_pairs_file(run.stage_folder("match"), run.pairs_file)
        if n_pairs(run.path / "match"):
            remember(run, config, "match")
        return signature
    shared = str(Signature.of("match", settings, file_digests))
    own = RunDirectory(run.path.absolute())  # without the messages of this process, which a worker cannot show
    sites = _Sites(own, config, lexicons, find_languages, labels, EarlierMatch(own), str(signature), shared)
    warning = (
        "" if is_elsewhere(executor) else too_large(list(iter_parts(run.path / "ingest" / "pages")), config.memory)
    )
    if warning:
        run.tell(f"match: {warning}")
    with run.writing(signature) as folder:
        _match_all(sites, folder, executor, on_pages)
        conclude(run, folder, config)
    return signature


class _Matched(NamedTuple):
    """A matched site, without its tables."""

    part: Path
    site: str
    digest: str
    rejects: Sequence[Reject]
    facing: frozenset[tuple[str, str]]
    """Every two of its languages that were matched."""
    looked_up: frozenset[tuple[str, str]]
    """Those whose lexicons were used."""


class _Sites(msgspec.Struct, frozen=True):
    """The sites of a run, and the common input of their matches."""

    run: RunDirectory
    config: Config
    lexicons: Lexicons
    find_languages: LanguageFinder
    labels: Sequence[PairLabel]
    earlier: EarlierMatch
    signature: str
    shared: str
    """Digest of what all sites depend on."""

    def match(self, part: Path, folder: Path, writer: PartWriter, steps: Steps) -> _Matched:
        """Match a site, or take an earlier result of the same digest, and write its tables."""
        if _is_large(part):
            give_back()  # what was ingested before
        pages = read_table(part, PAGES, _FACTS)
        site = pages["site"][0].as_py()
        links = read_links(part_like(self.run.path / "ingest" / "links", part), site)
        of_site = labels_within(self.labels, set(pages["url"].to_pylist())) if self.labels else []
        is_structural = METHODS[self.config.match.method].reads_shapes
        digest = site_digest(self.shared + labels_digest(of_site), part, (pages, links), with_bodies=is_structural)
        known = self.earlier.find(site, digest, pages["url"], self.signature)
        looked_up: set[tuple[str, str]] = set()

        def lexicons(lang_a: str, lang_b: str) -> list[Lexicon]:
            looked_up.add((lang_a, lang_b))
            return self.lexicons.between(lang_a, lang_b)

        if known is not None:
            result = SiteResult(**known)
        else:
            shapes = read_shapes(self.run, part.name) if is_structural else None
            result = match_site(
                pages,
                links,
                lexicons,
                self.config,
                self.signature,
                self.find_languages,
                shapes,
                of_site,
                steps,
                lambda: (chunk for table in iter_batches(part, _BLOCKS) for chunk in table["blocks"].chunks),
            )
        write_site(result, folder, part, writer)
        declared = pages["declared_lang"].to_pylist()
        facing = _facing_languages(result.languages, self.config.langs, declared) if self.lexicons.is_auto else ()
        return _Matched(part, site, digest, result.rejects, frozenset(facing), frozenset(looked_up))


class _Progress:
    """Pages of the sites that are done, and of those in work by the share of their steps that is done."""

    def __init__(self, parts: Iterable[Path], on_pages: OnPages | None) -> None:
        self._on_pages = on_pages
        self._n_pages = {part.name: count_rows(part) for part in parts} if on_pages else {}
        self._done = 0
        self._most = 0  # reported so far

    def begin(self) -> None:
        """Report that no site is done yet."""
        if self._on_pages:
            self._on_pages(0, sum(self._n_pages.values()), "")

    def end(self, part: Path) -> None:
        """Count a site that is done."""
        if self._on_pages:
            self._done += self._n_pages[part.name]
            self._most = max(self._most, self._done)
            self._on_pages(self._most, sum(self._n_pages.values()), "")

    def look(self, place: Path) -> None:
        """Report the steps of the sites that other processes work on, which they write below a folder."""
        self._report(read_steps(place))

    def steps(self, part: Path) -> Steps:
        """Return the steps of a site that this process works on."""
        return Steps(lambda share, step: self._report({part.name: (share, step)}))

    def _report(self, in_work: Mapping[str, tuple[float, str]]) -> None:
        if self._on_pages and in_work:
            done = self._done + sum(share * self._n_pages.get(name, 0) for name, (share, _) in in_work.items())
            largest = max(in_work, key=lambda name: (in_work[name][1] != DONE, self._n_pages.get(name, 0)))
            step = in_work[largest][1]
            named = step if len(self._n_pages) == 1 else f"{largest.removesuffix('.parquet')}: {step}"
            self._most = max(self._most, int(done))  # a site that another process has just done is in no file
            self._on_pages(self._most, sum(self._n_pages.values()), named)


def _match_all(sites: _Sites, folder: Path, executor: Executor | None, on_pages: OnPages | None) -> None:
    """Write the result of every site, and what was rejected."""
    parts = list(iter_parts(sites.run.path / "ingest" / "pages"))
    progress = _Progress(parts, on_pages)
    done: dict[Path, _Matched] = {}
    for matched in _matched(sites, folder, parts, executor, progress):
        done[matched.part] = matched
        progress.end(matched.part)
    results = [done[part] for part in parts]
    rejects = [reject._asdict() for result in results for reject in result.rejects]
    write_table(pa.Table.from_pylist(rejects, schema=REJECTS), REJECTS, folder / REJECTS_FILE)
    write_digests(folder, {result.site: result.digest for result in results})
    if sites.lexicons.is_auto:
        for langs in set().union(*(result.looked_up for result in results)):
            sites.lexicons.between(*langs)  # so that the record has the unreadable ones
        write_record(sites.lexicons.record(set().union(*(result.facing for result in results))), folder)


def _batches(parts: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield the parts of sites in tasks that are worth sending to a worker, the largest files first."""
    batch: list[Path] = []
    size = 0
    for n_bytes, of_file in sorted(((file_of(each[0]).stat().st_size, each) for each in by_file(parts)), reverse=True):
        batch += of_file
        size += n_bytes
        if size >= TASK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _matched(
    sites: _Sites, folder: Path, parts: Sequence[Path], executor: Executor | None, progress: _Progress
) -> Iterator[_Matched]:
    """Match sites, in this process or, where this is worth it, by an executor; yield them as they are done."""
    tasks = list(_batches(parts)) if executor else []
    if len(tasks) < 2:
        with attempts_at(sites.run.path, "match") as place, part_writer() as writer:
            for part in chain.from_iterable(by_file(parts)):
                with on_cores(n_forked(executor)), scratch_in(place, sites.config.memory.to_keep()):
                    result = sites.match(part, folder, writer, _kept(progress.steps(part), place, part))
                yield result
        return
    progress.begin()
    room = _room(sites.config.memory, tasks, executor)
    with attempts_at(sites.run.path, "match") as place, sharing(sites, place) as shared:
        match_task = partial(_match_shared, shared, place)
        for _, (attempt, matched) in as_done(executor, match_task, tasks, partial(progress.look, place), room):
            take_attempt(attempt, folder)
            yield from matched


def _kept(steps: Steps, place: Path, part: Path) -> Steps:
    """Return steps that keep the pairs so far of a large site in a file."""
    return replace(steps, keep=partial(keep_so_far, place, part.name)) if _is_large(part) else steps


def _is_large(part: Path) -> bool:
    return part_size(part) > STEP_BYTES


def _room(memory: Memory, tasks: Iterable[Sequence[Path]], executor: Executor | None) -> Room[Sequence[Path]] | None:
    """Return the memory that sites may take which are matched at the same time; None: the workers are elsewhere."""
    if is_elsewhere(executor):
        return None
    room = memory.beside(n_workers(executor))
    sizes = {task[0]: max(map(expected_bytes, task)) for task in tasks}
    largest = max(sizes, key=lambda part: sizes[part])
    expected = in_words(room), largest.stem, in_words(sizes[largest])
    _log.info("match, memory %s: sites take up to %s at the same time; the largest, %s, some %s", memory, *expected)
    if alone := sum(size > room for size in sizes.values()):
        _log.info("match: each of %d sites that take more is matched while no other is", alone)
    return Room(room, lambda task: sizes[task[0]])


def _match_shared(sites: Shared[_Sites], place: Path, parts: Sequence[Path]) -> tuple[Path, list[_Matched]]:
    """Match some sites in a worker; return the folder of this attempt, which has their tables."""
    known, attempt, matched = sites.load(), new_attempt(place), []
    # The other process counts them together, when it gets the results.
    with ExitStack() as until_all_are_done, part_writer() as writer:
        for part in parts:
            steps = until_all_are_done.enter_context(steps_to_file(place, part.name))
            wanted = _kept(steps, place, part) if _is_large(part) else NO_STEPS
            with scratch_in(place, known.config.memory.to_keep()):
                matched.append(known.match(part, attempt, writer, wanted))
            steps(1.0, DONE)
    return attempt, matched


def _signed_settings(config: Config, langs: Sequence[str], find_languages: LanguageFinder) -> dict[str, Any]:
    """Return the settings that a result depends on."""
    settings: dict[str, Any] = {"langs": langs, "language": config.language, "match": _that_count(config.match)}
    if find_languages is not site_languages:
        settings["find_languages"] = getattr(find_languages, "__qualname__", type(find_languages).__qualname__)
    return settings


def _that_count(settings: MatchSettings) -> MatchSettings:
    """Return the settings without those that the method does not use."""
    unused = METHODS[settings.method].unused
    if settings.method == "weighed" and "pattern" not in settings.weighing.evidence:
        unused = (*unused, "patterns")
    defaults = MatchSettings()
    for name in unused:
        record, _, field = name.partition(".")
        default = getattr(defaults, record)
        one = replace(getattr(settings, record), **{field: getattr(default, field)}) if field else default
        settings = replace(settings, **{record: one})
    return settings


def _facing_languages(languages: pa.Table, wanted: Sequence[str], declared: Sequence[str]) -> set[tuple[str, str]]:
    """Return every two languages of a site that are matched, given those of its pages and what these declare."""
    groups = language_groups(languages["lang"].to_pylist(), wanted, declared)
    return {(a.lang, b.lang) for a, b in language_pairs(groups)}
