"""One process at a time in a stored run: a lock object that its holder renews.

Stores have no locks, and pyarrow offers no write on a condition. So each process writes a separate object and then
lists all of them: of two, the one that lists last sees the other and gives up. That needs a store whose listings show
every object that has been written before, as S3 promises. An object says whether its process still asks for the run or
has it: those that ask in vain must not disturb the one that works.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import msgspec

from twinlink.errors import RunLockedError, StoreError
from twinlink.files import NOT_JSON
from twinlink.rundir.stored.store import Listed, ObjectStore
from twinlink.system.locks import own_command

LEASE_SECONDS = 300.0
"""After this time without renewal, the holder counts as dead."""

_RENEWALS = 5  # within the time of a lease
_FOLDER = "locks"


class _Holder(msgspec.Struct, frozen=True):
    """The process that holds a lease."""

    copy: str
    """The local copy that it works in, by a random name."""
    host: str
    pid: int
    since: str
    command: str
    holds: bool = True
    """Whether it has the run; else it asks for it."""


class Lease:
    """The right to change a stored run.

    Parameters
    ----------
    store : ObjectStore
    copy : str
        Name of the local copy, whose file lock this process has: another lease of the same copy is of a dead process.
    seconds : float
        After this time without renewal it ends.
    """

    def __init__(self, store: ObjectStore, copy: str, name: str = "", seconds: float = LEASE_SECONDS) -> None:
        self._store, self._copy, self._seconds = store, copy, seconds
        self.name = name or f"{secrets.token_hex(8)}.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lease and renew it.

        Raises
        ------
        RunLockedError
            If another process has it.
        """
        self._write(holds=False)
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(ended,), name="_renew", daemon=True)
        try:
            self._clear_others()
            self._write()
            renewing.start()
            yield
        finally:
            ended.set()
            if renewing.is_alive():  # else it may write the object again
                renewing.join()
            with suppress(StoreError):
                self._store.remove(f"{_FOLDER}/{self.name}")

    def check(self) -> None:
        """Refuse to go on without the lease.

        Raises
        ------
        StoreError
            If another process has taken over, since this one did not renew the lease in time.
        """
        names = {each.name for each in self._store.listed(_FOLDER)}
        if self.name not in names or any(map(self._is_held, names - {self.name})):
            raise StoreError(
                f"{self._store.address}: another process has taken over, since this one did not answer for"
                f" {self._seconds:.0f} s; nothing was stored. Repeat the command"
            )

    def _write(self, *, holds: bool = True) -> None:
        since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
        holder = _Holder(self._copy, socket.gethostname(), os.getpid(), since, own_command(), holds)
        self._store.write(f"{_FOLDER}/{self.name}", msgspec.json.encode(holder))

    def _is_held(self, name: str) -> bool:
        """Return whether another process has the run, by its object."""
        text = self._store.read(f"{_FOLDER}/{name}")
        if text is None:  # released meanwhile
            return False
        holder = _decoded(text)
        return holder is None or holder.holds

    def _renew(self, ended: threading.Event) -> None:
        while not ended.wait(self._seconds / _RENEWALS):
            with suppress(StoreError):  # a store that is away: the commit will say so
                if self.name not in {each.name for each in self._store.listed(_FOLDER)}:
                    return
                if not ended.is_set():
                    self._write()

    def _clear_others(self) -> None:
        """Remove the leases of dead processes.

        Raises
        ------
        RunLockedError
            If one is of a process that may live.
        """
        listed = self._store.listed(_FOLDER)
        own = next((each.changed for each in listed if each.name == self.name), datetime.now(UTC))
        for each in listed:
            if each.name != self.name:
                self._clear(each, (own - each.changed).total_seconds())

    def _clear(self, other: Listed, age: float) -> None:
        text = self._store.read(f"{_FOLDER}/{other.name}")
        if text is None:  # released meanwhile
            return
        holder = _decoded(text)
        if age <= self._seconds and (holder is None or holder.copy != self._copy):
            who = f" ({_said(holder)})" if holder else ""
            raise RunLockedError(
                f"{self._store.address}: another twinlink process works in this run{who}; wait for it to end, or choose"
                f" another address. If it was killed, its lock ends {max(1, round(self._seconds - age))} s from now"
            )
        self._store.remove(f"{_FOLDER}/{other.name}")


def _decoded(text: bytes) -> _Holder | None:
    """Return the process in a lock object; None if it is damaged."""
    try:
        return msgspec.json.decode(text, type=_Holder)
    except NOT_JSON:
        return None


def _said(holder: _Holder) -> str:
    return f"process {holder.pid} on {holder.host}, since {holder.since}: {holder.command}"
