"""Copies of a stored run: what is committed is whole, only what changed travels, one process works at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinlink.errors import ConfigError, NothingFoundError, RunLockedError, StoreError
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.rundir.stored import run_path
from twinlink.rundir.stored.lease import Lease
from twinlink.rundir.stored.local_copy import LocalCopy
from twinlink.rundir.stored.manifest import LABELS, POINTER, Manifest, StoredFile, scan
from twinlink.rundir.stored.store import ObjectStore

CHANGES = ("write", "upload", "remove", "remove_folder")


class Killed(BaseException):
    """Stands for a kill."""


class Machines:
    """Machines that work in one run, each with a cache of its own; the store is a folder."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch
        self.address = f"file://{folder}/store/run"
        self.store = ObjectStore(self.address)

    def on(self, machine: str) -> RunDirectory:
        """Return the run as a machine sees it when a command begins."""
        self.patch.setenv("TWINLINK_CACHE", str(self.folder / machine))
        return RunDirectory(run_path(self.address))

    def fresh(self) -> RunDirectory:
        """Return the run as a machine sees it that has never seen it."""
        shutil.rmtree(self.folder / "fresh", ignore_errors=True)
        return self.on("fresh")

    def match(self, machine: str, text: str) -> RunDirectory:
        """Do a stage and commit it."""
        run = self.on(machine)
        with run.lock():
            write(run, text)
        return run


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    return Machines(tmp_path, monkeypatch)


def write(run: RunDirectory, text: str) -> None:
    with run.writing(Signature.of("match", {"text": text}, [])) as folder:
        (folder / "pairs").mkdir()
        for site in "abc":
            (folder / "pairs" / f"{site}.parquet").write_text(text)
        run.top(folder, "pairs.tsv").write_text(text)


def text_of(run: RunDirectory) -> str:
    """Return what the run has; all of it is of one stage."""
    files = [file for file in run.path.rglob("*") if file.suffix in {".parquet", ".tsv"}]
    texts = {file.read_text() for file in files}
    assert (len(files), len(texts)) in {(4, 1), (0, 0)}
    assert (run.read_signature("match") is not None) == bool(files)
    return "".join(texts)


def count(patch: pytest.MonkeyPatch, names: tuple[str, ...], kill_at: int = 0) -> list[str]:
    """Record the calls of a store's methods by the objects' names; just before one of them, the process is killed."""
    seen: list[str] = []

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: ObjectStore, *args: Any) -> Any:
            seen.append(next(arg for arg in args if isinstance(arg, str)))
            if kill_at and len(seen) >= kill_at:
                raise Killed
            return real(self, *args)

        return call

    for name in names:
        patch.setattr(ObjectStore, name, counted(getattr(ObjectStore, name)))
    return seen


