"""Hostile pages: bodies, links, headers, statuses and lengths."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import partial

from experiments.campaign.case_packed import heavy_page, packed
from experiments.campaign.cases import FULL, KEPT, Hostile, dropped, like, same
from experiments.campaign.web import Answer, Reply, page, redirect

__all__ = ["PAGE_CASES", "long_bases", "many_links", "videos"]

KEEP = dropped(KEPT)
TEXT = b"<!DOCTYPE html><title>x</title><p>some words</p>"
VIDEO_BYTES = 10 * 2**20
MANY_LINKS = 600_000


def videos(framing: str) -> Hostile:
    """Return 20 videos without a declared length."""

    def pieces() -> Iterator[bytes]:
        for _ in range(VIDEO_BYTES // 2**14):
            yield bytes(2**14)

    answers: dict[str, Reply] = {
        f"/v{n}": Answer(pieces, type="video/mp4", framing=framing)  # type: ignore[arg-type]
        for n in range(20)
    }
    return Hostile(answers, dict.fromkeys(answers, dropped("not-html")), most_sent=20 * 2**20)


def unknown_length() -> Hostile:
    """Return ordinary pages without a declared length."""
    answers: dict[str, Reply] = {}
    for n in range(60):
        answers[f"/c{n}.html"] = Answer(TEXT, framing="chunked")
        answers[f"/e{n}.html"] = Answer(TEXT, framing="close")
    return Hostile(answers, dict.fromkeys(answers, KEEP))


def odd_markup() -> Hostile:
    """Return small pages that are hard to parse."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = (
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "lol">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    )
    xhtml = partial(Answer, type="application/xhtml+xml")
    answers: dict[str, Reply] = {
        "/laughs": xhtml(f"{doctype}<html><title>x</title><p>&l9;&f;</p></html>".encode()),
        "/deep": Answer(TEXT + b"<div>" * 700_000),
        "/deep-inline": Answer(TEXT + b"<b><a href=/x>" * 250_000),
        "/deep-tables": Answer(TEXT + b"<table><tr><td>" * 100_000),
        "/wrong-end": Answer(TEXT + b"<b>" * 20_000 + b"</i>" * 200_000),
        "/comment": Answer(TEXT + b"<!--" + b"-" * 3_000_000),
        "/attribute": Answer(TEXT + b"<a href='" + b"x" * 3_000_000 + b"'>"),
        "/attributes": Answer(TEXT + b"<p " + b" ".join(b"a%d=b" % n for n in range(300_000)) + b">"),
        "/title": Answer(b"<title>" + b"x " * 1_900_000 + b"</title><p>words"),
        "/anchor": Answer(TEXT + b"<a href=/x>" + b"word " * 700_000 + b"</a>"),
        "/entities": Answer(TEXT + b"&amp;&#x110000;&#0;&copy" * 150_000),
        "/plaintext": Answer(TEXT + b"<plaintext>" + b"<p>" * 1_000_000),
        "/select": Answer(TEXT + b"<select>" + b"<option>x" * 400_000),
        "/unclosed": Answer(TEXT + b"<script>" + b"x" * 3_000_000),
        "/brackets": Answer(TEXT + b"<" * 3_000_000),
        "/bases": Answer(TEXT + b"<base href='//a/'><base href='javascript:'>" * 60_000),
        "/refreshes": Answer(TEXT + b"<meta http-equiv=refresh content='0;url=/refreshes'>" * 60_000),
        "/alternates": Answer(
            TEXT + b"".join(b"<link rel=alternate hreflang=x%d href=/n%d.pdf>" % (n, n) for n in range(60_000))
        ),
        "/forms": Answer(TEXT + b"<form><input name=a><select name=b><option>" * 40_000),
        "/empty": Answer(b""),
    }
    return Hostile(answers, {path: dropped(KEPT, "not-html") if path == "/empty" else KEEP for path in answers})


def odd_text() -> Hostile:
    """Return pages whose bytes do not have the declared encoding."""
    answers: dict[str, Reply] = {
        "/nul": Answer(TEXT + b"<p>a\0b</p>" * 100_000),
        "/nul-first": Answer(b"\0" * 5_000 + b"<p>after"),
        "/wrong-charset": Answer("<title>x</title><p>words öü\xff".encode("latin-1")),
        "/no-charset": Answer(TEXT, type="text/html; charset=klingon"),
        "/charset-of-python": Answer(TEXT, type="text/html; charset=unicode_escape"),
        "/utf-7": Answer(b"<meta charset=utf-7><p>+ADw-script+AD4-", type="text/html"),
        "/utf-16": Answer("<p>页 words".encode("utf-16-le") * 1_000, type="text/html; charset=utf-16"),
        "/two-charsets": Answer(b"<meta charset=big5><meta charset=utf-16><p>x", type="text/html; charset=gbk"),
        "/png": Answer(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8),
        "/pdf": Answer(b"%PDF-1.7\n" + bytes(range(256)) * 9),
        "/escapes": Answer(b"<title>\x1b]0;owned\x07\x1b[2J</title><p>\x1b[31mred\x9b31m\x08\x08"),
        "/surrogates": Answer(b"<title>\xed\xa0\x80\xed\xb0\x80</title><p>&#xD800;&#xDFFF;"),
        "/bidi": Answer("<title>\u202e\u2066gnp.exe</title><p>\u202e\ufeff\u2028\u2029".encode()),
    }
    expected = dict.fromkeys(answers, KEEP)
    kept_or_not = dropped(KEPT, "not-html")
    return Hostile(answers, {**expected, "/png": kept_or_not, "/pdf": kept_or_not, "/nul-first": kept_or_not})


