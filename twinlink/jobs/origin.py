"""Sources of a run, and whether a call names the same, additional, or other sources.

The sources of a run are the start pages of its crawl, and the files and folders that were read into it. A call that
names some of them uses the run as it is; further ones are added. A call that names
only others is refused, unless it says which it wants: ``add``, or ``replace``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from twinlink.config import Config
from twinlink.errors import ConfigError, DamagedError, InputError, NothingFoundError, RunError
from twinlink.files import real_path
from twinlink.ingest.file_states import source_mark, states_of
from twinlink.ingest.stage import ingest_settings, own_folder, source_marks, source_paths
from twinlink.labels.book import LabelBook
from twinlink.redaction import redacted, without_credentials
from twinlink.run_files import CRAWL_LOG
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.side_results import check_own_pages
from twinlink.sources.reading import source_files
from twinlink.spiders.frontier import LEDGER_NAME, Counts, FrontierReader, so_far
from twinlink.spiders.scope import Scope
from twinlink.spiders.seeds import warn_of_credentials
from twinlink.tables import count_rows
from twinlink.urls import normalise

SourceMode = Literal["same", "add", "replace"]
"""Meaning of the sources of a call: those of the run, additional ones, or others instead."""

_NAMED = 3  # sources in a message


class Origin(msgspec.Struct, frozen=True):
    """The sources of a run."""

    starts: tuple[str, ...] = ()
    """Start pages of its crawl, if that has fetched anything."""
    paths: tuple[Path, ...] = ()
    """Files and folders that were read, besides the crawl."""

    def __str__(self) -> str:
        names = [*self.starts, *map(str, self.paths)]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        return ", ".join([*names[:_NAMED], *more])


def source_mode(*, add: bool, replace: bool) -> SourceMode:
    """Return the meaning of a call's sources from its options.

    Raises
    ------
    InputError
        If it asks for both.
    """
    if add and replace:
        raise InputError("add and replace: choose one of them")
    return "add" if add else "replace" if replace else "same"


def split_inputs(inputs: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Separate addresses from paths.

    >>> split_inputs(["https://www.example.org", "."])
    (['https://www.example.org/'], [PosixPath('.')])

    Raises
    ------
    InputError
        If an address is of another scheme than http and https, or there is no such path.
    """
    urls: list[str] = []
    paths: list[Path] = []
    for text in inputs:
        if "://" in text:
            url = normalise(text)
            if url is None:
                raise InputError(f"{redacted(text)}: not a usable address; expected http://HOST/… or https://HOST/…")
            urls.append(url)
        elif _exists(text):
            paths.append(Path(text))
        elif _looks_like_host(text):
            raise InputError(
                f"{redacted(text)}: no such file or folder; if a site is meant, write https://{without_credentials(text)}"
            )
        else:
            what = redacted(text) or repr(text)
            raise InputError(f"{what}: no such file or folder; expected a URL, a WARC file or a folder")
    warn_of_credentials(inputs)
    return urls, paths


