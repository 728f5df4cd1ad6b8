from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.review.conftest import Served
from tests.review.fakes import FakeRun
from twinlink.errors import InputError
from twinlink.labels.book import LabelBook
from twinlink.review.app.app import make_app
from twinlink.review.app.serve import listen, serve

SERVER = """
import sys
from pathlib import Path
from tests.review.fakes import FakeRun
from twinlink.review.app.app import make_app
from twinlink.labels.book import LabelBook
from twinlink.review.app.serve import serve

app = make_app(FakeRun(), LabelBook(Path(sys.argv[1])), "ann", 0)
serve(app, 0, lambda address: print(address, flush=True))
print("ended", flush=True)
"""


def test_port_in_use_is_reported_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} is in use.*--port"):
            serve(make_app(FakeRun(), LabelBook(tmp_path), "ann", port), port)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_no_port(port: int) -> None:
    with pytest.raises(InputError, match="--port"):
        listen(port)


def test_listens_on_this_machine_alone() -> None:
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_comes_in_by_the_printed_address_and_labels(served: Served) -> None:
    with httpx.Client(follow_redirects=True, base_url=served.base) as browser:
        assert browser.get("/queue").status_code == 403
        assert browser.get(served.address).url.path == "/queue"
        form = {"token": served.token, "a": "1007", "b": "-1007", "verdict": "accept", "by": "doubt"}
        answer = browser.post("/label", data=form, headers={"origin": served.base})
        assert answer.url.path == "/pair/1006/-1006"
        assert len(served.labels.current()) == 1
        browser.post("/undo", data={"token": served.token}, headers={"origin": served.base})
        assert served.labels.current() == {}


def test_ends_at_ctrl_c_without_a_traceback(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root, env=env
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert httpx.get(address, follow_redirects=True).status_code == 200
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    assert (server.returncode, out.strip(), err) == (0, "ended", "")
