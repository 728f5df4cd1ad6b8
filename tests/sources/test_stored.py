"""Pages read again from where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import cache_member, respond, write_cache, write_wacz
from twinlink.sources.documents import Document
from twinlink.sources.reading import read_path
from twinlink.sources.stored import StoredPages

LIMIT = 2**20
A, B = "https://a.example/1", "https://a.example/2"


def again(source: Path, n: int = 2) -> None:
    """Assert that every page of a source is found again by what its document says."""
    pages = [item for item in read_path(source, LIMIT, "https://a.example/") if isinstance(item, Document)]
    pages = [page for page in pages if not page.location]
    assert len(pages) == n
    stored = StoredPages([], [source], LIMIT)
    for page in pages:
        assert page.body in list(stored.bodies(page.source, page.offset))


def archive(path: Path, *, packed: bool = True) -> Path:
    respond(path, A, b"<p>one", packed=packed)
    respond(path, B, b"<p>two", packed=packed)
    return path


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_archives(tmp_path: Path, name: str) -> None:
    again(archive(tmp_path / name, packed=name.endswith("gz")))


def test_a_folder_of_archives_of_one_name(tmp_path: Path) -> None:
    for place, text in (("x", b"<p>one"), ("y", b"<p>two")):
        (tmp_path / place).mkdir()
        respond(tmp_path / place / "a.warc.gz", A + place, text)
    again(tmp_path)


def test_a_wacz(tmp_path: Path) -> None:
    again(write_wacz(tmp_path / "site.wacz", [archive(tmp_path / "data.warc.gz")]))


def test_saved_pages_and_their_originals(tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    (folder / "sub").mkdir(parents=True)
    (folder / "1.html").write_bytes(b"<p>one")
    (folder / "sub" / "2.html").write_bytes(b"<p>converted")
    (folder / "sub" / "2.html.orig").write_bytes(b"<p>two")
    again(folder)


def test_a_list(tmp_path: Path) -> None:
    (tmp_path / "1.html").write_bytes(b"<p>one")
    (tmp_path / "list.tsv").write_text(f"{A}\t1.html\n")
    again(tmp_path / "list.tsv", 1)


def test_httracks_cache(tmp_path: Path) -> None:
    members = [cache_member(f"http://a.example/{name}.html", f"<p>{name}".encode()) for name in ("one", "two")]
    write_cache(tmp_path, members)
    again(tmp_path)


def test_what_is_gone_is_not_found(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.warc.gz")
    page = next(item for item in read_path(path, LIMIT) if isinstance(item, Document))
    stored = StoredPages([], [path], LIMIT)
    path.unlink()
    assert list(stored.bodies(page.source, page.offset)) == []
    assert list(StoredPages([], [path], LIMIT).bodies(page.source, page.offset)) == []
    assert list(StoredPages([], [tmp_path / "none"], LIMIT).bodies("1.html", -1)) == []


def test_no_file_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_bytes(b"<p>secret")
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "link.html").symlink_to(tmp_path / "secret.html")
    stored = StoredPages([], [tmp_path / "mirror"], LIMIT)
    for name in ("../secret.html", str(tmp_path / "secret.html"), "link.html", "a\0b"):
        assert list(stored.bodies(name, -1)) == []


def test_a_place_without_a_record(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.warc.gz")
    stored = StoredPages([path], [], LIMIT)
    assert list(stored.bodies("a.warc.gz", 3)) == []
    assert list(stored.bodies("a.warc.gz", 10**9)) == []
    assert list(stored.bodies("b.warc.gz", 0)) == []
