"""Every state that a kill can leave between two renames is brought to that before or that after."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.calling import mine_toy, twinlink
from tests.made_sites import write_toy
from twinlink.errors import RunError
from twinlink.rundir.commit import TOP, is_settled
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature


class Killed(BaseException):
    """Stands for a kill: nothing after it is done."""


def write(run: RunDirectory, text: str) -> None:
    with run.writing(Signature.of("match", {"text": text}, [])) as folder:
        (folder / "table").write_text(text)
        run.top(folder, "pairs.tsv").write_text(text)
        run.top(folder, "config.toml").write_text(f"# {text}\n")


def content(run: RunDirectory) -> tuple[str, ...]:
    files = (run.path / "match" / "table", run.pairs_file, run.config_file)
    return tuple(file.read_text().strip("# \n") if file.exists() else "" for file in files)


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Give a function that kills at one of the renames, and leaves all that cleans up undone."""
    counted = [0, 0]

    def chosen(number: int) -> None:
        counted[:] = [0, number]

    def counting(real: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
        def rename(self: Path, target: Path) -> Path:
            counted[0] += 1
            if counted[0] == counted[1]:
                monkeypatch.setattr(shutil, "rmtree", lambda *args, **kwargs: None)
                raise Killed
            return real(self, target)

        return rename

    for name in ("rename", "replace"):
        monkeypatch.setattr(Path, name, counting(getattr(Path, name)))
    yield chosen
    monkeypatch.undo()


@pytest.mark.parametrize("has_one", [False, True])
@pytest.mark.parametrize("number", range(1, 6))
def test_a_stage_and_what_belongs_to_it_change_together(
    tmp_path: Path, kill_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, number: int, has_one: bool
) -> None:
    run = RunDirectory.create(tmp_path / "run")
    before = ("", "", "")
    if has_one:
        write(run, "before")
        before = ("before",) * 3
    kill_at(number)
    try:
        write(run, "after")
        assert number == 5
        assert not has_one
    except Killed:
        assert not is_settled(run.path, ["match"]) or number == 1
    monkeypatch.undo()
    with run.lock():
        found = content(run)
    assert found == before if number == 1 else found == ("after",) * 3
    assert is_settled(run.path, ["match"])
    write(run, "later")
    assert content(run) == ("later",) * 3
    assert sorted(path.name for path in run.path.iterdir()) == [".lock", "config.toml", "match", "pairs.tsv"]
    assert not (run.path / "match" / TOP).exists()


def test_an_error_between_the_renames_is_as_good_as_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunDirectory.create(tmp_path / "run")
    write(run, "before")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name == ".match.tmp":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="No space"):
        write(run, "after")
    monkeypatch.undo()
    assert RunDirectory.existing(run.path).path == run.path, "opening it is enough"
    assert content(run) == ("after",) * 3