def _exists(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except OSError:  # a name too long, a folder that may not be looked into
        return False


def _looks_like_host(text: str) -> bool:
    named = "." in text or text.startswith("localhost")
    return named and normalise(f"http://{text}") is not None and not text.startswith((".", "/"))


def origin_of(run: RunDirectory) -> Origin:
    """Return the sources of a run; empty if it has no pages yet."""
    has_crawl = (run.path / LEDGER_NAME).is_file() and so_far(run.path, FrontierReader.counts, Counts()).done > 0
    return Origin(tuple(FrontierReader(run.path).starts()) if has_crawl else (), tuple(source_paths(run)))


def agreed_paths(
    run: RunDirectory, urls: Sequence[str], paths: Sequence[Path], config: Config, how: SourceMode = "same"
) -> list[Path]:
    """Return the files and folders to read: those of the run, and further ones.

    Parameters
    ----------
    run : RunDirectory
    urls, paths : sequence
        What the call names; nothing: the run as it is.
    config : Config
        Its ``crawl`` says what one site is: another page of a known site is no other source.
    how : {"same", "add"}

    Raises
    ------
    RunError
        If the run was made from something else.
    """
    where = {real_path(path): path for path in paths}
    known = _found_again(run, origin_of(run), where)
    fresh = [path for place, path in where.items() if place not in known.paths]
    for path in fresh:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; expected a WARC file or a folder")
        if _is_empty(path):
            raise InputError(f"{path}: the folder is empty; expected saved pages or archives")
    sites = Scope(known.starts, config.crawl)
    strange = [url for url in urls if not sites.site(url)]
    named = len(fresh) + len(strange)
    if (known.starts or known.paths) and named:
        if how == "same" and named == len(where) + len(urls):
            raise RunError(_other(run, known, Origin(tuple(strange), tuple(fresh))))
        _check_base_url(run, known, fresh, config)
        run.tell(f"{run.path} gets more sources: {Origin(tuple(strange), tuple(fresh))}")
    return [*(where.get(path, path) for path in known.paths), *fresh]


def _is_empty(path: Path) -> bool:
    with suppress(OSError):  # errors are reported when it is read
        return path.is_dir() and not any(path.iterdir())
    return False


def _found_again(run: RunDirectory, known: Origin, given: Iterable[Path]) -> Origin:
    """Return the origin with each source that lies elsewhere now, as far as the call names its new place."""
    lost = {path: mark for path, mark in source_marks(run).items() if path in known.paths and not path.exists()}
    if not lost:
        return known
    unknown = [path for path in given if path not in known.paths and path.exists()]
    marks = {source_mark(path, states_of(source_files(path, own_folder(run)))): path for path in unknown}
    moved = {path: marks[mark] for path, mark in lost.items() if mark in marks}
    for old, new in moved.items():
        run.tell(f"{new} holds the same files as {old}, which no longer exists, and is read instead")
    return Origin(known.starts, tuple(moved.get(path, path) for path in known.paths))


def _check_base_url(run: RunDirectory, known: Origin, fresh: Sequence[Path], config: Config) -> None:
    """Refuse another address for further folders, which would change those of the earlier folders, too."""
    before, now = ingest_settings(run).base_url, config.ingest.base_url
    if fresh and known.paths and before != now:
        was, would = (url or "the addresses in the folders" for url in (before, now))
        raise ConfigError(
            f"ingest.base_url: {run.path} was read with {was}; adding {fresh[0]} with {would} would change the"
            " addresses of its pages; use another run directory"
        )


def _other(run: RunDirectory, known: Origin, given: Origin) -> str:
    return (
        f"{run.path}: was made from {known}, not from {given}. Choose another run directory;"
        " or --add to have both in this one; or --replace to start anew, which removes"
        f" {holdings(run)} on success"
    )


def holdings(run: RunDirectory) -> str:
    """Return a summary of a run's results: ``168 pages, 84 pairs``."""
    tables = {"pages": "ingest/pages", "pairs": "match/pairs", "aligned pairs": "align/pages"}
    counts = {}
    for name, table in tables.items():
        with suppress(DamagedError):
            counts[name] = count_rows(run.path / table)
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "what it holds"


@contextmanager
def entering(
    run: RunDirectory, urls: Sequence[str], paths: Sequence[Path], config: Config, how: SourceMode = "same"
) -> Iterator[tuple[RunDirectory, list[Path]]]:
    """Give the run directory to work in, and the files and folders that are to be read.

    With ``replace`` the new run is built in a separate folder within the run; it replaces the old one when the block
    ends without an error. If it does not, the same call resumes with it.

    Raises
    ------
    InputError
        If a folder to be read is the run directory.
    RunError
        If the run was made from something else, or was begun to be replaced by something else; or is a further match.
    """
    _check_apart(run, paths)
    check_own_pages(run)
    if how != "replace" or origin_of(run) == Origin():
        with leaving_nothing(run):
            yield run, agreed_paths(run, urls, paths, config, how)
        return
    old = f"{holdings(run)} from {origin_of(run)}"
    run.tell(f"{run.path} is rebuilt; on success, {old} are removed (labels are kept)")
    try:
        with RunDirectory.held(run.replacement, run.tell) as fresh, leaving_nothing(fresh):
            _copy_labels(run, fresh)
            _check_begun(fresh, urls, paths, config)
            yield fresh, agreed_paths(fresh, urls, paths, config)
            _check_pages(run, fresh)
    except BaseException:
        if not RunDirectory(run.replacement).files():
            shutil.rmtree(run.replacement, ignore_errors=True)
        raise
    run.replace()


def _check_apart(run: RunDirectory, paths: Iterable[Path]) -> None:
    """Refuse to read the run directory: its report would be a page, and each result would change the source."""
    for path in paths:
        if real_path(path) == real_path(run.path):
            raise InputError(f"{path}: the run directory cannot be the folder that is read; choose another one with -o")


def _check_pages(run: RunDirectory, fresh: RunDirectory) -> None:
    """Refuse to replace a run by one without pages."""
    if not (origin_of(fresh).starts or count_rows(fresh.path / "ingest" / "pages")):
        raise NothingFoundError(f"0 pages. {run.path} keeps {holdings(run)}")


@contextmanager
def leaving_nothing(run: RunDirectory) -> Iterator[None]:
    """Clear a run that is begun and comes to no page before an error; a log that the error points to stays."""
    was_there = bool(run.files())
    try:
        yield
    except BaseException as error:
        if not was_there and CRAWL_LOG not in str(error) and not _has_pages(run):
            with suppress(RunError):  # the first error counts
                run.clear()
        raise


def _has_pages(run: RunDirectory) -> bool:
    try:
        return origin_of(run) != Origin()
    except RunError:  # its content cannot be read
        return True


def _copy_labels(run: RunDirectory, fresh: RunDirectory) -> None:
    """Copy the labels of the old run for the match of the new one; only these are kept."""
    if LabelBook(run.path).file.is_file():
        LabelBook(fresh.path).file.parent.mkdir(exist_ok=True)
        shutil.copy(LabelBook(run.path).file, LabelBook(fresh.path).file)


def _check_begun(fresh: RunDirectory, urls: Sequence[str], paths: Sequence[Path], config: Config) -> None:
    """Refuse to resume a replacement that was begun with other sources."""
    try:
        agreed_paths(RunDirectory(fresh.path), urls, paths, config)
    except RunError as error:
        begun = f"{fresh.path}: holds a replacement that was begun from {origin_of(fresh)} and is not finished"
        raise RunError(f"{begun}; give that command again, or remove this folder first") from error
