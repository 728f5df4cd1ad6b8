"""Stage recover against real servers: deep pages are found and matched, all that only looks like one is not taken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.loopback import Answer, Server, redirect, serving
from tests.pipeline.test_structural import CHINESE, ENGLISH
from tests.sites import write_pages
from twinlink.cli import app
from twinlink.config import Config
from twinlink.pipeline.ingest import ingest
from twinlink.pipeline.mine import crawl_stage, ingest_stage, match_stage
from twinlink.pipeline.recover import guessed_lines, recover, said_of
from twinlink.run import Run
from twinlink.rundir import RunDirectory
from twinlink.similarity.pattern_library import KeySums, PatternLibrary, write_library
from twinlink.similarity.url_keys import Key
from twinlink.tables import RECOVERED, read_table

CONFIG = Config().override({"langs": ["en", "zh"], "crawl.browser": "never", "crawl.retries": 0})
N_PAGES = 12
DEEP = range(7, N_PAGES + 1)
MENU = "<ul><li>Home<li>About us<li>Contact the office<li>首頁<li>關於我們<li>聯絡本辦事處</ul>"


def text_of(lang: str, n: int) -> str:
    texts = ENGLISH if lang == "en" else CHINESE
    return f"{texts[(n - 1) % 8]} {texts[(3 * n) % 8]} {n * 1117}"


def page(lang: str, n: int, *hrefs: str) -> Answer:
    links = "".join(f"<p><a href='{href}'>{n * 31}</a>" for href in hrefs)
    body = f"<title>{n}</title>{MENU}<p>{text_of(lang, n)}</p>{f'<p>{n}.{n}</p>' * n}{links}"
    return Answer(body.encode())


def pages(deep: range = DEEP) -> dict[str, Answer]:
    """Pages in English, and in Chinese; to the Chinese ones of some numbers nothing links."""
    made = {"/": page("en", 1, *(f"/en/p{n}.htm" for n in range(1, N_PAGES + 1)))}
    for n in range(1, N_PAGES + 1):
        made[f"/en/p{n}.htm"] = page("en", n, *([] if n in deep else [f"/tc/p{n}.htm"]))
        made[f"/tc/p{n}.htm"] = page("zh", n, f"/en/p{n}.htm")
    return made


@dataclass
class Site:
    """A server's pages, and what it answers to any other address."""

    pages: dict[str, Answer]
    wrong: Callable[[str], Answer] = field(default=lambda path: Answer(b"<p>not found", status=404))

    def answer(self, path: str) -> Answer:
        return self.pages.get(path) or self.wrong(path)


def mined(folder: Path, server: Server, *, with_match: bool = True) -> RunDirectory:
    run = RunDirectory.create(folder)
    crawl_stage([server.url], run, CONFIG)
    ingest_stage([], run, CONFIG)
    if with_match:
        match_stage(run, CONFIG)
    return run


def outcomes(run: RunDirectory) -> dict[str, str]:
    rows = read_table(run.path / "recover" / "tried.parquet", RECOVERED).to_pylist()
    return {"/" + row["url"].split("/", 3)[3]: row["outcome"] for row in rows if row["outcome"] != "made-up"}


def deep(*numbers: int, outcome: str = "found") -> dict[str, str]:
    return {f"/tc/p{n}.htm": outcome for n in numbers or DEEP}


def pairs_of(run: RunDirectory) -> set[tuple[str, str]]:
    table = Run(run.path).pairs
    return {("/" + a.split("/", 3)[3], "/" + b.split("/", 3)[3]) for a, b in zip(table["url_a"], table["url_b"], strict=True)}


ALL_PAIRS = {(f"/en/p{n}.htm", f"/tc/p{n}.htm") for n in range(1, N_PAGES + 1)}


@pytest.mark.parametrize("with_match", [True, False], ids=["matched", "ingested"])
def test_deep_pages_are_found_and_matched(tmp_path: Path, with_match: bool) -> None:
    site = Site(pages())
    with serving(site.answer) as server:
        run = mined(tmp_path / "run", server, with_match=with_match)
        asked = len(server.log)
        recover(run, CONFIG)
        assert outcomes(run) == deep()
        fetched = Counter(server.log[asked:])
        assert {path: n for path, n in fetched.items() if path in deep()} == dict.fromkeys(deep(), 1)
        assert set(fetched) - set(deep()) - {"/robots.txt"} == made_up(run)
        asked = len(server.log)
        recover(run, CONFIG)
        assert server.log[asked:] == []
        assert outcomes(run) == deep()
    before = pairs_of(run) if with_match else set()
    ingest_stage([], run, CONFIG)
    match_stage(run, CONFIG)
    assert pairs_of(run) == ALL_PAIRS
    assert before < ALL_PAIRS
    rejects = Run(run.path).rejects
    assert Counter(rejects["reason"][rejects["stage"] == "recover"]) == {"made-up": 2}
    assert len(rejects["url"]) == len(set(rejects["url"]))


def made_up(run: RunDirectory) -> set[str]:
    rows = read_table(run.path / "recover" / "tried.parquet", RECOVERED).to_pylist()
    return {"/" + row["url"].split("/", 3)[3] for row in rows if row["outcome"] == "made-up"}
