"""A run while it is mined, seen from outside: in every state that its files can be in."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.archives import captures, respond, write_toy_archive
from tests.made_sites import LANGS
from twinlink.config import Config
from twinlink.errors import RunLockedError
from twinlink.ingest.stage import ingest
from twinlink.match import stage as module
from twinlink.match.so_far import keep_so_far
from twinlink.match.stage import match
from twinlink.progress import reporter
from twinlink.review.reading.live import LiveView
from twinlink.review.reading.run_view import RunView
from twinlink.review.records import Live, LiveStage
from twinlink.rundir.attempts import attempts_at
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import LEDGER_NAME, Body, Frontier, FrontierEntry, Outcome
from twinlink.system.locks import is_held
from twinlink.tables import PAIRS

CONFIG = Config().override({"langs": list(LANGS), "match.method": "liu2014", "match.min_score": 0.0})
HOSTS = ("http://one.example", "http://two.example", "http://three.example")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Three toy sites that have been ingested."""
    archive = write_toy_archive(tmp_path / "toy.warc.gz", HOSTS)
    respond(archive, f"{HOSTS[0]}/no", b"", "404 Not Found")
    found = RunDirectory.create(tmp_path / "run")
    found.config_file.write_text(CONFIG.to_toml())
    ingest(found, [archive], CONFIG.ingest)
    return found


def stage(live: Live, name: str) -> LiveStage | None:
    return next((each for each in live.stages if each.name == name), None)


def states(live: Live) -> dict[str, str]:
    return {each.name: each.state for each in live.stages}


def test_a_folder_with_nothing_in_it(tmp_path: Path) -> None:
    live = LiveView(RunDirectory(tmp_path)).now()
    assert not live.working
    assert not live.paused
    assert states(live) == {"ingest": "waiting", "match": "waiting"}
    assert (live.pages, len(live.pairs), live.rejects) == ((), 0, {})
    assert list(live.pairs.columns) == PAIRS.names
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert states(LiveView(RunDirectory(tmp_path / "none")).now()) == {"ingest": "waiting", "match": "waiting"}


def test_before_and_after_the_match(run: RunDirectory) -> None:
    view = LiveView(run)
    before = view.now()
    assert states(before) == {"ingest": "done", "match": "waiting"}
    assert stage(before, "ingest") == LiveStage("ingest", "done", {"pages": 30})
    assert before.rejects == {"http-404": 1}
    match(run, CONFIG)
    after = view.now()
    assert stage(after, "match") == LiveStage("match", "done", {"pairs": 15, "sites": 3, "of": 3})
    assert len(after.pairs) == 15
    assert view.now().pairs is after.pairs


def test_pairs_come_site_by_site_while_the_match_runs(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    view, seen = LiveView(run), []
    real = module.match_site

    def spy(*args: object, **kwargs: object) -> module.SiteResult:
        seen.append(view.now())
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "match_site", spy)
    with run.lock():
        match(run, CONFIG)
    assert [len(live.pairs) for live in seen] == [0, 5, 10]
    assert all(live.working and states(live)["match"] == "running" for live in seen)
    counts = stage(seen[1], "match")
    assert counts is not None
    assert counts.counts == {"pairs": 5, "sites": 1, "of": 3}
    first = seen[1].pairs["url_a"].tolist()
    assert seen[2].pairs["url_a"].tolist()[:5] == first, "what came first stays in its place"
    monkeypatch.undo()
    assert len(view.now().pairs) == 15
    assert not view.now().working


