"""The class `RunDirectory`: paths and state of the stages of one mining job, and its lock.

A stage writes into a folder with a temporary name and renames it when complete; the folder contains its
`Signature`. A stage
whose signature has not changed is done and is skipped. Layout::

    RUN/config.toml                   the settings in force
    RUN/warc/  ledger.sqlite          what the crawl fetched, and what it still has to fetch
    RUN/page_parts/                   the same for style sheets and pictures of the pages of pairs
    RUN/ingest/pages/SITE.parquet     also links/ and rejects.parquet
    RUN/match/pairs/SITE.parquet      also candidates/, languages/ and rejects.parquet; of many sites, small ones
                                      share files, see `twinlink.tables.parts`
    RUN/pairs.tsv                     the pairs, for people and scripts

A result stays where it is until a later one of the same stage has taken its place, see `twinlink.rundir.commit`. One
that was made from pages which have been read again since stays on disk, too, but counts as not done.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import msgspec

from twinlink.damage import STAGES, damaged, list_tables, lost_tables, read_json, remake
from twinlink.errors import InputError, MissingStageError, RunError, RunLockedError
from twinlink.files import is_utf8, real_path, removing_new, shell_word, write_text
from twinlink.run_files import (
    CHOSEN_LEDGER,
    CONFIG_FILE,
    CRAWL_LOG,
    CRAWL_REPORT,
    LABELS_FILE,
    LEDGER_NAME,
    MATCHES,
    PAIRS_FILE,
    REVIEW,
)
from twinlink.rundir.attempts import remove_attempts
from twinlink.rundir.commit import (
    REPLACEMENT,
    SIGNATURE,
    TOP,
    check_no_folder,
    commit_stage,
    is_settled,
    replace_run,
    settle,
    settle_stage,
)
from twinlink.rundir.signature import Signature
from twinlink.rundir.stored import check_no_address, publish, written_back
from twinlink.system.locks import BlockedError, is_held, locked
from twinlink.system.pausing import waits

Tell = Callable[[str], None]
"""Receives a message for the user."""

_LONGEST_NAME = 200  # bytes of a site's name in that of its file: file systems take 255, endings come on top
_LOCK_PATIENCE = 0.1  # seconds: who only asks whether the lock is held (a review) has it for a moment
_LEDGERS = (LEDGER_NAME, CHOSEN_LEDGER)
_RECORDS = (*(f"{name}*" for name in _LEDGERS), CRAWL_REPORT, CRAWL_LOG, "crawl.lock")

_REPLACED = ("ingest", "shapes", "match", "align", "patterns", "recover", "languages", "hosts", "rank")
"""Stages whose folder is replaced as a whole (`RunDirectory.writing`)."""
_LONG = ("ingest", "match", "align")
_AFTER = {"ingest": ("match", "align"), "match": ("align",)}
"""Long stages that must be redone after each stage."""


def _unheard(line: str) -> None:
    """Ignore the message."""


class RunDirectory:
    """Paths, lock and stages of one run.

    Parameters
    ----------
    path : Path
        The directory; made by `create`, not by the constructor.
    """

    def __init__(self, path: Path, tell: Tell = _unheard) -> None:
        self.path = path
        self.tell = tell

    @classmethod
    def create(cls, path: Path) -> RunDirectory:
        """Make the directory if need be.

        Raises
        ------
        RunError
            If there is a file of that name, the name is not UTF-8, or the directory cannot be made.
        """
        check_name(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{path}: cannot be made a run directory ({error.strerror})") from error
        return cls(path)

    @classmethod
    @contextmanager
    def held(cls, path: Path, tell: Tell = _unheard) -> Iterator[RunDirectory]:
        """Create the directory if missing, and lock it; a job that fails before it wrote anything leaves no directory.

        Raises
        ------
        RunError
            If the directory cannot be made or written to, or has a file or folder that no run has made and a job would
            replace.
        RunLockedError
            If another process holds it.
        """
        run = cls(path, tell)
        has_lock = run.lock_file.exists()
        with removing_new((path, *path.parents)):
            cls.create(path)
            with run.lock():
                try:
                    run._check_free(is_new=not has_lock)
                    yield run
                except BaseException:
                    if not (has_lock or run.is_begun()):
                        run.lock_file.unlink(missing_ok=True)
                    raise

    @classmethod
    def existing(cls, path: Path) -> RunDirectory:
        """Return an existing run.

        Raises
        ------
        RunError
            If there is no such directory, it is not a run, or its name is not UTF-8.
        """
        check_name(path)
        run = cls(path)
        if not is_settled(path, STAGES):
            with suppress(RunError), run.lock():  # else it may only be read, or a process works in it that does this
                pass
        if path.exists() and not path.is_dir():
            raise RunError(f"{path}: expected a run directory, which is a folder, and this is none")
        if not (run.is_begun() or is_held(run.lock_file)):
            makes = f"twinlink mine … -o {shell_word(path)}"
            if run._is_beside_a_match():
                makes = f"twinlink match {shell_word(path.parent.parent)} -o {shell_word(path.name)}"
            what = "not a run directory (it holds no results)" if path.exists() else "no such folder"
            raise RunError(f"{path}: {what}; `{makes}` makes one")
        return run

    def is_begun(self) -> bool:
        """Return whether a job has left results that another one can continue; settings alone do not count."""
        results = (self.path / stage / SIGNATURE for stage in STAGES)
        return any(file.is_file() for file in (*map(self.path.joinpath, _LEDGERS), *results))

    def _is_beside_a_match(self) -> bool:
        """Return whether this is the place of a further match (`twinlink.rundir.side_results`)."""
        return self.path.parent.name == MATCHES and RunDirectory(self.path.parent.parent).is_begun()

    def _check_free(self, *, is_new: bool) -> None:
        """Refuse to replace files that no job has left; and folders, if no job has worked here (``is_new``)."""
        if self.is_begun():
            return
        folders = map(self.path.joinpath, _REPLACED) if is_new else ()
        for path in (self.pairs_file, self.report_file, *folders):
            if path.exists():
                kind = "folder" if path.is_dir() else "file"
                raise RunError(f"{path}: no job has made this {kind}, but one would replace it; choose another folder")

    @property
    def config_file(self) -> Path:
        """The settings that the run remembers, see `twinlink.rundir.remembered`."""
        return self.path / CONFIG_FILE

    @property
    def pairs_file(self) -> Path:
        """All pairs of the run, for people and scripts."""
        return self.path / PAIRS_FILE

    @property
    def report_file(self) -> Path:
        """The run in one HTML file, for people."""
        return self.path / "report.html"

    @property
    def lock_file(self) -> Path:
        """The file that is locked while a process works in the run."""
        return self.path / ".lock"

    @property
    def pause_file(self) -> Path:
        """The file that asks for a pause, see `twinlink.system.pausing`: work waits at its next report of progress."""
        return self.path / REVIEW / "pause"

    @property
    def progress_file(self) -> Path:
        """The latest report of the job that works in the run, see `twinlink.progress.read_latest`."""
        return self.path / ".progress.json"

    @property
    def log_file(self) -> Path:
        """Messages of the command line about its work in the run."""
        return self.path / "log.txt"

    @property
    def paused(self) -> bool:
        """Whether a pause is requested."""
        return waits(self.pause_file)

    def check_target(self, target: Path) -> None:
        """Refuse to overwrite files of this run, and of any that the target lies in (`check_target`)."""
        check_target(target, self)

    def check_own(self, target: Path) -> None:
        """Refuse to overwrite a file that a stage or the review keeps in this run.

        Raises
        ------
        InputError
            If the target is such a file.
        """
        place, own = real_path(target), self.path.resolve()
        if not place.is_relative_to(own) or place in (own, own / self.report_file.name):
            return
        first, *rest = place.relative_to(own).parts
        own_files = (self.config_file, self.pairs_file, self.log_file)
        kept = (*STAGES, *(file.name for file in own_files), REPLACEMENT, *_RECORDS)
        is_said = first == REVIEW and rest in ([], [LABELS_FILE], [self.pause_file.name])
        if is_said or first.startswith(".") or any(fnmatch(first, name) for name in kept):
            raise InputError(f"{target}: this is a part of the run itself; choose another file")

    def archives(self) -> list[Path]:
        """Return the archives that the crawl wrote, oldest first."""
        return sorted((self.path / "warc").glob("*.warc.gz"))

    @property
    def parts_folder(self) -> Path:
        """Where a crawl of page parts (style sheets, pictures) has its ledger and archives."""
        return self.path / "page_parts"

    def part_archives(self) -> list[Path]:
        """Return the archives with style sheets and pictures of the pages of pairs, oldest first."""
        return sorted((self.parts_folder / "warc").glob("*.warc.gz"))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the run for this process; the lock ends with the process.

        Raises
        ------
        RunLockedError
            If another process holds it.
        RunError
            If the directory cannot be written to, has a folder in the place of one of its files, or the object store of
            the run cannot be used.
        """
        for file in (self.lock_file, self.config_file, self.pairs_file):
            check_no_folder(file)
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.lock_file, _LOCK_PATIENCE))
            except BlockedError as error:
                what = f"{self.path}: another twinlink process works in this run directory"
                raise RunLockedError(error.say(what, "choose another directory")) from error
            except OSError as error:
                raise RunError(f"{self.path}: cannot be written to ({error.strerror})") from error
            settle(self.path, STAGES, self.clear)
            stack.enter_context(written_back(self.path, self.tell))
            yield

    def stage_folder(self, stage: str) -> Path:
        """Return the folder of a stage that has been done.

        Raises
        ------
        MissingStageError
            If it has not been done, or the run is a further match without its pages.
        DamagedError
            If one of its tables is missing.
        """
        if self.read_signature(stage) is None:
            self._check_pages()
            there = f"no {stage} here yet"
            if self._any_signature(stage) is not None:
                there = f"the pages have been read again since the last {stage}"
            raise MissingStageError(f"{self.path}: {there}; run {remake(self.path, stage)} first")
        for table in lost_tables(self.path / stage / SIGNATURE):
            raise damaged(table, "this table is missing or incomplete")
        return self.path / stage

    def _check_pages(self) -> None:
        """Refuse a further match that was moved out of its run, or copied without the pages that its links lead to."""
        pages = self.path / "ingest"
        if pages.is_symlink() and not pages.exists() and not self._is_beside_a_match():
            raise MissingStageError(
                f"{self.path}: this further match is no longer in its run, whose pages it needs; "
                f"move it back to RUN/{MATCHES}, or copy it from there by `cp -rL`"
            )

    def read_signature(self, stage: str) -> Signature | None:
        """Return the signature of a stage that has been done for the pages that the run has now; None for another."""
        found = self._any_signature(stage)
        is_of_pages = found is None or not found.pages or found.pages == str(self._any_signature("ingest"))
        return found if is_of_pages else None

    def _any_signature(self, stage: str) -> Signature | None:
        """Return the signature of a stage that has been done, for any pages."""
        try:
            return read_json(self.path / stage / SIGNATURE, Signature)
        except RunError:
            return None

    def is_done(self, signature: Signature) -> bool:
        """Return whether the stage has been done with just this signature, and its tables are there."""
        is_same = self.read_signature(signature.stage) == signature.stored()
        return is_same and not any(lost_tables(self.path / signature.stage / SIGNATURE))

    def results(self) -> list[tuple[int, int]]:
        """Return numbers that change when a stage gets a new result, or loses its result."""
        found = []
        for stage in STAGES:
            with suppress(OSError):
                status = (self.path / stage / SIGNATURE).stat()
                found.append((status.st_ino, status.st_mtime_ns))
        return found

    @contextmanager
    def writing(self, signature: Signature) -> Iterator[Path]:
        """Provide a folder for a stage's result, which is committed when the block ends without an error.

        Files of its folder `TOP` go to the top of the run, in the same step.
        """
        stage = signature.stage
        settle_stage(self.path, stage)
        self._announce(signature)
        temporary = self.path / f".{stage}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)  # of a process that was killed
        remove_attempts(self.path, stage)
        temporary.mkdir()
        try:
            yield temporary
            record = {**msgspec.to_builtins(signature), "tables": list_tables(temporary)}
            text = msgspec.json.format(msgspec.json.encode(record).decode(), indent=2)
            write_text(temporary / SIGNATURE, text)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        commit_stage(self.path, stage)
        self.publish()

    def publish(self) -> None:
        """Commit what the run has now to its object store, if it has one (`twinlink.rundir.stored`)."""
        publish(self.path)

    def _announce(self, signature: Signature) -> None:
        """Report that a stage is redone, why, and which stages must follow."""
        earlier = self._any_signature(signature.stage)
        if earlier is None or signature.stage not in _LONG:
            return
        later = [f"{name}/" for name in _AFTER.get(signature.stage, ()) if self._any_signature(name) is not None]
        what = f"; {' and '.join(later)} must be rebuilt after it" if later else ""
        self.tell(f"{signature.stage} is done again ({signature.changes(earlier)}){what}")

    def top(self, folder: Path, name: str) -> Path:
        """Return where a stage writes a file that goes to the top of the run together with its folder."""
        (folder / TOP).mkdir(exist_ok=True)
        return folder / TOP / name

    def clear(self) -> None:
        """Remove the files of jobs, so that the next one starts from the beginning; labels and other files are kept.

        Raises
        ------
        RunError
            If one cannot be removed.
        """
        for path in self.files():
            try:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            except OSError as error:
                raise RunError(f"{path}: cannot be removed ({error.strerror})") from error

    def files(self) -> list[Path]:
        """Return the files and folders that jobs have left."""
        top = (self.pairs_file, self.report_file, self.config_file, *map(self.path.joinpath, STAGES))
        return [*chain(*map(self.path.glob, _RECORDS)), *filter(Path.exists, top)]

    @property
    def replacement(self) -> Path:
        """Where a new run grows that is to take the place of this one."""
        return self.path / REPLACEMENT

    def replace(self) -> None:
        """Replace this run by the new one, which is complete."""
        replace_run(self.path, self.clear)


