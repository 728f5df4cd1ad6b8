"""Files that are replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from twinlink.files import replacing


def test_an_error_of_the_system_names_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "candidates.tsv"
    with pytest.raises(FileNotFoundError) as caught, replacing(path) as temporary:
        temporary.write_text("half")
    assert caught.value.filename == str(path)


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    other = str(tmp_path / "other.tsv")
    with pytest.raises(PermissionError) as caught, replacing(tmp_path / "candidates.tsv") as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise PermissionError(13, "Permission denied", other)
    assert caught.value.filename == other
    assert [*tmp_path.iterdir()] == []
