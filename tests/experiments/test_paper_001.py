"""The experiment on paper 001 runs on a small demo site; its tables agree with each other and with the matcher."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from experiments import paper_001
from experiments.cases import Case, open_case
from twinlink.demo.site import write_site


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper_001")
    site = write_site(folder / "sites" / "demo-opaque", pages=60)
    (folder / "lexicons").mkdir()
    shutil.copy(site.lexicon, folder / "lexicons" / "zh-en.tsv")
    return folder


@pytest.fixture(scope="module")
def case(place: Path) -> Case:
    with open_case(place / "sites" / "demo-opaque") as opened:
        return opened


def test_table_1_counts_pages_and_pairs(case: Case) -> None:
    row = paper_001.sizes(case)
    assert row["pages"] == f"{len(case.side_a.urls)}/{len(case.side_b.urls)}"
    assert int(row["total pairs"]) == len(case.gold.pairs)
    assert 0 <= int(row["no pattern pairs"]) <= len(case.gold.pairs)


def test_weak_content_starts_at_s_cb_and_its_pairs_add_up(case: Case) -> None:
    sweep, row = paper_001.weak_content(case)
    assert list(sweep.values) == list(paper_001.ALPHAS)
    assert row["S_cb"] == paper_001.number(sweep.values[0.0])
    right, added, lost = (int(row[name]) for name in ("right without links", "added by links", "lost by links"))
    assert lost <= right <= right + added - lost <= len(case.gold.pairs)


def test_tables_and_figures(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures"
    paper_001.main([str(place / "sites"), "--lexicons", str(place / "lexicons"), "--out", str(out)])
    printed = capsys.readouterr().out
    blocks = printed.split("\n**")[1:]
    rows = {block.partition("**")[0]: block.splitlines()[-1].split(" | ")[1:] for block in blocks}
    assert rows["Figure 2: F1 of S_in over β"][6] == rows["Each evidence alone, and the reported lists"][3]  # β 0.6
    internal = "Figure 3: F1 of ETS over rounds, start S_in"
    assert rows[internal][3] == rows["Figure 4: F1 of ETS over α"][6]  # three rounds, α 0.6
    assert float(rows[internal.replace("S_in", "random")][0]) < 0.5 < float(rows[internal][0])
    beside = {title: row.split(" | ") for title, row in ((r.strip("| ").split(" | ", 1)) for r in printed.splitlines()
              if r.startswith("| Figure"))}  # fmt: skip
    assert beside["Figure 4: F1 of ETS over α"][:2] == [
        "best at 0.6, +6.2 points",
        rows["Figure 4: F1 of ETS over α"][0],
    ]
    names = {"figure-2", "figure-3", "figure-3-random", "figure-4", "numbers-only-no-structure"}
    assert {picture.stem for picture in out.iterdir()} == names | {"numbers-only-all-sites"}
    assert all(picture.read_text().startswith("<svg") for picture in out.iterdir())


def test_printed_total_of_table_1_is_not_the_sum_of_its_rows() -> None:
    *sites, total = paper_001.PAPER_1
    assert [sum(int(row[2]) for row in sites), int(total[2])] == [11247, 11684]
    assert sum(int(row[3]) for row in sites) == int(total[3])


def test_parts_can_be_chosen(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper_001.main([str(place / "sites"), "--only", "sites"])
    assert capsys.readouterr().out.count("\n**") == 2


def test_numbers_only_is_drawn_for_all_sites_six_to_a_picture(tmp_path: Path) -> None:
    """Eight sites, one of them with plain addresses, too: six and two lines; the plain twin is in the rows only."""
    sweep = paper_001.Sweep("α", {0.0: 0.6, 0.6: 0.7, 0.9: 0.65})
    names = [f"site{number}-opaque" for number in range(8)]
    lines = {paper_001.WEAK: dict.fromkeys([*names, "site0-plain"], sweep)}
    paper_001.draw(lines, {name: number for number, name in enumerate([*names, "site0-plain"])}, tmp_path)
    drawn = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert drawn.keys() == {
        "numbers-only-no-structure",
        "numbers-only-no-structure-others",
        "numbers-only-all-sites",
    }
    assert all(f"site{k}" in drawn["numbers-only-no-structure"] for k in range(2, 8))
    assert "site2" not in drawn["numbers-only-no-structure-others"]
    assert "site0-plain" in drawn["numbers-only-all-sites"]
