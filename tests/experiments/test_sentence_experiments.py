"""The trials of the tag aligner and of the page test: what they measure is what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import page_test, tag_aligner
from experiments.cases import open_case
from twinlink.config.align import TagAlignerSettings
from twinlink.demo.site import write_site

WORDS = {"bridge": "pont", "house": "maison", "garden": "jardin", "school": "école", "market": "marché"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of pages with ids; of the second pair the French page lacks one paragraph."""
    site = tmp_path / "small" / "site"
    for lang, side in (("en", 0), ("fr", 1)):
        for number in range(2):
            rows = [
                f"<p id='p{k}'>{pair[side]} {1900 + k} {'la ' * (40 * k % 70)}.</p><img>"
                for k, pair in enumerate(WORDS.items())
                if not (number and side and k == 2)
            ]
            (site / lang).mkdir(parents=True, exist_ok=True)
            (site / lang / f"{number}.html").write_text(f"<meta charset=utf-8><h1>{number}</h1>{''.join(rows)}")
    (site.parent / "gold.tsv").write_text("/en/0.html\t/fr/0.html\n/en/1.html\t/fr/1.html\n/en/2.html\t/fr/2.html\n")
    (site.parent / "meta.json").write_text(json.dumps({"lang_a": "en", "lang_b": "fr", "host": "x.org"}))
    return site.parent


def test_ids_say_which_blocks_go_together(folder: Path) -> None:
    first, second = tag_aligner.read_pairs(folder, 10)
    assert first.gold == {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
    assert second.gold == {1: 1, 2: 2, 4: 3, 5: 4}
    assert tag_aligner.block_score([first, second], TagAlignerSettings()) == (1.0, 1.0)


def test_weights_are_fitted_and_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tag_aligner.main(["fit", str(folder)])
    assert capsys.readouterr().out.splitlines()[1] == "start 1.0000"
    tag_aligner.main(["judge", str(folder), "--alone"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "small: blocks P 1.0000 R 1.0000"
    assert "gold blocks in one bead 1.0000 of 9, 0 of" in lines[2]


def test_the_page_test_is_measured_beside_the_methods(tmp_path: Path) -> None:
    write_site(tmp_path / "demo-opaque", pages=60)
    with open_case(tmp_path / "demo-opaque") as case:
        rows = page_test.measure(case, [], near=2)["The page test: F1 (P / R), seconds"]
    f1 = {name: float(cell.split()[0]) for name, cell in rows.items()}
    assert [*f1] == [
        "weighed",
        "weighed, pairs that fail taken out",
        "weighed once more",
        "weighed once more, test as evidence",
        "webmining, structure",
        "webmining, content",
    ]
    assert min(f1["weighed"], f1["weighed once more"]) > 0.7
    assert f1["webmining, content"] >= f1["webmining, structure"]
