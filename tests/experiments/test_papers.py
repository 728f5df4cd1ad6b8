"""The experiments on papers 002 to 004 run on small sites, and print what was measured beside the paper's numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import paper_002, paper_003, paper_004
from experiments.cases import Case, open_case
from experiments.methods import with_shapes
from twinlink.demo.site import write_site

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    write_site(folder / "demo-plain", pages=60)
    return folder


@pytest.fixture(scope="module")
def case(place: Path) -> Case:
    with open_case(place / "demo-plain") as opened:
        return with_shapes(opened)


def tables(printed: str) -> dict[str, list[list[str]]]:
    """Return the rows of each printed table without its head, by title."""
    found = {}
    for block in printed.split("\n**")[1:]:
        title, _, rest = block.partition("**")
        lines = [line.strip("| ").split(" | ") for line in rest.splitlines() if line.startswith("|")]
        found[title] = lines[2:]
    return found


def test_webmining_tables(place: Path, tmp_path: Path, capsys: Capture) -> None:
    paper_002.main([str(place), "--out", str(tmp_path)])
    found = tables(capsys.readouterr().out)
    site, total = found["Table 1, structure alone"]
    assert site[:4] == ["demo-plain", "en, zh", "126", total[3]]
    assert site[4:] == total[4:] == found["Table 2"][0][1:3]
    assert found["Table 1 of the paper"][-1] == ["total", "", "1087", "652", ".89", ".78"]
    assert sum(row[3] for row in paper_002.PAPER_1[:-1]) == 652
    assert sum(row[2] for row in paper_002.PAPER_1[:-1]) == 1087
    assert [picture.name for picture in tmp_path.iterdir()] == ["figure-3-demo-plain.svg"]
    assert (tmp_path / "figure-3-demo-plain.svg").read_text().count("<circle") > 60


def test_content_filter_loses_no_precision_on_the_demo(case: Case) -> None:
    site = paper_002.measure(case)
    assert site.by_content.known == site.by_structure.known == len(case.gold.pairs)
    precision = [float(counts.cells()[0]) for counts in (site.by_structure, site.by_content)]
    assert precision[0] <= precision[1]


def test_pages_of_a_simulated_web(tmp_path: Path, capsys: Capture) -> None:
    paper_003.main(["--hosts", "6000", "--seeds", "100", "--top", "20", "--seed", "3", "--out", str(tmp_path)])
    found = tables(capsys.readouterr().out)
    assert found["Table 3: pairs (precision)"][0][:2] == ["baseline", "290,247 (.941)"]
    keys = {row[0]: row[2] for row in found["Table 2: keys by C(p)"]}
    assert keys["⟨en, tc⟩"] == "13,997"
    curves = {row[0]: float(row[-1]) for row in found["Figure 2: truly bilingual among the best N"]}
    assert curves["ours"] > curves["Σ PageRank"]
    assert (tmp_path / "figure-2.svg").read_text().count("<polyline") == 4


def test_keys_and_deep_pages_of_a_real_site(place: Path, capsys: Capture) -> None:
    paper_003.main([str(place), "--hosts", "0"])
    found = tables(capsys.readouterr().out)
    (row,) = found["Deep pages"]
    assert row[0] == "demo-plain"
    assert int(row[1]) > 5
    assert float(row[5]) > 0.9
    assert "Table 3: pairs (precision)" not in found


def test_fingerprint_leaves_out_head_and_inline_tags() -> None:
    shown = "<html> <body> <h1> 6 </h1> <p> 15 </p> <hr> </hr> </body> </html>"
    assert paper_004.fingerprint(paper_004.EXAMPLE) == shown


def test_bitextor_tables(place: Path, case: Case, capsys: Capture) -> None:
    paper_004.main([str(place), "--pages", "10"])
    found = tables(capsys.readouterr().out)
    rows = found["Results"]
    assert [row[1] for row in rows] == list(paper_004.VARIANTS)
    results = paper_004.measure(case)
    assert [int(row[3]) for row in rows] == [each.n_pairs for each in results.values()]
    more, less = results["N = 10 or 5 %"], results["N = 10, as in the paper"]
    assert more.recall >= less.recall > 0
    assert found["Results of the paper"][0][-2:] == [".990", ".853"]
