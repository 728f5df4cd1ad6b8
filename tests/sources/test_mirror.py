"""Folders of saved pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.errors import InputError
from twinlink.pages.parser import parse_page
from twinlink.sources import files
from twinlink.sources.addresses import Addresses, host_folders, reconcile, recorded_address
from twinlink.sources.documents import Document
from twinlink.sources.mirror import read_mirror
from twinlink.sources.reading import source_files
from twinlink.tables import Reject
from twinlink.urls import normalise

BASE = "http://www.example.org/"
LIMIT = 10_000
EXAMPLE = Addresses({}, BASE)


def save(folder: Path, files: dict[str, str]) -> Path:
    """Write files: path → text."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def read(folder: Path, base_url: str = BASE) -> list[Document | Reject]:
    return list(read_mirror(folder, base_url, LIMIT))


def pages(folder: Path, base_url: str = BASE) -> dict[str, str]:
    """Return the pages: address → file."""
    return {
        item.url: item.source for item in read(folder, base_url) if isinstance(item, Document) and not item.location
    }


def redirects(folder: Path, base_url: str = BASE) -> dict[str, str]:
    return {item.url: item.location for item in read(folder, base_url) if isinstance(item, Document) and item.location}


def rejects(folder: Path, base_url: str = BASE) -> list[tuple[str, str]]:
    return [(item.url, item.reason) for item in read(folder, base_url) if isinstance(item, Reject)]


# ---- addresses


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.html", ["a.html"]),
        ("en/dir/a.html", ["en/dir/a.html"]),
        ("index.html", ["index.html", ""]),
        ("en/index.html", ["en/index.html", "en/", "en"]),
        ("en/Default.ASP", ["en/Default.ASP", "en/", "en"]),
        ("en/page", ["en/page"]),
        ("a b.html", ["a%20b.html"]),
        ("a#b.html", ["a%23b.html"]),
        ("100%.html", ["100%25.html"]),
        ("a%20b.html", ["a%20b.html"]),  # wget leaves some escapes in the name
        ("中文.html", ["%E4%B8%AD%E6%96%87.html"]),
        ("a\\b\nc.html", ["a%5Cb%0Ac.html"]),
        ("a(1),b;c.html", ["a(1),b;c.html", "a(1)%2Cb%3Bc.html"]),
        ("a:b/index.html", ["a:b/index.html", "a:b/", "a:b", "a%3Ab/index.html", "a%3Ab/", "a%3Ab"]),
        ("C++@$&=", ["C++@$&=", "C%2B%2B%40%24%26%3D"]),
        ("page.php?id=3", ["page.php?id=3", "page.php%3Fid=3", "page.php%3Fid%3D3"]),
        (
            "page.php?id=3.html",
            ["page.php?id=3", "page.php?id=3.html", "page.php%3Fid=3.html", "page.php%3Fid%3D3.html"],
        ),
        (
            "page.php@id=3.html",
            ["page.php?id=3", "page.php?id=3.html", "page.php@id=3.html", "page.php%40id%3D3.html"],
        ),
        (
            "page?a=1&b[]=2%2F3.html",
            [
                "page?a=1&b[]=2%2F3",
                "page?a=1&b[]=2%2F3.html",
                "page%3Fa=1&b[]=2%2F3.html",
                "page%3Fa%3D1%26b[]%3D2%2F3.html",
            ],
        ),
        (
            "index.php?lang=tc.html",
            ["index.php?lang=tc", "index.php?lang=tc.html", "index.php%3Flang=tc.html", "index.php%3Flang%3Dtc.html"],
        ),
        ("page.php.html", ["page.php", "page.php.html"]),
        ("v1.2.html", ["v1.2.html"]),
        ("someone@example.org.html", ["someone@example.org.html", "someone%40example.org.html"]),
        ("page?.html", ["page?", "page?.html", "page%3F.html"]),
    ],
)
def test_addresses_of_files(path: str, expected: list[str]) -> None:
    assert EXAMPLE.of(path.split("/")) == [BASE + address for address in expected]


def test_one_index_file_stands_for_the_folder() -> None:
    siblings = {"index.htm", "index.html", "default.htm"}
    assert len(EXAMPLE.of(["en", "index.html"], siblings)) == 3
    assert len(EXAMPLE.of(["en", "index.htm"], siblings)) == 1
    assert len(EXAMPLE.of(["en", "default.htm"], siblings)) == 1