def wrong_types() -> Hostile:
    """Return bodies with wrong content types."""
    no_page = {
        "/zip": Answer(TEXT, type="application/zip"),
        "/image": Answer(TEXT, type="image/png"),
        "/huge-image": Answer(bytes(3_000_000), type="image/png"),
        "/json": Answer(b'{"a": "<p>"}', type="application/json"),
        "/type": Answer(bytes(2_000_000), type="x" * 5_000),
    }
    found = like(no_page, "not-html")
    return Hostile({**found.answers, "/no-type": Answer(TEXT, type="")}, {**found.expected, "/no-type": KEEP})


def statuses() -> Hostile:
    """Return responses with unusual statuses."""
    codes = ("204 No Content", "206 Partial Content", "300 Multiple Choices", "304 Not Modified", "401 Unauthorized",
             "402 Payment Required", "407 Proxy Authentication Required", "418 Teapot", "451 Illegal", "500 Error",
             "511 Network Authentication Required", "599 None", "999 None")  # fmt: skip
    answers: dict[str, Reply] = {f"/{code[:3]}": Answer(TEXT, status=code) for code in codes}
    expected = {path: dropped(f"http-{path[1:]}", "connection", "busy") for path in answers}
    return Hostile(answers, expected)


def busy() -> Hostile:
    """Return a page whose server requests a pause of years."""
    wait = {"Retry-After": "999999999"}
    answers: dict[str, Reply] = {
        "/late": Answer(TEXT, "503 Busy", headers=wait),
        "/date": Answer(TEXT, "503 Busy", headers={"Retry-After": "x"}),
    }
    # Nothing more is requested from the host, so its other queued addresses are busy, too.
    return Hostile(answers, dict.fromkeys(answers, dropped("busy")), good=dropped(KEPT, "busy"))


def redirects() -> Hostile:
    """Return redirects to nowhere, to other sites, in loops, and in endless chains."""
    nowhere = {
        "/file": "file:///etc/passwd", "/ftp": "ftp://127.0.0.1/x", "/data": "data:text/html,<p>hello",
        "/script": "javascript:alert(1)", "/broken": "http://[", "/metadata": "http://169.254.169.254/latest/",
        "/escapes": "/\x1b[2J\x07", "/long": "/" + "x" * 100_000, "/port": "http://127.0.0.1:99999/",
    }  # fmt: skip
    answers: dict[str, Reply] = {path: redirect(to) for path, to in nowhere.items()}
    answers |= {"/round": redirect("/round"), "/there": redirect("/back"), "/back": redirect("/there")}
    answers["/on/0"] = redirect("/on/1")

    def others(path: str) -> Reply:
        number = path.rpartition("/")[2]
        if path.startswith("/on/") and number.isdigit():
            return redirect(f"/on/{int(number) + 1}")
        return Answer(b"<p>none", status="404 Not Found")

    return Hostile(answers, {"/round": dropped("redirect-loop", "redirect")}, others=others)


def headers() -> Hostile:
    """Return pages with unusual headers and an ordinary body."""
    odd: Mapping[str, Mapping[str, str]] = {
        "/dates": {"Date": "32 Smarch", "Last-Modified": "\xff", "Expires": "0"},
        "/tags": {"ETag": '"' + "x" * 60_000 + '"'},
        "/robots-tags": {"X-Robots-Tag": "googlebot: noindex, " * 2_000},
        "/cookies": {f"Set-Cookie: a{n}=" + "x" * 4_000 + "; X-A": "b" for n in range(40)},
        "/refresh": {"Refresh": "0; url=/refresh"},
        "/link": {"Link": "</a>; rel=alternate; hreflang=x, " * 2_000},
        "/escapes": {"Server": "\x1b[2J\x07", "Content-Language": "\x1b[31m"},
        "/no-name": {"": "x"},
        "/location": {"Location": "http://["},
    }
    answers: dict[str, Reply] = {path: Answer(TEXT, headers=given) for path, given in odd.items()}
    answers["/cookie-bomb"] = Answer(TEXT, headers={f"Set-Cookie{n}": "x" * 4_000 for n in range(200)})
    long_lines = ("/tags", "/robots-tags", "/link", "/no-name")  # Twisted accepts lines of 16 kB
    expected = dict.fromkeys(odd, KEEP) | dict.fromkeys(long_lines, dropped(KEPT, "connection"))
    return Hostile(answers, {**expected, "/cookie-bomb": dropped("too-large", KEPT)})


