"""Texts of one sentence a line, in the forms in which they come."""

from __future__ import annotations

import pytest

from twinlink.align.formats.sentence_files import Line, read_lines
from twinlink.errors import InputError

LINES = [Line(0, "Größe."), Line(2, "她走了。")]


@pytest.mark.parametrize(
    "raw",
    [
        "Größe.\n\n她走了。\n".encode(),
        "Größe.\n \n她走了。".encode(),
        "Größe.\r\n\r\n她走了。\r\n".encode(),
        "Größe.\r\r她走了。\r".encode(),
        "\ufeffGröße.\n\n她走了。\n".encode(),
        "Größe.\n\n她走了。\n".encode("utf-16"),
        "\ufeffGröße.\n\n她走了。\n".encode("utf-16-be"),
    ],
)
def test_forms_of_one_text(tmp_path, raw):
    (tmp_path / "a.txt").write_bytes(raw)
    assert read_lines(tmp_path / "a.txt") == LINES


def test_only_line_ends_end_lines(tmp_path):
    (tmp_path / "a.txt").write_text("one\u2028still\x0bone\x85\x0cyes\t.\ntwo", encoding="utf-8")
    assert read_lines(tmp_path / "a.txt") == [Line(0, "one still one  yes ."), Line(1, "two")]


@pytest.mark.parametrize("raw", [b"", b"\n\n", b" \r\n\t\n"])
def test_blank_files_have_no_lines(tmp_path, raw):
    (tmp_path / "a.txt").write_bytes(raw)
    assert read_lines(tmp_path / "a.txt") == []


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("gut\nGröße".encode("latin-1"), r"a\.txt:2: .*not UTF-8"),
        ("one\ntwo".encode("utf-16-le"), r"a\.txt:1: .*NUL"),
        (b"one\ntwo\nth\0ree\n", r"a\.txt:3: .*NUL"),
        ("one\ntwo".encode("utf-16")[:-1], r"a\.txt:2: .*damaged UTF-16 \(truncated data\)$"),
    ],
)
def test_other_files_are_refused_with_the_line(tmp_path, raw, message):
    (tmp_path / "a.txt").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        read_lines(tmp_path / "a.txt")


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="it is a folder"):
        read_lines(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_lines(tmp_path / "none.txt")
