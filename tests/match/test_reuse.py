"""Sites whose tables have not changed are not matched again, and the result is that of matching all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.archives import respond
from tests.made_sites import BASE, LANGS, page
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.jobs.mine import match_stage
from twinlink.match import stage as module
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import CANDIDATES, FILTERS, LANGUAGES, LOOK_ALIKES, PAIRS, REJECTS, WEIGHTS, read_table
from twinlink.toy import toy_site

HOSTS = ("http://one.example", "http://two.example")
CONFIG = Config().override({"langs": list(LANGS), "match.method": "liu2014", "match.min_score": 0.0})
SCHEMAS = {
    "languages": LANGUAGES, "candidates": CANDIDATES, "pairs": PAIRS, "weights": WEIGHTS, "filters": FILTERS,
    "look_alikes": LOOK_ALIKES,
    "rejects.parquet": REJECTS,
}  # fmt: skip


def write(path: Path, changes: dict[str, str], day: int) -> Path:
    """Write the toy site twice, each on a host of its own, into an archive; ``changes`` by address."""
    for host in HOSTS:
        for url, html in toy_site().pages.items():
            address = url.replace(BASE, host)
            body = changes.get(address, html.replace(BASE, host))
            if day == 1 or address in changes:
                respond(path, address, body.encode(), WARC_Date=f"2026-01-{day:02}T00:00:00Z")
    return path


@pytest.fixture
def matched_sites(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sites that are matched from now on."""
    calls: list[str] = []
    real = module.match_site

    def spy(pages, *args, **kwargs):  # type: ignore[no-untyped-def]
        calls.append(pages["site"][0].as_py())
        return real(pages, *args, **kwargs)

    monkeypatch.setattr(module, "match_site", spy)
    return calls


def results(run: RunDirectory) -> dict[str, list[dict[str, object]]]:
    return {name: read_table(run.path / "match" / name, schema).to_pylist() for name, schema in SCHEMAS.items()}


def done(run: RunDirectory, sources: list[Path], config: Config = CONFIG) -> dict[str, list[dict[str, object]]]:
    ingest(run, sources, config.ingest)
    match_stage(run, config)
    return results(run)


def forget(run: RunDirectory) -> None:
    shutil.rmtree(run.path / "match")


@pytest.mark.parametrize("method", ["liu2014", "jangeldin"])
def test_only_the_site_that_changed_is_matched_again(tmp_path: Path, matched_sites: list[str], method: str) -> None:
    config = CONFIG.override({"match.method": method, "match.min_score": None})
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    before = done(run, [first], config)
    assert sorted(matched_sites) == ["one.example", "two.example"]
    matched_sites.clear()
    changed = {f"{HOSTS[1]}/en/a.html": page("The library is closed on Mondays.", "c.html")}
    second = write(tmp_path / "2.warc.gz", changed, 2)
    after = done(run, [first, second], config)
    assert matched_sites == ["two.example"]
    assert after != before
    assert not list(run.path.glob(".match*"))
    matched_sites.clear()
    forget(run)
    assert done(run, [first, second], config) == after
    assert sorted(matched_sites) == ["one.example", "two.example"]


def test_nothing_changed(tmp_path: Path, matched_sites: list[str]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    before = done(run, [first])
    matched_sites.clear()
    second = tmp_path / "2.warc.gz"
    respond(second, f"{HOSTS[0]}/gone.html", b"<html>gone", "404 Not Found")
    after = done(run, [first, second])
    assert matched_sites == []
    assert {row["signature"] for row in after["pairs"]}.isdisjoint({row["signature"] for row in before["pairs"]})
    for row in (*before["pairs"], *after["pairs"]):
        del row["signature"]
    assert after == before
    assert run.pairs_file.read_text().count("\n") == 1 + len(after["pairs"])


@pytest.mark.parametrize("changes", [{"match.ets.alpha": 0.5}, {"langs": ["zh", "en"]}, {"language.min_letters": 5}])
def test_other_settings_match_all_sites(tmp_path: Path, matched_sites: list[str], changes: dict[str, object]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    done(run, [first])
    matched_sites.clear()
    done(run, [first], CONFIG.override(changes))
    assert sorted(matched_sites) == ["one.example", "two.example"]


def test_a_lexicon_that_changed_matches_all_sites(tmp_path: Path, matched_sites: list[str]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("library\t圖書館\n", encoding="utf-8")
    config = CONFIG.override({"match.lexicons": [str(lexicon)]})
    done(run, [first], config)
    matched_sites.clear()
    lexicon.write_text("library\t圖書館\nhours\t時間\n", encoding="utf-8")
    done(run, [first], config)
    assert sorted(matched_sites) == ["one.example", "two.example"]


@pytest.mark.parametrize("damage", ["pairs/one.example.parquet", "rejects.parquet", "sites.json"])
def test_a_damaged_result_is_made_anew(tmp_path: Path, matched_sites: list[str], damage: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    done(run, [first])
    matched_sites.clear()
    (run.path / "match" / damage).write_bytes(b"damaged")
    second = tmp_path / "2.warc.gz"
    respond(second, f"{HOSTS[0]}/gone.html", b"<html>gone", "404 Not Found")
    after = done(run, [first, second])
    assert "one.example" in matched_sites
    forget(run)
    assert done(run, [first, second]) == after
