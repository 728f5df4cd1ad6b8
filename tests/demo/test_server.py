"""The demo server has the manners that the crawler must cope with."""

from __future__ import annotations

import gzip
import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from w3lib.encoding import html_to_unicode

from twinlink.demo import serve, write_site
from twinlink.demo.server import REGISTER_BYTES
from twinlink.errors import InputError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("served") / "demo", pages=60).folder


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[str]:
    with serve(folder) as url:
        yield url


class Reply:
    def __init__(self, base: str, target: str, method: str = "GET", **headers: str) -> None:
        connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=10)
        connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        self.status, self.version, self.headers, self.body = (
            response.status,
            response.version,
            response.headers,
            response.read(),
        )
        connection.close()


def urls(folder: Path, start: str) -> list[str]:
    return [url for url in (folder / "urls.txt").read_text().split() if url.startswith(start)]


def test_serves_every_file_as_it_is(folder, base):
    for path in (folder / "site").rglob("*"):
        if path.is_file():
            reply = Reply(base, f"/{path.relative_to(folder / 'site').as_posix()}")
            assert (reply.status, reply.body) == (200, path.read_bytes())


def test_speaks_http_1_1_and_keeps_the_connection(base):
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=10)
    for _ in range(3):
        connection.request("GET", "/en/index.html")
        response = connection.getresponse()
        assert response.version == 11
        assert response.read()
        sock = connection.sock
        assert sock is not None  # http.client drops the socket when the server closes
    connection.close()


def test_content_types(folder, base):
    assert Reply(base, "/en/index.html").headers["Content-Type"] == "text/html; charset=utf-8"
    assert Reply(base, "/robots.txt").headers["Content-Type"] == "text/plain"
    assert Reply(base, "/sitemap.xml").headers["Content-Type"] == "application/xml"
    (pdf, *_) = sorted((folder / "site/files").glob("*.pdf"))
    assert Reply(base, f"/files/{pdf.name}").headers["Content-Type"] == "application/pdf"


def test_big5_pages_say_so_in_the_page_alone(folder, base):
    pages = [url for url in urls(folder, "/environment/") if url.endswith("_c.htm")]
    for url in pages:
        reply = Reply(base, url)
        assert reply.headers["Content-Type"] == "text/html"
        assert html_to_unicode(reply.headers["Content-Type"], reply.body)[1] == reply.body.decode("big5hkscs")
    assert pages


def test_gbk_pages_say_gb2312_in_the_header(folder, base):
    pages = [url for url in urls(folder, "/business/") if url.endswith("_c.htm")]
    for url in pages:
        reply = Reply(base, url)
        assert reply.headers["Content-Type"] == "text/html; charset=gb2312"
        assert html_to_unicode(reply.headers["Content-Type"], reply.body)[1] == reply.body.decode("gbk")
    assert pages


@pytest.mark.parametrize(
    ("target", "status", "location"),
    [
        ("/", 302, "/en/index.html"),
        ("/go/round", 302, "/go/again"),
        ("/go/again", 302, "/go/round"),
        ("/en/go/1", 302, "/en/old/1.html"),
        ("/tc/go/1?x=1", 302, "/tc/old/1.html"),
    ],
)
def test_redirects(base, target, status, location):
    reply = Reply(base, target)
    assert (reply.status, reply.headers["Location"], reply.body) == (status, location, b"")


def test_old_addresses_move_for_good_or_for_now_and_lead_to_pages(folder, base):
    known = urls(folder, "/")
    statuses = set()
    for number in range(1, 11):
        for side in ("en", "tc"):
            reply = Reply(base, f"/{side}/old/{number}.html")
            statuses.add(reply.status)
            assert reply.headers["Location"] in known
    assert statuses == {301, 302}