def test_reading_a_run_settles_it_unless_a_process_works_there(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    write(run, "before")
    (run.path / "match").rename(run.path / ".match.old")
    with run.lock():
        (run.path / "match").rename(run.path / ".match.old")
        RunDirectory.existing(run.path)
        assert content(run)[0] == ""
    RunDirectory.existing(run.path)
    assert content(run) == ("before",) * 3


@pytest.mark.parametrize("number", range(1, 12))
def test_a_replacement_is_there_as_a_whole(
    tmp_path: Path, kill_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    run = RunDirectory.create(tmp_path / "run")
    write(run, "before")
    (run.path / "ingest").mkdir()
    (run.path / "ingest" / "only-in-the-old-one").touch()
    (run.path / "notes.txt").touch()
    fresh = RunDirectory.create(run.replacement)
    write(fresh, "after")
    kill_at(number)
    try:
        run.replace()
    except Killed:
        assert not is_settled(run.path, ["match"])
    monkeypatch.undo()
    with run.lock():
        assert content(run) == ("after",) * 3
    left = sorted(path.name for path in run.path.iterdir())
    assert left == [".lock", "config.toml", "match", "notes.txt", "pairs.tsv"]


def test_a_new_run_waits_until_the_old_one_can_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", path)

    run = RunDirectory.create(tmp_path / "run")
    write(run, "before")
    write(RunDirectory.create(run.replacement), "after")
    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(RunError, match="match: cannot be removed"):
        run.replace()
    monkeypatch.undo()
    with run.lock():
        assert content(run) == ("after",) * 3


def test_a_further_match_does_not_settle_the_stages_of_its_run(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    (run.path / "ingest" / TOP).mkdir(parents=True)
    (run.path / "ingest" / TOP / "config.toml").write_text("of the run")
    (run.path / "ingest" / "signature.json").write_text("{}")
    side = RunDirectory.create(run.path / "matches" / "other")
    (side.path / "ingest").symlink_to(Path("..", "..", "ingest"))
    with side.lock():
        assert not side.config_file.exists()
    with run.lock():
        assert run.config_file.read_text() == "of the run"


FAILS_AT_ONCE = [
    "mine nofile -o {out}",
    "mine {tmp}/toy -o {out} --lexicon nofile",
    "mine {tmp}/toy -o {out} --langs en",
    "mine {tmp}/toy -o {out} -c nofile",
    "mine {tmp}/toy -o {out}",  # without an address
    "mine http://127.0.0.1:9/ -o {out} --set crawl.retries=0",
    "crawl -o {out}",
    "crawl --again -o {out}",
    "crawl http://127.0.0.1:9/ -o {out} --set crawl.retries=0",
    "crawl http://127.0.0.1:9/ -o {out} --include (",
    "ingest -o {out}",
    "ingest /etc/passwd -o {out}",
    "ingest nofile -o {out}",
    "match {out}",
    "align {out}",
    "patterns {out}",
    "rank {out}",
    "recover {out}",
    "report {out}",
    "review {out}",
    "review {out} --export {tmp}/x.tsv",
    "explain {out} /",
    "evaluate {out} --gold nofile",
    "verify nofile --run {out}",
    "verify {tmp}/pairs.tsv --run {out}",
    "discover nofile -o {out}",
    "discover http://127.0.0.1:9/ -o {out} --set crawl.retries=0",
    "discover http://127.0.0.1:9/ -o {out} --langs en",
]


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("words", FAILS_AT_ONCE)
def test_a_command_that_fails_before_it_did_anything_leaves_nothing(tmp_path: Path, words: str, there: bool) -> None:
    write_toy(tmp_path / "toy")
    (tmp_path / "pairs.tsv").write_text("http://x/\thttp://y/\n")
    out = tmp_path / "deep" / "run"
    if there:
        out.mkdir(parents=True)
    done = twinlink(*words.format(out=out, tmp=tmp_path).split())
    assert done.returncode not in (0, 1), done
    assert out.exists() == there
    assert (tmp_path / "deep").exists() == there
    assert not there or list(out.iterdir()) == []


@pytest.mark.parametrize(
    "verb", ["review", "report", "match", "align", "explain", "evaluate", "patterns", "rank", "recover"]
)
def test_a_folder_that_is_no_run_is_called_that(tmp_path: Path, verb: str) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / ".lock").touch()
    (tmp_path / "config.toml").write_text('langs = ["en"]\n')  # earlier versions left it behind a failed job
    more = {"explain": ["/"], "evaluate": ["--gold", tmp_path / "notes.txt"]}.get(verb, [])
    done = twinlink(verb, tmp_path, *more)
    assert done.returncode == 3
    assert f"{tmp_path}: not a run directory" in done.stderr


def test_a_run_without_its_settings_is_one(tmp_path: Path) -> None:
    assert mine_toy(tmp_path).returncode == 0
    (tmp_path / "run" / "config.toml").unlink()
    for words in (
        ("explain", tmp_path / "run", "/en/a.html"),
        ("report", tmp_path / "run"),
        ("match", tmp_path / "run"),
    ):
        assert twinlink(*words).returncode == 0


def test_a_job_that_did_nothing_takes_its_lock_file_away_and_no_other_one(tmp_path: Path) -> None:
    with pytest.raises(RunError), RunDirectory.held(tmp_path / "a" / "b"):
        raise RunError("nothing")
    assert list(tmp_path.iterdir()) == []
    RunDirectory.create(tmp_path / "run").lock_file.touch()
    with pytest.raises(RunError), RunDirectory.held(tmp_path / "run"):
        raise RunError("nothing")
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