@pytest.mark.parametrize(
    ("name", "beside", "address"),
    [
        ("page.pl.html", "page.en.html", "page.pl.html"),
        ("page.PL.html", "page.html", "page.PL.html"),
        ("page.pl.html", "other.en.html", "page.pl"),
        ("page.pl.html", "page.pl.orig", "page.pl"),
        ("page.pl.htm", "page.de.html", "page.pl"),
        ("page.php.html", "page.en.html", "page.php"),
    ],
)
def test_polish_versions_of_pages_are_no_saved_scripts(name: str, beside: str, address: str) -> None:
    assert EXAMPLE.of([name], {name, beside})[0] == BASE + address


def test_a_mirror_keeps_the_addresses_of_polish_pages(tmp_path: Path) -> None:
    names = ["page.en.html", "page.pl.html", "script.pl.html"]
    found = pages(save(tmp_path, dict.fromkeys(names, "<p>A page</p>")))
    assert sorted(found) == [BASE + "page.en.html", BASE + "page.pl.html", BASE + "script.pl"]


@pytest.mark.parametrize("name", ["index.cgi", "index.php3", "default.stm"])
def test_each_default_document_stands_for_its_folder(name: str) -> None:
    assert f"{BASE}en/" in EXAMPLE.of(["en", name])
    assert f"{BASE}en/" not in EXAMPLE.of(["en", name], {name, "index.html"})


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=20).map("x".__add__)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_every_path_has_an_address_below_its_base(parts: list[str]) -> None:
    addresses = EXAMPLE.of(parts)
    assert addresses
    for address in addresses:
        assert address.startswith(BASE)
        assert normalise(address) == address


@pytest.mark.parametrize(
    ("names", "base_url", "expected"),
    [
        (["www.example.org", "css"], "", {"www.example.org": "www.example.org"}),
        (["www.info.gov.hk", "sc.info.gov.hk"], "", {n: n for n in ("www.info.gov.hk", "sc.info.gov.hk")}),
        (["WWW.Example.ORG"], "", {"WWW.Example.ORG": "www.example.org"}),
        (
            ["localhost:8000", "127.0.0.1+8080"],
            "",
            {"localhost:8000": "localhost:8000", "127.0.0.1+8080": "127.0.0.1:8080"},
        ),
        (["en", "page_files", "v1.2", "jquery.ui", "com", "a.b.c"], "", {}),
        (["www.example.org"], "http://www.example.org/", {"www.example.org": "www.example.org"}),
        (["www.example.org"], "http://other.example/", {}),
        (["www.example.org+8000"], "http://www.example.org:8000/en/", {"www.example.org+8000": "www.example.org:8000"}),
    ],
)
def test_host_folders(names: list[str], base_url: str, expected: dict[str, str]) -> None:
    assert host_folders(names, base_url) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<html>\n<!-- Mirrored from www.example.org/en/a.php?id=3&amp;x=1 by HTTrack Website Copier/3.x [XR] -->",
            "http://www.example.org/en/a.php?id=3&x=1",
        ),
        ("<!-- Mirrored from https://www.example.org/ by HTTrack -->", "https://www.example.org/"),
        ("<!-- saved from url=(0026)https://www.example.org/en -->", "https://www.example.org/en"),
        ("<!-- saved from url=(0014)about:internet -->", None),
        ("<!-- Mirrored from hand -->", None),
        ("x" * 50_000 + "<!-- Mirrored from www.example.org/ by HTTrack -->", None),
        ("", None),
    ],
)
def test_recorded_address(markup: str, expected: str | None) -> None:
    assert recorded_address(markup.encode()) == expected


def test_reconcile() -> None:
    file, folder = BASE + "en/a.html", BASE + "en/"
    assert reconcile([file], None) == [file]
    assert reconcile([], None) == []
    assert reconcile([], BASE) == [BASE]
    assert reconcile([file], file) == [file]
    assert reconcile([file, folder], BASE + "en/a.php?x=1") == [BASE + "en/a.php?x=1", file]
    assert reconcile([file, folder], BASE + "en") == [file, BASE + "en"]  # from there, links would lead elsewhere


# ---- folders


