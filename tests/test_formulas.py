"""The table of formulas leads to functions and tests that exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "formulas.md"
_ROW = re.compile(r"\| `([\w.]+)` \| `([\w/.]+)` `(\w+)` \|$", re.MULTILINE)
ROWS = _ROW.findall(PAGE.read_text(encoding="utf-8"))


def test_each_row_of_the_tables_is_read() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    heads = sum(line.startswith(("| formula", "| ---")) for line in lines)
    assert len(ROWS) == len(lines) - heads
    assert len(ROWS) > 40


def _found(path: str) -> Any:
    """Return a function, a class or an attribute of a class by its dotted name."""
    above, _, name = path.rpartition(".")
    return getattr(_found(above) if above.rpartition(".")[2][0].isupper() else import_module(above), name)


@pytest.mark.parametrize(("function", "file", "test"), ROWS)
def test_a_formula_leads_to_its_function_and_its_test(function: str, file: str, test: str) -> None:
    assert _found(function).__doc__
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