def many_links() -> Hostile:
    """Return a page with 600,000 links."""
    body = gzip.compress(TEXT + b"".join(b"<a href=%x>" % n for n in range(MANY_LINKS)), 1, mtime=0)
    return Hostile({"/many/": packed(body, "gzip")}, {"/many/": dropped(KEPT, "too-slow", "timeout")}, others=page)


def long_bases() -> Hostile:
    """Return eight pages with a base address of the maximum length, and 50,000 short links each."""

    def body(number: int) -> bytes:
        base = b"<base href='/" + b"%d/" % number + b"x" * 1_900 + b"/'>"
        anchors = b"".join(b"<a href=%d.pdf>" % n for n in range(50_000))
        return TEXT + base + anchors

    answers: dict[str, Reply] = {f"/b{n}": Answer(body(n)) for n in range(8)}
    return Hostile(answers, dict.fromkeys(answers, KEEP), others=lambda path: page(path[:20]))


def other_hosts() -> Hostile:
    """Return a page that links to very many hosts, schemes and broken addresses."""
    hosts = b"".join(b"<a href=http://h%d.example.net/>x</a>" % n for n in range(50_000))
    odd = ("data:text/html," + "x" * 500_000, "javascript:" + "x" * 500_000, "http://[::1", "http://x:99999/", "//",
           "?", "http://127.0.0.1:6000/", "http://127.0.0.1:1/", "http://user:pass@127.0.0.1/", "file:///etc/passwd",
           "\\\\host\\x", "http://0x7f000001/", "http://2130706433/", "http://127.1/")  # fmt: skip
    written = "".join(f'<a href="{href}">x</a>' for href in odd).encode()
    return Hostile({"/hosts": Answer(TEXT + hosts + written)}, {"/hosts": KEEP})


def endless_sites() -> Hostile:
    """Return endless sites: a calendar, ever deeper paths, growing queries, a new address for each visit."""

    def others(path: str) -> Reply:
        if path.startswith("/calendar"):
            month = int(path.rpartition("=")[2] or 0) if path.rpartition("=")[2].isdigit() else 0
            return page(f"month {month}", f"/calendar?month={month + 1}", f"/calendar?month={month - 1}")
        if path.startswith("/deeper"):
            return page(f"deeper {len(path)}", "x/", "y/")
        if path.startswith("/query"):
            return page(f"query {len(path)}", f"{path}&a=1", f"{path}&b=2")
        if path.startswith("/visit"):
            return page("the same words each time", *(f"/visit/{abs(hash((path, n))):x}" for n in range(5)))
        return Answer(b"<p>none", status="404 Not Found")

    starts = ("/calendar?month=1", "/deeper/", "/query?x=1", "/visit/")
    return Hostile(linked=starts, others=others, expected=dict.fromkeys(starts, KEEP))


def heavy_among_good() -> Hostile:
    """Return 20 small compressed pages of millions of tags."""
    heavy = heavy_page()
    answers: dict[str, Reply] = {f"/heavy{n}": heavy for n in range(20)}
    return like(answers, KEPT, "timeout", "too-slow", "parse-timeout", "too-heavy")


PAGE_CASES = (
    same("videos in chunks", "unknown length", partial(videos, "chunked")),
    same("videos up to the end of the connection", "unknown length", partial(videos, "close")),
    same("pages in chunks and up to the end of the connection", "unknown length", unknown_length, quick=True),
    same("markup that is hard to parse", "pages", odd_markup, FULL),
    same("text that is not what it says", "pages", odd_text),
    same("wrong types", "pages", wrong_types),
    same("odd statuses", "headers and statuses", statuses, {"retries": 0}),
    same("pauses of years", "headers and statuses", busy),
    same("redirects that lead nowhere", "headers and statuses", redirects),
    same("odd headers, cookie bombs", "headers and statuses", headers),
    same("600,000 links", "links", many_links, FULL),
    same("eight long bases, 50,000 links each", "links", long_bases, FULL),
    same("50,000 hosts, odd schemes", "links", other_hosts),
    same("calendars, paths, queries, visits without end", "links", endless_sites),
    same("20 pages of 2.5 million tags", "heavy pages", heavy_among_good, FULL),
)
