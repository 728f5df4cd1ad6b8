"""Sites whose tables have not changed are not matched again, and the result is that of matching all of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from tests.archives import respond
from tests.made_sites import BASE, LANGS, page
from tests.match.test_pairs_file import write_pairs
from tests.matched_sites import matched_from_now
from twinlink.config import Config
from twinlink.config.match import MethodName
from twinlink.damage import list_tables
from twinlink.ingest.stage import ingest
from twinlink.jobs.stages import match_stage
from twinlink.match.methods.registry import METHODS
from twinlink.match.reuse import EarlierMatch, site_digest, write_digests
from twinlink.match.site_tables import SPARSE, TABLES
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import (
    CANDIDATES,
    FILTERS,
    LANGUAGES,
    LOOK_ALIKES,
    PAGES,
    PAIRS,
    REJECTS,
    WEIGHTS,
    Reject,
    read_table,
    write_table,
)
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
    return matched_from_now(monkeypatch)


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


def test_unchanged_site_is_reused(tmp_path: Path, matched_sites: list[str]) -> None:
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


@pytest.mark.parametrize("changes", [{"match.ets.rounds": 2}, {"langs": ["zh", "en"]}, {"language.min_letters": 5}])
def test_other_settings_match_all_sites(tmp_path: Path, matched_sites: list[str], changes: dict[str, object]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    done(run, [first])
    matched_sites.clear()
    done(run, [first], CONFIG.override(changes))
    assert sorted(matched_sites) == ["one.example", "two.example"]


OTHER_VALUES: Mapping[str, Mapping[str, object]] = {
    "internal": {"content": "bits", "structure": "lcs_max", "beta": 0.1, "shared_tokens": "none"},
    "ets": {"alpha": 0.1, "rounds": 1, "neighbours": "in", "start": "random", "rarity": True},
    "weighing": {"evidence": ["content"], "rounds": 0, "ridge": 0.1},
    "candidates": {"per_page": 1, "products_per_page": 1},
    "patterns": {"min_pairs": 1_000, "max_key": 2},
    "url_rule": {"max_others": 0},
    "bitextor": {"use_urls": False, "size_difference": 0.0},
    "webmining": {"tag_difference": 0.0},
    "models.jangeldin": {"max_cost": 0.0},
}


def unused_settings(method: MethodName) -> dict[str, object]:
    """Return other values of the settings that a method does not use, by the registry."""
    return {
        f"match.{record}.{name}": value
        for record, values in OTHER_VALUES.items()
        for name, value in values.items()
        if not {record, record.partition(".")[0], f"{record}.{name}"}.isdisjoint(METHODS[method].unused)
    }


@pytest.mark.parametrize("method", METHODS)
def test_settings_that_the_method_does_not_use_match_no_site(
    tmp_path: Path, matched_sites: list[str], method: MethodName
) -> None:
    run = RunDirectory.create(tmp_path / "run")
    first = write(tmp_path / "1.warc.gz", {}, 1)
    config = Config().override({"langs": list(LANGS), "match.method": method})
    before = done(run, [first], config)
    matched_sites.clear()
    other = config.override(unused_settings(method))
    assert other != config
    assert done(run, [first], other) == before
    assert matched_sites == []
    forget(run)
    assert done(run, [first], other) == before, "the result does not depend on them"


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


# ---- by hand


def table(*names: str) -> pa.Table:
    return pa.table({"url": [f"http://one.example/{name}" for name in names]})


def pages(folder: Path, *digests: str) -> Path:
    """Write pages that differ in the digests of their bodies alone."""
    plain = {pa.string(): "", pa.int64(): 0, pa.int16(): 0, pa.binary(): b"", pa.list_(pa.string()): []}
    empty = {field.name: plain[field.type] for field in PAGES if not field.nullable}
    file = folder / f"{'-'.join(digests)}.parquet"
    write_table(pa.Table.from_pylist([{**empty, "digest": digest} for digest in digests], PAGES), PAGES, file)
    return file


def test_digests_differ_by_what_a_result_depends_on(tmp_path: Path) -> None:
    part = pages(tmp_path, "1", "2")
    digest = site_digest("shared", part, (table("a"), table("b")), with_bodies=False)
    assert site_digest("shared", part, (table("a"), table("b")), with_bodies=False) == digest
    others = [
        site_digest("other", part, (table("a"), table("b")), with_bodies=False),
        site_digest("shared", part, (table("a"), table("c")), with_bodies=False),
        site_digest("shared", part, (table("b"), table("a")), with_bodies=False),
        site_digest("shared", part, (table("a", "b"), table()), with_bodies=False),
        site_digest("shared", part, (table("a"), table("b")), with_bodies=True),
    ]
    assert len({digest, *others}) == 1 + len(others)
    in_pieces = pa.concat_tables([table("a"), table("b")])
    assert in_pieces["url"].num_chunks == 2
    assert site_digest("", part, [in_pieces], with_bodies=False) == site_digest(
        "", part, [table("a", "b")], with_bodies=False
    )


def test_bodies_count_where_a_method_reads_them(tmp_path: Path) -> None:
    one, other = pages(tmp_path, "1", "2"), pages(tmp_path, "1", "3")
    plain, with_bodies = (
        [site_digest("", part, [], with_bodies=has) for part in (one, other)] for has in (False, True)
    )
    assert len(set(plain)) == 1
    assert len(set(with_bodies)) == 2


def earlier(tmp_path: Path) -> RunDirectory:
    """A run whose match has two sites of one pair each, and two rejects of each."""
    run = RunDirectory.create(tmp_path / "run")
    folder = run.path / "match"
    for site in ("one", "two"):
        for name, schema in TABLES.items():
            write_table(schema.empty_table(), schema, folder / name / f"{site}.parquet")
        write_pairs(folder, site, (f"http://{site}.example/a", 0.5, 0.5))
    rejects = [Reject(f"http://{site}.example/{k}", "match", "tie", "") for site in ("one", "two") for k in range(2)]
    write_table(
        pa.Table.from_pylist([each._asdict() for each in rejects], REJECTS), REJECTS, folder / "rejects.parquet"
    )
    write_digests(folder, {"one": "1", "two": "2"})
    return run


def test_an_earlier_result_of_the_same_digest_is_found(tmp_path: Path) -> None:
    match = EarlierMatch(earlier(tmp_path))
    urls = table("0", "1", "2")["url"]
    found = match.find("one", "1", urls, "now")
    assert found is not None
    assert found.keys() == {*TABLES, "rejects"}
    assert found["pairs"].schema.equals(PAIRS)
    assert [(row["url_a"], row["signature"]) for row in found["pairs"].to_pylist()] == [("http://one.example/a", "now")]
    assert found["rejects"] == [Reject(f"http://one.example/{k}", "match", "tie", "") for k in range(2)]
    assert match.find("one", "2", urls, "now") is None
    assert match.find("three", "1", urls, "now") is None


@pytest.mark.parametrize("damage", [*(f"{name}/one.parquet" for name in TABLES), "rejects.parquet", "sites.json"])
def test_nothing_is_found_of_a_damaged_result(tmp_path: Path, damage: str) -> None:
    run = earlier(tmp_path)
    (run.path / "match" / damage).write_bytes(b"damaged")
    assert EarlierMatch(run).find("one", "1", table("0")["url"], "now") is None


def test_tables_that_were_never_written_have_no_rows_and_those_that_are_gone_are_damaged(tmp_path: Path) -> None:
    run = earlier(tmp_path)
    folder = run.path / "match"
    for name in SPARSE - {"weights"}:
        (folder / name / "one.parquet").unlink()
    (folder / "signature.json").write_text(json.dumps({"tables": list_tables(folder)}))
    found = EarlierMatch(run).find("one", "1", table("0")["url"], "now")
    assert found is not None
    assert all(found[name].schema.equals(schema) for name, schema in TABLES.items())
    for name in ("weights", "pairs"):
        (folder / name / "one.parquet").rename(tmp_path / "kept")
        assert EarlierMatch(run).find("one", "1", table("0")["url"], "now") is None
        (tmp_path / "kept").rename(folder / name / "one.parquet")
    assert EarlierMatch(run).find("two", "2", table("0")["url"], "now") is not None


def test_nothing_is_found_where_nothing_was_matched(tmp_path: Path) -> None:
    assert EarlierMatch(RunDirectory.create(tmp_path / "run")).find("one", "1", table("0")["url"], "now") is None
