"""The local copy of a stored run: it is brought up to date, worked in, and committed to the store.

A copy is a run directory like any other, with a folder ``.store`` in it::

    RUN/.store/address      the address of the run
    RUN/.store/name         a random name of this copy
    RUN/.store/run.json     the commit that the copy was last equal to; missing: it has been downloaded in part
    RUN/.store/lease        the lock object of the process that works in the run

A copy whose commit is the store's may be ahead of it: its process was killed before a commit, and the next one goes on
with what is here. If the store has a later commit, what only the copy has is dropped, except labels.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from twinlink.errors import RunLockedError, StoreError, TwinlinkError
from twinlink.files import replacing, shell_word, write_text
from twinlink.rundir.stored.lease import Lease
from twinlink.rundir.stored.manifest import LABELS, POINTER, Manifest, Scan, StoredFile, scan
from twinlink.rundir.stored.store import ObjectStore, check_no_address, digest_of, is_address
from twinlink.system.locks import BlockedError, locked

CACHE = "TWINLINK_CACHE"
"""Environment variable with the folder of local copies."""

_FOLDER, _ADDRESS, _NAME, _LEASE = ".store", "address", "name", "lease"
_LOCK_FILE = ".lock"
_COMMITS = "commits"
_LOCK_PATIENCE = 0.1  # seconds
_ATTEMPTS = 5  # a commit that is replaced while it is read
_CONNECTIONS = 8
_LONGEST_NAME = 60  # characters of a folder's name, which may have four bytes each
_log = logging.getLogger("twinlink")
_OPENED: dict[str, str] = {}
"""Addresses of stored runs that this process has opened, by the folders of their local copies."""


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of local copies: that of ``TWINLINK_CACHE``, or one in the user's cache.

    >>> cache_folder({"TWINLINK_CACHE": "/data/cache"}), cache_folder({"XDG_CACHE_HOME": "/home/ann/cache"})
    (PosixPath('/data/cache'), PosixPath('/home/ann/cache/twinlink/runs'))
    """
    if own := environment.get(CACHE):
        return Path(own)
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "twinlink" / "runs"


def run_path(where: str | Path, *, exists: bool = False) -> Path:
    """Return the folder of a run: the path itself, or the local copy of a stored run, brought up to date.

    Parameters
    ----------
    where : str or Path
        A path, or an address such as ``s3://bucket/run``.
    exists : bool
        Whether the run must be there.

    Raises
    ------
    ConfigError
        If it is an address that no run can have, or is written as a path.
    StoreError
        If the store cannot be used, or has no such run.
    """
    if isinstance(where, Path) or not is_address(where):
        check_no_address(Path(where))
        return Path(where)
    store = ObjectStore(where)
    copy = LocalCopy(_place(store))
    there = copy.remote(store)
    if exists and there is None and not copy.path.is_dir():
        raise StoreError(f"{store.address}: there is no run; `twinlink mine … -o {shell_word(where)}` makes one")
    copy.make(where)
    copy.update(store)  # before the next line: its errors name the copy
    _OPENED[str(copy.path)] = where
    return copy.path


def _place(store: ObjectStore) -> Path:
    """Return the folder of the local copy of a run; its name is readable and differs for each run."""
    plain = re.sub(r"\W+", "-", store.identity.partition("?")[0]).strip("-")[:_LONGEST_NAME]
    return cache_folder() / f"{plain}-{hashlib.blake2b(store.identity.encode(), digest_size=6).hexdigest()}"


def address_of(path: Path) -> str:
    """Return how users call a run: by its address if it is a local copy of a stored one, else by its path."""
    file = path / _FOLDER / _ADDRESS
    return file.read_text(encoding="utf-8") if file.is_file() else str(path)


def with_addresses(text: str) -> str:
    """Return a message with the addresses of stored runs for the folders of their local copies.

    Names of files in the copies stay: in a store, files have other names.
    """
    for folder, address in _OPENED.items():
        own = rf"('?){re.escape(folder)}\1(?![\w/.-])"  # in quotes, as a word of a command
        text = re.sub(own, shell_word(address).replace("\\", r"\\"), text)
    return text


