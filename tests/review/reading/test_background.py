"""Threads that read ahead end before Python does: one that is inside of Arrow at its end would keep it from ending."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.archives import respond
from tests.made_sites import BASE
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.rundir.directory import RunDirectory
from twinlink.toy import toy_site

SECONDS = 60  # far more than it takes to end; without an end it is the test that ends


def said_at_end(code: str, *args: object) -> str:
    """Return what a process has said that runs some code; it has to end by itself."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def made_run(folder: Path) -> RunDirectory:
    for url, html in toy_site().pages.items():
        respond(folder / "toy.warc.gz", url, html.encode())
    respond(folder / "toy.warc.gz", f"{BASE}/s.css", b"p{}", headers=[("Content-Type", "text/css")])
    run = RunDirectory.create(folder / "run")
    ingest(run, [folder / "toy.warc.gz"], Config().ingest)
    return run


def test_work_is_told_of_the_end_and_waited_for() -> None:
    code = """
        import time
        from twinlink.review.reading.background import is_ending, start_thread

        def work():
            while not is_ending():
                time.sleep(.01)
            time.sleep(.1)
            print("told")

        start_thread(work)
        print("working, ending is", is_ending())
    """
    assert said_at_end(code) == "working, ending is False\ntold\n"


def test_tables_are_not_read_ahead_any_more_when_the_review_ends(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from twinlink.review.reading.run_view import RunView
        from twinlink.review.reading.snapshot import Snapshot

        def warm(self):
            try:
                while True:  # no end of tables
                    time.sleep(.01)
                    yield
            finally:
                print("left out the rest")

        Snapshot.warm = warm
        RunView(Path(sys.argv[1])).pairs
        print("read")
    """
    assert said_at_end(code, made_run(tmp_path).path) == "read\nleft out the rest\n"


def test_an_index_of_half_the_archives_is_not_kept(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from twinlink.review.reading import resources
        from twinlink.rundir.directory import RunDirectory

        find = resources.find_resources

        def slow(path, stop):
            yield from find(path)
            while not stop():  # an archive without an end
                time.sleep(.01)

        resources.find_resources = slow
        reader = resources.PageResources(RunDirectory(Path(sys.argv[1])), patience=.1)
        print(reader(sys.argv[2]))
    """
    run = made_run(tmp_path)
    assert said_at_end(code, run.path, f"{BASE}/s.css") == "None\n"
    assert not (run.path / "review").exists()
