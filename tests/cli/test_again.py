"""A run that is brought up to date: crawl, match, crawl again, and only the site that changed is matched again."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.loopback import Answer, serving
from tests.made_sites import BASE, page
from tests.matched_sites import matched_from_now
from twinlink.cli import app
from twinlink.config import Config
from twinlink.run import Run
from twinlink.toy import toy_site


def command(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--quiet"])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_run_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = str(tmp_path / "run")
    pages = {url.removeprefix(BASE): html for url, html in toy_site().pages.items()}
    index = page("index", *pages)
    sites = [{**pages, "/": index}, {**pages, "/": index}]

    def answer(number: int, path: str) -> Answer:
        html = sites[number].get(path)
        return Answer(status=404) if html is None else Answer(html.encode(), headers={"ETag": f'"{hash(html)}"'})

    matched = matched_from_now(monkeypatch)
    with (
        serving(lambda path: answer(0, path)) as one,
        serving(lambda path: answer(1, path), host="127.0.0.2") as two,
    ):
        command("crawl", one.url, two.url, "-o", out, "--langs", "en,zh", "--set", "crawl.site_by=host")
        command("ingest", "-o", out)
        command("match", out, "--method", "liu2014")
        assert len(matched) == 2
        matched.clear()
        first = Run(tmp_path / "run").pairs
        changed = next(iter(pages))
        sites[1][changed] = page("The library is closed on Mondays.", *pages)
        told = command("crawl", "-o", out, "--again")
        assert "asked again: unchanged 21, changed 1\n" in told
        assert not Config.load(tmp_path / "run" / "config.toml").crawl.again
        command("ingest", "-o", out)
        command("match", out)
        assert matched == [two.url.removeprefix("http://")]
    pairs = Run(tmp_path / "run").pairs
    same = pairs["site"] == one.url.removeprefix("http://")
    columns = [name for name in pairs.columns if name != "signature"]
    before = first[first["site"] == one.url.removeprefix("http://")][columns].reset_index(drop=True)
    assert pairs[same][columns].reset_index(drop=True).equals(before)
    assert len(before) >= 4
