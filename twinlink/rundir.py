"""The run directory: where one mining job keeps everything, safe against being killed at any moment.

A stage writes into a folder with a temporary name and renames it when it is whole; its `Signature` lies in it. A stage
whose signature has not changed is done and is skipped. Layout::

    RUN/config.toml                   the settings in force
    RUN/warc/  ledger.sqlite          what the crawl fetched, and what it still has to fetch
    RUN/ingest/pages/SITE.parquet     also links/ and rejects.parquet
    RUN/match/pairs/SITE.parquet      also candidates/, languages/ and rejects.parquet
    RUN/pairs.tsv                     the pairs, for people and scripts
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from twinlink.errors import InputError, MissingStageError, RunError, RunLockedError
from twinlink.files import write_text
from twinlink.locks import BlockedError, locked
from twinlink.pausing import waits

__all__ = ["RunDirectory", "Signature", "file_digest", "site_file", "twinlink_version"]

_LONGEST_NAME = 200  # bytes of a site's name in that of its file: file systems take 255, endings come on top
_LOCK_PATIENCE = 0.1  # seconds: who only asks whether the lock is held (a review) has it for a moment
_STAGES = (
    "warc",
    "ingest",
    "shapes",
    "match",
    "align",
    "patterns",
    "recover",
    "languages",
    "hosts",
    "rank",
    "discover",
)

_RECORDS = ("ledger.sqlite*", "recover.sqlite*", "crawl.json", "crawl.log", "crawl.lock")

_COMMANDS = {
    "warc": "`twinlink crawl URL... -o RUN` or `twinlink mine`",
    "ingest": "`twinlink ingest PATH... -o RUN` or `twinlink mine`",
    "match": "`twinlink match RUN` or `twinlink mine`",
    "shapes": "`twinlink match RUN`",
    "hosts": "`twinlink rank RUN`",
    "languages": "`twinlink discover SEED... -o RUN`",
}
"""What makes a stage's folder, where it is not the command of its name."""


def twinlink_version() -> str:
    """Return the version of the installed package."""
    return importlib.metadata.version("twinlink")


class Signature(msgspec.Struct, frozen=True):
    """What a stage's result depends on: settings, version and input. Equal signatures mean equal results."""

    stage: str
    version: str
    settings: dict[str, Any]
    inputs: str
    """Digest of what the stage read."""

    @classmethod
    def of(cls, stage: str, settings: Mapping[str, Any], inputs: Sequence[str]) -> Signature:
        """Make the signature of ``stage`` from its settings and the digests or names of its inputs."""
        read = "\0".join(inputs).encode(errors="surrogatepass")  # a file's name need not be UTF-8
        digest = hashlib.blake2b(read, digest_size=16).hexdigest()
        return cls(stage, twinlink_version(), msgspec.to_builtins(dict(settings)), digest)

    def __str__(self) -> str:
        """Return the short form that travels with every number: stage, version and a digest of the rest."""
        digest = hashlib.blake2b(msgspec.json.encode(self, order="sorted"), digest_size=6).hexdigest()
        return f"{self.stage}:{self.version}:{digest}"


def file_digest(path: Path, name: str | None = None) -> str:
    """Return what tells whether a file has changed: name, size and time of change (its content is not read).

    The name is the whole path by default, so that it does not matter from which folder a command is called.
    """
    status = path.stat()
    return f"{path.resolve() if name is None else name}|{status.st_size}|{status.st_mtime_ns}"


