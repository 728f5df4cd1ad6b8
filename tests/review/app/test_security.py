"""Who gets in, what is changed by whom, and what stands in pages that others have written."""

from __future__ import annotations

import asyncio
import http.client
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace
from starlette.types import Message

from tests.review.conftest import OURS, PORT, Served, Visiting
from tests.review.fakes import FakeRun, page_a, page_b, toy_page
from twinlink.review.app.security import APP_POLICY, FRAME_POLICY, Entrance

FORM = "application/x-www-form-urlencoded"
HOSTILE = (
    "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}\u202egnp.exe<hx-partial hx-target=body>"
)

FOREIGN = """evil.example evil.example:{port} 127.0.0.1 127.0.0.1:1 127.0.0.1:{port}.evil.example localhost.evil:{port}
0.0.0.0:{port} 127.0.0.1:{port}@evil.example"""


class Answer(http.client.HTTPResponse):
    text: str


def ask(
    served: Served,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
    cookie: bool = True,
) -> Answer:
    """Send just what is said, headers and path as they are."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    sent = {"Host": f"127.0.0.1:{served.port}", **({"Cookie": served.cookie} if cookie else {}), **(headers or {})}
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    payload = (body or "").encode()
    if body is not None:
        sent = {"Content-Type": FORM, "Content-Length": str(len(payload)), **sent}
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders(payload or None)
    answer = connection.getresponse()
    answer.text = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer  # type: ignore[return-value]


def label_form(served: Served, **more: str) -> str:
    return urlencode({"token": served.token, "a": page_a(0), "b": page_b(0), "verdict": "accept", **more})


def ours(served: Served) -> dict[str, str]:
    return {"Origin": served.base}


class TestHost:
    @pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
    def test_own_names(self, served: Served, name: str) -> None:
        assert ask(served, "/queue", headers={"Host": f"{name}:{served.port}"}).status == 200

    @pytest.mark.parametrize("host", FOREIGN.split())
    def test_foreign_names_are_refused(self, served: Served, host: str) -> None:
        answer = ask(served, "/queue", headers={"Host": host.format(port=served.port)})
        assert answer.status == 421
        assert "Annual report" not in answer.text

    def test_foreign_name_gets_no_file_and_no_entrance(self, served: Served) -> None:
        for path in ("/static/base.css", served.address.removeprefix(served.base)):
            answer = ask(served, path, headers={"Host": f"evil.example:{served.port}"}, cookie=False)
            assert answer.status == 421
            assert answer.getheader("set-cookie") is None


class TestEntrance:
    @pytest.mark.parametrize(
        "path", ["/", "/queue", "/pair/1000/-1000", "/look/1000", "/labels", "/export/labels.tsv", "/live", "/graph"]
    )
    def test_without_the_cookie_nothing_is_shown(self, served: Served, path: str) -> None:
        answer = ask(served, path, cookie=False)
        assert answer.status == 403
        assert "Access key needed" in answer.text
        assert served.token not in answer.text
        assert "Annual report" not in answer.text

    @pytest.mark.parametrize("value", ["", "wrong", '"', "é", "x; twinlink=y"])
    def test_wrong_cookie(self, served: Served, value: str) -> None:
        name = served.cookie.split("=")[0]
        cookie = {"Cookie": f"{name}={value}".encode().decode("latin-1")}
        assert ask(served, "/queue", headers=cookie).status == 403

    @pytest.mark.parametrize(
        "other",
        ['settings={"a": "b, c"}', "a[b]=1", "expires", "@x=y", '"', "é=ü", "{name}=", "{name}=of an earlier run"],
    )
    def test_cookies_of_other_servers_on_this_machine_lock_nobody_out(self, served: Served, other: str) -> None:
        other = other.format(name=served.cookie.split("=")[0]) if "{name}" in other else other
        for cookies in (f"{other}; {served.cookie}", f"{served.cookie}; {other}"):
            sent = {"Cookie": cookies.encode().decode("latin-1")}
            assert ask(served, "/queue", headers=sent).status == 200

    def test_key_sets_a_strict_cookie_and_leaves_the_address(self, served: Served) -> None:
        answer = ask(served, served.address.removeprefix(served.base), cookie=False)
        assert answer.status == 303
        assert answer.getheader("location") == "/"
        cookie = answer.getheader("set-cookie") or ""
        assert cookie.startswith(f"{served.cookie};")
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))

    def test_sent_by_another_site_it_is_a_page_that_goes_on(self, served: Served) -> None:
        path = served.address.removeprefix(served.base)
        answer = ask(served, path, headers={"Sec-Fetch-Site": "cross-site"}, cookie=False)
        assert answer.status == 200
        assert 'http-equiv="refresh" content="0;url=/"' in answer.text

    @pytest.mark.parametrize("query", ["", "?key=", "?key=wrong", "?key=%ff%fe", "?key=%C3%A9"])
    def test_wrong_key(self, served: Served, query: str) -> None:
        answer = ask(served, f"/enter{query}", cookie=False)
        assert answer.status in {400, 403}
        assert answer.getheader("set-cookie") is None

    def test_every_process_has_its_own_secrets(self) -> None:
        one, other = Entrance(1), Entrance(1)
        assert len({one.key, one.token, other.key, other.token}) == 4
        assert min(len(secret) for secret in (one.key, one.token)) >= 40
        assert one.key not in repr(one)
        assert one.token not in repr(one)


class TestChanges:
    @pytest.mark.parametrize("path", ["/label", "/repair", "/undo", "/pause", "/watch"])
    def test_nothing_changes_by_get(self, served: Served, path: str) -> None:
        assert ask(served, f"{path}?{label_form(served)}", headers=ours(served)).status == 405
        assert served.labels.history() == ()

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
    def test_other_methods(self, served: Served, method: str) -> None:
        assert ask(served, "/label", method, ours(served)).status == 405

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "https://127.0.0.1:{port}"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": "http://127.0.0.1:{port}.evil.example"},
            {"Origin": "http://127.0.0.1:{port}@evil.example"},
            {"Origin": "http://[", "Sec-Fetch-Site": "same-origin"},
            {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
            {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
            {"Origin": "null", "Sec-Fetch-Site": "same-site"},
            {"Origin": "null", "Sec-Fetch-Site": "none"},
            {"Sec-Fetch-Site": "cross-site", "Referer": "http://127.0.0.1:{port}/queue"},
            {"Referer": "http://evil.example/?http://127.0.0.1:{port}/"},
            {"X-Twinlink-Token": "guess"},
        ],
    )
    def test_from_elsewhere(self, served: Served, headers: dict[str, str]) -> None:
        sent = {name: value.format(port=served.port) for name, value in headers.items()}
        assert ask(served, "/label", "POST", sent, label_form(served)).status == 403
        assert served.labels.history() == ()

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://127.0.0.1:{port}"},
            {"Origin": "http://localhost:{port}"},
            {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
            {"Referer": "http://127.0.0.1:{port}/queue"},
            {"X-Twinlink-Token": "{token}"},
        ],
    )
    def test_from_our_pages(self, served: Served, headers: dict[str, str]) -> None:
        sent = {name: value.format(port=served.port, token=served.token) for name, value in headers.items()}
        assert ask(served, "/label", "POST", sent, label_form(served)).status == 303
        assert len(served.labels.current()) == 1
        served.labels.file.unlink()

    @pytest.mark.parametrize("token", ["", "guess", "é"])
    def test_token_must_be_right(self, served: Served, token: str) -> None:
        answer = ask(served, "/label", "POST", ours(served), label_form(served, token=token))
        assert answer.status == 403
        assert served.labels.history() == ()

    def test_cookie_is_needed_as_well(self, served: Served) -> None:
        assert ask(served, "/label", "POST", ours(served), label_form(served), cookie=False).status == 403

    @pytest.mark.parametrize(
        ("kind", "body", "status"),
        [
            ("application/json", "{}", 415),
            ("text/plain", "token=x", 415),
            ("multipart/form-data; boundary=x", "--x--", 415),
            (FORM, "note=" + "x" * 70_000, 413),
            (FORM, "&".join(f"a{k}=1" for k in range(100)), 400),
            (FORM, "a=%ff%fe&b=é", 400),
        ],
    )
    def test_bodies_that_no_form_of_ours_sends(self, served: Served, kind: str, body: str, status: int) -> None:
        assert ask(served, "/label", "POST", {**ours(served), "Content-Type": kind}, body).status == status

    def test_who_goes_away_in_the_middle_of_a_form_is_no_fault_of_ours(self, visiting: Visiting) -> None:
        visitor = visiting()
        name, value = next(iter(visitor.client.cookies.items()))
        headers = {**OURS, "host": f"127.0.0.1:{PORT}", "cookie": f"{name}={value}", "content-type": FORM}
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/label",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }

        async def ask_and_leave() -> None:
            await visitor.client.app(scope, receive, send)

        asyncio.run(ask_and_leave())
        assert sent[0]["status"] == 400
        assert visitor.labels.current() == {}

    def test_header_that_is_there_twice_fits_nothing(self, served: Served) -> None:
        headers = {"Origin": served.base, "origin": served.base}
        assert ask(served, "/label", "POST", headers, label_form(served)).status == 403


class TestHeaders:
    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/queue", 200),
            ("/pair/1000/-1000", 200),
            ("/live", 200),
            ("/static/review.js", 200),
            ("/static/htmx.min.js", 200),
            ("/export/labels.tsv", 200),
            ("/favicon.ico", 204),
            ("/", 303),
            ("/nowhere", 404),
            ("/static/nothing.js", 404),
            ("/label", 405),
            ("/graph/1000", 500),
        ],
    )
    def test_every_answer_is_closed(self, served: Served, path: str, status: int) -> None:
        answer = ask(served, path)
        assert answer.status == status
        assert answer.getheader("content-security-policy") == APP_POLICY
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("referrer-policy") == "no-referrer"
        assert answer.getheader("cross-origin-opener-policy") == "same-origin"
        assert answer.getheader("cross-origin-resource-policy") == "same-origin"
        assert answer.getheader("cache-control") == "no-store"
        assert answer.getheader("server") is None
        assert answer.getheader("access-control-allow-origin") is None

    @pytest.mark.parametrize("cookie", [False, True])
    def test_refusals_are_closed_too(self, served: Served, cookie: bool) -> None:
        answer = ask(served, "/label", "POST", body="x=y", cookie=cookie)
        assert answer.status == 403
        assert answer.getheader("content-security-policy") == APP_POLICY

    def test_policies_allow_no_script_of_others(self) -> None:
        rules = dict(rule.split(" ", 1) for rule in APP_POLICY.split("; "))
        assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
        assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == rules["form-action"] == "'self'"
        assert "unsafe" not in APP_POLICY
        assert "script-src" not in FRAME_POLICY
        assert FRAME_POLICY.startswith("sandbox; default-src 'none'")

    def test_a_fault_of_ours_is_reported_without_its_insides(self, served: Served) -> None:
        answer = ask(served, "/graph/1000")
        assert "a bug in twinlink (ZeroDivisionError)" in answer.text
        assert "a bug of ours" not in answer.text
        assert "Traceback" not in answer.text


class TestPaths:
    @pytest.mark.parametrize(
        "path",
        [
            "/static/../app.py",
            "/static/..%2fapp.py",
            "/static/%2e%2e/app.py",
            "/static/....//app.py",
            "/static//etc/passwd",
            "/static/base.css%00.html",
            "/static/base.css/..",
            "/static/",
            "/static",
            "/export/../labels.jsonl",
            "/export/..%2f..%2fconfig.toml",
            "/export/labels.jsonl",
            "/look/../../etc/passwd",
            "/look/..%2f..%2fetc%2fpasswd",
            "/look/file:%2f%2f%2fetc%2fpasswd",
            "/look/1000%2f..",
            "/pair/..%2f/1000",
            "/graph/..",
            "/../etc/passwd",
            "//etc/passwd",
            "/\\..\\..\\etc\\passwd",
        ],
    )
    def test_no_file_but_ours(self, served: Served, path: str) -> None:
        answer = ask(served, path)
        assert answer.status in {400, 404}
        assert "root:" not in answer.text
        assert "import " not in answer.text


class Elements(HTMLParser):
    """What a browser would make of a page: elements with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


