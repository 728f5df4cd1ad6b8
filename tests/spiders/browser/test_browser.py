"""The browser by itself: what scripts build is taken, what they try beyond that comes to nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.browsers import needs_browser
from twinlink.pages.decoding import decode
from twinlink.spiders.browser import browser as browsing
from twinlink.spiders.browser.browser import Browser
from twinlink.spiders.browser.chromium import find_browser
from twinlink.spiders.browser.visit import Answer, BrowserError, Built, PartRequest

pytestmark = [needs_browser, pytest.mark.xdist_group("browser")]  # they share what was built

HTML = (("Content-Type", "text/html; charset=utf-8"),)
URL = "http://site.example/folder/page"
PATIENT, SHORT = 20.0, 5.0  # seconds for a page; the first is never used up but on a machine that is very busy

PAGES = {
    "text": "<div id=a></div><script>document.getElementById('a').innerHTML = '<a href=b>built</a>'</script>",
    "data": "<script>fetch('/data.json').then(r => r.json()).then(d => document.body.append(d.text))</script>",
    "bundle": "<script src=/app.js></script>",
    "other bundle": "<script src=https://cdn.example/lib.js></script>",
    "missing": "<script>fetch('/none').catch(() => document.body.append('went on'))</script>",
    "post": "<script>fetch('/data.json', {method: 'POST'}).catch(() => document.body.append('no post'))</script>",
    "style": "<link rel=stylesheet href=/a.css onload=\"document.body.append('styled')\"><p>",
    "picture": "<img src=/a.png onerror=\"document.body.append('no picture')\"><video src=/a.mp4></video>",
    "late": "<script>setTimeout(() => document.body.append('in time'), 300)</script>",
    "alerts": "<p>kept<script>alert(1); confirm('?'); prompt('!'); document.body.append(' and on')</script>",
    "popup": "<p>kept<script>window.open('/other'); document.body.append(' and on')</script>",
    "download": "<p>kept<a id=d href='data:application/zip,xx' download=x.zip></a><script>d.click()</script>",
    "away": "<p>kept<script>location.href = 'http://other.example/away?a=1&b=2'</script>",
    "away later": "<p>kept<script>setTimeout(() => location.assign('/later'), 200)</script>",
    "reloads": "<p>kept<script>location.reload()</script>",
    "form": "<p>kept<form action=/send method=post></form><script>document.forms[0].submit()</script>",
    "renamed": "<a href=next>x</a><script>history.replaceState(0, '', '/other/place')</script>",
    "framed": "<p>kept<iframe src=/inner></iframe><iframe src='http://10.0.0.1/'></iframe>",
    "worker": "<p>kept<script>navigator.serviceWorker?.register('/app.js'); new Worker('/app.js')</script>",
    "stores": "<script>localStorage.n = 1 + (+localStorage.n || 0); document.cookie = 'n=1';"
    "document.body.append('n' + localStorage.n)</script>",
    "stores again": "<script>localStorage.n = 1 + (+localStorage.n || 0);"
    "document.body.append('n' + localStorage.n + document.cookie)</script>",
    "huge": "<script>document.body.append('x'.repeat(200000))</script>",
    "cheats": "<p>kept<script>Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'lie'});"
    "document.getElementsByTagName = () => { throw 1 }</script>",
    "empties itself": "<p>lost<script>document.documentElement.remove()</script>",
    "exits": "<p>kept<script>window.close()</script>",
}

ENDLESS = {
    "polling": "<p>kept<script>(async () => { while (true) await fetch('/data.json?' + Math.random()); })()</script>",
    "clock": "<p>kept<script>setInterval(() => document.body.append(document.createElement('i')), 50)</script>",
    "hangs": "<p>lost<script>while (true);</script>",
    "alerts for ever": "<p>lost<script>while (true) alert(1);</script>",
}

BIG5 = "<meta charset=big5><a href='?q=嘅'>嘅</a><script>document.body.append('\\u20ac \\u7b80')</script>"
READ_AS_WE_DO = [
    ("text/html; charset=iso-8859-1", "big5hkscs"),
    ("text/html; charset=utf-8", "gb18030"),
    ("text/html", "utf-16-le"),
    ("application/xhtml+xml", "utf-8"),
]
"""What a server says of a page, and how it is written."""


def answers() -> dict[str, Answer]:
    """Return the pages that end by themselves, with those in other encodings."""
    found = {name: Answer(200, HTML, f"<!DOCTYPE html><body>{html}".encode()) for name, html in PAGES.items()}
    found["big5"] = Answer(200, (("Content-Type", "text/html"),), BIG5.encode("big5hkscs"))
    for content_type, codec in READ_AS_WE_DO:
        label = "" if codec == "utf-16-le" else f"<meta charset={codec.removesuffix('hkscs')}>"
        page = f"<html><head>{label}</head><body><p>中文網頁<br>公開資料<script>document.body.append('...')</script>"
        headers = (("Content-Type", content_type), ("Content-Disposition", "attachment"))
        found[codec] = Answer(200, headers, page.encode(codec))
    return found


class Net:
    """Answers what pages ask for; remembers it."""

    def __init__(self) -> None:
        self.asked: list[PartRequest] = []

    async def fetch(self, wanted: PartRequest) -> Answer | None:
        self.asked.append(wanted)
        path = wanted.url.partition("//")[2].partition("?")[0]
        kind = (("content-type", "text/javascript"), ("access-control-allow-origin", "*"))
        bodies = {
            "site.example/data.json": b'{"text": "fetched"}',
            "site.example/app.js": b"self.document && document.body.append('bundled')",
            "cdn.example/lib.js": b"document.body.append('from elsewhere')",
        }
        await asyncio.sleep(0.05)
        return Answer(200, kind, bodies[path]) if path in bodies else None


def opened(timeout: float = PATIENT, concurrency: int = 4) -> Browser:
    path = find_browser()
    assert path is not None
    return Browser(path, timeout, 100_000, concurrency, sandbox=os.geteuid() != 0)


Outcome = Built | BrowserError


async def build(browser: Browser, page: bytes | Answer, net: Net, url: str = URL) -> Outcome:
    answer = page if isinstance(page, Answer) else Answer(200, HTML, page)
    try:
        return await browser.build(url, answer, net.fetch)
    except BrowserError as error:
        return error


@pytest.fixture(scope="module")
def net() -> Net:
    return Net()


@pytest.fixture(scope="module")
def built(net: Net) -> dict[str, Outcome]:
    """All pages, those of a kind built by one browser."""

    async def build_all(pages: dict[str, Answer], timeout: float) -> dict[str, Outcome]:
        browser = opened(timeout, concurrency=8)
        try:
            outcomes = await asyncio.gather(*(build(browser, page, net) for page in pages.values()))
        finally:
            await browser.close()
        return dict(zip(pages, outcomes, strict=True))

    endless = {name: Answer(200, HTML, f"<!DOCTYPE html><body>{html}".encode()) for name, html in ENDLESS.items()}
    return asyncio.run(build_all(answers(), PATIENT)) | asyncio.run(build_all(endless, SHORT))


def text(outcome: Outcome) -> str:
    assert isinstance(outcome, Built), outcome
    return decode(outcome.body, outcome.content_type)[0]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("text", '<a href="b">built</a>'),
        ("data", "fetched</body>"),
        ("bundle", "bundled</body>"),
        ("other bundle", "from elsewhere</body>"),
        ("missing", "went on</body>"),
        ("style", ">styled<"),
        ("late", "in time</body>"),
    ],
)
def test_rendered_page_is_returned(built: dict[str, Outcome], name: str, found: str) -> None:
    assert found in text(built[name])
    assert text(built[name]).startswith("<!DOCTYPE html><html>")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("post", "no post</body>"),
        ("picture", "no picture"),
        ("polling", "<p>kept"),
        ("clock", "<p>kept"),
        ("alerts", "kept"),
        ("alerts", " and on</body>"),
        ("popup", " and on</body>"),
        ("download", "<p>kept"),
        ("reloads", "<p>kept"),
        ("form", "<p>kept"),
        ("framed", "<p>kept"),
        ("worker", "<p>kept"),
        ("cheats", "<p>kept"),
    ],
)
def test_other_requests_of_scripts_are_blocked(built: dict[str, Outcome], name: str, found: str) -> None:
    assert found in text(built[name])


@pytest.mark.parametrize("name", ["hangs", "alerts for ever"])
def test_a_page_that_hangs_fails_and_the_others_go_on(built: dict[str, Outcome], name: str) -> None:
    outcome = built[name]
    assert isinstance(outcome, BrowserError)
    assert outcome.reason == "browser-failed"


def test_a_page_that_grows_too_large_is_refused(built: dict[str, Outcome]) -> None:
    outcome = built["huge"]
    assert isinstance(outcome, BrowserError)
    assert outcome.reason == "too-large"


def test_odd_ends_are_one_or_the_other(built: dict[str, Outcome]) -> None:
    assert isinstance(built["exits"], BrowserError) or "kept" in text(built["exits"])
    assert "lost" not in text(built["empties itself"])


def test_script_redirect_is_stored_as_a_refresh(built: dict[str, Outcome]) -> None:
    assert 'content="0; url=http://other.example/away?a=1&amp;b=2"' in text(built["away"])
    assert 'content="0; url=http://site.example/later"' in text(built["away later"])
    assert "refresh" not in text(built["form"])


def test_relative_links_keep_their_base(built: dict[str, Outcome]) -> None:
    assert '<base href="http://site.example/other/place">' in text(built["renamed"])
    assert "<base" not in text(built["text"])


def test_nothing_is_stored_from_one_page_to_the_next(built: dict[str, Outcome]) -> None:
    assert "n1</body>" in text(built["stores"])
    assert "n1</body>" in text(built["stores again"])


def test_only_scripts_and_data_are_asked_for(built: dict[str, Outcome], net: Net) -> None:
    paths = {wanted.url.partition("?")[0] for wanted in net.asked}
    assert paths == {
        *("http://site.example/data.json", "http://site.example/app.js", "http://site.example/none"),
        "https://cdn.example/lib.js",
    }
    names = {name for wanted in net.asked for name, _ in wanted.headers}
    assert names <= {"accept", "referer", "origin", "content-type"}  # no cookie, no language, no name of a browser


def test_requests_are_counted(built: dict[str, Outcome]) -> None:
    data, missing, post = built["data"], built["missing"], built["post"]
    assert isinstance(data, Built)
    assert isinstance(missing, Built)
    assert isinstance(post, Built)
    assert (data.n_parts, data.n_refused) == (1, 0)
    assert (missing.n_parts, missing.n_refused) == (1, 1)
    assert (post.n_parts, post.n_refused) == (0, 1)


def test_links_keep_the_encoding_of_the_page(built: dict[str, Outcome]) -> None:
    outcome = built["big5"]
    assert isinstance(outcome, Built)
    assert outcome.content_type == "text/html; charset=big5"
    assert "嘅".encode("big5hkscs") in outcome.body
    assert "&#8364; &#31616;" in text(outcome)  # letters that Big5 lacks


@pytest.mark.parametrize(("content_type", "codec"), READ_AS_WE_DO)
def test_the_browser_reads_a_page_as_we_do(built: dict[str, Outcome], content_type: str, codec: str) -> None:
    found = text(built[codec])
    assert "中文網頁<br>公開資料" in found, content_type
    assert found.endswith("...</body></html>")


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server on this machine that writes down what it is sent."""
    heard: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(100))

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


