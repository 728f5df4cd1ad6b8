"""Commands with hostile files: each reports the mistake in one line and exits as documented, or succeeds.

It must not read anything outside its input, and its output must not contain terminal control sequences.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from experiments.campaign.table import Trial
from experiments.campaign.watched import Ended, command, watch
from experiments.campaign.web import Answer, Reply, links, serving
from twinlink.toy import BASE, toy_site

__all__ = ["OUTSIDE", "Given", "Input", "finished_run", "try_input"]

OUTSIDE = "words of another folder"
MOST_HELD = 10**9
"""Maximum memory of a command on such a small run."""
_CODES = frozenset({0, 2, 3, 5})
_LIMIT = 90.0
_MOST_LINE = 2_000
_SMALL = 10**7


class Given(msgspec.Struct, frozen=True):
    """Resources to make an input."""

    folder: Path
    """An empty folder for the input."""
    run: Path
    """A finished run, which may be damaged."""


class Input(msgspec.Struct, frozen=True):
    """A hostile file and a command that reads it."""

    name: str
    make: Callable[[Given], tuple[object, ...]]
    """Function that writes the file and returns the command."""
    codes: frozenset[int] = _CODES


def finished_run(folder: Path) -> Path:
    """Crawl the toy site and run all stages; return the run."""
    run = folder / "run"
    pages = {url.removeprefix(BASE): html.encode() for url, html in toy_site().pages.items()}

    def answer(path: str) -> Reply:
        if path == "/":
            return links(*pages)
        return Answer(pages[path]) if path in pages else Answer(status="404 Not Found")

    with serving(answer) as site:
        ended = watch(command("mine", f"{site.url}/", "-o", run, "--langs", "en,zh", "-q", "--align"), 240)
    if ended.code:
        raise RuntimeError(ended.stderr.decode())
    return run


def try_input(given: Input, run: Path) -> Trial:
    """Run the command of a hostile file; return the outcome."""
    with tempfile.TemporaryDirectory() as name:
        place = Given(Path(name) / "given", Path(name) / "run")
        place.folder.mkdir()
        shutil.copytree(run, place.run)
        ended = watch(command(*given.make(place)), _LIMIT, folder=place.folder)
        wrong = [*_wrong(given, ended), *_leaked(place)]
        subprocess.run(["rm", "-rf", place.folder], check=True)  # Python recurses no deeper than 1,000 folders
    fine = ended.in_time and not ended.has_traceback and ended.code in given.codes
    return Trial(given.name, fine, tuple(wrong), 0, ended.peak, ended.seconds, ended.seconds, is_bound=False)


def _wrong(given: Input, ended: Ended) -> Iterator[str]:
    said = ended.stderr.decode(errors="replace").strip()
    if not ended.in_time:
        yield f"no end in {_LIMIT:.0f} s"
        return
    if ended.has_traceback or ended.code not in given.codes:
        yield f"exit code {ended.code}: {said.rpartition(chr(10))[2][:200]}"
    elif ended.code not in (0, 5) and ("twinlink: error:" not in said and "Error" not in said):
        yield f"exit code {ended.code} without a word"
    if any(len(line) > _MOST_LINE for line in said.splitlines()):
        yield "a line without end"
    if not ended.is_said_plainly:
        yield "terminal escapes in what it says"
    if ended.peak > MOST_HELD:
        yield f"{ended.peak / 1e6:.0f} MB held"


def _leaked(place: Given) -> Iterator[str]:
    """Yield a message if content from outside the input folder is in the run."""
    for run in (place.run, place.folder / "out"):
        for path in run.rglob("*") if run.is_dir() else ():
            if path.is_file() and not path.is_symlink() and path.stat().st_size < _SMALL:
                data = path.read_bytes()
                if OUTSIDE.encode() in data or b"root:x:0:0" in data:
                    yield f"{path.name} holds what was not given"
