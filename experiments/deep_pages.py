"""Deep pages on real sites with known pairs: some pages of one language are hidden, and `recover` searches for them.

::

    python -m experiments.deep_pages SITES... [--hide 0.2] [--wrong 404|200] [--seed 0]

The second page of a share of the known pairs is hidden: the run is read from files without these pages. A server on
this machine has all pages, and answers wrong addresses with status 404, or with status 200 and an error page in the
layout of the site. Recall is the share of hidden pages that are found for the right partner, precision the share of
found pages that are right.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.recover.stage import TRIED, recover
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import RECOVERED, read_table


class Recovery(NamedTuple):
    """Outcomes of the hidden pages of one site."""

    hidden: int
    requests: int
    """Number of requested addresses, including made-up ones."""
    found: int
    right: int
    outcomes: dict[str, int]


class _Handler(SimpleHTTPRequestHandler):
    """Serves files; other addresses get an error page with status 404, or within a layout and with status 200."""

    def __init__(self, *arguments: object, frame: bytes | None, **named: object) -> None:
        self._frame = frame
        super().__init__(*arguments, **named)  # type: ignore[arg-type]  # as the server calls it

    def do_GET(self) -> None:
        """Answer."""
        if self._frame is None or Path(self.translate_path(self.path)).is_file():
            super().do_GET()
            return
        body = self._frame + f"<p>Not found: {self.path}</p>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def _serving(folder: Path, frame: bytes | None) -> Iterator[str]:
    handler = partial(_Handler, directory=str(folder), frame=frame)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def recovery_of(case: Path, hide: float, soft: bool, seed: int) -> Recovery:
    """Hide a share of a site's second pages, recover, and count.

    Parameters
    ----------
    case : Path
        A site folder: ``site/`` with its pages, ``gold.tsv`` with its pairs.
    hide : float
        Share of the pairs whose second page is hidden.
    soft : bool
        Whether wrong addresses are answered with status 200.
    seed : int
    """
    lines = (case / "gold.tsv").read_text(encoding="utf-8").splitlines()
    gold = [(a, b) for a, b in (line.split("\t")[:2] for line in lines)]
    hidden = dict(random.Random(seed).sample(gold, round(hide * len(gold))))
    away = {path.lstrip("/") for path in hidden.values()}
    frame = (case / "site" / gold[0][0].lstrip("/")).read_bytes() if soft else None
    with tempfile.TemporaryDirectory() as place, _serving(case / "site", frame) as base:
        mirror = Path(place, "mirror")
        shutil.copytree(case / "site", mirror)
        for name in away:
            (mirror / name).unlink()
        config = Config().override({"ingest.base_url": base, "recover.linked": True, "crawl.browser": "never"})
        run = RunDirectory.create(Path(place, "run"))
        run.config_file.write_text(config.to_toml())
        ingest(run, [mirror], config.ingest)
        recover(run, config)
        rows = read_table(run.path / "recover" / TRIED, RECOVERED).to_pylist()
    outcomes = Counter(row["outcome"] for row in rows)
    found = [
        tuple(row[name].removeprefix(base) for name in ("page", "url")) for row in rows if row["outcome"] == "found"
    ]
    asked = outcomes.total() - sum(outcomes[name] for name in ("given-up", "over-budget", "not-needed", "linked"))
    right = sum(hidden.get(page) == url for page, url in found)
    return Recovery(len(hidden), asked, len(found), right, dict(sorted(outcomes.items(), key=lambda n: (-n[1], n[0]))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sites and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders")
    parser.add_argument("--hide", type=float, default=0.2, help="share of the pairs that lose their second page")
    parser.add_argument("--wrong", choices=["404", "200"], default="404", help="what wrong addresses are answered with")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    for case in given.sites:
        told = recovery_of(case, given.hide, given.wrong == "200", given.seed)
        shares = f"recall {told.right / max(1, told.hidden):.3f}, precision {told.right / max(1, told.found):.3f}"
        reasons = ", ".join(f"{name} {count}" for name, count in told.outcomes.items())
        print(f"{case.name}: {told.hidden} hidden, {told.requests} asked for, {told.found} found; {shares} ({reasons})")


if __name__ == "__main__":
    main()