class RunDirectory:
    """Paths, lock and stages of one run.

    Parameters
    ----------
    path : Path
        The directory; made by `create`, not by the constructor.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> RunDirectory:
        """Make the directory if need be.

        Raises
        ------
        RunError
            If there is a file of that name, or the directory cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{path}: cannot be made a run directory ({error.strerror})") from error
        return cls(path)

    @classmethod
    def existing(cls, path: Path) -> RunDirectory:
        """Return a run that is there.

        Raises
        ------
        RunError
            If there is no such directory, or it is not a run.
        """
        run = cls(path)
        if not run.config_file.is_file():
            makes = f"twinlink mine … -o {shlex.quote(str(path))}"
            raise RunError(f"{path}: not a run directory (no config.toml in it); `{makes}` makes one")
        return run

    @property
    def config_file(self) -> Path:
        """The settings in force."""
        return self.path / "config.toml"

    @property
    def pairs_file(self) -> Path:
        """All pairs of the run, for people and scripts."""
        return self.path / "pairs.tsv"

    @property
    def report_file(self) -> Path:
        """The run in one HTML file, for people."""
        return self.path / "report.html"

    @property
    def lock_file(self) -> Path:
        """The file that is locked as long as a process works in the run."""
        return self.path / ".lock"

    @property
    def pause_file(self) -> Path:
        """The file that asks for a pause, see `twinlink.pausing`: work waits at its next report of progress."""
        return self.path / "review" / "pause"

    @property
    def paused(self) -> bool:
        """Whether somebody asks for a pause."""
        return waits(self.pause_file)

    def check_target(self, target: Path) -> None:
        """Refuse to write what somebody asks for over what the run is made of.

        Raises
        ------
        InputError
            If the target is a file that a stage or the review keeps here.
        """
        place = target.resolve()
        own = self.path.resolve()
        if not place.is_relative_to(own) or place in (own, own / self.report_file.name):
            return
        first, *rest = place.relative_to(own).parts
        kept = (*_STAGES, self.config_file.name, self.pairs_file.name, *_RECORDS)
        is_said = first == "review" and rest in ([], ["labels.jsonl"], [self.pause_file.name])
        if is_said or first.startswith(".") or any(fnmatch(first, name) for name in kept):
            raise InputError(f"{target}: this is a part of the run itself; choose another file")

    def archives(self) -> list[Path]:
        """Return the archives that the crawl wrote, oldest first."""
        return sorted((self.path / "warc").glob("*.warc.gz"))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for this process alone; the lock falls with the process, however it ends.

        Raises
        ------
        RunLockedError
            If another process holds it.
        RunError
            If the directory cannot be written to.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.lock_file, _LOCK_PATIENCE))
            except BlockedError as error:
                what = f"{self.path}: another twinlink process works in this run directory"
                raise RunLockedError(error.say(what, "choose another directory")) from error
            except OSError as error:
                raise RunError(f"{self.path}: cannot be written to ({error.strerror})") from error
            yield

    def stage_folder(self, stage: str) -> Path:
        """Return the folder of a stage that has been done.

        Raises
        ------
        MissingStageError
            If it has not been done.
        """
        folder = self.path / stage
        if self.read_signature(stage) is None:
            makes = _COMMANDS.get(stage, f"`twinlink {stage} RUN`").replace("RUN", shlex.quote(str(self.path)))
            raise MissingStageError(f"{self.path}: no {stage} here yet; run {makes} first")
        return folder

    def read_signature(self, stage: str) -> Signature | None:
        """Return the signature of a stage that has been done, None for another."""
        try:
            return msgspec.json.decode((self.path / stage / "signature.json").read_bytes(), type=Signature)
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
            return None

    def is_done(self, signature: Signature) -> bool:
        """Tell whether the stage has been done with just this signature."""
        return self.read_signature(signature.stage) == msgspec.json.decode(
            msgspec.json.encode(signature), type=Signature
        )

    @contextmanager
    def writing(self, signature: Signature) -> Iterator[Path]:
        """Give a folder to write a stage's result to; it takes its place when the block ends without an error."""
        temporary, old = (self.path / f".{signature.stage}.{suffix}" for suffix in ("tmp", "old"))
        for leftover in (temporary, old):
            shutil.rmtree(leftover, ignore_errors=True)
        temporary.mkdir()
        try:
            yield temporary
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        write_text(temporary / "signature.json", msgspec.json.format(msgspec.json.encode(signature).decode(), indent=2))
        final = self.path / signature.stage
        if final.exists():
            final.rename(old)
        temporary.rename(final)
        shutil.rmtree(old, ignore_errors=True)

    def clear(self) -> None:
        """Remove what jobs have left, so that the next one starts anew; files of others stay."""
        for stage in _STAGES:
            shutil.rmtree(self.path / stage, ignore_errors=True)
        shutil.rmtree(self.earlier_match, ignore_errors=True)
        for file in (*chain(*map(self.path.glob, _RECORDS)), self.pairs_file, self.report_file, self.config_file):
            file.unlink(missing_ok=True)

    def discard_match(self) -> None:
        """Remove the pairs of an earlier `ingest`, their sentences and report, which a new one does not stand behind.

        The matched sites themselves lie aside until the next `match`, which may find some of them unchanged.
        """
        if (self.path / "match").exists():
            shutil.rmtree(self.earlier_match, ignore_errors=True)
            (self.path / "match").rename(self.earlier_match)
        self.pairs_file.unlink(missing_ok=True)
        self.report_file.unlink(missing_ok=True)
        shutil.rmtree(self.path / "align", ignore_errors=True)

    @property
    def earlier_match(self) -> Path:
        """Where the matched sites of an earlier `ingest` lie."""
        return self.path / ".match.earlier"


def site_file(folder: Path, site: str) -> Path:
    """Return the file of one site in a table's folder; percent-encoded, so that no site can leave the folder.

    Of a name that is too long for a file (a site that is a deep folder) the end is replaced by a digest.
    """
    name = quote(site, safe="")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}~{hashlib.blake2b(site.encode(), digest_size=8).hexdigest()}"
    return folder / f"{name}.parquet"
