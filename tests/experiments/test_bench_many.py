"""The benchmark of many sites measures what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from experiments.bench import bench_many
from experiments.bench.bench_site import Cost
from experiments.cases import Case
from twinlink.cli import app
from twinlink.evaluation import read_gold
from twinlink.match.evidence import Between, Side
from twinlink.sources.documents import Document
from twinlink.sources.warc import read_warc
from twinlink.tables import count_rows

TEXTS = {
    "en": ["The old mill stands by the river", "Bread is baked here every morning", "The road leads to the hills"],
    "fr": [
        "Le vieux moulin se trouve près de la rivière",
        "On cuit le pain ici chaque matin",
        "La route mène aux collines",
    ],
}


def side(lang: str) -> Side:
    """Three pages of some own blocks, with numbers of their own; each links to the next one."""
    blocks = [[f"{text}, {1900 + 10 * n + k}." for k in range(6)] for n, text in enumerate(TEXTS[lang])]
    graph = csr_array(np.roll(np.eye(3, dtype=bool), 1, axis=1))
    return Side(lang, np.arange(3), [f"http://x.example/{lang}{n}" for n in range(3)], blocks, [b""] * 3, graph)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "gold.tsv").write_text("".join(f"/en{n}\t/fr{n}\n" for n in range(3)))
    none = csr_array((3, 3), dtype=np.float32)
    gold = read_gold(tmp_path / "gold.tsv")
    return Case("x", tmp_path, ("en", "fr"), side("en"), side("fr"), Between(none, none), gold, 1.0)


def test_sizes_are_those_of_zipf() -> None:
    sizes = bench_many.zipf_sizes(10_000, 50)
    assert len(sizes) == 50
    assert sum(sizes) == pytest.approx(10_000, rel=0.01)
    assert sizes[0] / sizes[9] == pytest.approx(10, rel=0.05)
    assert bench_many.zipf_sizes(10, 50)[-1] == 2  # a page in each language


def test_pages_link_within_their_site_and_addresses_tell_no_partner() -> None:
    pages = dict(bench_many.made_pages(side("en"), "a.example"))
    others = dict(bench_many.made_pages(side("fr"), "a.example"))
    assert len(pages.keys() | others.keys()) == 6
    first, second, _ = pages
    assert f'<a href="{second}">'.encode() in pages[first]
    assert b"<p>The old mill stands by the river, 1900.</p>" in pages[first]


def test_archives_hold_all_sites(tmp_path: Path, case: Case) -> None:
    archives = tmp_path / "archives"
    archives.mkdir()
    bench_many.archive_sites([case], [8, 4, 2], archives, 0)
    documents = [item for item in read_warc(archives / "sites-00001.warc.gz", 10**6) if isinstance(item, Document)]
    hosts = [document.url.split("/")[2] for document in documents]
    assert [hosts.count(f"site-0000{rank}.example") for rank in (1, 2, 3)] == [8, 4, 2]


def test_a_row_says_what_two_runs_cost(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*args: str) -> Cost:
        app(list(args), standalone_mode=False)
        n_pages.append(count_rows(tmp_path / "many" / "run" / "ingest" / "pages"))
        return Cost(1, 2, 3)

    n_pages: list[int] = []
    monkeypatch.setattr(bench_many, "run", run)
    row = bench_many.measure([case], tmp_path / "many", [12, 6], 0, 1)
    assert (row.ingest, row.match, row.grown) == (Cost(1, 2, 3), Cost(1, 2, 3), Cost(2, 4))
    assert n_pages == [18, 18, 19, 19]
    assert row.n_pairs > 0
    assert row.n_files > 2 * 5
    assert row.n_bytes > 0