def test_a_plain_folder(tmp_path: Path) -> None:
    save(tmp_path, {"b.html": "b", "a/z.htm": "z", "a.html": "a", "index.html": "i", "x.css": "c", "i.png": "p"})
    assert pages(tmp_path) == {BASE + "a.html": "a.html", BASE + "b.html": "b.html"} | {
        BASE + "index.html": "index.html",
        BASE + "a/z.htm": "a/z.htm",
    }
    assert redirects(tmp_path) == {BASE: BASE + "index.html"}
    assert rejects(tmp_path) == []
    document = read(tmp_path)[0]
    assert document == Document(BASE + "a.html", 200, "", "", "", b"a", None, "a.html", -1)


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    names = ["b.html", "a.html", "z/a.html", "c/b.html", "c/a.html"]
    save(tmp_path, dict.fromkeys(names, "x"))
    assert list(pages(tmp_path).values()) == ["a.html", "b.html", "c/a.html", "c/b.html", "z/a.html"]


@pytest.mark.parametrize(
    "base_url", ["http://www.example.org/en", "http://www.example.org/en/", "HTTP://www.example.org:80/en?x#y"]
)
def test_the_base_is_a_folder(tmp_path: Path, base_url: str) -> None:
    save(tmp_path, {"a.html": "a"})
    assert list(pages(tmp_path, base_url)) == [BASE + "en/a.html"]


@pytest.mark.parametrize("base_url", ["", BASE, BASE + "en/"])
def test_a_wget_mirror(tmp_path: Path, base_url: str) -> None:
    files = {
        "www.example.org/index.html": "<a href='en/page.php%3Fid=1.html'>one</a>",
        "www.example.org/en/page.php?id=1.html": "1",
        "static.example.org/x.html": "x",
        "stray.html": "s",
    }
    save(tmp_path, files)
    assert pages(tmp_path, base_url) == {
        "http://static.example.org/x.html": "static.example.org/x.html",
        BASE + "index.html": "www.example.org/index.html",
        BASE + "en/page.php?id=1": "www.example.org/en/page.php?id=1.html",
    }
    assert rejects(tmp_path, base_url) == [("stray.html", "no-address")]


def test_links_of_a_converted_mirror_resolve(tmp_path: Path) -> None:
    files = {
        "www.example.org/index.html": "<a href='en/page.php%3Fid=1.html'>1</a><a href='tc/'>2</a><a href=/tc>3</a>",
        "www.example.org/en/page.php?id=1.html": "1",
        "www.example.org/tc/index.html": "tc",
    }
    save(tmp_path, files)
    start = next(item for item in read(tmp_path, "") if isinstance(item, Document))
    known = redirects(tmp_path, "")
    assert [known[link.url] for link in parse_page(start.body, start.url).links] == [
        BASE + "en/page.php?id=1",
        BASE + "tc/index.html",
        BASE + "tc/index.html",
    ]


def test_the_scheme_is_that_which_the_pages_use(tmp_path: Path) -> None:
    save(tmp_path, {"www.example.org/a.html": "<a href=https://www.example.org/b.html>b</a>"})
    assert list(pages(tmp_path, "")) == ["https://www.example.org/a.html"]


def test_the_folder_itself_may_be_the_host(tmp_path: Path) -> None:
    folder = tmp_path / "www.example.org"
    save(folder, {"en/a.html": "a"})
    assert list(pages(folder, "")) == [BASE + "en/a.html"]


def test_an_httrack_mirror(tmp_path: Path) -> None:
    note = "<!-- Mirrored from www.example.org/{} by HTTrack Website Copier/3.x -->"
    files = {
        "index.html": "<title>Local index - HTTrack</title>",
        "hts-log.txt": "log",
        "hts-cache/new.txt": "cache",
        "hts-cache/doit.html": "no",
        "www.example.org/index.html": note.format("") + "<a href='page3f2b.html'>3</a><a href='news.html'>news</a>",
        "www.example.org/page3f2b.html": note.format("page.php?id=3"),
        "www.example.org/news.html": note.format("news/"),  # links in it are relative to the file
        "www.example.org/plain.html": "no note",
    }
    save(tmp_path, files)
    assert pages(tmp_path, "") == {
        BASE: "www.example.org/index.html",
        BASE + "news.html": "www.example.org/news.html",
        BASE + "page.php?id=3": "www.example.org/page3f2b.html",
        BASE + "plain.html": "www.example.org/plain.html",
    }
    assert redirects(tmp_path, "") == {
        BASE + "index.html": BASE,
        BASE + "page3f2b.html": BASE + "page.php?id=3",
        BASE + "news/": BASE + "news.html",
    }
    assert rejects(tmp_path, "") == []


