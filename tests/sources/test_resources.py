"""Style sheets and pictures in archives and mirrors: found, read, and never from outside."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.archives import HTML, add_record, respond, write_saved, write_wacz
from twinlink.sources.resources import (
    MAX_RESOURCE_BYTES,
    MirrorResources,
    StoredResource,
    archive_files,
    find_resources,
    kind_of,
    read_resource,
)

CSS = [("Content-Type", "text/css; charset=utf-8")]
GIF = [("Content-Type", "image/gif")]
PIXEL = b"GIF89a\x01\x00\x01\x00"
SHEET = b"p { color: red }"


def everything(path: Path) -> dict[str, StoredResource | None]:
    return {found.url: read_resource(path, found.archive, found.offset) for found in find_resources(path)}


class TestArchives:
    def test_style_sheets_and_pictures_are_found_and_read(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc.gz"
        respond(path, "http://a.example/", b"<html>")
        respond(path, "http://A.example/s.css?v=1", SHEET, headers=CSS)
        respond(path, "http://a.example/p.gif", PIXEL, headers=GIF)
        add_record(
            path, "resource", "http://a.example/r.gif", PIXEL, warc_content_type="image/gif", Content_Type="image/gif"
        )
        found = everything(path)
        assert found["http://a.example/s.css?v=1"] == (SHEET, "text/css")
        assert found["http://a.example/p.gif"] == (PIXEL, "image/gif")
        assert "http://a.example/" not in found

    def test_content_encoding_is_undone(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc.gz"
        respond(path, "http://a.example/s.css", gzip.compress(SHEET), headers=[*CSS, ("Content-Encoding", "gzip")])
        assert everything(path) == {"http://a.example/s.css": (SHEET, "text/css")}

    @pytest.mark.parametrize(
        ("body", "headers", "status"),
        [
            (b"<html>not found", CSS, "200 OK"),
            (SHEET, CSS, "404 Not Found"),
            (SHEET, GIF, "200 OK"),
            (b"<svg onload=x>", [("Content-Type", "image/svg+xml")], "200 OK"),
            (PIXEL, HTML, "200 OK"),
            (PIXEL + bytes(MAX_RESOURCE_BYTES), GIF, "200 OK"),
            (gzip.compress(bytes(3 * MAX_RESOURCE_BYTES), mtime=0), [*CSS, ("Content-Encoding", "gzip")], "200 OK"),
        ],
        ids=["page", "status", "no-gif", "svg", "type", "large", "bomb"],
    )
    def test_other_things_are_not_handed_out(
        self, tmp_path: Path, body: bytes, headers: list[tuple[str, str]], status: str
    ) -> None:
        path = tmp_path / "a.warc.gz"
        respond(path, "http://a.example/x", body, status, headers)
        assert [found for found in everything(path).values() if found] == []

    def test_archives_in_wacz_files_are_read(self, tmp_path: Path) -> None:
        respond(tmp_path / "a.warc.gz", "http://a.example/s.css", SHEET, headers=CSS)
        path = write_wacz(tmp_path / "a.wacz", [tmp_path / "a.warc.gz"])
        assert everything(path) == {"http://a.example/s.css": (SHEET, "text/css")}

    def test_damage_and_what_is_gone_are_no_errors(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc.gz"
        respond(path, "http://a.example/s.css", SHEET, headers=CSS)
        (found,) = find_resources(path)
        assert read_resource(path, found.archive, found.offset + 1) is None
        assert read_resource(path, "other", found.offset) is None
        path.write_bytes(path.read_bytes()[:-20])
        assert read_resource(path, found.archive, found.offset) is None
        path.unlink()
        assert read_resource(path, found.archive, found.offset) is None
        assert list(find_resources(path)) == []

    def test_the_rest_is_left_out_when_the_caller_has_had_enough(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc.gz"
        for name in "abc":
            respond(path, f"http://a.example/{name}.css", SHEET, headers=CSS)
        enough = iter([False, False, True])
        found = list(find_resources(path, enough.__next__))
        assert [each.url for each in found] == ["http://a.example/a.css", "http://a.example/b.css"]

    def test_archives_of_a_source(self, tmp_path: Path) -> None:
        (tmp_path / "archives").mkdir()
        respond(tmp_path / "archives/a.warc.gz", "http://a.example/s.css", SHEET, headers=CSS)
        write_saved(tmp_path / "mirror", {"a.example/index.html": b"<html>"})
        assert [path.name for path in archive_files(tmp_path / "archives")] == ["a.warc.gz"]
        assert archive_files(tmp_path / "mirror") == []
        assert archive_files(tmp_path / "gone") == []


class TestMirrors:
    @pytest.fixture
    def mirror(self, tmp_path: Path) -> Path:
        files = {
            "www.example.org/index.html": b"<html><p>x",
            "www.example.org/s.css": SHEET,
            "www.example.org/v.css?v=2": b"b{}",
            "www.example.org/img/p.gif": PIXEL,
            "www.example.org/not.gif": b"<html>",
            "www.example.org/vector.svg": b"<svg/>",
            "secret.css": SHEET,
        }
        write_saved(tmp_path / "m", files)
        write_saved(tmp_path, {"outside.css": SHEET})
        return tmp_path / "m"

    def read(self, mirror: Path, url: str) -> StoredResource | None:
        return MirrorResources(mirror, "", 10_000).read(url)

    def test_files_beside_the_pages_are_read(self, mirror: Path) -> None:
        assert self.read(mirror, "http://www.example.org/s.css") == (SHEET, "text/css")
        assert self.read(mirror, "http://www.example.org/s.css?any=1") == (SHEET, "text/css")
        assert self.read(mirror, "http://www.example.org/v.css?v=2") == (b"b{}", "text/css")
        assert self.read(mirror, "http://www.example.org/img/p.gif") == (PIXEL, "image/gif")

    @pytest.mark.parametrize(
        "url",
        [
            "http://www.example.org/not.gif",
            "http://www.example.org/vector.svg",
            "http://www.example.org/index.html",
            "http://www.example.org/none.css",
            "http://www.example.org/img/",
            "http://other.example.org/s.css",
            "http://www.example.org/%2e%2e/secret.css",
            "http://www.example.org/..%2f..%2foutside.css",
            "http://www.example.org/%2e%2e%2f%2e%2e%2foutside.css",
            "http://www.example.org//etc/passwd",
            "http://www.example.org/%2fetc%2fpasswd",
            "http://www.example.org/s.css%00.gif",
            "http://www.example.org/x?/../../../outside.css",
            "http://www.example.org/x?%2f..%2foutside.css",
            "file:///etc/passwd",
        ],
    )
    def test_nothing_else_is(self, mirror: Path, url: str) -> None:
        assert self.read(mirror, url) is None

    def test_links_out_of_the_mirror_are_not_followed(self, mirror: Path, tmp_path: Path) -> None:
        (mirror / "www.example.org/link.css").symlink_to(tmp_path / "outside.css")
        (mirror / "www.example.org/folder").symlink_to(tmp_path)
        (mirror / "www.example.org/inside.css").symlink_to(mirror / "www.example.org/s.css")
        assert self.read(mirror, "http://www.example.org/link.css") is None
        assert self.read(mirror, "http://www.example.org/folder/outside.css") is None
        assert self.read(mirror, "http://www.example.org/inside.css") == (SHEET, "text/css")

    def test_folder_without_addresses_has_nothing(self, tmp_path: Path) -> None:
        assert self.read(tmp_path / "gone", "http://www.example.org/s.css") is None
        write_saved(tmp_path / "m", {"a/b.html": b"<html>"})
        assert self.read(tmp_path / "m", "http://www.example.org/s.css") is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"GIF87a....", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x1cftypavif....", "image/avif"),
        (b"\x00\x00\x01\x00\x01\x00....", "image/x-icon"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"<!DOCTYPE html>", None),
        (b"%PDF-1.4", None),
        (b"", None),
    ],
)
def test_pictures_are_recognised_by_their_first_bytes(content: bytes, kind: str | None) -> None:
    assert kind_of(content, "image/png") == kind
    assert kind_of(content, "") == kind
    assert kind_of(content, "text/html") is None


@given(st.binary(max_size=40), st.sampled_from(["text/css", "image/gif", "", "text/html", "image/svg+xml"]))
def test_no_other_type_is_ever_told(content: bytes, claimed: str) -> None:
    allowed = {None, "text/css", "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/x-icon"}
    kind = kind_of(content, claimed)
    assert kind in allowed
    assert kind != "text/css" or (claimed == "text/css" and not content.lstrip().startswith(b"<"))
