"""Files that are none: whatever a user names for any verb, there is one clear line and an end, in bounded memory."""

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.calling import Done, mine_toy, twinlink
from twinlink.errors import GoldError, InputError
from twinlink.inputs import InputFile, kind_of_file, open_input, read_input, read_input_text

LARGE = 3 * 2**30
LARGE_SOURCE = 2**28  # a source is read to its end, whatever its size
NOWHERE = "http://127.0.0.1:9/"
KINDS = ("pipe", "socket", "zero", "full", "folder", "large")
Call = Callable[[Path, Path, Path], list[object]]

# What is given a file: by a name, its ending and the command of a run, the file and a folder to write in.
VERBS: dict[str, tuple[str, Call]] = {
    "ingest a WARC": (".warc", lambda run, file, out: ["ingest", file, "-o", out]),
    "ingest a packed WARC": (".warc.gz", lambda run, file, out: ["ingest", file, "-o", out]),
    "ingest a WACZ": (".wacz", lambda run, file, out: ["ingest", file, "-o", out]),
    "ingest an index": (".cdx", lambda run, file, out: ["ingest", file, "-o", out]),
    "ingest a list": (".tsv", lambda run, file, out: ["ingest", file, "-o", out]),
    "mine anything": ("", lambda run, file, out: ["mine", file, "-o", out]),
    "seeds of mine": (".txt", lambda run, file, out: ["mine", NOWHERE, "--seeds", file, "-o", out]),
    "seeds of crawl": (".txt", lambda run, file, out: ["crawl", NOWHERE, "--seeds", file, "-o", out]),
    "seeds of discover": (".txt", lambda run, file, out: ["discover", file, "-o", out]),
    "settings": (".toml", lambda run, file, out: ["mine", NOWHERE, "-c", file, "-o", out]),
    "lexicon of match": (".tsv", lambda run, file, out: ["match", run, "--lexicon", file]),
    "lexicon of align": (".tsv", lambda run, file, out: ["align", run, "--lexicon", file]),
    "columns to learn from": (".tsv", lambda run, file, out: ["align", run, "--warm", f"en-zh={file}"]),
    "memory to learn from": (".tmx", lambda run, file, out: ["align", run, "--warm", f"en-zh={file}"]),
    "text of align": (".txt", lambda run, file, out: ["align", Path(__file__), file]),
    "pairs of verify": (".tsv", lambda run, file, out: ["verify", file, "-o", out]),
    "gold": (".tsv", lambda run, file, out: ["evaluate", run, "--gold", file]),
    "library": (".tsv", lambda run, file, out: ["patterns", run, "--library", file]),
    "library in Parquet": (".parquet", lambda run, file, out: ["patterns", run, "--library", file]),
    "graph of Common Crawl": ("-vertices.txt", lambda run, file, out: ["rank", run, "--common-crawl", file]),
    "a run": ("", lambda run, file, out: ["match", file]),
}


def make(kind: str, path: Path, size: int = LARGE) -> Path:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        make_socket(path)
    elif kind in ("zero", "full"):
        path.symlink_to(f"/dev/{kind}")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(size)
    return path


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, working_in(path.parent):  # its name may have 107 bytes
        server.bind(path.name)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def bounded(megabytes: int = 1_500, seconds: int = 60) -> Iterator[None]:
    """Let nothing wait for ever or take all memory: of a defect only this test is to fail."""

    def end(*_: object) -> None:
        raise AssertionError(f"no end in {seconds} s")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = signal.signal(signal.SIGALRM, end)
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, hard))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, known)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mined")
    assert mine_toy(folder).returncode == 0
    return folder / "run"


def in_one_line(done: Done) -> bool:
    said = ("warning", "ingest:", "patterns:", "remembered in ")
    lines = [line for line in done.stderr.splitlines() if not line.startswith(said)]
    return "Traceback" not in done.stderr and len(lines) == 1 and lines[0].startswith("twinlink: error: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_cannot_be_read_costs_one_line(tmp_path: Path, run: Path, verb: str, kind: str) -> None:
    ending, call = VERBS[verb]
    file = make(kind, tmp_path / f"odd{ending}", LARGE_SOURCE if verb.startswith("ingest") else LARGE)
    with bounded():
        done = twinlink(*call(run, file, tmp_path / "out"))
    assert done.returncode in (2, 3)
    assert in_one_line(done), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_verify_and_files_beside_a_gold_file(tmp_path: Path, run: Path, kind: str) -> None:
    make(kind, tmp_path / "page.html")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("page.html\tpage.html\n")
    make(kind, tmp_path / "ignore.tsv")
    with bounded():
        judged = twinlink("verify", pairs)
        scored = twinlink("evaluate", run, "--gold", pairs)
    assert "not judged: " in judged.stdout
    assert scored.returncode == 2
    assert "ignore.tsv: cannot be read as a gold file" in scored.stderr


def test_what_is_reported_of_each_kind(tmp_path: Path) -> None:
    expected = InputFile("cannot be read as a list", "there is no list", GoldError, limit=5)
    file = tmp_path / "file"
    with pytest.raises(GoldError, match="there is no list"):
        open_input(file, expected)
    file.write_bytes(b"123456")
    with pytest.raises(GoldError, match=r"as a list \(it has 6 bytes, expected at most 5 bytes\)"):
        read_input(file, expected)
    file.write_bytes(b"a\n\xff")
    with pytest.raises(GoldError, match="file, line 2: not UTF-8"):
        read_input_text(file, expected)
    file.write_bytes(b"\xef\xbb\xbfab")
    assert read_input_text(file, expected) == "ab"
    with pytest.raises(InputError, match="null"):
        open_input(Path("a\0b"), InputFile())
    assert kind_of_file(stat.S_IFBLK) == "a device"
