from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import httpx
import pytest

from tests.review.fakes import FakeRun
from twinlink.labels.book import LabelBook
from twinlink.review.app.app import make_app
from twinlink.review.app.serve import listen, server_of
from twinlink.review.reading.run_view import RunView

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have another version of httpx
    from starlette.testclient import TestClient

__all__ = ["OURS", "PORT", "Served", "TestClient", "Visiting", "Visitor", "serving"]

PORT = 8765
OURS = {"origin": f"http://127.0.0.1:{PORT}"}


@dataclass
class Visitor:
    """A browser that has come in, without scripts."""

    client: TestClient
    run: FakeRun
    labels: LabelBook
    token: str

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return str(answer.text).replace("\xa0", " ")

    def post(self, path: str, status: int = 200, **form: object) -> httpx.Response:
        fields = {"token": self.token, **{name: str(value) for name, value in form.items()}}
        answer = self.client.post(path, data=fields, headers=OURS)
        assert answer.status_code == status, answer.text
        shown: httpx.Response = answer
        return shown

    def place(self, answer: httpx.Response) -> str:
        """Where the browser is after an answer."""
        return answer.url.raw_path.decode()


Visiting = Callable[..., Visitor]


@pytest.fixture
def visiting(tmp_path: Path) -> Visiting:
    """Open a run of toy pages in a browser without scripts."""

    def visit(run: FakeRun | None = None, who: str = "ann", folder: Path = tmp_path) -> Visitor:
        run = run or FakeRun()
        labels = LabelBook(folder)
        app = make_app(run, labels, who, PORT)
        client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False)
        assert client.get(app.state.review.entrance.address).status_code == 200
        return Visitor(client, run, labels, app.state.review.entrance.token)

    return visit


@dataclass
class Served:
    """A server on this machine."""

    port: int
    address: str
    token: str
    cookie: str
    labels: LabelBook

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a run of toy pages over HTTP."""
    run = FakeRun(breaks=ZeroDivisionError("a bug of ours"))
    with serving(run, LabelBook(tmp_path_factory.mktemp("run"))) as made:
        yield made


@contextmanager
def serving(run: RunView, labels: LabelBook) -> Iterator[Served]:
    """Serve a run over HTTP on a free port of this machine."""
    app = make_app(run, labels, "ann", 0)
    server = server_of(app)
    with listen(0) as listening:
        entrance = app.state.review.entrance
        entrance.port = listening.getsockname()[1]
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield Served(entrance.port, entrance.address, entrance.token, f"{entrance.cookie}={entrance.key}", labels)
        server.should_exit = True
        thread.join(timeout=10)
        assert not thread.is_alive()