def test_pages_before_their_links_were_converted(tmp_path: Path) -> None:
    files = {
        "a.html": "converted", "a.html.orig": "<html>a", "b.php?id=1.html": "converted", "b.php?id=1.orig": "<html>b",
        "c.html": "converted", "c.orig": "<html>c", "d.html": "d", "e.html.orig": "<html>alone",
    }  # fmt: skip
    save(tmp_path, files)
    bodies = {item.url: item.body for item in read(tmp_path) if isinstance(item, Document) and not item.location}
    assert bodies == {
        BASE + "a.html": b"<html>a",
        BASE + "b.php?id=1": b"<html>b",
        BASE + "c": b"<html>c",  # its ending was added, or the original were c.html.orig
        BASE + "d.html": b"d",
    }
    assert redirects(tmp_path)[BASE + "c.html"] == BASE + "c"
    assert rejects(tmp_path) == []


BARE = {
    "index.html": "<a href='/news'>n</a><a href='/about/team'>t</a><a href='/about'>a</a><a href='/x.html'>x</a>",
    "news.html": "<a href=/>home</a>",
    "about.html": "a",
    "about/team.html": "t",
    "x.html": "x",
}


def test_endings_that_pages_did_not_have(tmp_path: Path) -> None:
    save(tmp_path / "www.example.org", BARE)
    assert pages(tmp_path, "") == {
        BASE + "index.html": "www.example.org/index.html",
        BASE + "news": "www.example.org/news.html",
        BASE + "about": "www.example.org/about.html",
        BASE + "about/team": "www.example.org/about/team.html",
        BASE + "x": "www.example.org/x.html",
    }
    known = redirects(tmp_path, "")
    assert known[BASE + "x.html"] == BASE + "x"
    assert known[BASE] == BASE + "index.html"


@pytest.mark.parametrize(
    "links",
    [
        "<a href=news.html>n</a><a href=about.html>a</a><a href=/news>n</a>",  # more name it with its ending
        "<a href=/gone>g</a><a href='http://other.example/news'>o</a><a href='/news?a=1'>q</a><a href=/about>f</a>",
        "<a href='/x/..%2fnews'>n</a><a href='/%00'>z</a>" + f"<a href='/{'x' * 900}'>l</a>",
    ],
)
def test_endings_that_pages_did_have(tmp_path: Path, links: str) -> None:
    save(tmp_path, {**BARE, "index.html": links, "about/index.html": "folder"})
    (tmp_path / "about.html").unlink()
    assert BASE + "news.html" in pages(tmp_path)


def test_notes_in_the_pages_are_enough(tmp_path: Path) -> None:
    note = "<!-- saved from url=(0023)http://www.example.org/{} -->"
    save(tmp_path, {"one.html": note.format("1"), "two.html": "nothing"})
    assert pages(tmp_path, "") == {BASE + "1": "one.html"}
    assert rejects(tmp_path, "") == [("two.html", "no-address")]


def test_what_is_a_page(tmp_path: Path) -> None:
    files = {
        "a.php": "no markup",
        "b.ASPX": "no markup",
        "c": "<!DOCTYPE html><p>c",
        "d.do": "<html>",
        "e": "no markup",
        "f.xyz": "no markup",
        "g.css?v=1": "<html>",
        "h.html.orig": "<html>",
        "robots.txt": "User-agent: *",
        "sitemap.xml": "<urlset>",
        "empty.html": "",
    }
    save(tmp_path, files)
    assert list(pages(tmp_path).values()) == ["a.php", "b.ASPX", "c", "d.do", "empty.html"]
    assert rejects(tmp_path) == []


def test_documents_are_counted(tmp_path: Path) -> None:
    save(tmp_path, {"a.html": "a", "b.pdf": "%PDF", "c.DOC": "x", "notes.txt": "x", "d.jpg": "x"})
    assert rejects(tmp_path) == [(BASE + name, "not-html") for name in ("b.pdf", "c.DOC", "notes.txt")]


