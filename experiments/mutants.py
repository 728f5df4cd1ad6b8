"""Mutation testing: small changes to the code, and those that no test detects.

::

    python -m experiments.mutants FILES... [--tests PATHS...] [--sample 40] [--seed 0] [--again FILE]

FILES are modules of the package or folders of them. Each mutant is one change: a comparison moved to its boundary or
negated, an arithmetic operator or a number replaced, ``and`` for ``or``, a condition negated, a statement removed. For
each mutant, the tests of its module run in a copy of the tree until the first test fails. The tests of
``twinlink/graph/links.py`` are ``tests/graph/test_links.py`` and the examples of the module; all of ``tests/graph`` if
this file does not exist, or the paths of ``--tests``. A mutant *survives* if no test fails; it is printed as
``file:line old → new``. Some survivors are equivalent to the original; the others show missing tests. ``--again`` tries
only the mutants listed in a file of such lines. Compiled kernels (`compiled`) are left out, because each change would
compile them again.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

__all__ = ["Mutant", "checks_of", "main", "mutants", "survives"]

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("twinlink", "tests", "experiments", "docs", "pyproject.toml", "README.md")
LONGEST = 120  # seconds that the tests of a mutant may take: a changed loop may have no end

_COMPARISONS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "is": ("is not",), "is not": ("is",), "in": ("not in",), "not in": ("in",),
}  # fmt: skip
_ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "**": "*", "@": "*", "&": "|", "|": "&", "^": "&",
}  # fmt: skip
_BOOLEAN = {"and": "or", "or": "and"}
_GAP = re.compile(r"[\s()\\]*([^\s()\\]+(?: +(?:in|not)\b)?)")


class Mutant(NamedTuple):
    """A change at one position of a file."""

    line: int
    start: int
    """Start and end of the position, in bytes of the whole file."""
    end: int
    old: str
    new: str

    def apply(self, text: bytes) -> bytes:
        """Return the changed file."""
        return text[: self.start] + self.new.encode() + text[self.end :]

    def __str__(self) -> str:
        """Return the change on one line."""
        old, new = (" ".join(each.split()) for each in (self.old, self.new))
        return f"{self.line} {old} → {new}"


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines.

    Examples
    --------
    >>> [f"{each.old} → {each.new}" for each in mutants("n = a < b and not c")]
    ['< → <=', '< → >=', 'and → or', 'not c → (c)']
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found), key=lambda each: (each.line, each.start, -each.end, each.new))


class _Finder(ast.NodeVisitor):
    """Collects the mutants of the visited nodes, except annotations, ``__all__`` and compiled functions."""

    def __init__(self, source: str) -> None:
        self.found: list[Mutant] = []
        self._text = source.encode()
        lengths = [len(line) for line in self._text.splitlines(keepends=True)]
        self._starts = [sum(lengths[:n]) for n in range(len(lengths) + 1)]

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first, last = self._starts[node.lineno - 1], self._starts[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset

    def _change(self, start: int, end: int, new: str) -> None:
        line = self._text.count(b"\n", 0, start) + 1
        self.found.append(Mutant(line, start, end, self._text[start:end].decode(), new))

    def _replace(self, node: ast.expr | ast.stmt, new: str) -> None:
        self._change(*self._span(node), new)

    def _source(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self._text[start:end].decode()

    def _operator(self, left: ast.expr, right: ast.expr) -> tuple[int, int, str]:
        """Return the position of the operator between two operands, and the operator."""
        start = self._span(left)[1]
        gap = self._text[start : self._span(right)[0]].decode()
        match = _GAP.match(gap)
        assert match is not None
        before = len(gap[: match.start(1)].encode())
        return start + before, start + before + len(match[1]), " ".join(match[1].split())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if any("compiled" in ast.unparse(each) or "kernel" in ast.unparse(each) for each in node.decorator_list):
            return
        defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
        for child in [*defaults, *node.body]:
            self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for child in node.body:  # no decorators: whether a record is frozen changes no result
            self.visit(child)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return
        if any(isinstance(target, (ast.Subscript, ast.Attribute)) for target in node.targets):
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        start, end, operator = self._operator(node.target, node.value)
        self._change(start, end, _ARITHMETIC.get(operator[:-1], "-") + "=")
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if not isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self._replace(node, "pass")
        self.generic_visit(node)

    def _remove(self, node: ast.stmt) -> None:
        self._replace(node, "pass")

    visit_Raise = visit_Continue = visit_Break = _remove  # noqa: N815  (the names that ast.NodeVisitor calls)

    def _negate(self, test: ast.expr) -> None:
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1):  # a comparison, which is negated itself
            self._replace(test, f"not ({self._source(test)})")

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right in pairwise(operands):
            start, end, operator = self._operator(left, right)
            for new in _COMPARISONS[operator]:
                self._change(start, end, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            start, end, operator = self._operator(left, right)
            self._change(start, end, _BOOLEAN[operator])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        start, end, operator = self._operator(node.left, node.right)
        if operator in _ARITHMETIC:
            self._change(start, end, _ARITHMETIC[operator])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.UAdd):
            self._replace(node, f"({self._source(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, str(node.value + 1))
        elif isinstance(node.value, float):
            self._replace(node, repr(node.value * 0.9 if node.value else 0.1))

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of `zip`: only checks lengths
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone: positions in them differ between versions of Python."""


