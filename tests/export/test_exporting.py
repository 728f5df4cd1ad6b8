"""Exports of a run, read back by the programs that they are for."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import networkx as nx
import pandas as pd
import pyarrow.parquet as pq
import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, write_three_languages, write_toy
from twinlink.errors import ConfigError, InputError, MissingStageError, NothingFoundError, RunError, RunLockedError
from twinlink.export import FORMATS, Exported, PairChoice, write_wacz
from twinlink.export.wacz_writer import ArchivedPage, index_key
from twinlink.tables import PAGE_PAIRS, SEGMENT

PAIRS = [(f"{BASE}/en/{name}.html", f"{BASE}/zh/{name}.html") for name in "abcde"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tl.Run:
    folder = tmp_path_factory.mktemp("export")
    toy = write_toy(folder / "toy")
    mined = tl.mine(str(toy), out=folder / "run", langs=("en", "zh"), base_url=BASE, match__min_score=0.0)
    return mined.align()


@pytest.fixture(scope="module")
def exported(run: tl.Run, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return run.export(tmp_path_factory.mktemp("out"), list(FORMATS))


def test_json_lines_and_parquet_hold_the_pairs_with_their_texts(run: tl.Run, exported: Exported) -> None:
    table = pd.read_parquet(exported.folder / "pairs.en-zh-Hant.parquet")
    lines = pd.read_json(exported.folder / "pairs.en-zh-Hant.jsonl", lines=True)
    assert list(table.columns) == list(lines.columns) == PAGE_PAIRS.names
    for rows in (table, lines):
        assert sorted(zip(rows["url_a"], rows["url_b"], strict=True)) == PAIRS
        assert rows["probability"].is_monotonic_decreasing
    pages = run.pages.set_index("url")
    first = table.set_index("url_a").loc[f"{BASE}/en/a.html"]
    assert first["title_a"] == "Library hours"
    assert first["text_b"].split("\n") == list(pages.loc[f"{BASE}/zh/a.html", "blocks"])
    assert pq.read_schema(exported.folder / "pairs.en-zh-Hant.parquet").equals(PAGE_PAIRS, check_metadata=True)


@pytest.mark.parametrize("form", ["graphml", "gexf"])
def test_networkx_reads_the_links_of_all_pages(run: tl.Run, exported: Exported, form: str) -> None:
    graph = getattr(nx, f"read_{form}")(exported.folder / f"links.{form}")
    expected = run.graph()
    assert set(graph.edges) == set(expected.edges)
    for url, facts in expected.nodes.items():
        assert facts.items() <= graph.nodes[url].items()


def test_datasets_loads_the_folder_by_its_card(
    run: tl.Run, exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = pytest.importorskip("datasets")
    folder = exported.folder / "dataset"
    names = ["pages-en-zh-Hant", "sentences-en-zh-Hant"]
    assert datasets.get_dataset_config_names(str(folder)) == names
    pages, sentences = (
        datasets.load_dataset(str(folder), name, split="train", cache_dir=str(tmp_path)) for name in names
    )
    assert sorted(zip(pages["url_a"], pages["url_b"], strict=True)) == PAIRS
    kept = run.segments[run.segments["verdict"] == SEGMENT]
    assert sorted(sentences["source"]) == sorted(kept["source"])


def test_translate_toolkit_reads_the_tmx_of_the_run(run: tl.Run) -> None:
    tmx = pytest.importorskip("translate.storage.tmx")
    units = tmx.tmxfile.parsefile(str(run.path / "align/en-zh-Hant.tmx")).units
    kept = run.segments[run.segments["verdict"] == SEGMENT]
    assert [(unit.source, unit.target) for unit in units] == list(zip(kept["source"], kept["target"], strict=True))


def test_the_card_tells_the_choice_and_every_column(exported: Exported) -> None:
    card = (exported.folder / "dataset/README.md").read_text()
    assert "Chosen: all languages." in card
    assert all(f"| `{name}` |" in card for name in PAGE_PAIRS.names)
    assert "| `pages-en-zh-Hant` | 5 | page pairs, en and zh-Hant |" in card


def test_a_run_of_the_package_has_the_same_pages(run: tl.Run, exported: Exported, tmp_path: Path) -> None:
    assert exported.lost == []
    again = tl.mine(exported.folder / "pages.wacz", out=tmp_path / "again", langs=("en", "zh"), match__min_score=0.0)
    columns = ["url", "digest", "charset", "title"]
    assert again.pages[columns].values.tolist() == run.pages[columns].values.tolist()
    assert again.rejects.empty


def test_the_manifest_of_the_package_is_true(exported: Exported) -> None:
    with zipfile.ZipFile(exported.folder / "pages.wacz") as package:
        manifest = json.loads(package.read("datapackage.json"))
        digest = json.loads(package.read("datapackage-digest.json"))
        assert digest["hash"] == "sha256:" + hashlib.sha256(package.read("datapackage.json")).hexdigest()
        listed = {each["path"]: (each["bytes"], each["hash"]) for each in manifest["resources"]}
        others = set(package.namelist()) - {"datapackage.json", "datapackage-digest.json"}
        assert listed == {
            name: (len(package.read(name)), f"sha256:{hashlib.sha256(package.read(name)).hexdigest()}")
            for name in others
        }
        assert package.getinfo("archive/pages.warc.gz").compress_type == zipfile.ZIP_STORED
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
    assert manifest["wacz_version"] == "1.1.1"
    assert pages[0]["format"] == "json-pages-1.0"
    assert {page["url"]: page["partner"] for page in pages[1:6]} == dict(PAIRS)
    assert [page["partners"] for page in pages[1:6]] == [{"zh-Hant": partner} for _, partner in PAIRS]


def test_pages_name_their_partner_in_each_language(tmp_path: Path) -> None:
    site = write_three_languages(tmp_path / "site", 12)
    run = tl.mine(str(site), out=tmp_path / "run", langs=("en", "fr", "de"), base_url=BASE)
    exported = run.export(tmp_path / "out", ["wacz", "graphml", "gexf"])
    for graph in (nx.read_graphml(exported.files[1]), nx.read_gexf(exported.files[2]), run.graph()):
        node = graph.nodes[f"{BASE}/en/3.html"]
        assert (node["partner_fr"], node["partner_de"]) == (f"{BASE}/fr/3.html", f"{BASE}/de/3.html")
        assert "partner_en" not in node
        assert node["partner"] in {node["partner_fr"], node["partner_de"]}
    with zipfile.ZipFile(exported.files[0]) as package:
        lines = package.read("pages/pages.jsonl").splitlines()
    page = next(page for page in map(json.loads, lines) if page.get("url") == f"{BASE}/fr/3.html")
    assert page["partners"] == {"en": f"{BASE}/en/3.html", "de": f"{BASE}/de/3.html"}
    assert page["partner"] in page["partners"].values()


def test_the_index_is_that_of_other_tools(exported: Exported, tmp_path: Path) -> None:
    """Each line leads to a whole gzip member; where the indexer of py-wacz is installed, it makes the same lines."""
    with zipfile.ZipFile(exported.folder / "pages.wacz") as package:
        archive, index = package.read("archive/pages.warc.gz"), package.read("indexes/index.cdx").decode()
    entries = [json.loads(line.split(" ", 2)[2]) for line in index.splitlines()]
    assert len(entries) == 10
    assert index.splitlines() == sorted(index.splitlines())
    places = [(int(entry["offset"]), int(entry["length"])) for entry in entries]
    assert all(archive[start : start + 2] == b"\x1f\x8b" for start, _ in places)
    assert max(start + length for start, length in places) == len(archive)
    indexer = pytest.importorskip("cdxj_indexer.main")
    (tmp_path / "pages.warc.gz").write_bytes(archive)
    indexer.main(["--sort", "-o", str(tmp_path / "index"), str(tmp_path / "pages.warc.gz")])
    theirs = (tmp_path / "index").read_text().splitlines()
    keys = [line.split(" ", 2)[:2] for line in index.splitlines()]
    assert [line.split(" ", 2)[:2] for line in theirs] == keys
    assert [json.loads(line.split(" ", 2)[2]) for line in theirs] == entries


def test_py_wacz_finds_the_package_valid(exported: Exported) -> None:
    validator = pytest.importorskip("wacz.main")
    assert validator.main(["validate", "-f", str(exported.folder / "pages.wacz")]) == 0


def test_keys_of_an_index() -> None:
    assert index_key("http://www2.Example.hk/") == "hk,example)/"
    assert index_key("http://www.example.hk") == "hk,example)/"
    assert index_key("http://wwwa.example.hk/A?z&b=1") == "hk,example,wwwa)/a?b=1&z"


def test_keys_of_an_index_keep_numbers_that_belong_to_the_host() -> None:
    """Other tools reverse an IP address, too, and leave out ``www`` with its number, nothing else."""
    assert index_key("http://163.com/a") == "com,163)/a"
    assert index_key("http://1.example.org/") == "org,example,1)/"
    assert index_key("http://127.0.0.1:8000/") == "1,0,0,127:8000)/"
    assert index_key("http://www.com/") == "com)/"


def test_a_failing_export_leaves_the_earlier_one(run: tl.Run, tmp_path: Path) -> None:
    before = run.export(tmp_path, ["wacz"]).files[0].read_bytes()

    def pages() -> object:
        yield ArchivedPage("http://a.example/", b"<p>a", "utf-8", None, "", {})
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_wacz(pages(), tmp_path / "pages.wacz", "broken")  # type: ignore[arg-type]
    assert (tmp_path / "pages.wacz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["pages.wacz"]


def test_a_file_that_cannot_be_written_is_named(run: tl.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(graph: object, path: Path, form: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr("twinlink.export.exporting.write_graph", refuse)
    with pytest.raises(InputError, match=r"links\.gexf: cannot be written \(Read-only file system\); choose another"):
        run.export(tmp_path, "gexf")


def test_a_full_disk_is_said_with_the_folder(run: tl.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(graph: object, path: Path, form: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("twinlink.export.exporting.write_graph", fill)
    done = twinlink("export", run.path, "-o", tmp_path, "--format", "gexf", "-q")
    assert done.returncode == 3
    assert f"error: {tmp_path}: the disk is full" in done.stderr


def test_two_exports_do_not_write_into_one_folder_at_the_same_time(run: tl.Run, tmp_path: Path) -> None:
    refused = []

    def export_again(stage: str, done: int, total: int | None, detail: str = "") -> None:
        with pytest.raises(RunLockedError, match=r"writes an export into this folder .*; wait for it,.* choose"):
            run.export(tmp_path, "wacz")
        refused.append(stage)

    exported = run.export(tmp_path, "wacz", progress=export_again)
    assert refused
    with zipfile.ZipFile(exported.files[0]) as package:
        assert package.testzip() is None
    assert list(tmp_path.iterdir()) == exported.files


def test_what_a_killed_export_left_is_removed_by_the_next_one(run: tl.Run, tmp_path: Path) -> None:
    (tmp_path / "dataset/pages").mkdir(parents=True)
    left = ("pairs.de-en.jsonl.tmp", "pages.wacz.tmp", "dataset/pages/de-en.parquet.tmp", ".twinlink-export.lock")
    for name in (*left, "notes.tmp"):
        (tmp_path / name).touch()
    run.export(tmp_path, "gexf")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"links.gexf", "notes.tmp"}


@pytest.mark.parametrize("form", ["jsonl", "dataset", "wacz"])
def test_an_export_that_fails_leaves_no_folder(
    run: tl.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def fail(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        run.export(tmp_path / "new/folder", form)
    assert list(tmp_path.iterdir()) == []


def test_pairs_are_chosen_by_languages_and_probability(run: tl.Run, tmp_path: Path) -> None:
    best = run.pairs["probability"].max()
    assert run.export(tmp_path, "jsonl", langs="zh,en").n_pairs == {"en-zh-Hant": 5}
    with pytest.raises(ConfigError, match="the run has nothing in de"):
        run.export(tmp_path, langs=["en", "de"])
    with pytest.raises(ConfigError, match="from 0 to 1"):
        PairChoice(min_probability=-0.1)
    with pytest.raises(NothingFoundError, match="none of its 5 page pairs is chosen"):
        run.export(tmp_path / "nothing", min_probability=min(1.0, best + 0.01))
    assert not (tmp_path / "nothing").exists()
    with pytest.raises(ConfigError, match="en alone is wanted"):
        run.export(tmp_path, langs="en")
    n_best = int((run.pairs["probability"] >= best).sum())
    assert sum(run.export(tmp_path, min_probability=float(best)).n_pairs.values()) == n_best


def test_a_probability_is_refused_where_the_method_gives_none(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "toy")
    run = tl.mine(toy, out=tmp_path / "run", langs=("en", "zh"), base_url=BASE, match__method="urls")
    with pytest.raises(ConfigError, match="gives no probabilities"):
        run.export(min_probability=0.5)
    assert run.export().files[0].parent == tmp_path / "run/export"


def test_what_is_refused(run: tl.Run, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="format csv: expected jsonl, parquet, dataset"):
        run.export(tmp_path, "csv")
    with pytest.raises(InputError, match="the run itself"):
        run.export(run.path)
    with pytest.raises(InputError, match="a part of the run itself"):
        run.export(run.path / "match")
    for inside in ("texts", "matches", "review/texts"):
        with pytest.raises(InputError, match=r"this is inside the run .*; choose a folder outside, or .*export"):
            run.export(run.path / inside)
        assert not (run.path / inside).exists()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made a folder"):
        run.export(tmp_path / "file")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: cannot be made a folder"):
        run.export(tmp_path / "loop")
    for name in ("pairs.en-zh-Hant.jsonl", "pages.wacz", "links.gexf", "dataset/README.md"):
        (tmp_path / "taken" / name).mkdir(parents=True)
    for form in ("jsonl", "wacz", "gexf", "dataset"):
        with pytest.raises(InputError, match=r"taken/.*: cannot be written \(Is a directory\); choose another folder"):
            run.export(tmp_path / "taken", form)
    assert not list((tmp_path / "taken").rglob("*.tmp"))
    unmatched = tmp_path / "unmatched"
    toy = write_toy(tmp_path / "toy")
    assert twinlink("ingest", toy, "--base-url", BASE, "-o", unmatched, "-q").returncode == 0
    with pytest.raises(MissingStageError, match=r"run `run\.match\(\)`"):
        tl.open(unmatched).export()


def test_pages_that_no_source_holds_any_more_are_named(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "toy")
    run = tl.mine(toy, out=tmp_path / "run", langs=("en", "zh"), base_url=BASE, match__min_score=0.0)
    os.unlink(toy / "en/a.html")  # noqa: PTH108
    exported = run.export(formats="wacz")
    assert exported.lost == [f"{BASE}/en/a.html"]
    before = exported.files[0].read_bytes()
    shutil.rmtree(toy)
    with pytest.raises(NothingFoundError, match="none of the 10 pages is in the archives and folders"):
        run.export(formats="wacz")
    assert exported.files[0].read_bytes() == before  # the earlier package stays


def test_the_command_says_what_it_wrote(run: tl.Run, tmp_path: Path) -> None:
    done = twinlink("export", run.path, "-o", tmp_path, "--format", "jsonl,wacz")
    assert done.returncode == 0, done.stderr
    assert f"5 page pairs (en-zh-Hant 5) → {tmp_path}" in done.stdout
    assert "export jsonl: 5 of 5" in done.stderr
    assert "export wacz: 10 of 10" in done.stderr
    assert twinlink("export", run.path, "-o", tmp_path, "-q").stderr == ""
    told = twinlink("export", run.path, "-o", tmp_path, "--format", "jsonl", "--json").object
    assert [file["path"] for file in told["files"]] == [str(tmp_path / "pairs.en-zh-Hant.jsonl")]
    assert told["n_pairs"] == 5


def test_a_folder_whose_name_is_no_utf8_is_refused(run: tl.Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="expected a name in UTF-8"):
        run.export(tmp_path / "out\udcff", "jsonl")
    assert not list(tmp_path.iterdir())
