"""Files of sources are looked at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from twinlink.ingest.file_states import source_mark, states_of
from twinlink.rundir.signature import file_digest


def write(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(os.fsencode(name))
    return [folder / name for name in names]


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    files = write(tmp_path, "a.html", "en/b.html", "en/c.html")
    assert [state.digest for state in states_of(files)] == [file_digest(file) for file in files]


def test_a_link_stands_for_its_target(tmp_path: Path) -> None:
    (target,) = write(tmp_path, "elsewhere/long.html")
    link = tmp_path / "site" / "a.html"
    link.parent.mkdir()
    link.symlink_to(target)
    (state,) = states_of([link])
    assert state == (link, str(target), len("elsewhere/long.html"), target.stat().st_mtime_ns)


def test_a_folder_that_is_a_link_is_resolved(tmp_path: Path) -> None:
    (file,) = write(tmp_path, "real/a.html")
    (tmp_path / "link").symlink_to(file.parent)
    (state,) = states_of([tmp_path / "link" / "a.html"])
    assert state.place == str(file)


def test_names_that_are_no_text_have_a_digest(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff.html")
    (file,) = write(tmp_path, name)
    (state,) = states_of([file])
    assert state.digest == file_digest(file)
    assert source_mark(tmp_path, [state])


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.html"):
        list(states_of([tmp_path / "gone.html"]))


def test_the_mark_depends_on_names_and_sizes_only(tmp_path: Path) -> None:
    marks = []
    for folder, names in (("a", ("1.html", "en/2.html")), ("b", ("en/2.html", "1.html")), ("c", ("1.html", "2.html"))):
        files = write(tmp_path / folder, *names)
        os.utime(files[0], (1, 1))
        marks.append(source_mark(tmp_path / folder, states_of(files)))
    assert marks[0] == marks[1] != marks[2]
    (tmp_path / "b" / "1.html").write_text("more", encoding="utf-8")
    assert source_mark(tmp_path / "b", states_of([tmp_path / "b" / "1.html"])) not in marks
