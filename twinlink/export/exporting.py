"""Export of a run: page pairs, sentence pairs, link graph and archive in the forms of other programs."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pyarrow as pa

from twinlink.errors import ConfigError, InputError, NothingFoundError, RunLockedError
from twinlink.export.archived_pages import ArchivedPages
from twinlink.export.chosen_pairs import ChosenPairs, PairChoice
from twinlink.export.dataset_card import dataset_card
from twinlink.export.page_graph import page_graph, partners_of, write_graph
from twinlink.export.table_files import TableFile, TableFiles, sentence_tables
from twinlink.export.wacz_writer import ArchivedPage, write_wacz
from twinlink.files import real_path, removing_new, replacing, shell_word, write_text
from twinlink.progress import Report
from twinlink.run_tables import RunTables
from twinlink.rundir.directory import RunDirectory, check_name
from twinlink.system.disk import naming
from twinlink.system.locks import BlockedError, locked
from twinlink.tables import count_rows

FORMATS = {
    "jsonl": "page pairs with titles and texts, one JSON object per line, a file for each two languages",
    "parquet": "the same as tables (`page_pairs`)",
    "dataset": "a folder for the library `datasets`: page pairs and sentence pairs as Parquet, with a card",
    "wacz": "the pages of the pairs in one archive (WACZ 1.1.1), with index and list of pages",
    "graphml": "links among all pages; nodes have site, title, language and partner",
    "gexf": "the same for Gephi",
}
"""Forms of an export, and what each holds."""

DEFAULT_FORMATS = ("jsonl", "parquet")

_LOCK_NAME = ".twinlink-export.lock"
_LOCK_PATIENCE = 0.1  # seconds
_UNFINISHED = ("pairs.*.tmp", "pages.wacz.tmp", "links.*.tmp", "dataset/*.tmp", "dataset/*/*.tmp")
"""Files that an export leaves which was killed."""

_IN_THE_WAY = (
    errno.EACCES,
    errno.EPERM,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EROFS,
    errno.ENAMETOOLONG,
)
"""Errors that another folder would not have. That the disk is full is said elsewhere (`twinlink.system.disk`)."""


class Exported(msgspec.Struct, frozen=True):
    """What an export has written."""

    folder: Path
    n_pairs: dict[str, int]
    """Page pairs by languages, e.g. ``en-zh-Hant``."""
    files: list[Path] = msgspec.field(default_factory=list)
    """The files, in the order of the forms."""
    lost: list[str] = msgspec.field(default_factory=list)
    """Addresses of pages that are not in the WACZ package: the sources of the run no longer hold them."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {langs}" for langs, n in self.n_pairs.items())
        return f"<Exported {counts} page pairs → {str(self.folder)!r}: {', '.join(path.name for path in self.files)}>"


def export_run(
    run: RunTables,
    folder: Path | None = None,
    formats: Sequence[str] = DEFAULT_FORMATS,
    choice: PairChoice | None = None,
    report: Report = lambda stage, done, total, detail="": None,
) -> Exported:
    """Write page pairs of a matched run in the forms of other programs.

    Parameters
    ----------
    run : RunTables
    folder : Path, optional
        Made if need be; files of an earlier export are replaced, all others stay. Default: ``RUN/export``.
    formats : sequence of str
        Names of `FORMATS`.
    choice : PairChoice, optional
        Which pairs. Default: all.
    report : callable, optional
        Takes the progress of each form.

    Returns
    -------
    Exported

    Raises
    ------
    ConfigError
        If there is no such form, or see `ChosenPairs`.
    InputError
        If the folder cannot be made or written to, or is inside a run and not its folder ``export``.
    MissingStageError
        If the pages have not been matched.
    NothingFoundError
        If no pair is chosen; nothing is written. Or if no page is left for a WACZ package.
    RunLockedError
        If another process writes an export into the folder.
    """
    if unknown := [name for name in formats if name not in FORMATS]:
        raise ConfigError(f"format {unknown[0]}: expected {', '.join(FORMATS)}")
    if not formats:
        raise ConfigError(f"formats: expected at least one of {', '.join(FORMATS)}")
    choice = choice or PairChoice()
    directory = RunDirectory(run.path)
    chosen = ChosenPairs(directory, choice)
    n_pairs = _counts(directory, chosen, choice)
    target = folder or directory.path / "export"
    _check_place(directory, target)
    with _held(target), naming(target):
        job = _Export(run, directory, chosen, target, choice, sum(n_pairs.values()), report)
        exported = Exported(target, n_pairs)
        for name in FORMATS:
            if name in formats:
                exported.files.extend(job.write(name))
    exported.lost.extend(job.lost)
    return exported


