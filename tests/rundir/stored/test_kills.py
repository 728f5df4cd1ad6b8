"""A run on an object-store server: SIGKILL at any moment of any stage, then the same command: that of a local run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem

from tests.calling import twinlink
from tests.finished import served
from tests.killing import Killer, killer
from tests.made_sites import BASE, write_toy
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.stored import run_path
from twinlink.rundir.stored.manifest import POINTER
from twinlink.rundir.stored.store import ObjectStore

pytestmark = pytest.mark.xdist_group("killed runs in a store")

LANGS = ("--langs", "en,zh", "--align", "--set", "match.min_score=0.0", "--workers", "1")
STAGES = ("ingest", "match", "align")
KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server with a bucket; give its host and port."""
    from moto.server import ThreadedMotoServer  # takes half a second, in each process that collects tests

    moto = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    place = {"endpoint_override": f"{host}:{port}", "scheme": "http", "region": "us-east-1"}
    S3FileSystem(access_key="key", secret_key="secret", allow_bucket_creation=True, **place).create_dir("bucket")
    yield f"{host}:{port}"
    moto.stop()


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("site") / "toy")


@pytest.fixture(scope="module")
def local(toy: Path) -> dict[str, bytes]:
    """Give the files of a run that lies on this machine."""
    assert twinlink("mine", toy, "--base-url", BASE, "-o", toy.parent / "run", *LANGS).returncode == 0
    return content(toy.parent / "run")


@pytest.fixture(scope="module")
def kills() -> Iterator[Killer]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        with killer() as started:
            yield started


def content(run: Path) -> dict[str, bytes]:
    """Return all files of the stages, and what they put at the top of a run; but for the time in the TMX file."""
    paths = [path for stage in STAGES for path in (run / stage).rglob("*") if path.is_file()]
    return {str(path.relative_to(run)): timeless(path) for path in [*paths, run / "pairs.tsv", run / "config.toml"]}


def timeless(path: Path) -> bytes:
    return re.sub(rb'creationdate="[^"]*"', b"", path.read_bytes()) if path.suffix == ".tmx" else path.read_bytes()


def stored(address: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what a machine that has never seen the run downloads."""
    monkeypatch.setenv("TWINLINK_CACHE", str(cache))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return run_path(address)


def check_whole(run: Path, local: dict[str, bytes]) -> None:
    """Check that each stage of a run is there as it is locally, or not at all."""
    for stage in STAGES:
        found = {str(path.relative_to(run)): timeless(path) for path in (run / stage).rglob("*") if path.is_file()}
        expected = {name: text for name, text in local.items() if name.startswith(f"{stage}/")}
        assert found in ({}, expected), stage
        assert bool(found) == (RunDirectory(run).read_signature(stage) is not None)
    assert (run / "pairs.tsv").is_file() == (run / "match").is_dir()


def release(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the lease of the killed process, which otherwise takes its time."""
    store = ObjectStore(address)
    for lock in store.listed("locks"):
        store.remove(f"locks/{lock.name}")


@pytest.mark.parametrize(("where", "points"), [("change", 5), ("rename", 2)])
def test_a_kill_in_any_stage_leaves_a_whole_run_and_the_same_command_ends_it(
    server: str,
    toy: Path,
    local: dict[str, bytes],
    kills: Killer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    points: int,
) -> None:
    def address(number: int) -> str:
        return f"s3://bucket/{where}-{number}?endpoint_override={server}&scheme=http"

    def mine(number: int, cache: str, **when: int) -> dict[str, int]:
        words = ["mine", toy, "--base-url", BASE, "-o", address(number), *LANGS]
        return kills.run(words, environment={"TWINLINK_CACHE": str(tmp_path / f"{number}-{cache}")}, **when)

    whole = mine(0, "own")
    assert whole["code"] == 0
    assert content(stored(address(0), tmp_path / "0-reader", monkeypatch)) == local
    last = whole[f"{where}s"]
    assert last > 15
    states = set()
    for number in sorted({1, *range(3, last, max(1, last // points)), last}):
        assert mine(number, "own", **{where: number})["code"] == -9
        left = stored(address(number), tmp_path / f"{number}-reader", monkeypatch)
        check_whole(left, local)
        states.add(sum((left / stage).is_dir() for stage in STAGES))
        if number % 2:  # another machine goes on
            release(address(number), monkeypatch)
        assert mine(number, "another" if number % 2 else "own")["code"] == 0
        shutil.rmtree(tmp_path / f"{number}-reader")
        assert content(stored(address(number), tmp_path / f"{number}-reader", monkeypatch)) == local
        check_clean(ObjectStore(address(number)), tmp_path / f"{number}-reader")
    assert states == {0, 1, 2, 3} or where == "rename", "it was killed before, between and after all stages"


def test_a_crawl_that_could_not_be_stored_goes_on_here_and_is_then_everywhere(
    server: str, kills: Killer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"s3://bucket/crawl?endpoint_override={server}&scheme=http"

    def mine(cache: str, **when: int) -> int:
        words = ["mine", url, "-o", address, *LANGS]
        code: int = kills.run(words, environment={"TWINLINK_CACHE": str(tmp_path / cache)}, **when)["code"]
        return code

    with served() as url:
        assert twinlink("mine", url, "-o", tmp_path / "run", *LANGS).returncode == 0
        assert mine("own", change=4) == -9
        assert ObjectStore(address).read(POINTER) is None, "the crawl had ended, and nothing of it was there"
        assert mine("own") == 0
        assert mine("another") == 0
    run = stored(address, tmp_path / "another", monkeypatch)
    assert pairs_of(run) == pairs_of(tmp_path / "run") != []
    assert [file.name for file in RunDirectory(run).archives()] != []
    names = {path.name for path in (run / "warc").iterdir()} | {"ledger.sqlite"}
    assert {path.name for path in stored(address, tmp_path / "reader", monkeypatch).rglob("*")} > names


def pairs_of(run: Path) -> list[str]:
    """Return the pairs without the signature, which depends on when the pages were fetched."""
    return [line.rpartition("\t")[0] for line in (run / "pairs.tsv").read_text().splitlines()]


def check_clean(store: ObjectStore, cache: Path) -> None:
    """Check that the store has just the objects that the run needs."""
    assert store.listed("locks") == []
    (run,) = cache.iterdir()
    files = [path for path in run.rglob("*") if path.is_file() and not path.relative_to(run).parts[0].startswith(".")]
    assert len(store.names("commits")) == len(files)