def test_all_requests_go_through_the_caller(listener: tuple[int, list[bytes]]) -> None:
    """Sockets, events, hints and WebRTC included: the browser has no network of its own."""
    port, heard = listener
    page = f"""<link rel=preconnect href=http://127.0.0.1:{port}/a><link rel=prefetch href=http://127.0.0.1:{port}/b>
    <link rel=dns-prefetch href=//127.0.0.1:{port}><link rel=preload as=script href=http://127.0.0.1:{port}/c>
    <script type=speculationrules>{{"prefetch": [{{"urls": ["http://127.0.0.1:{port}/d"]}}]}}</script>
    <script>
    new WebSocket('ws://127.0.0.1:{port}/e'); new EventSource('http://127.0.0.1:{port}/f');
    navigator.sendBeacon('http://127.0.0.1:{port}/g', 'x');
    fetch('http://127.0.0.1:{port}/h').catch(() => 0); new Image().src = 'http://127.0.0.1:{port}/i';
    const peer = new RTCPeerConnection({{iceServers: [{{urls: 'turn:127.0.0.1:{port}?transport=tcp', username: 'a',
      credential: 'b'}}]}});
    peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
    setTimeout(() => document.body.append('done'), 600);
    </script>"""

    class Nobody(Net):
        async def fetch(self, wanted: PartRequest) -> Answer | None:
            return None

    async def visit() -> Outcome:
        browser = opened()
        try:
            return await build(browser, page.encode(), Nobody(), f"http://127.0.0.1:{port}/start")
        finally:
            await browser.close()

    assert "done" in text(asyncio.run(visit()))
    assert heard == []


