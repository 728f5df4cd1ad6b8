"""Workers of a Dask cluster, in processes of their own: the same tables as without, also when a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.loopback import serving
from tests.made_sites import write_town
from twinlink.align.stage import align_run
from twinlink.config import Config
from twinlink.config.align import BitextSettings
from twinlink.errors import ConfigError, InputError, LexiconError
from twinlink.ingest import page_spool
from twinlink.ingest.stage import ingest
from twinlink.match import stage as match_module
from twinlink.match.stage import match
from twinlink.rundir.directory import RunDirectory
from twinlink.system import cluster
from twinlink.system.workers import Workers, in_order

CONFIG = Config().override({"langs": ["en", "fr"]})
ROOT = Path(__file__).resolve().parents[2]


class Cluster(NamedTuple):
    """A scheduler and its workers."""

    address: str
    workers: list[subprocess.Popen[bytes]]


def dask(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *arguments]
    silent = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=ROOT, stdout=silent, stderr=silent)  # the tests' functions are imported there


def worker(address: str) -> subprocess.Popen[bytes]:
    return dask("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    note = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(note))
    scheduler = dask("scheduler", *options)
    workers: list[subprocess.Popen[bytes]] = []
    try:
        deadline = time.monotonic() + 60
        while not note.exists() or not note.read_text():
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)
        address = json.loads(note.read_text())["address"]
        workers += [worker(address), worker(address)]
        wait_for(address, 2)
        yield Cluster(address, workers)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def wait_for(address: str, n: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(n, timeout=60)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


def mined(path: Path, sites: Path, executor: Executor | None) -> dict[str, bytes]:
    run = RunDirectory.create(path)
    ingest(run, [sites], CONFIG.ingest, executor=executor)
    match(run, CONFIG, executor=executor)
    align_run(run, BitextSettings(run_rounds=1), executor=executor)
    return {
        f"{stage}/{name}": data
        for stage in ("ingest", "match", "align")
        for name, data in bytes_of(path / stage).items()
    }


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number in range(4):
        write_town(tmp_path / "sites" / f"www.town{number}.org", 4 + 2 * number, first=10 * number)
    monkeypatch.setattr(page_spool, "BATCH_PAGES", 8)
    monkeypatch.setattr(match_module, "TASK_BYTES", 10_000)
    return tmp_path / "sites"


def test_tables_are_those_of_a_local_run(running: Cluster, sites: Path, tmp_path: Path) -> None:
    alone = mined(tmp_path / "alone", sites, None)
    (tmp_path / "shared").mkdir()
    with Workers(cluster=running.address).executor(tmp_path / "shared") as executor:
        assert mined(tmp_path / "shared", sites, executor) == alone
    assert len(alone) > 20


def test_tables_are_the_same_when_a_worker_is_killed(running: Cluster, sites: Path, tmp_path: Path) -> None:
    alone = mined(tmp_path / "alone", sites, None)
    (tmp_path / "shared").mkdir()
    victim = worker(running.address)
    wait_for(running.address, 3)
    with Workers(cluster=running.address).executor(tmp_path / "shared") as executor:
        killing = threading.Timer(0.7, victim.kill)
        killing.start()
        assert mined(tmp_path / "shared", sites, executor) == alone
    killing.join()
    victim.wait()


def slow(number: int) -> tuple[int, int]:
    time.sleep(0.2)
    return number, os.getpid()


def failing(number: int) -> int:
    raise LexiconError(f"no word {number}")


def test_a_killed_worker_costs_its_part_only(running: Cluster, tmp_path: Path) -> None:
    victim = running.workers[0]
    with Workers(cluster=running.address).executor(tmp_path) as executor:
        done = []
        for task, (result, pid) in in_order(executor, slow, range(20)):
            done.append((task, result))
            assert pid != os.getpid()
            if task == 3:
                victim.send_signal(signal.SIGKILL)
    assert done == [(k, k) for k in range(20)]
    running.workers.append(worker(running.address))
    wait_for(running.address, 2)


def test_an_error_of_a_task_comes_out_as_it_is(running: Cluster, tmp_path: Path) -> None:
    with Workers(cluster=running.address).executor(tmp_path) as executor, pytest.raises(LexiconError, match="no word"):
        list(in_order(executor, failing, range(3)))


def test_a_lost_task_is_a_broken_executor(running: Cluster, tmp_path: Path) -> None:
    """So that `in_order` does the task itself."""
    with Workers(cluster=running.address).executor(tmp_path) as executor:
        assert executor is not None
        future = executor.submit(lost, 1)
        assert isinstance(future.exception(60), BrokenExecutor)


def lost(number: int) -> int:
    from distributed.comm import CommClosedError

    raise CommClosedError(f"task {number}")


def test_a_folder_that_workers_do_not_see_is_refused(running: Cluster, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(cluster, "_look", unseeing)
    with (
        pytest.raises(InputError, match=f"does not see {tmp_path}; put the run"),
        Workers(cluster=running.address).executor(tmp_path),
    ):
        pass
    assert not list(tmp_path.iterdir())


def unseeing(file: str) -> cluster._Seen:
    return cluster._Seen("1", "3", "")


def test_no_scheduler_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    with (
        pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9: no Dask scheduler answers there"),
        Workers(cluster="tcp://127.0.0.1:9").executor(tmp_path),
    ):
        pass


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:8786", "foo://x:1", "tcp://x"])
def test_what_is_no_address_of_a_scheduler_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="expected the address of a Dask scheduler"):
        with_cluster(address, tmp_path)


def test_a_server_that_is_no_scheduler_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    with serving(lambda _: None) as site, pytest.raises(InputError, match="no Dask scheduler answers there"):
        with_cluster(site.url.rstrip("/").replace("http", "tcp"), tmp_path)


def with_cluster(address: str, folder: Path) -> None:
    with Workers(cluster=address).executor(folder):
        pass


def test_workers_and_cluster_together_are_refused() -> None:
    with pytest.raises(ConfigError, match="--workers and --cluster: expected one of them"):
        Workers(2, "tcp://127.0.0.1:8786")


def test_a_client_that_was_closed_meanwhile_has_no_workers_left() -> None:
    class Gone:
        def nthreads(self) -> dict[str, int]:
            return {}

        def get_executor(self, *, pure: bool) -> Gone:
            return self

        def submit(self, *_: object) -> None:
            raise type("ClosedClientError", (Exception,), {"__module__": "distributed.client"})

    with pytest.raises(BrokenExecutor):
        cluster._ClusterExecutor(Gone()).submit(int)