def test_pairs_so_far_of_a_site_in_work(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the rounds of each site, its pairs are provisional; when it is done, they are no more."""
    view, seen, real = LiveView(run), [], module.keep_so_far

    def keep(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        seen.append(view.now())

    monkeypatch.setattr(module, "keep_so_far", keep)
    monkeypatch.setattr(module, "STEP_BYTES", 0)
    with run.lock():
        match(run, CONFIG.override({"match.method": "weighed", "match.min_score": None}))
    hosts = [sorted(set(live.so_far["url_a"].str.split("/").str[2])) for live in seen]
    assert all(len(each) == 1 for each in hosts)
    assert sorted({each for (each,) in hosts}) == sorted(host.removeprefix("http://") for host in HOSTS)
    for live, (host,) in zip(seen, hosts, strict=True):
        assert live.working
        assert host not in set(live.pairs["site"])
    assert len(view.now().so_far) == 0


def test_pairs_so_far_that_a_killed_process_left_are_not_shown(run: RunDirectory) -> None:
    (run.path / ".match.tmp").mkdir()
    with attempts_at(run.path, "match") as place:
        keep_so_far(place, "one.example.parquet", "en-fr", PAIRS.empty_table)
        assert len(LiveView(run).now().so_far) == 0


def test_an_earlier_match_is_not_shown_as_the_new_one(run: RunDirectory) -> None:
    match(run, CONFIG)
    view = LiveView(run)
    assert len(view.now().pairs) == 15
    (run.path / ".match.tmp").mkdir()
    with run.lock():
        live = view.now()
    assert states(live)["match"] == "running"
    assert len(live.pairs) == 0


def test_what_a_killed_process_left_is_not_running(run: RunDirectory) -> None:
    match(run, CONFIG)
    (run.path / ".match.tmp").mkdir()
    live = LiveView(run).now()
    assert states(live)["match"] == "done"
    assert len(live.pairs) == 15


def test_files_that_are_not_whole_or_go_away(run: RunDirectory) -> None:
    match(run, CONFIG)
    view = LiveView(run)
    folder = run.path / ".match.tmp" / "pairs"
    shutil.copytree(run.path / "match" / "pairs", folder)
    files = sorted(folder.iterdir())
    files[0].write_bytes(files[0].read_bytes()[:100])
    (run.path / "match" / "rejects.parquet").write_bytes(b"PAR1")
    with run.lock():
        assert len(view.now().pairs) == 10
        files[1].unlink()
        assert len(view.now().pairs) == 5
        shutil.rmtree(run.path / ".match.tmp")
        assert len(view.now().pairs) == 15


def test_ingest_while_it_runs(run: RunDirectory) -> None:
    folder = run.path / ".ingest.tmp" / "parts"
    folder.mkdir(parents=True)
    parts = sorted((run.path / "ingest" / "pages").iterdir())
    shutil.copy(parts[0], folder / "pages-1.parquet")
    shutil.copy(parts[1], folder / "pages-2.parquet")
    with run.lock():
        live = LiveView(run).now()
    assert stage(live, "ingest") == LiveStage("ingest", "running", {"pages": 20})
    assert len(live.pages) == 10


def test_the_crawl_while_it_runs(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    view = LiveView(run)
    with run.lock():
        ledger = Frontier(tmp_path / "ledger.sqlite")
        later = (run.path / ".lock").stat().st_mtime_ns + 10**9
        os.utime(tmp_path / "ledger.sqlite", ns=(later, later))
        live = view.now()
        ledger.close()
    assert stage(live, "crawl") == LiveStage("crawl", "running", {"fetched": 0, "queued": 0, "rejected": 0})
    (tmp_path / "crawl.json").write_text("{}")
    assert states(view.now())["crawl"] == "done"


def test_the_pages_that_were_fetched_last_come_first(tmp_path: Path) -> None:
    entries = [
        FrontierEntry(url, url, "a.org", 0, 0, 0, "") for url in (f"http://a.org/{number}" for number in range(30))
    ]
    with closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        ledger.seed(entries, 50, 30)
        for second in range(30):
            entry = ledger.take(100)
            assert entry is not None
            body = Body("crawl-00001.warc.gz", second, entry.url, f"2026-01-01T00:00:{second:02}Z")
            ledger.settle(entry, Outcome("done", status=200, archive=body.archive, stop=second, body=body))
        live = LiveView(RunDirectory(tmp_path)).now()
    assert live.pages == tuple(f"http://a.org/{number}" for number in range(29, 9, -1))
    assert LiveView(RunDirectory.create(tmp_path / "none")).now().pages == ()


def test_the_lock_is_seen_and_not_taken(run: RunDirectory) -> None:
    assert not is_held(run.lock_file)
    with run.lock():
        assert is_held(run.lock_file)
        with pytest.raises(RunLockedError), run.lock():
            pass
    assert not is_held(run.lock_file)


def test_asking_for_the_lock_keeps_nobody_from_it(run: RunDirectory) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            is_held(run.lock_file)

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        for _ in range(300):
            with run.lock():
                pass
    finally:
        stop.set()
        asker.join()


def test_pause_is_reported(run: RunDirectory) -> None:
    view = RunView(run.path)
    assert not view.live().paused
    view.pause(wanted=True)
    assert view.live().paused


def test_titles_of_the_latest_pages_and_the_latest_report(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    (tmp_path / "warc").mkdir()
    archive = tmp_path / "warc" / "crawl-00001.warc.gz"
    urls = ["http://a.org/1", "http://a.org/2"]
    for url in urls:
        respond(archive, url, f"<title>Page {url[-1]}</title>".encode())
    starts = [start for _, start, _ in captures(archive, ("response",))]
    with run.lock(), closing(Frontier(tmp_path / LEDGER_NAME)) as ledger:
        ledger.seed([FrontierEntry(url, url, "a.org") for url in urls], 50, 30)
        for start in starts:
            entry = ledger.take(100)
            assert entry is not None
            body = Body(archive.name, start + 1, entry.url, f"2026-01-01T00:00:0{entry.url[-1]}Z")
            outcome = Outcome("done", status=200, archive=archive.name, start=start, stop=start + 1, body=body)
            ledger.settle(entry, outcome)
        with reporter(quiet=True, latest=run.progress_file) as report:
            report("crawl", 2, 2, "queued 0")
            live = LiveView(run).now()
    assert live.titles == {"http://a.org/2": "Page 2", "http://a.org/1": "Page 1"}
    assert live.latest is not None
    assert (live.latest.stage, live.latest.done, live.latest.detail) == ("crawl", 2, "queued 0")
    assert LiveView(run).now().latest is None