def test_a_browser_that_died_is_started_again() -> None:
    async def visit() -> list[str]:
        browser = opened()
        try:
            first = text(await build(browser, PAGES["text"].encode(), Net()))
            assert browser._chromium is not None
            await browser._chromium.close()
            return [first, text(await build(browser, PAGES["text"].encode(), Net()))]
        finally:
            await browser.close()

    first, second = asyncio.run(visit())
    assert first == second


def test_invalid_browser_is_reported() -> None:
    async def visit() -> Outcome:
        browser = Browser("/bin/false", 1.0, 1000, 1, sandbox=False)
        try:
            return await build(browser, b"<p>", Net())
        finally:
            await browser.close()

    outcome = asyncio.run(visit())
    assert isinstance(outcome, BrowserError)
    assert outcome.reason == "needs-browser"
    assert str(outcome).startswith("/bin/false does not run: ")


class Deadly(Net):
    """Ends the browser when it is asked for something, so many times."""

    def __init__(self, browser: Browser, times: int) -> None:
        super().__init__()
        self._browser = browser
        self._times = times

    async def fetch(self, wanted: PartRequest) -> Answer | None:
        if self._times:
            self._times -= 1
            assert self._browser._chromium is not None
            await self._browser._chromium.close()
        return await super().fetch(wanted)


@pytest.mark.parametrize(("times", "ends"), [(1, "built"), (2, "browser-failed")])
def test_a_page_whose_browser_died_is_built_once_more(times: int, ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsing, "_MAX_LAUNCHES", 3)

    async def visit() -> list[Outcome]:
        browser = opened(concurrency=1)
        body = b"<script src='/app.js'></script><p>text"
        try:
            return [await build(browser, body, Deadly(browser, times)) for _ in range(3)]
        finally:
            await browser.close()

    outcomes = asyncio.run(visit())
    found = ["built" if isinstance(outcome, Built) else outcome.reason for outcome in outcomes]
    # A browser that dies of page after page is given up; one that builds a page between is not.
    assert found == (["built"] * 3 if ends == "built" else ["browser-failed"] + ["needs-browser"] * 2)