@contextmanager
def written_back(path: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Hold the lease of a stored run while the block works in its copy, and commit the result; else do nothing.

    What a job leaves that ends with an error of ours is committed, too: it is whole. A kill or Ctrl-C leaves it in the
    copy.

    Raises
    ------
    RunLockedError
        If a process works in the run, on this machine or another.
    StoreError
        If the store cannot be used.
    """
    copy = LocalCopy(path)
    if not copy.is_one:
        yield
        return
    store = ObjectStore(copy.address)
    lease = Lease(store, copy.name)
    before = copy.commit
    with lease.held():
        copy.check_current(store)
        write_text(copy.folder / _LEASE, lease.name)
        try:
            yield
            copy.publish(store, lease)
            with suppress(StoreError):  # the next job does it
                copy.clean(store, lease)
        except StoreError:
            raise
        except TwinlinkError:
            with suppress(StoreError):
                copy.publish(store, lease)
            raise
        finally:
            (copy.folder / _LEASE).unlink(missing_ok=True)
    if copy.commit != before:
        tell(f"stored in {copy.address}")


def publish(path: Path) -> None:
    """Commit the local copy of a stored run, whose lease this process holds; do nothing for another run."""
    copy = LocalCopy(path)
    file = copy.folder / _LEASE
    if copy.is_one and file.is_file():
        store = ObjectStore(copy.address)
        copy.publish(store, Lease(store, copy.name, file.read_text(encoding="utf-8")))


class LocalCopy:
    """The local copy of a stored run.

    Parameters
    ----------
    path : Path
        The run directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path / _FOLDER

    @property
    def is_one(self) -> bool:
        """Whether the run directory is a copy of a stored run."""
        return (self.folder / _ADDRESS).is_file()

    @property
    def address(self) -> str:
        """The address of the run, with its options."""
        return (self.folder / _ADDRESS).read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """A random name of this copy."""
        return (self.folder / _NAME).read_text(encoding="utf-8")

    @property
    def commit(self) -> str:
        """The commit that the copy was last equal to; empty if there is none."""
        base = self.base()
        return "" if base is None else base.commit

    def make(self, address: str) -> None:
        """Make the folder, if need be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for file, text in ((_NAME, secrets.token_hex(8)), (_ADDRESS, address)):
            if not (self.folder / file).is_file():
                write_text(self.folder / file, text)

    def base(self) -> Manifest | None:
        """Return the commit that the copy was last equal to; None if it has been downloaded in part, or not at all."""
        try:
            return Manifest.decoded((self.folder / POINTER).read_bytes(), str(self.folder / POINTER))
        except (FileNotFoundError, StoreError):
            return None

    def remote(self, store: ObjectStore) -> Manifest | None:
        """Return the commit that the store has; None if it has none."""
        text = store.read(POINTER)
        return None if text is None else Manifest.decoded(text, f"{store.address}/{POINTER}")

    def check_current(self, store: ObjectStore) -> None:
        """Refuse to work in a copy that is behind the store.

        Raises
        ------
        StoreError
            If another process has committed since the copy was brought up to date.
        """
        there = self.remote(store)
        if self.commit != ("" if there is None else there.commit):
            raise StoreError(f"{store.address}: another process has just changed the run; repeat the command")

    def update(self, store: ObjectStore) -> None:
        """Bring the copy up to date, unless a process works in it, which has done that.

        Raises
        ------
        RunLockedError
            If another process is doing it.
        StoreError
            If the store cannot be used, or its run is damaged or gone.
        """
        try:
            with locked(self.path / _LOCK_FILE, _LOCK_PATIENCE):
                self._update(store)
        except BlockedError as error:
            if self.base() is None and self.remote(store) is not None:
                what = f"{store.address}: another twinlink process downloads this run"
                raise RunLockedError(error.say(what, f"set {CACHE} to another folder")) from error

    def _update(self, store: ObjectStore) -> None:
        for _ in range(_ATTEMPTS):
            base, there = self.base(), self.remote(store)
            if there is None and base is not None:
                raise StoreError(
                    f"{store.address}: the run is gone, but {self.path} has a copy of it; remove this folder to begin"
                    " anew"
                )
            if there is None or (base is not None and base.commit == there.commit):
                return
            with suppress(FileNotFoundError):  # a later commit has removed what this one had
                self._become(store, there, base)
                return
        raise StoreError(f"{store.address}: damaged: {POINTER} names objects that are not there")

    def _become(self, store: ObjectStore, there: Manifest, base: Manifest | None) -> None:
        """Make the copy equal to a commit, but for labels that only the copy has."""
        here = scan(self.path)
        if base is not None and _differs(here, base):
            _log.warning(
                "%s: another machine has changed the run; what only %s had is dropped", store.address, self.path
            )
        labels = self._own_labels(here, base)
        (self.folder / POINTER).unlink(missing_ok=True)
        self._remove_others({*there.files, *([LABELS] if labels else [])}, there.folders)
        wanted = [name for name, entry in there.files.items() if not self._has(name, entry)]
        for folder in {*there.folders, *(str(Path(name).parent) for name in [*there.files, *there.links])}:
            (self.path / folder).mkdir(parents=True, exist_ok=True)

        def fetch(name: str) -> None:
            self._download(store, name, there.files[name], labels if name == LABELS else [])

        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            list(pool.map(fetch, wanted))
        for name, target in there.links.items():
            (self.path / name).symlink_to(target)
        self._keep_base(there)

    def _keep_base(self, manifest: Manifest) -> None:
        with replacing(self.folder / POINTER) as temporary:
            temporary.write_bytes(manifest.encoded())

    def _own_labels(self, here: Scan, base: Manifest | None) -> list[bytes]:
        """Return the lines of the labels if reviewers may have added to them here since the last commit."""
        status, entry = here.files.get(LABELS), None if base is None else base.files.get(LABELS)
        if status is None or (entry is not None and _is_same(status, entry)):
            return []
        return (self.path / LABELS).read_bytes().splitlines(keepends=True)

    def _remove_others(self, files: Collection[str], folders: Collection[str]) -> None:
        """Remove all that a commit does not have, what killed processes have left included."""
        kept, empty = {self.path / name for name in files}, {self.path / name for name in folders}
        around = empty.union(*(path.parents for path in kept | empty))
        for where, inside, names in os.walk(self.path):
            if Path(where) == self.path:
                inside.remove(_FOLDER)
                names.remove(_LOCK_FILE)
            for path in (Path(where, name) for name in names):
                if path not in kept:
                    path.unlink()
            for path in (Path(where, name) for name in tuple(inside)):
                if path.is_symlink():
                    path.unlink()
                elif path not in around:
                    shutil.rmtree(path)
                else:
                    continue
                inside.remove(path.name)

    def _has(self, name: str, entry: StoredFile) -> bool:
        try:
            status = (self.path / name).stat()
        except OSError:
            return False
        if _is_same(status, entry):
            return True
        if status.st_size != entry.size or digest_of(self.path / name) != entry.digest:
            return False
        os.utime(self.path / name, ns=(entry.changed, entry.changed))
        return True

    def _download(self, store: ObjectStore, name: str, entry: StoredFile, more: list[bytes]) -> None:
        """Write a file of the run, and append the lines that it does not have."""
        with replacing(self.path / name) as temporary:
            if store.download(_object(name, entry), temporary) != (entry.size, entry.digest):
                raise StoreError(f"{store.address}/{_object(name, entry)}: damaged: not what {POINTER} says it is")
            os.utime(temporary, ns=(entry.changed, entry.changed))
            if more:
                known = set(temporary.read_bytes().splitlines(keepends=True))
                with temporary.open("ab") as file:
                    file.writelines(line for line in more if line not in known)

    def publish(self, store: ObjectStore, lease: Lease) -> None:
        """Commit what the copy has and the store has not; requires the lock of the copy and the lease.

        Raises
        ------
        StoreError
            If the store cannot be used, or another process has taken over; the store keeps what it had.
        """
        base, here = self.base(), scan(self.path)
        if base is None and not here.files:
            return
        if base is not None and not _differs(here, base):
            return
        number = 1 if base is None else base.number + 1
        commit = f"{number:06}-{secrets.token_hex(4)}"
        known = {} if base is None else base.files

        def entry(name: str) -> tuple[str, StoredFile] | None:
            return self._entry(store, name, here.files[name], known.get(name), commit)

        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            files = dict(filter(None, pool.map(entry, here.files)))
        manifest = Manifest(commit, number, files, here.links, tuple(here.folders))
        if base is not None and (files, here.links, manifest.folders) == (base.files, base.links, base.folders):
            return
        lease.check()
        self.check_current(store)
        store.write(POINTER, manifest.encoded())
        self._keep_base(manifest)

    def clean(self, store: ObjectStore, lease: Lease) -> None:
        """Remove the objects that no file needs any more: of earlier commits, and of commits that were killed."""
        lease.check()
        base = self.base()
        files = {} if base is None else base.files
        held = {_object(name, entry) for name, entry in files.items()}
        needed = {entry.commit for entry in files.values()}
        for commit in store.folders(_COMMITS):
            folder = f"{_COMMITS}/{commit}"
            if commit not in needed:
                store.remove_folder(folder)
                continue
            gone = [name for name in store.names(folder) if name not in held]
            with ThreadPoolExecutor(_CONNECTIONS) as pool:
                list(pool.map(store.remove, gone))

    def _entry(
        self, store: ObjectStore, name: str, status: os.stat_result, known: StoredFile | None, commit: str
    ) -> tuple[str, StoredFile] | None:
        """Return the entry of a file, which is uploaded unless the store has it; None if a review has removed it."""
        if known is not None and _is_same(status, known):
            return name, known
        with suppress(FileNotFoundError):
            if known is not None and known.size == status.st_size and digest_of(self.path / name) == known.digest:
                os.utime(self.path / name, ns=(known.changed, known.changed))  # it was written again as it was
                return name, known
            size, digest = store.upload(self.path / name, f"{_COMMITS}/{commit}/{name}")
            return name, StoredFile(size, status.st_mtime_ns, digest, commit)
        return None


def _object(name: str, entry: StoredFile) -> str:
    return f"{_COMMITS}/{entry.commit}/{name}"


def _is_same(status: os.stat_result, entry: StoredFile) -> bool:
    return (status.st_size, status.st_mtime_ns) == (entry.size, entry.changed)


def _differs(here: Scan, base: Manifest) -> bool:
    """Return whether a folder has another content than a commit, by sizes and times."""
    if (here.links, tuple(here.folders), set(here.files)) != (base.links, base.folders, set(base.files)):
        return True
    return not all(_is_same(status, base.files[name]) for name, status in here.files.items())
