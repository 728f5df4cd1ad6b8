"""One page of the API for each folder of the package, as Markdown for mkdocstrings: its menu, then its modules."""

from __future__ import annotations

import ast
from pathlib import Path

import twinlink

_ROOT = Path(twinlink.__file__).parent
_NO_API = frozenset(("cli",))
_FIRST = ("mining", "run", "comparison", "plots", "toy", "errors")
"""Modules of the package itself that a reader of its page looks for; the others follow."""
_LAST = "config"


def folders() -> dict[str, str]:
    """Return what each folder is for, the first sentence of its docstring, by its name; the package itself first."""
    found = {"twinlink": "What a notebook uses, and the common ground"}
    for path in sorted(_ROOT.glob("*/__init__.py"), key=lambda path: (path.parent.name == _LAST, path)):
        if path.parent.name not in _NO_API:
            found[path.parent.name] = _first_sentence(path)
    return found


def _first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def api_pages() -> dict[str, str]:
    """Return the Markdown of each page by the name of its folder."""
    return {folder: _page(folder, title) for folder, title in folders().items()}


def _page(folder: str, title: str) -> str:
    is_top = folder == "twinlink"
    name = folder if is_top else f"twinlink.{folder}"
    lines = [f"# {name}", "", f"{title}.", ""]
    if not is_top:
        lines += [*_menu(_ROOT / folder / "__init__.py"), ""]
    paths = sorted((_ROOT if is_top else _ROOT / folder).glob("*.py" if is_top else "**/*.py"))
    for path in sorted(paths, key=_place) if is_top else paths:
        if not path.stem.startswith("_"):
            lines += [f"::: {'.'.join(path.relative_to(_ROOT.parent).with_suffix('').parts)}", ""]
    return "\n".join(lines)


def _place(path: Path) -> int:
    return _FIRST.index(path.stem) if path.stem in _FIRST else len(_FIRST)


def _menu(path: Path) -> list[str]:
    """Return what a folder's docstring says after its first line, and how its names are imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    rest = (ast.get_docstring(tree) or "").partition("\n")[2].strip()
    names = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    example = [name for name in sorted(names) if name != "annotations"][:1]
    package = ".".join(path.parent.relative_to(_ROOT.parent).parts)
    how = [f"Import them from the folder: `from {package} import {example[0]}`."] if example else []
    return [part for text in (rest, *how) for part in (text, "") if text]