class TestHostilePages:
    PATHS = (
        "/queue",
        "/labels",
        "/live",
        "/graph",
        f"/graph/{page_a(0)}",
        f"/pair/{page_a(0)}/{page_b(0)}",
        f"/pair/{page_a(0)}/{page_b(0)}?view=look",
        f"/pair/{page_a(0)}/{page_b(0)}?view=tags",
        f"/pair/{page_a(0)}/{page_b(0)}?view=sentences&q=alert",
        f"/pair/{page_a(0)}/{page_b(0)}?q=%22%3E%3Cscript%3E&side=%22",
        f"/pair/{page_a(0)}/{page_b(1)}?instead={page_a(0)}.{page_b(0)}",
        "/queue?site=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&langs=%22onload%3D",
    )

    def hostile(self) -> FakeRun:
        pages = {}
        for number in (page_a(0), page_b(0), page_b(1)):
            page = toy_page(number, HOSTILE, f"javascript:alert({abs(number)})//{HOSTILE}")
            named = f"javascript:alert(4)//{HOSTILE}"
            page = replace(page, blocks=(HOSTILE,), tags=("html", HOSTILE), canonical_url=named)
            pages[number] = replace(page, lang='en"onload=alert(3)')
        run = FakeRun(2, name=HOSTILE, pages=pages, live_pairs=2, alike=(*pages, page_a(1)))
        run.pairs.loc[0, ["url_a", "url_b", "site"]] = ["javascript:alert(1)//" + HOSTILE, HOSTILE, HOSTILE]
        return run

    @pytest.mark.parametrize("path", PATHS)
    def test_stands_as_text(self, visiting: Visiting, path: str) -> None:
        visitor = visiting(self.hostile(), who=HOSTILE)
        visitor.post("/label", a=page_a(0), b=page_b(0), verdict="accept", note=HOSTILE)
        visitor.get("/queue")  # what has been said is read
        elements = Elements(visitor.get(path)).found
        assert [dict(attributes)["src"] for tag, attributes in elements if tag == "script"] == [
            "/static/htmx.min.js",
            "/static/review.js",
        ]
        assert not [tag for tag, _ in elements if tag in {"img", "object", "embed", "base", "hx-partial", "template"}]
        for tag, attributes in elements:
            assert not [name for name in attributes if name.startswith("on") or name in {"style", "srcdoc"}], tag
            for name in ("href", "src", "action", "hx-get", "formaction"):
                target = attributes.get(name) or "/"
                assert re.match(r"/(?!/)|\?|#|https?://toy\.example/", target), (tag, target)

    @pytest.mark.parametrize("path", PATHS)
    def test_no_inline_script_or_style(self, visiting: Visiting, path: str) -> None:
        page = visiting(self.hostile()).get(path)
        assert "<style" not in page
        assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []

    def test_nothing_turns_the_direction_of_others(self, visiting: Visiting) -> None:
        page = visiting(self.hostile()).get("/queue")
        assert "\u202e" not in page

    def test_templates_are_not_run(self, visiting: Visiting) -> None:
        assert "{{7*7}}" in visiting(self.hostile()).get("/queue")

    def test_framed_page_runs_nothing(self, visiting: Visiting) -> None:
        html = (
            "<title>t</title><script>alert(1)</script><body onload=alert(2)><a href='javascript:alert(3)'>text</a>"
            "<form action=//evil.example><input name=x autofocus onfocus=alert(4)></form><iframe src=//evil.example>"
            "</iframe><img src=//evil.example/track.gif><style>a{background:url(//evil.example/x)}</style>"
            "<meta http-equiv=refresh content='0;url=//evil.example'>"
        )
        visitor = visiting(FakeRun(html={page_a(0): html}))
        answer = visitor.client.get(f"/look/{page_a(0)}")
        assert answer.headers["content-security-policy"] == FRAME_POLICY
        assert "text" in answer.text
        for part in ("alert", "<script", "<iframe", "evil.example/x", "track.gif", "onload"):
            assert part not in answer.text.split("</head>")[-1], part

    def test_external_links_tell_nothing_and_open_elsewhere(self, visiting: Visiting) -> None:
        elements = Elements(visiting().get(f"/pair/{page_a(0)}/{page_b(0)}")).found
        outside = [each for tag, each in elements if tag == "a" and (each["href"] or "").startswith("http")]
        assert len(outside) == 2
        assert all(each["rel"] == "noopener noreferrer nofollow" and each["target"] == "_blank" for each in outside)
