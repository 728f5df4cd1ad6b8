"""The experiment on paper 000 runs on a small set whose numbers are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.paper_000 import PAPER_1, main, read_site, sample_size
from tests.baselines.mfa_kz import write_pages
from twinlink.baselines.models.judge import MODELS
from twinlink.demo.site import write_site

LINES = [12, 30, 7, 55, 20]


def write_pair(folder: Path, name: str, extra: str = "", longer: int = 0) -> None:
    """A pair of pages with the same lines of text, the second with something more."""
    first = "".join(f"<p>{'a' * length}</p>" for length in LINES)
    second = "".join(f"<p>{'b' * (length + longer)}</p>" for length in LINES)
    (folder / f"{name}.fr").write_text(f"<html><body>{first}</body></html>")
    (folder / f"{name}.en").write_text(f"<html><body>{second}{extra}</body></html>")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six equal pairs, two with a line more (P_d 2/40, L_d -0.0079), one that is no pair, one page alone."""
    site = tmp_path / "small"
    site.mkdir()
    for name in "abcdef":
        write_pair(site, name)
    for name in "gh":
        write_pair(site, name, extra="<hr>", longer=1)
    write_pair(site, "x", extra="<ul>" + "<li>one more</li>" * 30 + "</ul>")
    (site / "alone.fr").write_text("<p>nobody")
    return site


def test_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(folder), "--sides", "fr", "en"])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [
        "small: 9 pairs",
        "P_d = 0 6",
        "P_d < 0.2 8",
        "mu 0.0000",
        "threshold 0.03 after 2 loops",
    ]
    assert lines[6:9] == ["0.01 6 0.750 nan", "0.02 8 1.000 0.3333", "0.03 8 1.000 0.0000"]
    assert [line.split()[:2] for line in lines[10:15]] == [
        ["strand", "8"],
        ["hc1", "8"],
        ["hc2", "8"],
        ["mixture", "8"],
        ["jangeldin", "8"],
    ]


def test_sides_are_in_the_order_given(folder: Path) -> None:
    straight, turned = read_site(folder, "fr", "en").alignment, read_site(folder, "en", "fr").alignment
    assert straight.cost.tolist() == turned.cost.tolist()
    assert straight.length_a.tolist() == turned.length_b.tolist()
    assert straight.length_difference.min() < 0


def test_pictures_are_drawn_and_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    for out in ("one", "two"):
        main([str(folder), "--sides", "fr", "en", "--out", str(tmp_path / out)])
    names = ["growth.svg", "small-histogram.svg", "small-scatter.svg"]
    assert sorted(picture.name for picture in (tmp_path / "one").iterdir()) == names
    for name in names:
        drawn = (tmp_path / "one" / name).read_text()
        assert drawn.startswith("<svg")
        assert drawn == (tmp_path / "two" / name).read_text()


def test_numbers_of_the_paper(tmp_path: Path) -> None:
    """Table 3 has the threshold; the counts of pairs follow from precision, recall and 94.4 % in Tables 2 and 3."""
    write_pages(tmp_path)
    site = read_site(tmp_path, "kz", "en")
    cost = site.alignment.cost_share
    assert (len(cost), (cost == 0).sum(), (cost < 0.2).sum()) == (180, 105, 180)
    assert (round(site.fit.mean, 4), round(site.fit.threshold, 2), len(site.fit.thresholds) - 1) == (-0.0177, 0.16, 15)
    parallel = {model: int(site.verdicts[model].sum()) for model in MODELS}
    assert parallel | {"mixture": 178} == {"strand": 173, "hc1": 167, "hc2": 53, "mixture": 178, "jangeldin": 176}


def test_tables_of_a_folder_without_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(folder), "--sides", "fr", "en"])
    out = capsys.readouterr().out
    assert "| small | fr-en | 9 | 9 |" in out
    assert "| jangeldin | 8 |" in out
    assert "| small | – | 0.03 | 1 |" in out


def test_cochran_gives_the_sample_sizes_of_the_paper_but_one() -> None:
    """Table 1 prints 312 for egov.kz, and takes all pairs of mfa.kz."""
    differing = {name: sample_size(n_pairs) for name, (_, n_pairs, n) in PAPER_1.items() if sample_size(n_pairs) != n}
    assert differing == {"egov.kz": 332, "mfa.kz": 123}


def test_a_site_with_known_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_site(tmp_path / "demo", pages=60)
    main([str(tmp_path / "demo"), "--out", str(tmp_path / "out")])
    out = capsys.readouterr().out
    table = out.split("**Table 2: P / R / F1, or parallel pairs**")[1].split("**")[0]
    rows = dict(line.strip("| ").split(" | ", 1) for line in table.splitlines() if " / " in line)
    f1 = {name: float(row.split(" / ")[2]) for name, row in rows.items()}
    assert f1["weighed, whole site"] == max(f1.values()) > 95
    assert f1["weighed"] > f1["jangeldin"]
    share = out.split("**Table 3**")[1].split("| demo | ")[1].split(" | ")[0]
    assert 0.7 < float(share) < 0.8
    assert "wrong" in (tmp_path / "out" / "demo-scatter.svg").read_text()


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no pairs of pages named like"):
        main([str(tmp_path)])