@pytest.mark.parametrize(
    "target",
    [
        "/nope",
        "/en/",
        "/en",
        "/en/archive/2001/3.html",
        "/../meta.json",
        "/%2e%2e/meta.json",
        "/..%2fmeta.json",
        "//etc/passwd",
    ],
)
def test_what_is_not_there_is_404_and_nothing_leads_out_of_the_folder(base, target):
    reply = Reply(base, target)
    assert reply.status == 404
    assert b"Not found" in reply.body


def test_gzip_for_those_who_accept_it(folder, base):
    plain = (folder / "site/en/index.html").read_bytes()
    reply = Reply(base, "/en/index.html", Accept_Encoding="gzip, deflate")
    assert reply.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(reply.body) == plain
    assert Reply(base, "/en/index.html").headers["Content-Encoding"] is None


def test_head_tells_the_length_and_sends_nothing(folder, base):
    reply = Reply(base, "/tc/index.html", method="HEAD")
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["Content-Length"]) == (folder / "site/tc/index.html").stat().st_size


def test_large_page_is_larger_than_a_crawl_takes_on_the_wire_or_after(base):
    packed = Reply(base, "/en/records/register.html", Accept_Encoding="gzip")
    assert len(packed.body) < 2**20
    assert len(gzip.decompress(packed.body)) >= REGISTER_BYTES > 10 * 2**20
    plain = Reply(base, "/tc/records/register.html", Accept_Encoding="gzip")
    assert plain.headers["Content-Encoding"] is None
    assert len(plain.body) == int(plain.headers["Content-Length"]) >= REGISTER_BYTES
    assert plain.body.decode().endswith("</html>\n")


@pytest.mark.parametrize(("side", "word"), [("en", "March 2026"), ("tc", "2026年3月")])
def test_calendar_leads_on_and_on(base, side, word):
    page = Reply(base, f"/{side}/calendar?month=2026-03").body.decode()
    assert word in page
    assert set(re.findall(r"month=(\d{4}-\d\d)", page)) == {"2026-02", "2026-04"}
    month = "2026-11"
    for _ in range(40):
        html = Reply(base, f"/{side}/calendar?month={month}").body.decode()
        following = max(re.findall(r"month=(\d{4}-\d\d)", html))
        assert following > month
        month = following
    assert month == "2030-03"


def test_calendar_starts_somewhere_and_has_the_menu(folder, base):
    page = Reply(base, "/en/calendar").body.decode()
    assert set(re.findall(r"month=(\d{4}-\d\d)", page)) == {"2025-12", "2026-02"}
    assert "/en/transport/index.html" in page
    assert page.count("<tr>") == 31


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "26-01", "", "0001-01", "9999-01", "2026-1", "x"])
def test_calendar_has_no_such_month(base, month):
    assert Reply(base, f"/en/calendar?month={month}x").status == 404
    assert Reply(base, f"/en/calendar?month={month}").status == (404 if month else 200)


def test_client_that_hangs_up_is_no_news(folder, capfd):
    with serve(folder) as base:
        host, port = urlsplit(base).netloc.split(":")
        for _ in range(3):
            with socket.create_connection((host, int(port)), timeout=10) as client:
                client.sendall(b"GET /tc/records/register.html HTTP/1.1\r\nHost: x\r\n\r\n")
                client.recv(10)
        assert Reply(base, "/en/index.html").status == 200
    assert capfd.readouterr() == ("", "")


def test_stops_serving_when_the_context_ends(folder):
    with serve(folder) as base:
        assert base.startswith("http://127.0.0.1:")
    with pytest.raises(OSError, match="refused"):
        Reply(base, "/")


def test_port_can_be_chosen_and_one_in_use_is_refused(folder):
    with serve(folder) as base:
        port = urlsplit(base).port
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1"), serve(folder, port):
            pass
    with serve(folder, port) as again:
        assert again == base


def test_folder_without_a_demo_site_is_refused(tmp_path):
    with pytest.raises(InputError, match="no demo site"), serve(tmp_path):
        pass