def site_file(folder: Path, site: str) -> Path:
    """Return the part of one site in a table's folder: its file, or its place in a pack (`twinlink.tables.parts`)."""
    from twinlink.tables.parts import named_part  # loads Arrow, which not every command needs

    return named_part(folder, site_name(site))


def site_name(site: str) -> str:
    """Return the name of a site's files; percent-encoded, so that no site can leave the folder of a table.

    Of a name that is too long for a file (a site that is a deep folder) the end is replaced by a digest.
    """
    name = quote(site, safe="")
    if name.startswith("."):  # the name of a hidden file, which a store does not get
        name = f"%2E{name[1:]}"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}~{hashlib.blake2b(site.encode(), digest_size=8).hexdigest()}"
    return f"{name}.parquet"


def check_name(folder: Path) -> None:
    """Refuse a folder for results whose tables could not be read or written because of its name.

    Raises
    ------
    RunError
        If the name of the folder, or of one above it, is not UTF-8.
    """
    if not is_utf8(folder):
        raise RunError(f"{folder}: expected a name in UTF-8, here and in all folders above it; choose another folder")


def check_target(target: Path, *runs: RunDirectory) -> None:
    """Refuse to overwrite files of some runs by an export, and of any run that the target lies in.

    Raises
    ------
    InputError
        If the target is a file that a stage or the review keeps there.
    ConfigError
        If it is the address of a store.
    """
    check_no_address(target)
    around = (RunDirectory(folder) for folder in real_path(target).parents)
    for run in (*runs, *(run for run in around if run.is_begun())):
        run.check_own(target)
