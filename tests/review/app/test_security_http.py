"""Every route that there is, whatever is added: without the key it shows nothing, and no parameter leads to a file."""

from __future__ import annotations

import re

import pytest
from starlette.routing import Route

from tests.review.app.test_security import ask, label_form, ours
from tests.review.conftest import Served
from tests.review.fakes import FakeRun
from twinlink.labels.book import LabelBook
from twinlink.review.app.app import make_app

CLIMBS = (
    "..",
    "%2e%2e",
    "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fconfig.toml",
    "..%252f..%252fetc%252fpasswd",
    "..%5c..%5cetc%5cpasswd",
    "%c0%ae%c0%ae%c0%afetc%c0%afpasswd",
    "%ef%bc%8e%ef%bc%8e%ef%bc%8fetc",
    "%2fetc%2fpasswd",
    "file:%2f%2f%2fetc%2fpasswd",
    "%00",
    "1000%00.html",
    "-",
    "1e3",
    "0x3e8",
    "9" * 40,
    "%f0%9d%9f%8f",
)
OPEN = {"/enter", "/favicon.ico", "/static/{name}"}


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> list[Route]:
    app = make_app(FakeRun(), LabelBook(tmp_path_factory.mktemp("run")), "ann", 1)
    return [route for route in app.routes if isinstance(route, Route)]


def filled(route: Route, text: str) -> str:
    return re.sub(r"\{\w+\}", text, route.path)


def test_no_parameter_leads_to_a_file(served: Served, routes: list[Route]) -> None:
    paths = [filled(route, climb) for route in routes if "{" in route.path for climb in CLIMBS]
    assert len(paths) >= 5 * len(CLIMBS)
    for path in paths:
        answer = ask(served, path)
        assert answer.status in {400, 404}, path
        assert not re.search(r"root:|import |\[crawl\]", answer.text), path


def test_without_the_key_nothing_is_shown_or_done(served: Served, routes: list[Route]) -> None:
    closed = [route for route in routes if route.path not in OPEN]
    assert len(closed) >= 14
    for route in closed:
        path = filled(route, "1000")
        answers = [ask(served, path, cookie=False), ask(served, path, "HEAD", cookie=False)]
        answers += [ask(served, path, "POST", ours(served), label_form(served), cookie=False)]
        assert [answer.status for answer in answers] == [403, 403, 403], path
        assert all(served.token not in answer.text for answer in answers), path
    assert served.labels.history() == ()


def test_what_changes_something_takes_only_posts_of_ours(served: Served, routes: list[Route]) -> None:
    changing = [route.path for route in routes if "POST" in (route.methods or ())]
    assert set(changing) >= {"/label", "/repair", "/undo", "/pause", "/watch"}
    for path in changing:
        foreign = {"Origin": "http://evil.example"}
        assert ask(served, f"{path}?{label_form(served)}", headers=ours(served)).status == 405, path
        assert ask(served, path, "POST", foreign, label_form(served)).status == 403, path
        assert ask(served, path, "POST", ours(served), label_form(served, token="")).status == 403, path
        host = {**ours(served), "Host": f"evil.example:{served.port}"}
        assert ask(served, path, "POST", host, label_form(served)).status == 421, path
    assert served.labels.history() == ()
