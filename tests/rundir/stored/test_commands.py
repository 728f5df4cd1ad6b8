"""Commands and Python on a stored run: the address is taken wherever a run is."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, write_toy
from twinlink.cli.runs import run_folder
from twinlink.errors import StoreError
from twinlink.labels.book import LabelBook
from twinlink.rundir.stored import run_path, with_addresses
from twinlink.rundir.stored.manifest import LABELS
from twinlink.rundir.stored.store import ObjectStore


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a site, and its run in a store."""
    folder = tmp_path_factory.mktemp("place")
    toy = write_toy(folder / "toy")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TWINLINK_CACHE", str(folder / "cache"))
        words = ("--base-url", BASE, "--langs", "en,zh", "--set", "match.min_score=0.0", "--align")
        mined = twinlink("mine", toy, *words, "-o", f"file://{folder}/store/run")
    assert mined.returncode == 0, mined.stderr
    assert f"stored in file://{folder}/store/run" in mined.stderr
    assert f"next: twinlink review file://{folder}/store/run\n" in mined.stderr
    return folder


@pytest.fixture
def address(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TWINLINK_CACHE", str(place / "cache"))
    return f"file://{place}/store/run"


def fresh(address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what another machine gets."""
    with monkeypatch.context() as other:
        other.setenv("TWINLINK_CACHE", str(folder / "fresh"))
        return run_path(address)


@pytest.mark.parametrize(
    ("verb", "words", "file"),
    [
        ("patterns", (), "patterns/signature.json"),
        ("rank", (), "rank/signature.json"),
        ("match", ("-o", "urls", "--method", "urls"), "matches/urls/pairs.tsv"),
        ("align", ("--format", "tsv"), "align/en-zh-Hant.tsv"),
        ("export", ("--format", "jsonl"), "export/pairs.en-zh-Hant.jsonl"),
        ("report", (), "report.html"),
        ("explain", (f"{BASE}/en/d.html",), "pairs.tsv"),
    ],
)
def test_verbs_take_an_address_and_store_what_they_write(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, words: tuple[str, ...], file: str
) -> None:
    run = run_path(address)
    if verb == "report":
        (run / file).unlink()
    done = twinlink(verb, address, *words)
    assert done.returncode == 0, done.stderr
    other = fresh(address, tmp_path, monkeypatch)
    assert (other / file).read_bytes() == (run / file).read_bytes()


@pytest.mark.parametrize("verb", ["export", "report"])
def test_files_are_not_written_to_an_address(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = twinlink(verb, address, "-o", "s3://bucket/out.html")
    assert done.returncode == 2
    assert "expected a place on this machine" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_report_suggests_a_review_by_the_address(address: str, tmp_path: Path) -> None:
    assert f"next: twinlink review {address}\n" in twinlink("report", address, "-o", tmp_path / "r.html").stderr


def test_messages_name_the_address_instead_of_the_copy(address: str, place: Path) -> None:
    told = twinlink("match", address, "--langs", "en,fi", "--json")
    assert told.returncode == 5
    text = twinlink("match", address, "--langs", "en,fi").stderr
    assert f"twinlink mine FOLDER --add -o {address}\n" in text
    assert f"{place}/cache" not in text.partition("note: ")[2]
    nothing = twinlink("mine", "-o", address, "--json")
    assert f"{address} was made from" in nothing.object["error"]


def test_only_the_folder_of_a_copy_stands_for_an_address(address: str) -> None:
    run = run_path(address)
    assert with_addresses(f"{run}: no match; run `match {run}`") == f"{address}: no match; run `match {address}`"
    assert with_addresses(f"match '{run}'") == f"match {address}"
    for other in (f"{run}/pairs.tsv", f"{run}-2", f"{run}.old"):
        assert with_addresses(other) == other


def test_a_quiet_result_names_the_address(address: str) -> None:
    assert f"run → {address}\n" in twinlink("report", address, "-q").stdout
    assert address not in twinlink("report", address).stdout


def test_two_stored_runs_are_compared(address: str) -> None:
    done = twinlink("compare", address, address, "--json")
    assert done.returncode == 0, done.stderr
    assert done.object["both"]["n"] == 5


LINE = '{"step":"1","who":"ann","when":"2026-01-01T00:00:00Z"}\n'


def test_labels_of_a_review_are_stored_when_it_ends(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(run: Path, **options: object) -> None:
        LabelBook(run).file.parent.mkdir(exist_ok=True)
        LabelBook(run).file.write_text(LINE)

    with patch("twinlink.review.server.review", serve):
        assert twinlink("review", address, "--no-open").returncode == 0
    assert (fresh(address, tmp_path, monkeypatch) / LABELS).read_text() == LINE


def test_what_cannot_be_stored_now_is_stored_by_the_next_command(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twinlink.rundir.directory import RunDirectory

    other = RunDirectory(fresh(address, tmp_path, monkeypatch))
    with other.lock():
        done = twinlink("report", address)
        assert done.returncode == 0
        assert "not stored yet" in done.stderr
    assert twinlink("match", address).returncode == 0
    text = (run_path(address) / "report.html").read_bytes()
    assert (fresh(address, tmp_path, monkeypatch) / "report.html").read_bytes() == text


def test_python_takes_an_address(address: str, place: Path) -> None:
    run = tl.mine(str(place / "toy"), out=address, base_url=BASE, progress=False)
    assert len(run.pairs) == len(tl.open(address).pairs) == 5


def test_a_run_that_is_not_there_is_an_error_of_the_run(address: str) -> None:
    done = twinlink("report", f"{address}-2", "--json")
    assert done.returncode == 3
    assert done.object["kind"] == "StoreError"
    assert "there is no run" in done.object["error"]
    assert twinlink("mine", "x", "-o", "https://example.org/run").returncode == 2


def test_completion_asks_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TWINLINK_COMPLETE", "complete_bash")
    assert run_folder("s3://bucket/run") == Path("s3:/bucket/run")


def test_errors_of_a_server_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINLINK_CACHE", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"s3://nowhere/run?endpoint_override={host}:{port}&scheme=http"
    done = twinlink("mine", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", address)
    assert done.returncode == 3
    assert "s3://nowhere/run: the store cannot be used" in done.stderr
    assert "make the bucket, or correct its name" in done.stderr
    begun = twinlink("report", address).stderr
    assert begun.startswith(f"twinlink: error: '{address}': not a run directory")
    assert f"`twinlink mine … -o '{address}'` makes one" in begun
    other = address.replace("/run?", "/other?")
    assert f"`twinlink mine … -o '{other}'` makes one" in twinlink("report", other).stderr
    server.stop()
    with pytest.raises(StoreError, match="the server did not answer: check the network"):
        run_path(address)


def test_a_server_without_checksums_at_the_end_of_an_upload_says_which_variable_helps(tmp_path: Path) -> None:
    store = ObjectStore(f"file://{tmp_path}/run")
    problem = "AWS Error UNKNOWN (HTTP status 411) during UploadPart operation: MissingContentLength"
    with pytest.raises(StoreError, match="set AWS_REQUEST_CHECKSUM_CALCULATION=when_required"), store._speaking():
        raise OSError(problem)
