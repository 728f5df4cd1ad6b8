"""Servers that mean harm, or are broken: whatever they send costs little, has a reason, and the crawl goes on."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import brotli
import pytest
from backports import zstd
from twisted.internet.address import IPv4Address, IPv6Address

from tests.loopback import Answer, Server, links, redirect, serving
from tests.talking import Talk, endless, talking
from twinlink.config import CrawlSettings
from twinlink.errors import CrawlError
from twinlink.spiders import crawling as crawl_module
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.guard import (
    BLOCKED_PORTS,
    MAX_HEADER_BYTES,
    AddressGuard,
    blocked_port,
    guarded_resolver,
    is_public,
)

BIG = b"<p>" + b"x" * 3_000_000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def packed(body: bytes, encoding: str) -> Answer:
    return Answer(body, headers={"Content-Encoding": encoding})


HOSTILE: dict[str, Answer] = {
    "/gzip": packed(gzip.compress(BIG), "gzip"),
    "/deflate": packed(zlib.compress(BIG), "deflate"),
    "/raw-deflate": packed(raw_deflate(BIG), "deflate"),
    "/br": packed(brotli.compress(BIG, quality=4), "br"),
    "/zstd": packed(zstd.compress(BIG), "zstd"),
    "/twice": packed(gzip.compress(gzip.compress(BIG)), "gzip, gzip"),
    "/many-members": packed(gzip.compress(b"<p>" + b"x" * 9_000) * 100, "gzip"),
    "/damaged": packed(gzip.compress(b"<p>" + b"x" * 500)[:15] + b"\xff" * 50, "gzip"),
    "/no-gzip": packed(b"<p>plain after all", "gzip"),
    "/unknown": packed(b"\x01\x02\x03", "x-secret"),
    "/file": redirect("file:///etc/passwd"),
    "/ftp": redirect("ftp://127.0.0.1/x"),
    "/data": redirect("data:text/html,<p>hello"),
    "/script": redirect("javascript:alert(1)"),
    "/metadata": redirect("http://169.254.169.254/latest/meta-data/"),
    "/broken-location": redirect("http://["),
    "/image-as-html": Answer(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8),
    "/html-as-image": Answer(b"<p>page", type="image/png"),
    "/nul": Answer(b"\0" * 5_000 + b"<p>after"),
    "/bad-date": Answer(b"<p>page", headers={"Last-Modified": "yesterday", "Date": "\xff"}),
    "/deep": Answer(b"<div>" * 19_000),
    "/links": Answer(b"".join(b"<a href=%d.pdf>" % n for n in range(6_000))),
    "/last": Answer(b"<p>still there"),
}
EXPECTED = {
    **dict.fromkeys(("/gzip", "/deflate", "/raw-deflate", "/br", "/zstd", "/twice", "/many-members"), "too-large"),
    **dict.fromkeys(("/unknown", "/damaged"), "bad-encoding"),
    "/html-as-image": "not-html",
}


def test_bombs_odd_types_and_redirects_to_other_schemes(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return links(*HOSTILE) if path == "/" else HOSTILE[path]

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_page_bytes=200_000, timeout=10, retries=0))
        rejects = {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(tmp_path).rejects()}
    documents = {path for path in rejects if path.endswith(".pdf")}
    assert len(documents) == 6_000
    assert {path: reason for path, reason in rejects.items() if path not in documents} == EXPECTED
    moved = {path for path, found in HOSTILE.items() if found.status == 302}
    assert progress.redirects == len(moved)
    assert progress.fetched == 1 + len(HOSTILE) - len(moved) - len(EXPECTED)
    assert progress.queued == 0


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
TALKS: dict[str, tuple[Talk, str]] = {
    "/slow-head": (endless(OK, b"X", 0.1), "timeout"),
    "/slow-headers": (endless(OK, b"X-A: b\r\n", 0.1), "timeout"),
    "/slow-body": (endless(OK + b"Content-Length: 5000\r\n\r\n", b"x", 0.1), "timeout"),
    "/endless": (endless(OK + b"\r\n", b"x" * 5_000, 0.0), "too-large"),
    "/endless-chunks": (endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n" * 99, 0.0), "too-large"),
    "/header-flood": (endless(OK, b"X-A: " + b"b" * 500 + b"\r\n", 0.0), "too-large"),
    "/header-line": (endless(OK, b"b" * 9_000, 0.0), "connection"),
    "/continue": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, 0.0), "too-large"),
    "/huge-length": (endless(OK + b"Content-Length: 99999999999999999999\r\n\r\n", b"x" * 5_000, 0.0), "too-large"),
    "/negative-length": (endless(OK + b"Content-Length: -5\r\n\r\n", b"x", 0.1), "connection"),
    "/no-http": (endless(b"SSH-2.0-OpenSSH_9.2\r\n", b"x", 0.1), "connection"),
    "/nothing": (lambda connection: time.sleep(0), "connection"),
}


def test_answers_that_do_not_end(tmp_path: Path) -> None:
    settings = CrawlSettings(max_page_bytes=100_000, timeout=2, retries=0, concurrency=20)
    with talking({path: talk for path, (talk, _) in TALKS.items()}) as url:
        progress = crawl([url], tmp_path, settings)
        found = {reject.url.removeprefix(url): reject.reason for reject in FrontierReader(tmp_path).rejects()}
    assert found == {path: reason for path, (_, reason) in TALKS.items()}
    assert progress.fetched == 2  # the start page and /fine


def test_headers_that_are_many_but_end_are_taken(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(OK + b"X-A: b\r\n" * (MAX_HEADER_BYTES // 16) + b"Content-Length: 3\r\n\r\n<p>")

    with talking({"/": talk}) as url:
        assert crawl([url], tmp_path, CrawlSettings(sitemaps=False)).fetched == 1


def test_a_site_cannot_lead_robots_txt_to_a_private_address(tmp_path: Path) -> None:
    with ExitStack() as stack:
        private = ("169.254.169.254", "[fe80::1]", "10.1.2.3")
        targets = [redirect(f"http://{address}/robots.txt") for address in private]
        sites = [stack.enter_context(serving(lambda path: links(), robots=target)) for target in targets]
        with pytest.raises(CrawlError, match=r"robots-unreachable \(robots.txt: private-address"):
            crawl([site.url for site in sites], tmp_path, CrawlSettings(retries=0, timeout=5))
        assert [site.log for site in sites] == [["/robots.txt"]] * 3
    assert {reject.reason for reject in FrontierReader(tmp_path).rejects()} == {"robots-unreachable"}


def test_a_robots_txt_that_leads_to_a_private_name_says_so(tmp_path: Path) -> None:
    reason = r"robots-unreachable \(robots.txt: private-address localhost leads to"
    robots = redirect("http://localhost:9999/robots.txt")
    with serving(lambda path: links(), robots=robots) as site, pytest.raises(CrawlError, match=reason):
        crawl([site.url], tmp_path, CrawlSettings(retries=0, timeout=5))


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_sites_are_reached_by_ipv6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "address_family", socket.AF_INET6)
    with serving(lambda path: links("/a"), host="::1") as site:
        assert crawl([f"http://[::1]:{site.server_port}/"], tmp_path, CrawlSettings()).fetched == 2


def test_only_the_public_addresses_of_a_name_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[IPv4Address | IPv6Address] = [
        IPv4Address("TCP", "10.0.0.1", 80),
        IPv4Address("TCP", "93.184.215.14", 80),
    ]
    addresses += [IPv6Address("TCP", each, 80) for each in ("::1", "2001:4860:4860::8888", "fd00::1")]
    given, guard = Mock(), AddressGuard(["http://example.org/"], allow_private=False)
    resolver = guarded_resolver(guard)(Mock(), 0)
    monkeypatch.setattr(resolver.original_resolver, "resolveHostName", lambda receiver, *_: tell(receiver, addresses))
    resolver.resolveHostName(given, "example.org", 80)
    assert given.addressResolved.call_args_list == [call(addresses[1]), call(addresses[3])]
    given.resolutionComplete.assert_called_once_with()


def tell(receiver: Any, addresses: Sequence[IPv4Address | IPv6Address]) -> None:
    receiver.resolutionBegan(None)
    for address in addresses:
        receiver.addressResolved(address)
    receiver.resolutionComplete()


def serving_on_a_blocked_port(stack: ExitStack) -> Server:
    for port in sorted(BLOCKED_PORTS, reverse=True):
        with suppress(OSError):
            return stack.enter_context(serving(lambda path: links("/a"), port=port))
    pytest.fail("no such port is free")


def test_ports_of_other_protocols_are_never_asked(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return redirect(f"{blocked.url}/moved") if path == "/moves" else links("/moves", f"{blocked.url}/linked")

    with ExitStack() as stack:
        blocked = serving_on_a_blocked_port(stack)
        named = Answer(f"Sitemap: {blocked.url}/map.xml".encode(), type="text/plain")
        site = stack.enter_context(serving(answer, robots=named))
        led = stack.enter_context(serving(answer, robots=redirect(f"{blocked.url}/robots.txt"), host="127.0.0.2"))
        crawl([site.url, blocked.url, led.url], tmp_path, CrawlSettings(retries=0, timeout=5))
        assert blocked.log == []
        assert led.log == ["/robots.txt"]
        found = {reject.url: (reject.reason, reject.detail) for reject in FrontierReader(tmp_path).rejects()}
        why = f"port {blocked.server_port} belongs to another protocol"
        for path in ("/", "/moved", "/linked"):
            assert found.pop(blocked.url + path) == ("blocked-port", why)
        assert found == {f"{led.url}/": ("robots-unreachable", f"robots.txt: blocked-port {why}")}
        assert FrontierReader(tmp_path).report()["sitemaps"] == {"blocked-port": 1}
        with pytest.raises(CrawlError, match=r"blocked-port .*on another port"):
            crawl([blocked.url], tmp_path / "alone", CrawlSettings(retries=0, timeout=5))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.org:6667/", 6667),
        ("https://a.org:25/", 25),
        ("http://[::1]:6000/x", 6000),
        ("http://a.org:0/", 0),
        ("http://a.org/:25", None),
        ("http://a.org:443/", None),
        ("http://a.org:8000/", None),
        ("https://a.org/", None),
        ("http://a.org:99999/", None),
    ],
)
def test_blocked_ports(url: str, expected: int | None) -> None:
    assert blocked_port(url) == expected


# The names that this machine's own resolver would not know; what leads to 127.0.0.1 is a server of the test.
NAMES = """
import runpy, socket, sys
known = socket.getaddrinfo
socket.getaddrinfo = lambda name, *rest: known("127.0.0.1" if name.endswith("example.org") else name, *rest)
sys.argv = ["child"]
runpy.run_module("twinlink.spiders.process", run_name="__main__")
"""


def test_a_public_name_that_leads_to_a_private_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return popen([sys.executable, "-c", NAMES], **options)  # type: ignore[call-overload, no-any-return]

    popen = subprocess.Popen
    monkeypatch.setattr(crawl_module.subprocess, "Popen", named)
    with serving(lambda path: links("/a.html")) as site:
        url = site.url.replace("127.0.0.1", "www.example.org")
        with pytest.raises(CrawlError, match=r"private-address .*allow_private"):
            crawl([url], tmp_path, CrawlSettings(retries=0))
        assert site.log == []
        assert crawl([url], tmp_path, CrawlSettings(retries=0, allow_private=True)).fetched == 2


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("2001:4860:4860::8888", True),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("no address", False),
    ],
)
def test_public_addresses(address: str, expected: bool) -> None:
    assert is_public(address) is expected


@pytest.mark.parametrize("start", ["http://intranet/", "http://wiki.corp.local/", "http://localhost:8000/"])
def test_start_pages_with_local_names_are_allowed(start: str) -> None:
    guard = AddressGuard([start, "http://example.org/"], allow_private=False)
    assert guard.allows(start.split("/")[2].partition(":")[0], "192.168.1.9")
    assert not guard.allows("example.org", "192.168.1.9")
    assert guard.refused("http://example.org/page")
    assert not guard.allows_literal("http://192.168.1.9/")
    assert guard.allows_literal("http://1.1.1.1/")


def test_a_proxy_of_this_network_is_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://10.9.8.7:3128")
    guard = AddressGuard(["http://example.org/"], allow_private=False)
    assert guard.allows("10.9.8.7", "10.9.8.7")
    assert not guard.allows("10.9.8.8", "10.9.8.8")