def test_the_largest_page(tmp_path: Path) -> None:
    save(tmp_path, {"a.html": "x" * LIMIT, "b.html": "x" * (LIMIT + 1), "c.jpg": "x" * (LIMIT + 1)})
    assert list(pages(tmp_path)) == [BASE + "a.html"]
    assert rejects(tmp_path) == [(BASE + "b.html", "too-large")]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = save(tmp_path / "outside", {"secret.html": "s"})
    folder = save(tmp_path / "mirror", {"a.html": "a", "dir/b.html": "b"})
    (folder / "inside.html").symlink_to("a.html")
    (folder / "secret.html").symlink_to(outside / "secret.html")
    (folder / "broken.html").symlink_to("nowhere")
    (folder / "circle.html").symlink_to("circle.html")
    (folder / "tree").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    assert list(pages(folder).values()) == ["a.html", "inside.html", "dir/b.html"]
    unreadable = [BASE + "broken.html", BASE + "circle.html", BASE + "secret.html", "tree"]
    assert rejects(folder) == [(name, "unreadable") for name in unreadable]


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Make mirrors whose pages lie up to 1,500 folders deep; what else goes through such folders cannot remove them."""
    made: list[int] = []

    def make(name: str) -> Path:
        root = tmp_path / "deep"
        root.mkdir()
        made.append(os.open(root, os.O_RDONLY))
        for number in range(1500):
            os.mkdir(name, dir_fd=made[-1])
            made.append(os.open(name, os.O_RDONLY, dir_fd=made[-1]))
            if number in {0, 99, 899, 1499}:
                with os.fdopen(os.open("a.html", os.O_WRONLY | os.O_CREAT, dir_fd=made[-1]), "wb") as page:
                    page.write(b"a")
        return root

    yield make
    for folder in reversed(made):
        for each in os.listdir(folder):  # noqa: PTH208  # a descriptor, for the path is too long
            (os.rmdir if each != "a.html" else os.unlink)(each, dir_fd=folder)
        os.close(folder)


def test_a_mirror_of_1500_folders_in_each_other_is_read(deep: Callable[[str], Path]) -> None:
    folder = deep("d")
    assert [page.count("/") for page in pages(folder).values()] == [1, 100, 900]
    (source, reason) = rejects(folder)[0]
    assert (source.count("/"), reason) == (1500, "no-address")  # longer than addresses are
    assert len(source_files(folder)) == 4


def test_folders_deeper_than_a_path_can_be_long_are_counted(deep: Callable[[str], Path]) -> None:
    folder = deep("a-folder-of-a-site")
    assert [page.count("/") for page in pages(folder).values()] == [1, 100]
    (found,) = [item for item in read(folder) if isinstance(item, Reject)]
    assert (found.reason, found.detail) == ("unreadable", "File name too long")
    assert len(source_files(folder)) == 2


def test_what_cannot_be_opened_is_rejected(tmp_path: Path) -> None:
    save(tmp_path, {"a.html": "a"})
    os.mkfifo(tmp_path / "pipe.html")  # reading it would wait for ever
    assert rejects(tmp_path) == [(BASE + "pipe.html", "unreadable")]


def test_a_file_without_permission_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, {"a.html": "a", "b.html": "b"})

    def refuse(path: str, *args: str, **options: int) -> object:
        if path.endswith("b.html"):
            raise PermissionError(13, "Permission denied")
        return open(path, *args, **options)  # noqa: PTH123

    monkeypatch.setattr(files, "open", refuse, raising=False)  # tests may run as root, whom no permission stops
    items = read(tmp_path)
    assert items[-1] == Reject(BASE + "b.html", "ingest", "unreadable", "Permission denied")


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode("中.html".encode("big5"))).write_text("x")
    assert pages(tmp_path) == {BASE + "%A4%A4.html": "\ufffd\ufffd.html"}


def test_folder_without_known_addresses_is_refused(tmp_path: Path) -> None:
    save(tmp_path, {"en/a": "<html>a"})
    with pytest.raises(InputError, match="--base-url"):
        read(tmp_path, "")
    save(tmp_path, {"en/a.html": "a"})
    with pytest.raises(InputError, match="--base-url"):
        read(tmp_path, "")


@pytest.mark.parametrize("base_url", ["www.example.org", "ftp://example.org/", "http://"])
def test_a_base_that_is_no_address(tmp_path: Path, base_url: str) -> None:
    save(tmp_path, {"a.html": "a"})
    with pytest.raises(InputError, match="--base-url"):
        read(tmp_path, base_url)


def test_a_folder_without_pages(tmp_path: Path) -> None:
    save(tmp_path, {"a.png": "a", "notes.dat": "no markup", "b.pdf": "%PDF"})
    for base_url in (BASE, ""):  # nobody is asked for the address of nothing
        with pytest.raises(InputError, match="found no HTML file"):
            read(tmp_path, base_url)
    with pytest.raises(InputError, match="expected a folder"):
        read(tmp_path / "missing")
    with pytest.raises(InputError, match="expected a folder"):
        read(tmp_path / "a.png")
