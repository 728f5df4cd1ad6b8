"""HTTrack's cache. Its form is that of HTTrack's own source, htscache.c: names, headers as local extra fields."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.archives import cache_member, write_cache, write_saved
from twinlink.errors import InputError
from twinlink.sources.documents import Document
from twinlink.sources.httrack import CACHE_NAME
from twinlink.sources.mirror import read_mirror
from twinlink.sources.reading import read_path
from twinlink.tables import Reject

LIMIT = 10_000
URL = "http://www.example.org/"
PAGE = b"<html><p>page</p><a href='/b.php?id=1'>b</a>"
NOTE = b"<!-- Mirrored from www.example.org/%b by HTTrack Website Copier/3.x -->"


def outcome(folder: Path, base_url: str = "") -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    items = list(read_mirror(folder, base_url, LIMIT))
    return (
        {item.url: item.body for item in items if isinstance(item, Document) and not item.location},
        [(item.url, item.reason) for item in items if isinstance(item, Reject)],
    )


def test_pages_come_as_the_server_sent_them(tmp_path: Path) -> None:
    members = [
        cache_member(URL, PAGE, X_Save="www.example.org/index.html", X_Charset="big5"),
        cache_member(URL + "b.php?id=1", PAGE + b"b", X_Save="www.example.org/b7f3a.html"),
        cache_member("https://secure.example.org/", PAGE + b"s"),
    ]
    write_cache(tmp_path, members)
    files = {
        "index.html": b"<title>Local index - HTTrack</title>",
        "www.example.org/index.html": NOTE % b"" + b"<a href='b7f3a.html'>converted</a>",
        "www.example.org/b7f3a.html": NOTE % b"b.php?id=1" + b"converted",
    }
    write_saved(tmp_path, files)
    assert outcome(tmp_path) == (
        {URL: PAGE, URL + "b.php?id=1": PAGE + b"b", "https://secure.example.org/": PAGE + b"s"},
        [],
    )
    first = next(item for item in read_mirror(tmp_path, "", LIMIT) if isinstance(item, Document))
    assert (first.content_type, first.source, first.fetched) == ("text/html; charset=big5", CACHE_NAME, None)
    assert first.offset == 0


def test_what_the_cache_lacks_comes_from_the_files(tmp_path: Path) -> None:
    write_cache(tmp_path, [cache_member(URL, PAGE), cache_member(URL + "kept.html", b"", X_In_Cache="0", X_Kept="1")])
    files = {
        "www.example.org/index.html": NOTE % b"" + PAGE,
        "www.example.org/kept.html": NOTE % b"kept.html" + b"kept",
        "www.example.org/more.html": b"more",
    }
    write_saved(tmp_path, files)
    pages, rejects = outcome(tmp_path)
    assert pages == {URL: PAGE, URL + "kept.html": NOTE % b"kept.html" + b"kept", URL + "more.html": b"more"}
    assert rejects == []


@pytest.mark.parametrize(
    ("member", "reject"),
    [
        (cache_member(URL + "x", b"<html>", 404), (URL + "x", "http-404")),
        (cache_member(URL + "x", b"<html>", 302), (URL + "x", "http-302")),
        (cache_member(URL + "x", b"", Content_Type="image/png", X_In_Cache="0"), (URL + "x", "not-html")),
        (cache_member(URL + "x", b"GIF", Content_Type=""), (URL + "x", "not-html")),
        (cache_member(URL + "x", b"x" * (LIMIT + 1)), (URL + "x", "too-large")),
        (cache_member(URL + "x", b"x" * 5_000_000), (URL + "x", "too-large")),
        (cache_member(URL + "x", PAGE, X_StatusCode="none"), (URL + "x", "damaged-record")),
        ((URL + "x", b"", PAGE), (URL + "x", "damaged-record")),
        (("http://www.example.org:99999/", b"", PAGE), ("http://www.example.org:99999/", "bad-url")),
        (cache_member(URL + "robots.txt", b"User-agent: *"), None),
        (cache_member("//[cache]/index", b"data"), None),
        (cache_member("ftp://www.example.org/x", PAGE), None),
    ],
)
def test_other_answers_are_counted(tmp_path: Path, member, reject: tuple[str, str] | None) -> None:
    write_cache(tmp_path, [member, cache_member(URL, PAGE)])
    assert outcome(tmp_path) == ({URL: PAGE}, [reject] if reject else [])


def test_redirects(tmp_path: Path) -> None:
    write_cache(tmp_path, [cache_member(URL + "old", b"moved", 301, Location="/new"), cache_member(URL + "new", PAGE)])
    redirect = next(item for item in read_mirror(tmp_path, "", LIMIT) if isinstance(item, Document) and item.location)
    assert (redirect.url, redirect.location, redirect.body) == (URL + "old", "/new", b"")
    assert redirect.offset >= 0  # an answer of the server, not another name of a file


def test_names_of_any_encoding(tmp_path: Path) -> None:
    write_cache(tmp_path, [cache_member(URL + "中?q=文", PAGE), cache_member("www.example.org/plain", PAGE)])
    assert list(outcome(tmp_path)[0]) == [URL + "%E4%B8%AD?q=%E6%96%87", URL + "plain"]


def test_a_damaged_member_costs_itself(tmp_path: Path) -> None:
    path = write_cache(tmp_path, [cache_member(URL + name, PAGE + name.encode()) for name in ("a", "b", "c")])
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as cache:
        second = cache.infolist()[2].header_offset
    data[second - 12 : second - 4] = b"\xff" * 8
    path.write_bytes(data)
    assert outcome(tmp_path) == ({URL + "a": PAGE + b"a", URL + "c": PAGE + b"c"}, [(URL + "b", "damaged-record")])


def test_a_cache_that_cannot_be_read_leaves_the_files(tmp_path: Path) -> None:
    path = write_cache(tmp_path, [cache_member(URL, PAGE)])
    write_saved(tmp_path, {"www.example.org/index.html": NOTE % b"" + b"page"})
    path.write_bytes(path.read_bytes()[:-30])
    assert outcome(tmp_path) == ({URL: NOTE % b"" + b"page"}, [(CACHE_NAME, "damaged-record")])


def test_a_cache_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    cache = write_cache(tmp_path / "other", [cache_member(URL + "secret", PAGE)])
    write_saved(tmp_path / "mirror", {"www.example.org/a.html": b"a"})
    (tmp_path / "mirror" / "hts-cache").symlink_to(cache.parent)
    pages, rejects = outcome(tmp_path / "mirror")
    assert list(pages) == [URL + "a.html"]
    assert rejects == [(CACHE_NAME, "unreadable")]
    (tmp_path / "mirror/www.example.org/a.html").unlink()
    with pytest.raises(InputError, match=r"found no HTML file .*; not read: hts-cache/new.zip \(leads to"):
        list(read_path(tmp_path / "mirror", LIMIT))


def test_a_cache_without_pages_and_no_files(tmp_path: Path) -> None:
    write_cache(tmp_path, [cache_member(URL, b"", 404)])
    with pytest.raises(InputError, match="found no HTML file"):
        outcome(tmp_path)