def checks_of(module: str, root: Path = ROOT) -> list[str]:
    """Return the tests of a module: the test file of its name, or else of its folder, and its own examples.

    Examples
    --------
    >>> checks_of("twinlink/graph/links.py"), checks_of("twinlink/graph/untested.py")
    (['twinlink/graph/links.py', 'tests/graph/test_links.py'], ['twinlink/graph/untested.py', 'tests/graph'])
    """
    folder = Path("tests", *Path(module).parent.parts[1:])
    own = folder / f"test_{Path(module).stem}.py"
    return [module, str(own if (root / own).exists() else folder)]


def _run(root: Path, paths: Sequence[str], longest: float) -> str:
    """Run tests until one fails; return ``passed``, ``failed`` or ``endless``."""
    options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "CI": "1",  # the same property examples each time
        "PYTHONDONTWRITEBYTECODE": "1",  # bytecode of a mutant of the same second and size would be reused
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *paths],
        cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return "failed" if process.wait(longest) else "passed"
    except subprocess.TimeoutExpired:
        return "endless"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def survives(root: Path, module: str, mutant: Mutant, paths: Sequence[str], longest: float = LONGEST) -> bool:
    """Return whether the tests pass with a changed module; the module is restored afterwards."""
    file = root / module
    sound = file.read_bytes()
    try:
        file.write_bytes(mutant.apply(sound))
        return _run(root, paths, longest) == "passed"
    finally:
        file.write_bytes(sound)


def _copy(folder: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(ROOT / name, folder / name)


def _chosen(files: Sequence[str], size: int, seed: int, again: Path | None) -> Iterator[tuple[str, Mutant]]:
    """Draw the same number of mutants from every module, or take those listed in a file."""
    named = set(again.read_text(encoding="utf-8").splitlines()) if again is not None else None
    for file in files:
        found = mutants((ROOT / file).read_text(encoding="utf-8"))
        if named is not None:
            found = [each for each in found if f"{file}:{each}" in named]
        elif len(found) > size:
            drawn = random.Random(f"{seed} {file}").sample(range(len(found)), size)
            found = [found[n] for n in sorted(drawn)]
        yield from ((file, each) for each in found)


def _modules(paths: Sequence[Path]) -> list[str]:
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return [str(file.resolve().relative_to(ROOT)) for file in files]


def main(arguments: Sequence[str] | None = None) -> None:
    """Try mutants and print those that survive."""
    parser = argparse.ArgumentParser(prog="python -m experiments.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="modules of the package, or folders of them")
    parser.add_argument("--tests", nargs="+", help="tests to run for all of them")
    parser.add_argument("--sample", type=int, default=40, help="mutants of a module at most")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--again", type=Path, help="file with survivors as they are printed: try these only")
    chosen = parser.parse_args(arguments)
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        _copy(folder)
        for module, mutant in _chosen(_modules(chosen.files), chosen.sample, chosen.seed, chosen.again):
            paths = chosen.tests or checks_of(module)
            if module not in counts:
                counts[module] = Counter()
                if _run(folder, paths, 5 * LONGEST) != "passed":
                    parser.error(f"the tests of {module} fail without a change: {' '.join(paths)}")
            survived = survives(folder, module, mutant, paths)
            counts[module]["survived" if survived else "killed"] += 1
            if survived:
                print(f"{module}:{mutant}", flush=True)
    for module, count in counts.items():
        print(f"# {module}: {count.total()} tried, {count['killed']} killed, {count['survived']} survived")


if __name__ == "__main__":
    main()
