"""Mutants: which changes are made, and which of them tests notice."""

from __future__ import annotations

import ast

import pytest

from experiments.mutants import mutants, survives


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = (a) not  in (b)", ["x = (a) in (b)"]),
        ("x = 'é' + a # +", ["x = 'é' - a # +"]),
        ("x = a and b or c", ["x = a and b and c", "x = a or b or c"]),
        ("x = -a", ["x = (a)"]),
        ("x = 0.5, 0.0", ["x = 0.45, 0.0", "x = 0.5, 0.1"]),
        ("x = 3, True", ["x = 4, True", "x = 3, False"]),
        ("x.y = z", ["pass"]),
        ("raise Error(1)", ["pass"]),
        ("y = a if b else c", ["y = a if not (b) else c"]),
        ("y = [a for a in b if a]", ["y = [a for a in b if not (a)]"]),
        ("def f(a: b | c, d=1) -> e | f: 'a'", ["def f(a: b | c, d=2) -> e | f: 'a'"]),
        ("@compiled\ndef f(a):\n    return a + 1", []),
        ("@dataclass(frozen=True)\nclass A:\n    b: int = 1", ["@dataclass(frozen=True)\nclass A:\n    b: int = 2"]),
        ("x: int | None = a", []),
        ("zip(a, b, strict=True)", ["pass"]),
        ("__all__ = ['a'] + b", []),
    ],
)  # fmt: skip
def test_each_mutant_changes_one_place(code: str, changed: list[str]) -> None:
    made = [each.apply(code.encode()).decode() for each in mutants(code)]
    assert sorted(made) == sorted(changed)
    for each in made:
        ast.parse(each)


def test_a_mutant_survives_where_no_test_looks(tmp_path):
    code = "def is_many(n):\n    return n > 5\n"
    (tmp_path / "amount.py").write_text(code)
    (tmp_path / "test_amount.py").write_text(
        "import amount\n\ndef test_it():\n    assert amount.is_many(6)\n    assert not amount.is_many(4)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    survivors = [
        f"{each}" for each in mutants(code) if survives(tmp_path, "amount.py", each, ["test_amount.py"], longest=60)
    ]
    assert survivors == ["2 > → >="]
    assert (tmp_path / "amount.py").read_text() == code


def test_code_without_an_end_is_noticed(tmp_path):
    code = "def count():\n    n = 0\n    while n < 3:\n        n += 1\n    return n\n"
    (tmp_path / "counting.py").write_text(code)
    (tmp_path / "test_counting.py").write_text("import counting\n\ndef test_it():\n    assert counting.count() == 3\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (endless,) = [each for each in mutants(code) if each.new == "-="]
    assert not survives(tmp_path, "counting.py", endless, ["test_counting.py"], longest=3)
