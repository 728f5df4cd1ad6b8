"""The measure of deep pages, on a small site whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.deep_pages import main, recovery_of
from tests.baselines.test_methods import PAGES, write_site


def make_case(folder: Path) -> Path:
    write_site(folder / "site")
    lines = (f"/en/page-{n}.html\t/tc/page-{n}.html\n" for n in PAGES)
    (folder / "gold.tsv").write_text("".join(lines))
    return folder


def test_hidden_pages_are_found_and_wrong_ones_are_not(tmp_path: Path) -> None:
    case = make_case(tmp_path)
    (case / "site/tc/page-1.html").unlink()  # no partner at all
    lines = (case / "gold.tsv").read_text().splitlines(keepends=True)
    (case / "gold.tsv").write_text("".join(lines[1:]))
    told = recovery_of(case, 0.4, soft=True, seed=1)
    assert (told.hidden, told.found, told.right, told.requests) == (3, 3, 3, 6)
    assert told.outcomes == {"found": 3, "made-up": 2, "soft-404": 1}


def test_a_line_is_printed_for_each_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(make_case(tmp_path / "small")), "--hide", "0.25"])
    assert capsys.readouterr().out == (
        "small: 2 hidden, 4 asked for, 2 found; recall 1.000, precision 1.000 (found 2, made-up 2)\n"
    )
