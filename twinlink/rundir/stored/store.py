"""Access to an object store through pyarrow: whole objects by name, and errors that say what can be done."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

from twinlink.errors import ConfigError, StoreError

SCHEMES = ("s3", "file")
"""Schemes of addresses; ``file`` is a folder that stands for a store. pyarrow has more, but without access, its Azure
aborts the process, and its Google Cloud Storage tries for minutes."""

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_SAFE = "/%!$&'()*+,;=:@~"  # in the path of an address, beside letters and digits
_WHAT = "expected a folder, or an address such as s3://BUCKET/RUN"
_CHUNK = 1 << 20  # bytes
_LONGEST_PROBLEM = 300  # characters
_ADVICE = {
    "MissingContentLength|HTTP status 411": (
        "the server does not know checksums at the end of an upload: set AWS_REQUEST_CHECKSUM_CALCULATION=when_required"
    ),
    "NO_SUCH_BUCKET|bucket does not exist": "make the bucket, or correct its name",
    "ACCESS_DENIED|FORBIDDEN|INVALID_ACCESS_KEY|SIGNATURE|UNAUTHORI|credential|anonymous|permission": (
        "access was refused: for s3, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, of a user who may"
        " list, read, write and delete objects there"
    ),
    "NETWORK_CONNECTION|resolve host|connect|timed? ?out": (
        "the server did not answer: check the network, AWS_REGION, and endpoint_override if the address has one"
    ),
}
"""What can be done about errors that have one of these words."""


def is_address(text: str) -> bool:
    """Return whether a text is an address rather than a path.

    >>> is_address("s3://bucket/run"), is_address("runs/s3"), is_address("C:/run")
    (True, False, False)
    """
    return _ADDRESS.match(text) is not None


def _is_place(rest: str) -> bool:
    """Return whether what follows the scheme is a bucket, or nothing for a folder, and a name in it.

    >>> [_is_place(rest) for rest in ("bucket/a b", "/folder/run/", "bucket", "bucket/a//b", "bucket/%2e%2e/b")]
    [True, True, False, False, False]
    """
    name = unquote(rest).partition("/")[2].rstrip("/")
    return not {"", ".", ".."} & set(name.split("/"))


def _encoded(address: str) -> str:
    """Return an address in the characters of one: names of objects may have others.

    >>> _encoded("s3://bucket/a b#ü"), _encoded("s3://bucket/100%/a%20b")
    ('s3://bucket/a%20b%23%C3%BC', 's3://bucket/100%25/a%20b')
    """
    return quote(_LONE_PERCENT.sub("%25", address), safe=_SAFE)


def check_no_address(path: Path) -> None:
    """Refuse the path that an address becomes where a file or folder of this machine is expected.

    Raises
    ------
    ConfigError
        If it begins with a scheme of `SCHEMES`.
    """
    first, _, rest = path.as_posix().partition(":/")
    if first.lower() in SCHEMES:
        address = f"{first}://{rest.lstrip('/')}"
        raise ConfigError(
            f"{path}: expected a place on this machine. Only runs lie on stores; their addresses are texts such as"
            f" {address}"
        )


class Listed(NamedTuple):
    """An object in a listing."""

    name: str
    changed: datetime
    """When it was written, by the store's clock."""


