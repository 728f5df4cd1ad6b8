"""The run directory: whole or not at all, skipped when done, one process at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from twinlink.config import CrawlSettings
from twinlink.errors import InputError, MissingStageError, RunError, RunLockedError
from twinlink.files import write_text
from twinlink.rundir.directory import RunDirectory, site_file, site_name
from twinlink.rundir.side_results import make_side_run
from twinlink.rundir.signature import Signature, file_digest


@pytest.fixture
def run(tmp_path):
    return RunDirectory.create(tmp_path / "run")


def signature(stage="ingest", inputs=("a",), **settings):
    return Signature.of(stage, settings, inputs)


def write(run, mark, text="x"):
    with run.writing(mark) as folder:
        (folder / "table").write_text(text)


def test_a_stage_is_done_after_it_was_written(run):
    assert not run.is_done(signature())
    write(run, signature())
    assert run.is_done(signature())
    assert (run.stage_folder("ingest") / "table").read_text() == "x"


@pytest.mark.parametrize("other", [signature(inputs=("b",)), signature(limit=1), signature(crawl=CrawlSettings())])
def test_another_input_or_setting_is_not_done(run, other):
    write(run, signature())
    assert not run.is_done(other)


def test_names_of_files_need_not_be_unicode():
    odd = os.fsdecode(b"caf\xe9.html")
    assert signature(inputs=(odd,)) == signature(inputs=(odd,)) != signature(inputs=("caf.html",))


def test_settings_records_go_into_the_signature(run):
    mark = signature(crawl=CrawlSettings(max_pages=5))
    write(run, mark)
    assert run.is_done(signature(crawl=CrawlSettings(max_pages=5)))
    assert not run.is_done(signature(crawl=CrawlSettings(max_pages=6)))


def test_an_error_leaves_the_old_result(run):
    write(run, signature(), "old")
    with pytest.raises(FileNotFoundError), run.writing(signature(limit=2)) as folder:
        (folder / "table").rename(folder / "nowhere" / "table")
    assert run.is_done(signature())
    assert (run.path / "ingest" / "table").read_text() == "old"


def test_files_of_a_killed_process_are_removed(run):
    for leftover in (".ingest.tmp", ".ingest.old", ".ingest.parts"):
        (run.path / leftover).mkdir()
        (run.path / leftover / "junk").touch()
    write(run, signature())
    assert sorted(path.name for path in (run.path / "ingest").iterdir()) == ["signature.json", "table"]
    assert not list(run.path.glob(".ingest.*"))


def test_a_new_result_replaces_the_old_one_as_a_whole(run):
    with run.writing(signature()) as folder:
        (folder / "only-in-the-old-one").touch()
    write(run, signature(limit=2))
    assert not (run.path / "ingest" / "only-in-the-old-one").exists()


def test_a_missing_stage_says_what_to_run(run):
    with pytest.raises(MissingStageError, match="twinlink ingest"):
        run.stage_folder("ingest")


def test_a_further_match_away_from_its_run_says_where_it_belongs(run, tmp_path):
    write(run, signature())
    further = make_side_run(run, "other")
    write(further, signature("match"))
    assert further.stage_folder("ingest").is_dir()
    copy = RunDirectory(Path(shutil.copytree(further.path, tmp_path / "copy", symlinks=True)))
    for stage in ("ingest", "align"):
        with pytest.raises(MissingStageError, match=r"copy: this further match is no longer in its run.*`cp -rL`"):
            copy.stage_folder(stage)
    whole = RunDirectory(Path(shutil.copytree(further.path, tmp_path / "whole")))
    assert whole.stage_folder("ingest").is_dir()


def test_a_damaged_signature_counts_as_not_done(run):
    write(run, signature())
    (run.path / "ingest" / "signature.json").write_text("{")
    assert not run.is_done(signature())


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "run").touch()
    with pytest.raises(RunError, match="cannot be made"):
        RunDirectory.create(tmp_path / "run")


def test_the_lock_keeps_another_process_out_and_falls_with_its_process(run):
    code = (
        "import sys; from pathlib import Path; from twinlink.rundir.directory import RunDirectory\n"
        "with RunDirectory(Path(sys.argv[1])).lock():\n    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RunLockedError, match="another twinlink"), run.lock():
        pass
    holder.kill()
    holder.communicate()
    with run.lock():
        pass


def test_an_error_leaves_nothing_half_written(run):
    with pytest.raises(FileNotFoundError), run.writing(signature()) as folder:
        (folder / "table").rename(folder / "nowhere" / "table")
    assert list(run.path.iterdir()) == []


def test_a_directory_that_cannot_be_written_to_is_refused(run):
    (run.path / ".lock").symlink_to(".lock")
    with pytest.raises(RunError, match="cannot be written to"), run.lock():
        pass


def test_clearing_removes_what_jobs_left_and_nothing_else(run):
    write(run, signature())
    (run.path / "warc").mkdir()
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "pairs.tsv", "config.toml", "notes.txt"):
        (run.path / name).touch()
    run.clear()
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_file_digest_does_not_depend_on_where_it_is_called(tmp_path, monkeypatch):
    (tmp_path / "f").touch()
    whole = file_digest(tmp_path / "f")
    monkeypatch.chdir(tmp_path)
    assert file_digest(Path("f")) == file_digest(Path("./f")) == whole
    assert file_digest(Path("f"), "name").startswith("name|")


def test_file_digest_tells_a_changed_file(tmp_path):
    path = tmp_path / "f"
    path.write_text("a")
    before = file_digest(path)
    path.write_text("ab")
    assert file_digest(path) != before


@pytest.mark.parametrize("site", ["example.org", "127.0.0.1:80", "..", "../../etc/passwd", "a/b"])
def test_no_site_leaves_its_folder(tmp_path, site):
    assert site_file(tmp_path, site).resolve().parent == tmp_path.resolve()


def test_no_site_has_a_hidden_file():
    assert site_name(".example.com") == "%2Eexample.com.parquet"


def test_a_site_with_a_very_long_name_has_a_file_of_its_own(tmp_path):
    sites = [f"www.example.org/{'統計/' * n}" for n in (60, 61, 62)]
    files = {site_file(tmp_path, site) for site in sites}
    for path in files:
        path.with_name(f"{path.name}.tmp").touch()  # no name is too long for the file system
    assert len(files) == len(sites)


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    write_text(device, "text")
    assert device.is_symlink()
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    "name",
    [
        "config.toml", "pairs.tsv", "match", "match/pairs/x.parquet", "review/labels.jsonl", "warc/1.warc.gz", ".lock",
        "x/../ledger.sqlite",
    ],
)  # fmt: skip
def test_files_of_the_run_are_refused_as_output(tmp_path: Path, name: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    (tmp_path / "link").symlink_to(run.path)
    for folder in (run.path, tmp_path / "link"):
        with pytest.raises(InputError, match="part of the run itself"):
            run.check_target(folder / name)


@pytest.mark.parametrize("name", ["report.html", "mine.html", "review/labels.tsv", "../x.html", "figures/pairs.tsv"])
def test_other_names_are_targets(tmp_path: Path, name: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.check_target(run.path / name)


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for text in ("one", "two"):
        write_text(link, text)
        assert (link.is_symlink(), target.read_text()) == (True, text)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "target"]


@pytest.mark.parametrize("name", ["pairs.tsv", "report.html"])
def test_files_that_no_job_has_made_are_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(RunError, match=f"{name}: no job has made this file"), RunDirectory.held(tmp_path):
        pass
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_folder_that_no_job_has_made_is_not_replaced(tmp_path):
    (tmp_path / "languages").mkdir()
    (tmp_path / "languages" / "de.po").write_text("mine")
    with pytest.raises(RunError, match="languages: no job has made this folder"), RunDirectory.held(tmp_path):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["languages"]


def test_what_cannot_be_removed_is_named(run, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", path)

    write(run, signature())
    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(RunError, match=r"cannot be removed \(Permission denied\)"):
        run.clear()


def test_a_run_replaces_its_own_files(run):
    write(run, signature())
    run.pairs_file.write_text("pairs")
    with RunDirectory.held(run.path) as held:
        assert held.path == run.path


@pytest.mark.parametrize("name", [b"run\xff", b"folder\xff/run"])
def test_a_name_that_is_no_utf8_is_refused_before_anything_is_made(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    with pytest.raises(RunError, match="expected a name in UTF-8"), RunDirectory.held(path):
        pass
    assert not list(tmp_path.iterdir())
    with pytest.raises(RunError, match="expected a name in UTF-8"):
        RunDirectory.existing(path)


@pytest.mark.parametrize("name", [".lock", "config.toml", "pairs.tsv"])
def test_a_folder_in_the_place_of_a_file_is_named_before_any_work(run, name):
    (run.path / name).mkdir()
    with pytest.raises(RunError, match=rf"/{name}: expected a file, found a folder"), run.lock():
        pass


def test_a_folder_that_was_made_meanwhile_is_named_and_hinders_nobody_who_reads(run):
    def work():
        with run.writing(signature()) as folder:
            run.top(folder, "pairs.tsv").write_text("x")
            (run.path / "pairs.tsv").mkdir()

    with pytest.raises(RunError, match=r"run/pairs\.tsv: expected a file"):
        work()
    assert RunDirectory.existing(run.path).is_done(signature())
    (run.path / "pairs.tsv").rmdir()
    with run.lock():
        assert (run.path / "pairs.tsv").read_text() == "x"