@pytest.mark.parametrize("before", ["", "before"])
def test_a_commit_that_is_killed_anywhere_is_there_as_a_whole_or_not_at_all(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    if before:
        machines.match("a", before)
    found = []
    for number in range(1, 100):
        with monkeypatch.context() as patch:
            count(patch, CHANGES, number)
            run = machines.on("a")
            try:
                with run.lock():
                    write(run, "after")
                break
            except Killed:
                pass
        found.append(text_of(machines.fresh()))
        for folder in ("store", "a"):
            shutil.rmtree(machines.folder / folder, ignore_errors=True)
        if before:
            machines.match("a", before)
    assert len(found) >= 8
    assert set(found) == {before, "after"}
    assert found == sorted(found, key=lambda text: text == "after"), "there is one moment of the commit"


@pytest.mark.parametrize("number", range(1, 10))
def test_the_next_command_on_the_machine_goes_on_and_removes_what_a_killed_commit_left(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    machines.match("a", "before")
    with monkeypatch.context() as patch:
        count(patch, CHANGES, number)
        with pytest.raises(Killed):
            machines.match("a", "after")
    run = machines.on("a")
    assert text_of(run) == ("after" if number > 2 else "before"), "1, 2: it was killed before it had the lease"
    with run.lock():
        pass
    assert text_of(machines.fresh()) == text_of(run)
    assert len(machines.store.names("commits")) == len(scan(run.path).files) == 5
    assert machines.store.listed("locks") == []


def test_only_what_changed_travels(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    run = machines.match("a", "x")
    machines.on("b")
    (run.path / "match" / "pairs" / "b.parquet").write_text("changed")
    os.utime(run.path / "match" / "pairs" / "a.parquet")  # the same content, at another time
    with monkeypatch.context() as patch:
        uploads = count(patch, ("upload",))
        downloads = count(patch, ("download",))
        with run.lock():
            pass
        assert [name.partition("/match/")[2] for name in uploads] == ["pairs/b.parquet"]
        other = machines.on("b")
        assert [name.partition("/match/")[2] for name in downloads] == ["pairs/b.parquet"]
        commit = LocalCopy(run.path).commit
        os.utime(other.path / "pairs.tsv")
        with other.lock():
            pass
        assert LocalCopy(machines.fresh().path).commit == commit, "nothing changed, nothing is committed"
    assert scan_of(other.path) == scan_of(run.path)


def scan_of(run: Path) -> tuple[object, ...]:
    found = scan(run)
    files = {name: ((run / name).read_bytes(), status.st_mtime_ns) for name, status in found.files.items()}
    return files, found.links, found.folders


def test_another_machine_goes_on_where_one_has_ended(machines: Machines) -> None:
    machines.match("a", "one")
    machines.match("b", "two")
    assert text_of(machines.on("a")) == "two"
    machines.match("a", "three")
    assert text_of(machines.on("b")) == text_of(machines.fresh()) == "three"


def test_what_only_a_copy_has_is_dropped_when_another_machine_was_faster_but_labels_are_kept(
    machines: Machines, caplog: pytest.LogCaptureFixture
) -> None:
    run = machines.match("a", "one")
    labels = run.path / LABELS
    labels.parent.mkdir()
    labels.write_text("1\n")
    with run.lock():
        pass
    other = machines.match("b", "two")
    with (other.path / LABELS).open("a") as file:
        file.write("2\n")
    with other.lock():
        pass
    with labels.open("a") as file:
        file.write("3\n")
    (run.path / "report.html").write_text("made of one")
    assert text_of(machines.on("a")) == "two"
    assert labels.read_text() == "1\n2\n3\n"
    assert not (run.path / "report.html").exists()
    assert "another machine has changed the run; what only" in caplog.text
    with run.lock():
        pass
    assert (machines.fresh().path / LABELS).read_text() == "1\n2\n3\n"
    with (run.path / LABELS).open("w") as file:
        file.write("2\n")
    with run.lock():
        pass
    machines.on("b")
    assert (other.path / LABELS).read_text() == "2\n", "a copy without labels of its own takes the store's"


@pytest.mark.parametrize("number", range(1, 6))
def test_a_download_that_is_killed_is_done_again(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    machines.match("a", "one")
    machines.on("b")
    machines.match("a", "two")
    with monkeypatch.context() as patch:
        count(patch, ("download",), number)
        with pytest.raises(Killed):
            machines.on("b")
    (path,) = (machines.folder / "b").iterdir()
    run = RunDirectory(path)
    with pytest.raises(StoreError, match="repeat the command"), run.lock():
        pass
    assert text_of(machines.on("b")) == "two"
    assert text_of(machines.match("b", "three")) == "three"


def test_a_download_while_another_machine_commits_takes_the_later_commit(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.match("a", "one")
    real, left = ObjectStore.download, [1]

    def download(self: ObjectStore, name: str, file: Path) -> tuple[int, str]:
        if left and left.pop():
            machines.match("a", "two")
        return real(self, name, file)

    monkeypatch.setattr(ObjectStore, "download", download)
    machines.patch.setenv("TWINLINK_CACHE", str(machines.folder / "b"))
    assert text_of(RunDirectory(run_path(machines.address))) == "two"


def test_two_machines_do_not_work_at_the_same_time(machines: Machines) -> None:
    run, other = machines.match("a", "one"), machines.on("b")
    with run.lock():
        with pytest.raises(RunLockedError, match=r"another twinlink process works in this run \(process \d+ on"):
            other.lock().__enter__()
        assert text_of(machines.on("b")) == "one", "it can be read"
        write(run, "two")
    machines.match("b", "three")
    assert machines.store.listed("locks") == []


def test_one_of_two_that_begin_at_the_same_moment_gives_up(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Lease(machines.store, "a"), Lease(machines.store, "b")
    real = ObjectStore.listed
    told = []

    def listed(self: ObjectStore, folder: str) -> Any:
        if not told:  # between the write of the first one and its listing
            told.append(True)
            with pytest.raises(RunLockedError):
                second.held().__enter__()
        return real(self, folder)

    monkeypatch.setattr(ObjectStore, "listed", listed)
    with first.held():
        first.check()


def test_a_command_that_asks_in_vain_does_not_disturb_the_one_that_works(machines: Machines) -> None:
    """Not even if it is killed before it has removed its lock object."""
    run, killed = machines.on("a"), Lease(machines.store, "b")
    with run.lock():
        killed._write(holds=False)
        write(run, "one")
    assert text_of(machines.fresh()) == "one"
    killed._write()
    with pytest.raises(RunLockedError, match="another twinlink process works in this run"):
        machines.match("a", "two")


def test_the_lease_of_a_dead_process_ends(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """By time; at once on its own machine, where the lock of the copy is free."""
    run, other = machines.match("a", "one"), machines.on("b")
    Lease(machines.store, LocalCopy(run.path).name)._write()
    with pytest.raises(RunLockedError, match=r"its lock ends (300|299) s from now"):
        other.lock().__enter__()
    machines.match("a", "two")
    assert machines.store.listed("locks") == []
    dead = Lease(machines.store, LocalCopy(run.path).name)
    dead._write()
    os.utime(machines.folder / "store" / "run" / "locks" / dead.name, (0, 0))
    machines.match("b", "three")
    assert machines.store.listed("locks") == []


def test_a_process_that_lost_its_lease_commits_nothing(machines: Machines) -> None:
    run = machines.match("a", "one")

    def sleep_and_work() -> None:
        with run.lock():
            (lock,) = machines.store.listed("locks")
            os.utime(machines.folder / "store" / "run" / "locks" / lock.name, (0, 0))
            machines.match("b", "two")
            write(run, "three")

    with pytest.raises(StoreError, match="another process has taken over"):
        sleep_and_work()
    assert text_of(machines.fresh()) == "two"


def test_a_lease_is_renewed(machines: Machines) -> None:
    import time

    lease = Lease(machines.store, "a", seconds=0.5)
    with lease.held():
        (before,) = machines.store.listed("locks")
        time.sleep(0.6)
        (after,) = machines.store.listed("locks")
        assert after.changed > before.changed
    assert machines.store.listed("locks") == []


def test_what_a_job_leaves_that_fails_is_committed_and_what_ctrl_c_leaves_is_not(machines: Machines) -> None:
    run = machines.match("a", "one")

    def fail(error: type[BaseException]) -> None:
        with run.lock():
            write(run, error.__name__)
            (run.path / f"{error.__name__}.txt").touch()
            raise error

    for error in (NothingFoundError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
        assert text_of(machines.fresh()) == error.__name__, "the stage had ended"
    assert [file.stem for file in machines.fresh().path.glob("*.txt")] == ["NothingFoundError"]
    with machines.on("a").lock():
        pass
    assert (machines.fresh().path / "KeyboardInterrupt.txt").exists()


def test_what_is_no_part_of_the_run_stays_here(machines: Machines) -> None:
    run = machines.match("a", "one")
    for name in (".x", "replacement/match/x", "review/pause", "review/open-1.html", "a.tmp", "l.sqlite-shm", "b.lock"):
        (run.path / name).parent.mkdir(exist_ok=True, parents=True)
        (run.path / name).touch()
    (run.path / "ledger.sqlite-wal").touch()
    with run.lock():
        pass
    top = {"match", "pairs.tsv", "ledger.sqlite-wal", ".lock", ".store"}
    assert {path.name for path in machines.fresh().path.iterdir()} == top


NAMES = st.lists(st.sampled_from(["a", "b", "ü c", "%2F"]), min_size=1, max_size=3).map("/".join)
EDITS = st.lists(st.tuples(NAMES, st.sampled_from(["x", "yy", "", None, "link", "folder"])), max_size=8)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("ab"), EDITS), min_size=1, max_size=4))
def test_each_machine_gets_what_the_last_one_had(
    tmp_path_factory: pytest.TempPathFactory, work: list[tuple[str, list[tuple[str, str | None]]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machines = Machines(tmp_path_factory.mktemp("machines"), patch)
        for machine, edits in work:
            run = machines.on(machine)
            with run.lock():
                for name, content in edits:
                    edit(run.path / name, content)
                (run.path / "last").write_text("x")
            expected = scan_of(run.path)
            assert scan_of(machines.fresh().path) == expected
            for other in "ab":
                assert scan_of(machines.on(other).path) == expected


def edit(path: Path, content: str | None) -> None:
    """Put a file, a link or an empty folder in a place, or remove what is there."""
    if any(parent.is_file() or parent.is_symlink() for parent in path.parents):
        return
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    if content is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if content == "folder":
        path.mkdir()
    elif content == "link":
        path.symlink_to("target")
    else:
        path.write_text(content)


@pytest.mark.parametrize(
    ("files", "links"),
    [
        (["../x"], {}),
        (["a/../../x"], {}),
        (["/etc/x"], {}),
        (["a\0b"], {}),
        ([""], {}),
        ([], {"a": "../x"}),
        ([], {"matches/a/ingest": "../../../x"}),
        ([], {"a": "/etc"}),
    ],
)
def test_no_commit_reaches_out_of_the_run(machines: Machines, files: list[str], links: dict[str, str]) -> None:
    entry = StoredFile(1, 1, "", "1")
    machines.store.write(POINTER, Manifest("1", 1, dict.fromkeys(files, entry), links).encoded())
    with pytest.raises(StoreError, match="not inside of the run"):
        machines.on("a")


def test_damage_in_the_store_is_found(machines: Machines) -> None:
    run = machines.match("a", "one")
    (name,) = (name for name in machines.store.names("commits") if name.endswith("pairs.tsv"))
    machines.store.write(name, b"two")
    with pytest.raises(StoreError, match=r"damaged: not what run\.json says it is"):
        machines.fresh()
    machines.store.remove(name)
    with pytest.raises(StoreError, match="names objects that are not there"):
        machines.fresh()
    for text in (b"", b"{}", b"[" * 10_000, b"\xff"):
        machines.store.write(POINTER, text)
        with pytest.raises(StoreError, match="damaged"):
            machines.fresh()
    machines.store.write(POINTER, msgspec.json.encode(Manifest("1", 1, {}, format=2)))
    with pytest.raises(StoreError, match="another version of twinlink"):
        machines.fresh()
    machines.store.remove(POINTER)
    with pytest.raises(StoreError, match=f"has a copy of it; remove .*{run.path.name}|{run.path.name} has a copy"):
        machines.on("a")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://bucket/run", "runs cannot lie on https://"),
        ("gs://bucket/run", "runs cannot lie on gs://; expected a folder, or an address such as s3://BUCKET/RUN"),
        ("s3://bucket", "expected a bucket and a name in it"),
        ("s3://bucket/", "expected a bucket and a name in it"),
        ("s3://bucket/a/../b", "expected a bucket and a name in it"),
        ("s3://bucket/a/%2e%2e/b", "expected a bucket and a name in it"),
        ("s3://bucket//run", "expected a bucket and a name in it"),
        ("file:///folder/./run", "expected a bucket and a name in it"),
        ("s3://key:secret@bucket/run", "holds a key"),
        ("s3://bucket/run?region=eu-west-1&foo=1", "Unexpected query parameter"),
    ],
)
def test_an_address_that_no_run_can_have_is_refused(address: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        run_path(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["a b", "日本 #1", "日" * 80, "100%", "a%20b", "what?", "a+b~(c)"])
def test_names_of_runs_have_any_letters(machines: Machines, name: str) -> None:
    """Those that the address would end at are written as in any address."""
    machines.address += "/" + name.replace("?", "%3F")
    machines.match("a", "one")
    assert text_of(machines.fresh()) == "one"
    assert (machines.folder / "store" / "run" / unquote(name) / POINTER).is_file()


def test_one_run_has_one_copy_however_it_is_written(machines: Machines) -> None:
    copy = machines.match("a", "one").path
    folder = machines.address.removeprefix("file://")
    for address in (f"{folder}/", f"{folder}//", folder.replace("store", "%73tore")):
        assert run_path(f"file://{address}") == run_path(f"FILE://{address}") == copy
    assert run_path(f"file://{folder}-2") != copy


@pytest.mark.parametrize("path", ["s3:/bucket/run", "file:/folder/run", Path("S3://bucket/run")])
def test_an_address_that_has_become_a_path_is_refused(path: str | Path) -> None:
    with pytest.raises(ConfigError, match=r"their addresses are texts such as [sS3file]+://(bucket|folder)/run"):
        run_path(path)
    assert run_path("s3/run") == Path("s3/run")


def test_a_path_stays_a_path(tmp_path: Path) -> None:
    assert run_path("run") == Path("run")
    assert run_path(tmp_path) == tmp_path
    with RunDirectory.held(tmp_path / "run") as run:
        write(run, "x")
    assert not (run.path / ".store").exists()


def test_a_run_that_is_not_there(machines: Machines) -> None:
    with pytest.raises(StoreError, match="there is no run; `twinlink mine … -o file:///"):
        run_path(machines.address, exists=True)
    run = machines.on("a")
    with pytest.raises(NothingFoundError), run.lock():
        raise NothingFoundError
    assert machines.store.read(POINTER) is None, "a job that has left nothing commits nothing"


def test_a_file_that_the_store_does_not_take_is_no_file_that_is_gone(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mounted folder that is taken away meanwhile: the commit fails, and is not one without this file."""
    run = machines.match("a", "one")
    real = ObjectStore.upload

    def upload(self: ObjectStore, file: Path, name: str) -> tuple[int, str]:
        with monkeypatch.context() as patch:
            if file.name == "pairs.tsv":
                patch.setattr(self, "_files", Mock(wraps=self._files, move=Mock(side_effect=FileNotFoundError(2, "x"))))
            return real(self, file, name)

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "upload", upload)
        with pytest.raises(StoreError, match="the store cannot be used"), run.lock():
            write(run, "two")
    assert text_of(machines.fresh()) == "one"
    machines.match("a", "three")
    assert text_of(machines.fresh()) == "three"


def test_an_answer_that_is_cut_is_no_damage(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cut(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(7)

    machines.store.write("x", b"more than seven")
    files = Mock(wraps=machines.store._files, open_input_stream=lambda _: Cut(b"more than seven"))
    monkeypatch.setattr(machines.store, "_files", files)
    assert machines.store.read("x") == b"more than seven"


def test_a_store_that_refuses_says_so(machines: Machines) -> None:
    (machines.folder / "store").write_text("a file where the bucket should be")
    with pytest.raises(StoreError, match="the store cannot be used"):
        machines.on("a")