class ObjectStore:
    """The objects below an address.

    Parameters
    ----------
    address : str
        As ``pyarrow.fs.FileSystem.from_uri`` takes it; options (``?endpoint_override=localhost:9000&scheme=http``)
        included. Spaces and letters of all scripts may be written as they are.

    Attributes
    ----------
    address : str
        Without options, for messages.
    identity : str
        The same text for all ways to write the address.

    Raises
    ------
    ConfigError
        If it is not the address of a place in a store.
    StoreError
        If the store cannot be reached.
    """

    def __init__(self, address: str) -> None:
        from pyarrow.fs import FileSystem

        place, mark, options = address.partition("?")
        scheme, _, rest = place.partition("://")
        self.address = f"{scheme.lower()}://{rest.rstrip('/')}"
        if scheme.lower() not in SCHEMES:
            raise ConfigError(f"{self.address}: runs cannot lie on {scheme}://; {_WHAT}")
        if "@" in rest.partition("/")[0]:
            raise ConfigError(f"{scheme}://…: the address holds a key, which would be stored; set AWS_ACCESS_KEY_ID")
        if not _is_place(rest):
            raise ConfigError(f"{self.address}: expected a bucket and a name in it, such as s3://BUCKET/RUN")
        self._is_folder = scheme.lower() == "file"
        with self._speaking():
            try:
                self._files, root = FileSystem.from_uri(f"{_encoded(self.address)}{mark}{options}")
            except ValueError as error:  # ArrowInvalid is one
                raise ConfigError(f"{self.address}: not an address of a store ({_short(error)}); {_WHAT}") from error
        self._root = root.rstrip("/")
        self.identity = f"{scheme.lower()}://{self._root}{mark}{options}"

    def read(self, name: str) -> bytes | None:
        """Return an object; None if there is none of that name."""
        with suppress(FileNotFoundError), self._speaking(), self._files.open_input_stream(self._at(name)) as stream:
            return b"".join(iter(stream.read, b""))  # an answer that is cut gives a part
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write an object as a whole, or not at all."""
        with self._writing(name) as stream:
            stream.write(content)

    def upload(self, file: Path, name: str) -> tuple[int, str]:
        """Write a file to an object; return the size and the digest of what was written."""
        with file.open("rb") as source, self._writing(name) as target:
            return _copy(source, target)

    def download(self, name: str, file: Path) -> tuple[int, str]:
        """Write an object to a file; return size and digest.

        Raises
        ------
        FileNotFoundError
            If there is no such object.
        """
        with file.open("wb") as target, self._speaking(), self._files.open_input_stream(self._at(name)) as source:
            return _copy(source, target)

    def listed(self, folder: str) -> list[Listed]:
        """Return the objects directly below a folder."""
        return [
            Listed(each.base_name, each.mtime or datetime.fromtimestamp(0, UTC))
            for each in self._below(folder)
            if each.is_file and ".tmp-" not in each.base_name
        ]

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders below a folder."""
        return [each.base_name for each in self._below(folder) if not each.is_file]

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder."""
        return [each.path[len(self._root) + 1 :] for each in self._below(folder, recursive=True) if each.is_file]

    def remove(self, name: str) -> None:
        """Remove an object; one that is gone is no error."""
        with suppress(FileNotFoundError), self._speaking():
            self._files.delete_file(self._at(name))

    def remove_folder(self, name: str) -> None:
        """Remove all objects below a folder."""
        with suppress(FileNotFoundError), self._speaking():
            self._files.delete_dir(self._at(name))

    def _below(self, folder: str, *, recursive: bool = False) -> list[Any]:
        from pyarrow.fs import FileSelector

        with self._speaking():
            chosen = FileSelector(self._at(folder), allow_not_found=True, recursive=recursive)
            found: list[Any] = self._files.get_file_info(chosen)
        return found

    @contextmanager
    def _writing(self, name: str) -> Iterator[IO[bytes]]:
        """Yield a stream to an object, which is there when the block has ended: folders need a rename for that."""
        place = self._at(name)
        temporary = f"{place}.tmp-{secrets.token_hex(4)}" if self._is_folder else place
        with self._speaking(reads=False):
            if self._is_folder:
                self._files.create_dir(place.rpartition("/")[0], recursive=True)
            with self._files.open_output_stream(temporary) as stream:
                yield stream
            if self._is_folder:
                self._files.move(temporary, place)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _speaking(self, *, reads: bool = True) -> Iterator[None]:
        """Turn errors of the store into those of this package; an object that is missing when it is read stays so."""
        try:
            yield
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            is_ours = error.errno is not None and not self._is_folder  # of this machine: a full disk
            if reads if is_missing else is_ours:
                raise
            problem = _short(error)
            advice = next(
                (advice for words, advice in _ADVICE.items() if re.search(words, problem, re.IGNORECASE)), "try later"
            )
            raise StoreError(
                f"{self.address}: the store cannot be used ({problem}); {advice}. Completed work is kept, and the same"
                " command resumes"
            ) from error


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST_PROBLEM]


def _copy(source: IO[bytes], target: IO[bytes]) -> tuple[int, str]:
    size, digest = 0, hashlib.blake2b(digest_size=16)
    while chunk := source.read(_CHUNK):
        target.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def digest_of(file: Path) -> str:
    """Return the digest of a file's content, as `ObjectStore.upload` does."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