def _check_place(run: RunDirectory, target: Path) -> None:
    """Refuse to export into a run, except into its folder ``export``, and a folder whose name Arrow cannot open."""
    check_name(target)
    place = real_path(target)
    if place == real_path(run.path):
        raise InputError(f"{target}: this is the run itself; choose another folder")
    run.check_target(target)
    around = next((path for path in place.parents if RunDirectory(path).is_begun()), None)
    if around and place.relative_to(around).parts[0] != "export":
        raise InputError(f"{target}: this is inside the run {around}; choose a folder outside, or {around / 'export'}")


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Make the folder of an export, and keep other exports out; one that fails leaves no empty folder of its own."""
    lock = folder / _LOCK_NAME
    data = folder / "dataset"
    with removing_new((data / "pages", data / "sentences", data, folder, *folder.parents)), ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made a folder ({error.strerror})") from error
        try:
            stack.enter_context(locked(lock, _LOCK_PATIENCE))
        except BlockedError as error:
            what = f"{folder}: another twinlink process writes an export into this folder"
            raise RunLockedError(error.say(what, "choose another folder")) from error
        except OSError as error:
            raise InputError(f"{folder}: cannot be written to ({error.strerror}); choose another folder") from error
        stack.callback(lock.unlink, missing_ok=True)
        for pattern in _UNFINISHED:
            for file in folder.glob(pattern):
                file.unlink()
        yield


@contextmanager
def _saying_what_is_in_the_way(folder: Path) -> Iterator[None]:
    """Say which file of an export cannot be written, and why."""
    try:
        yield
    except OSError as error:
        is_named = str(folder) in str(error.filename or error)  # else it is about a file that is read
        if error.errno not in _IN_THE_WAY or not is_named:
            raise
        file = str(error.filename or folder).removesuffix(".tmp")
        why = os.strerror(error.errno or 0)
        raise InputError(f"{file}: cannot be written ({why}); choose another folder") from error


def _counts(run: RunDirectory, chosen: ChosenPairs, choice: PairChoice) -> dict[str, int]:
    """Count the chosen pairs by languages; there must be some."""
    counts: Counter[str] = Counter()
    for _, pairs in chosen.by_site():
        counts.update(map("-".join, zip(pairs["lang_a"].to_pylist(), pairs["lang_b"].to_pylist(), strict=True)))
    if not counts:
        n_all = count_rows(run.stage_folder("match") / "pairs")
        what = f"none of its {n_all} page pairs is chosen" if n_all else "it has none"
        raise NothingFoundError(f"{shell_word(run.path)}: 0 page pairs to export: {what} ({_words(choice)})")
    return dict(sorted(counts.items()))


def _words(choice: PairChoice) -> str:
    langs = f"languages {', '.join(choice.langs)}" if choice.langs else "all languages"
    return f"{langs}, probability {choice.min_probability:g} or more" if choice.min_probability else langs


@dataclass
class _Export:
    """One export of a run."""

    run: RunTables
    directory: RunDirectory
    chosen: ChosenPairs
    folder: Path
    choice: PairChoice
    n_pairs: int
    report: Report
    lost: list[str] = field(default_factory=list)

    def write(self, form: str) -> list[Path]:
        """Write one form, and return its files."""
        with _saying_what_is_in_the_way(self.folder):
            return self._write(form)

    def _write(self, form: str) -> list[Path]:
        if form == "dataset":
            return self._write_dataset(self.folder / "dataset")
        if form == "wacz":
            return [self._write_wacz(self.folder / "pages.wacz")]
        if form in ("graphml", "gexf"):
            return [self._write_graph(self.folder / f"links.{form}", form)]
        with ExitStack() as stack:
            files = TableFiles(self.folder, "pairs.", form, stack)
            for langs, table in self._texts(form):
                files.add(langs, table)
        return [file.path for file in files.written()]

    def _write_dataset(self, folder: Path) -> list[Path]:
        """Write the tables of a dataset, then its card, which names them."""
        with ExitStack() as stack:
            pages = TableFiles(folder / "pages", "", "parquet", stack)
            sentences = TableFiles(folder / "sentences", "", "parquet", stack)
            for langs, table in self._texts("dataset"):
                pages.add(langs, table)
            for langs, table in sentence_tables(self.directory, self.chosen):
                sentences.add(langs, table)
        files: list[TableFile] = [*pages.written(), *sentences.written()]
        sites = {table["site"][0].as_py() for _, table in self.chosen.by_site()}
        write_text(folder / "README.md", dataset_card(files, sites, f"Chosen: {_words(self.choice)}."))
        return [*(file.path for file in files), folder / "README.md"]

    def _write_wacz(self, path: Path) -> Path:
        pages = ArchivedPages(self.directory, self.chosen)
        about = f"Pages that are translations of each other, found by twinlink. Chosen: {_words(self.choice)}."
        write_wacz(self._counted(pages), path, f"Page pairs of {self.run.path.resolve().name}", about)
        self.lost.extend(pages.lost)
        return path

    def _write_graph(self, path: Path, form: str) -> Path:
        self.report(f"export {form}", 0, None, "links")
        with replacing(path) as temporary:
            write_graph(page_graph(self.run, partners_of(self._addresses())), temporary, form)
        return path

    def _texts(self, form: str) -> Iterator[tuple[tuple[str, str], pa.Table]]:
        """Yield the chosen pairs with their texts, and report how many."""
        done = 0
        self.report(f"export {form}", done, self.n_pairs)
        for langs, table in self.chosen.with_texts():
            yield langs, table
            done += table.num_rows
            self.report(f"export {form}", done, self.n_pairs)

    def _counted(self, pages: ArchivedPages) -> Iterator[ArchivedPage]:
        """Yield pages, and report how many."""
        n_pages = len(pages)
        self.report("export wacz", 0, n_pages)
        for number, page in enumerate(pages, 1):
            yield page
            self.report("export wacz", number + len(pages.lost), n_pages)

    def _addresses(self) -> Iterator[tuple[str, str]]:
        for _, pairs in self.chosen.by_site():
            yield from zip(pairs["url_a"].to_pylist(), pairs["url_b"].to_pylist(), strict=True)
