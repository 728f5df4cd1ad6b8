"""A finished run of a small site on this machine, and all that a failing command must leave as it is."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.calling import twinlink
from tests.loopback import Answer, serving
from tests.made_sites import BASE, page, write_town
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.match.stage import match
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import Counts, FrontierReader, so_far
from twinlink.toy import toy_site

_DATE = re.compile(r'creationdate="[^"]*"')

PLAIN = {
    "mine": ("mine", "{url}", "-o", "{run}"),
    "crawl": ("crawl", "{url}", "-o", "{run}"),
    "ingest": ("ingest", "-o", "{run}"),
    "match": ("match", "{run}"),
    "align": ("align", "{run}"),
    "patterns": ("patterns", "{run}"),
    "rank": ("rank", "{run}"),
    "recover": ("recover", "{run}"),
    "evaluate": ("evaluate", "{run}", "--gold", "{run}/pairs.tsv"),
    "explain": ("explain", "{run}", "{url}/en/a.html"),
    "report": ("report", "{run}", "-o", "{tmp}/report.html"),
    "verify": ("verify", "{run}/pairs.tsv", "--run", "{run}", "-o", "{tmp}/verdicts.tsv"),
    "review": ("review", "{run}", "--export", "{tmp}/labels.tsv"),
}
"""Each verb as somebody calls it who wants nothing else than before; on a finished run it changes nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the toy site, with a page that leads to all others; give its address."""
    pages = {url.removeprefix(BASE): html for url, html in toy_site().pages.items()}
    pages["/"] = page("index", *pages, "https://www.elsewhere.org/")

    def answer(path: str) -> Answer:
        html = pages.get(path)
        return Answer(status=404) if html is None else Answer(html.encode(), headers={"ETag": f'"{len(html)}"'})

    with serving(answer) as server:
        yield server.url


def matched_town(folder: Path, n_pairs: int) -> Path:
    """Write a town's pages below ``folder``, match them, and return the run."""
    config = Config().override({"langs": ["en", "fr"], "ingest.base_url": BASE})
    run = RunDirectory.create(folder / "run")
    ingest(run, [write_town(folder / "site", n_pairs)], config.ingest)
    match(run, config)
    return run.path


def finish(run: Path, url: str) -> None:
    """Do all that can be done in a run."""
    for words in (
        ("mine", url, "-o", run, "--langs", "en,zh"),
        ("recover", run),
        ("mine", url, "-o", run, "--align"),
        ("recover", run),
        ("rank", run),
        ("verify", run / "pairs.tsv", "--run", run, "-o", run / "verdicts.tsv"),
    ):
        done = twinlink(*words, "-q")
        assert done.returncode == 0, (words, done)


def copied(run: Path, target: Path) -> Path:
    """Copy a run, with the times of its files, by which stages see whether their input has changed."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(run, target))


def state(run: Path) -> dict[str, object]:
    """Return what makes a finished run: its tables, whatever the order of their rows, its files, and its settings."""
    found: dict[str, object] = {}
    for file in sorted(run.rglob("*")):
        name = file.relative_to(run)
        if not file.is_file() or name.parts[0] == "replacement" or any(part.startswith(".") for part in name.parts):
            continue
        if file.suffix == ".tmp":  # the next one of that name takes its place
            continue
        if file.suffix == ".parquet":
            found[str(name)] = _table_digest(file.read_bytes())
        elif name.parts[0] in ("align", "match", "ingest", "patterns", "rank", "recover") or len(name.parts) == 1:
            text = file.read_bytes().decode(errors="replace")
            found[str(name)] = _digest(_DATE.sub("", text) if file.suffix == ".tmx" else text)
    for name in ("crawl.json", "crawl.log", "crawl.lock", "config.toml", "ledger.sqlite", "log.txt", "recover.sqlite"):
        found = {key: value for key, value in found.items() if not key.startswith(name)}  # also -wal and -shm
    found["settings"] = tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))
    found["crawled"] = so_far(run, FrontierReader.counts, Counts()).done
    return found


@lru_cache(maxsize=1000)
def _table_digest(content: bytes) -> str:
    """Return a digest of a table; most tables of a run are as they were when it was last read."""
    table = pq.read_table(pa.BufferReader(content))
    return _digest(str(table.schema), *sorted(map(repr, table.to_pylist())))


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
