"""Lists of addresses and files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.archives import write_saved
from twinlink.errors import InputError
from twinlink.sources.documents import Document
from twinlink.sources.listed import files_of_list, read_list
from twinlink.tables import Reject

LIMIT = 1_000
URL = "http://www.example.org/"
PAGE = b"<html><p>page</p>"


def write(folder: Path, *lines: str) -> Path:
    path = folder / "list.tsv"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
    return path


def pages(path: Path) -> dict[str, tuple[str, str]]:
    items = read_list(path, LIMIT)
    return {item.url: (item.source, item.content_type) for item in items if isinstance(item, Document)}


def rejects(path: Path) -> list[tuple[str, str]]:
    return [(item.url, item.reason) for item in read_list(path, LIMIT) if isinstance(item, Reject)]


def test_pages_of_a_list(tmp_path: Path) -> None:
    write_saved(tmp_path, {"1.html": PAGE, "dir/a b.bin": PAGE, "中.htm": b""})
    path = write(
        tmp_path,
        "# address, file",
        "",
        f"{URL}a?b=1#c\t1.html\r",
        f" {URL}b \t dir/a b.bin \ttext/html; charset=big5",
        f"{URL}中\t中.htm",
        f"{URL}d\t{tmp_path}/1.html",
    )
    assert pages(path) == {
        URL + "a?b=1": ("1.html", ""),
        URL + "b": ("dir/a b.bin", "text/html; charset=big5"),
        URL + "%E4%B8%AD": ("中.htm", ""),
        URL + "d": (f"{tmp_path}/1.html", ""),
    }
    assert rejects(path) == []
    assert [file.name for file in files_of_list(path)] == ["1.html", "a b.bin", "中.htm", "1.html"]


@pytest.mark.parametrize("header", ["url\tfile", "\ufeffURL\tFile name\tContent-Type"])
def test_a_first_line_of_column_names_is_passed_over(tmp_path: Path, header: str) -> None:
    write_saved(tmp_path, {"1.html": PAGE})
    path = write(tmp_path, header, f"{URL}a\t1.html")
    assert (list(pages(path)), rejects(path)) == ([URL + "a"], [])
    assert rejects(write(tmp_path, f"{URL}a\t1.html", header)) == [
        (header.partition("\t")[0].strip("\ufeff"), "bad-url")
    ]


def test_a_byte_order_mark_and_names_that_are_no_utf8(tmp_path: Path) -> None:
    name = os.fsdecode("中.html".encode("big5"))
    (tmp_path / name).write_bytes(PAGE)
    assert pages(write(tmp_path, f"\ufeff{URL}\t{name}")) == {URL: ("\ufffd\ufffd.html", "")}


@pytest.mark.parametrize(
    ("line", "reject"),
    [
        (f"{URL}x\tmissing.html", (URL + "x", "unreadable")),
        (f"{URL}x\t../outside.html", (URL + "x", "unreadable")),
        (f"{URL}x\t/etc/passwd", (URL + "x", "unreadable")),
        (f"{URL}x\tlink.html", (URL + "x", "unreadable")),
        (f"{URL}x\tlinked/outside.html", (URL + "x", "unreadable")),
        (f"{URL}x\tpipe.html", (URL + "x", "unreadable")),
        (f"{URL}x\tcircle.html", (URL + "x", "unreadable")),
        (f"{URL}x\tdir", (URL + "x", "unreadable")),
        (f"{URL}x\t\0", (URL + "x", "unreadable")),
        (f"{URL}x\t{'x' * 5_000}", (URL + "x", "unreadable")),
        (f"{URL}x\tlarge.html", (URL + "x", "too-large")),
        (f"{URL}x\tpicture.bin", (URL + "x", "not-html")),
        (f"{URL}x\t1.html\timage/png", (URL + "x", "not-html")),
        ("ftp://example.org/\t1.html", ("ftp://example.org/", "bad-url")),
        ("page.html\t1.html", ("page.html", "bad-url")),
        (f"{URL}x 1.html", ("list.tsv", "bad-line")),
        (f"{URL}x\t", ("list.tsv", "bad-line")),
        (f"{URL}x\t1.html\ttext/html\tmore", ("list.tsv", "bad-line")),
    ],
)
def test_what_cannot_be_read_is_counted(tmp_path: Path, line: str, reject: tuple[str, str]) -> None:
    folder = tmp_path / "in"
    write_saved(tmp_path, {"outside.html": PAGE})
    write_saved(folder, {"1.html": PAGE, "large.html": b"x" * (LIMIT + 1), "picture.bin": b"GIF", "dir/a": PAGE})
    (folder / "link.html").symlink_to(tmp_path / "outside.html")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "circle.html").symlink_to("circle.html")
    os.mkfifo(folder / "pipe.html")  # reading it would wait for ever
    path = write(folder, f"{URL}a\t1.html", line, f"{URL}b\t1.html")
    assert list(pages(path)) == [URL + "a", URL + "b"]
    assert rejects(path) == [reject]


def test_file_that_is_not_a_list(tmp_path: Path) -> None:
    for lines in ((), ("# nothing",), ("one two", "three")):
        with pytest.raises(InputError, match="expected lines"):
            pages(write(tmp_path, *lines))
    with pytest.raises(InputError, match="cannot be read"):
        pages(tmp_path / "missing.tsv")
