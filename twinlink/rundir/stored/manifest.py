"""The object that makes a commit: which files a run has, and which objects hold them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import msgspec

from twinlink.errors import StoreError
from twinlink.files import NOT_JSON
from twinlink.run_files import LABELS_FILE, REVIEW

__all__ = ["LABELS", "POINTER", "Manifest", "Scan", "StoredFile", "is_kept", "scan"]

POINTER = "run.json"
"""The object whose replacement is the commit; also the name of its copy on this machine."""

LABELS = f"{REVIEW}/{LABELS_FILE}"
"""The one file that reviewers on several machines may have added to."""

FORMAT = 1
_NOT_KEPT = ("*.tmp", "*.lock", "*-shm", "review/pause", "review/open-*", "replacement/*")


class StoredFile(msgspec.Struct, frozen=True, array_like=True):
    """A file of a run."""

    size: int
    changed: int
    """Time of its last change in nanoseconds; signatures of stages depend on it, so it travels with the file."""
    digest: str
    commit: str
    """The commit that has uploaded it."""


class Manifest(msgspec.Struct, frozen=True):
    """All files of a run at one commit."""

    commit: str
    number: int
    """Commits so far."""
    files: dict[str, StoredFile]
    links: dict[str, str] = {}
    """Symbolic links (a further match has them), and what they lead to."""
    folders: tuple[str, ...] = ()
    """Folders with nothing in them."""
    format: int = FORMAT

    @classmethod
    def decoded(cls, text: bytes, where: str) -> Manifest:
        """Return the manifest in a JSON object.

        Raises
        ------
        StoreError
            If it is not one, is of a later version, or names a place outside of the run.
        """
        try:
            found = msgspec.json.decode(text, type=cls)
        except NOT_JSON as error:
            raise StoreError(f"{where}: damaged ({error}); expected what twinlink has written there") from error
        if found.format != FORMAT:
            raise StoreError(f"{where}: written by another version of twinlink (format {found.format}, not {FORMAT})")
        ends = [str(PurePosixPath(name).parent / target) for name, target in found.links.items()]
        for name in [*found.files, *found.links, *found.folders, *ends]:
            if not _is_inside(name):
                raise StoreError(f"{where}: damaged; it names {name!r}, which is not inside of the run")
        return found

    def encoded(self) -> bytes:
        """Return it as JSON."""
        return msgspec.json.encode(self, order="sorted")


def _is_inside(name: str) -> bool:
    """Return whether a name stays below the folder that it begins in.

    >>> _is_inside("matches/x/../../ingest"), _is_inside("a/../../b"), _is_inside("/a"), _is_inside(".lock")
    (True, False, False, True)
    """
    place = PurePosixPath(os.path.normpath(name))
    return bool(name) and "\0" not in name and not place.is_absolute() and ".." not in place.parts


class Scan(msgspec.Struct):
    """What a folder has that belongs to a run."""

    files: dict[str, os.stat_result]
    links: dict[str, str]
    folders: list[str]


def is_kept(name: str) -> bool:
    """Return whether a file belongs to a run: no lock, and nothing that is being written.

    >>> [is_kept(name) for name in ("pairs.tsv", ".match.tmp/pairs/x.parquet", "match/sites.json.tmp")]
    [True, False, False]
    """
    hidden = any(part.startswith(".") for part in name.split("/"))
    return not hidden and not any(fnmatch(name, pattern) for pattern in _NOT_KEPT)


def scan(run: Path) -> Scan:
    """Return what belongs to a run that no process changes; files that a review has removed meanwhile are left out."""
    found = Scan({}, {}, [])
    for path, is_folder in _walk(run):
        name = path.relative_to(run).as_posix()
        if path.is_symlink():
            found.links[name] = str(path.readlink())
        elif is_folder:
            found.folders.append(name)
        elif path.is_file():
            found.files[name] = path.stat()
    return found


def _walk(run: Path) -> Iterator[tuple[Path, bool]]:
    """Yield what is kept: files, links, and folders without anything in them."""
    for where, folders, files in os.walk(run):
        inside = Path(where).relative_to(run)
        folders[:] = sorted(name for name in folders if is_kept(str(inside / name / "_")))
        for name in sorted(files) + [name for name in folders if Path(where, name).is_symlink()]:
            if is_kept(str(inside / name)):
                yield Path(where, name), False
        if inside.parts and not folders and not files:
            yield Path(where), True
