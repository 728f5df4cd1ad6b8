"""Workers on other machines: an executor over a Dask cluster (extra ``cluster``)."""

from __future__ import annotations

import platform
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from twinlink.errors import ConfigError, InputError
from twinlink.version import __version__

__all__ = ["cluster_workers"]

ResultT = TypeVar("ResultT")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://[^/\s]+:\d+")
_PATIENCE = 10  # seconds for the scheduler to answer


class _Seen(NamedTuple):
    """What a worker has and sees."""

    twinlink: str
    python: str
    token: str
    """Content of the file that it was told to read; empty if it cannot."""


@contextmanager
def cluster_workers(address: str, folder: Path) -> Iterator[Executor]:
    """Yield an executor over the workers of a Dask scheduler, after a check of these.

    Parameters
    ----------
    address : str
        Of the scheduler: ``tcp://host:8786``.
    folder : Path
        The run directory. Workers read and write it, so that it must lie on a file system that they share.

    Raises
    ------
    ConfigError
        If the address is none.
    InputError
        If the extra is not installed, the scheduler does not answer or has no workers, or a worker has another version
        of twinlink or Python or does not see the folder.
    """
    client = _connected(address)
    try:
        _check_workers(client, address, folder)
        yield _ClusterExecutor(client)
    finally:
        client.close()


def _connected(address: str) -> Any:
    if not _ADDRESS.fullmatch(address):
        raise ConfigError(f"--cluster {address}: expected the address of a Dask scheduler, such as tcp://host:8786")
    try:
        import dask

        with dask.config.set({"logging.distributed": "error"}):  # its messages are about the cluster's inner life
            from distributed import Client
    except ImportError as error:
        raise InputError("--cluster: Dask is not installed; run pip install 'twinlink[cluster]'") from error
    found: list[Any] = []

    def connect() -> None:
        client: Any = Client
        with suppress(OSError):
            found.append(client(address, timeout=_PATIENCE, set_as_default=False))

    thread = threading.Thread(target=connect, name="cluster", daemon=True)
    thread.start()
    thread.join(2 * _PATIENCE)  # Dask waits without end for a server that is no scheduler
    if not found:
        raise InputError(
            f"--cluster {address}: no Dask scheduler answers there within {_PATIENCE} s; start one with"
            " `dask scheduler`"
        )
    return found[0]


def _check_workers(client: Any, address: str, folder: Path) -> None:
    token, file = uuid.uuid4().hex, folder.absolute() / f".cluster-{uuid.uuid4().hex}"
    file.write_text(token, encoding="utf-8")
    try:
        seen = client.run(_look, str(file))
    except ImportError as error:
        raise InputError(f"--cluster {address}: a worker cannot import twinlink ({error}); install it there") from error
    finally:
        file.unlink(missing_ok=True)
    if not seen:
        raise InputError(f"--cluster {address}: the scheduler has no workers; start some with `dask worker {address}`")
    here = _look(str(file))
    for worker, there in seen.items():
        if (there.twinlink, there.python) != (here.twinlink, here.python):
            raise InputError(
                f"--cluster {address}: worker {worker} has twinlink {there.twinlink} on Python {there.python}, expected"
                f" {here.twinlink} on {here.python}, as here"
            )
        if there.token != token:
            raise InputError(
                f"--cluster {address}: worker {worker} does not see {folder.absolute()}; put the run on a file system"
                " that all workers share, under the same path"
            )


def _look(file: str) -> _Seen:
    """Return what this process has and sees; a worker runs it."""
    try:
        token = Path(file).read_text(encoding="utf-8")
    except OSError:
        token = ""
    return _Seen(__version__, ".".join(platform.python_version_tuple()[:2]), token)


class _ClusterExecutor(Executor):
    """Dask's executor, with its number of workers, and the error of the standard library for lost ones."""

    is_elsewhere = True
    """Its workers have memory of their own."""

    def __init__(self, client: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self.n_workers = max(1, sum(client.nthreads().values()))

    def submit(self, fn: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> Future[ResultT]:
        """Submit a task."""
        outer: Future[ResultT] = Future()
        try:
            inner = self._executor.submit(fn, *args, **kwargs)
        except Exception as error:
            if isinstance(error, (OSError, RuntimeError)) or _is_of_cluster(error):  # the scheduler is gone
                raise BrokenExecutor(str(error)) from error
            raise
        inner.add_done_callback(lambda done: _hand_over(done, outer))
        return outer


def _is_of_cluster(error: BaseException) -> bool:
    """Return whether an error is one of Dask's, not of a task."""
    return type(error).__module__.startswith("distributed")


def _hand_over(done: Future[ResultT], outer: Future[ResultT]) -> None:
    """Give a result or an error to the future that a caller has; a lost worker is a `BrokenExecutor`."""
    if not outer.set_running_or_notify_cancel():
        return
    error = CancelledError() if done.cancelled() else done.exception()
    if error is None:
        outer.set_result(done.result())
    elif isinstance(error, CancelledError) or _is_of_cluster(error):
        outer.set_exception(BrokenExecutor(str(error)))
    else:
        outer.set_exception(error)
