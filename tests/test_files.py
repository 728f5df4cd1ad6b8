"""Files that are replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlink.files import replacing


@pytest.mark.parametrize("parent", ["missing", "file"])
def test_an_error_of_the_system_names_the_file_that_was_to_be_written(tmp_path: Path, parent: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / parent / "candidates.tsv"
    with pytest.raises((FileNotFoundError, NotADirectoryError)) as caught, replacing(path) as temporary:
        temporary.write_text("half")
    assert caught.value.filename == str(path)


def test_an_error_of_the_renaming_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "candidates.tsv"
    path.mkdir()
    with pytest.raises(IsADirectoryError) as caught, replacing(path) as temporary:
        temporary.write_text("whole")
    assert str(caught.value).count(str(path)) == 1


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    other = str(tmp_path / "other.tsv")
    with pytest.raises(PermissionError) as caught, replacing(tmp_path / "candidates.tsv") as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise PermissionError(13, "Permission denied", other)
    assert caught.value.filename == other
    assert [*tmp_path.iterdir()] == []
