"""`twinlink report` and `twinlink review`: where they say they are, what opens a browser, and how they end."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock, patch
from urllib.parse import unquote, urlsplit

import pytest

from tests.calling import mine_toy, twinlink
from tests.made_sites import BASE, write_toy
from twinlink.config import Config
from twinlink.errors import InputError
from twinlink.jobs.mine import mine_stages
from twinlink.rundir.directory import RunDirectory

ADDRESS = "http://127.0.0.1:8765/?key=x"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looking")
    done = mine_toy(folder)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser was opened with."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    return addresses


def serve_once(folder: Path, port: int, who: str, on_ready: Callable[[str], None]) -> None:
    """Stand in for the server: it is up, and somebody presses Ctrl-C."""
    on_ready(ADDRESS)
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.daemon and "_show" in thread.name:
            thread.join()
    raise KeyboardInterrupt


def test_report_says_where_it_is_and_opens_it_when_asked(run: Path, tmp_path: Path, opened: list[str]) -> None:
    done = twinlink("report", run)
    assert done.stdout.endswith(f" kB → {run}/report.html\n")
    assert opened == []
    done = twinlink("report", run, "-o", tmp_path / "my report.html", "--gold", run / "pairs.tsv", "--open")
    assert done.returncode == 0, done.stderr
    assert opened == [(tmp_path / "my report.html").as_uri()]
    refused = twinlink("report", run, "-o", tmp_path / "no" / "x.html")
    assert (refused.returncode, "cannot be written" in refused.stderr) == (2, True)


def test_a_report_that_could_not_be_written_is_named(tmp_path: Path) -> None:
    """Where an earlier report stays, too."""
    for _ in range(2):
        with patch("twinlink.jobs.mine.report_stage", side_effect=InputError("report.html: cannot be written")):
            done = mine_toy(tmp_path, "-q", "--json")
        assert done.returncode == 0
        assert done.object["notes"] == ["the report was not written: report.html: cannot be written"]
        assert mine_toy(tmp_path, "-q", "--json").object["notes"] == []


def test_a_report_without_pairs_suggests_what_may_give_some(tmp_path: Path) -> None:
    toy, config = str(write_toy(tmp_path / "toy")), Config().override({"ingest.base_url": BASE})

    def suggested(name: str, given: dict[str, object]) -> str:
        run = RunDirectory.create(tmp_path / name)
        mine_stages([toy], run, config.override(given))
        return twinlink("report", run.path).stderr.replace(str(run.path), "RUN")

    assert suggested("with", {"langs": ["en", "zh"], "match.min_score": 0.0}) == "next: twinlink review RUN\n"
    assert suggested("other", {"langs": ["fr", "de"]}) == "next: twinlink match RUN --langs en,zh-Hant\n"
    none = {"langs": ["en", "zh"], "match.method": "liu2014", "match.min_score": 1.0}
    assert suggested("none", none).startswith(f"next: twinlink explain RUN {BASE}/")
    shutil.rmtree(tmp_path / "with" / "match")
    done = twinlink("report", tmp_path / "with")
    assert done.stderr == f"next: twinlink match {tmp_path}/with\n"


def test_neither_report_nor_labels_take_the_place_of_what_is_needed(run: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_bytes((run / "pairs.tsv").read_bytes())
    labels = run / "review" / "labels.jsonl"
    labels.parent.mkdir(exist_ok=True)
    labels.touch()
    for command, target in (
        (("report", run, "-o"), run / "config.toml"),
        (("report", run, "-o"), labels),
        (("report", run, "--gold", gold, "-o"), gold),
        (("review", run, "--export"), run / "pairs.tsv"),
        (("review", run, "--export"), labels),
        (("verify", gold, "--run", run, "-o"), run / "pairs.tsv"),
        (("rank", run, "--export"), next((run / "match" / "pairs").iterdir())),
        (("patterns", run, "--export"), next((run / "match" / "pairs").iterdir())),
    ):
        before = target.read_bytes()
        done = twinlink(*command, target)
        assert (done.returncode, "choose another file" in done.stderr) == (2, True), done.stderr
        assert target.read_bytes() == before


@pytest.mark.parametrize(("display", "options", "expected"), [("", [], 0), (":0", ["--no-open"], 0), (":0", [], 1)])
def test_review_opens_a_browser_where_there_is_a_screen(
    run: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch, display: str, options: list[str], expected: int
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    with patch("twinlink.review.server.review", serve_once):
        done = twinlink("review", run, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"review of {run}: {ADDRESS} (Ctrl-C ends it)",
        "review ended; no labels yet",
    ]
    assert len(opened) == expected


@pytest.mark.parametrize("can_write", [True, False])
def test_other_users_of_the_machine_do_not_see_the_key(
    run: Path, monkeypatch: pytest.MonkeyPatch, can_write: bool
) -> None:
    # a browser's command line can be read by all of them, so it is given a file that leads on
    seen: list[tuple[str, int, str]] = []

    def show(address: str) -> None:
        file = Path(unquote(urlsplit(address).path))
        seen.append((address, file.stat().st_mode & 0o777, file.read_text(encoding="utf-8")))

    monkeypatch.setattr("webbrowser.open", show)
    monkeypatch.setenv("DISPLAY", ":0")
    if not can_write:
        monkeypatch.setattr("pathlib.Path.mkdir", Mock(side_effect=PermissionError))
    with patch("twinlink.review.server.review", serve_once):
        done = twinlink("review", run)
    assert (done.returncode, done.stderr) == (0, "")
    [(address, mode, text)] = seen
    assert address.startswith("file:///")
    assert "key" not in address
    assert mode == 0o600
    assert f'content="0;url={ADDRESS}"' in text
    file = Path(unquote(urlsplit(address).path))
    assert file.is_relative_to(run.resolve()) is can_write
    assert not file.exists()  # gone with the server


def test_review_for_programs_says_one_object(run: Path, opened: list[str]) -> None:
    with patch("twinlink.review.server.review", serve_once):
        done = twinlink("review", run, "--json")
    assert done.object == {"run": str(run), "address": ADDRESS}


def test_a_port_that_is_taken_is_a_clear_error(run: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        done = twinlink("review", run, "--port", holder.getsockname()[1], "--no-open", "--json")
    assert (done.returncode, done.object["kind"]) == (2, "InputError")
    assert "choose another with --port" in done.object["error"]


def test_what_is_no_run_is_a_clear_error(tmp_path: Path) -> None:
    for verb in ("report", "review"):
        done = twinlink(verb, tmp_path)
        assert (done.returncode, "not a run directory" in done.stderr) == (3, True)


def test_mine_again_after_match_alone_has_a_report_that_is_true(run: Path) -> None:
    before = (run / "report.html").read_text(encoding="utf-8")
    assert twinlink("match", run, "--method", "liu2014", "-q").returncode == 0
    assert (run / "report.html").read_text(encoding="utf-8") != before
