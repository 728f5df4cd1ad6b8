"""One page of the API for each room, as Markdown for mkdocstrings: every module that has public names."""

from __future__ import annotations

import ast
from pathlib import Path

import twinlink

__all__ = ["ROOMS", "api_pages"]

ROOMS = {
    "twinlink": "What a notebook uses, and what all rooms share",
    "spiders": "Pages come in",
    "similarity": "How alike two pages are inside",
    "graph": "How alike they are by links",
    "bitext": "Sentences",
    "review": "What a person looks at",
    "pipeline": "The stages",
    "demo": "The demo site",
}
_ROOT = Path(twinlink.__file__).parent


def api_pages() -> dict[str, str]:
    """Return the Markdown of each page by the name of its room."""
    return {room: _page(room, title) for room, title in ROOMS.items() if _modules(room)}


def _modules(room: str) -> list[str]:
    folder = _ROOT if room == "twinlink" else _ROOT / room
    prefix = "twinlink" if room == "twinlink" else f"twinlink.{room}"
    return [f"{prefix}.{path.stem}" for path in sorted(folder.glob("*.py")) if _public(path)]


def _public(path: Path) -> bool:
    """Tell whether a module says what is public; `__init__` modules and the command line are no API."""
    if path.stem.startswith("_") or path.stem == "cli":
        return False
    names = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    return any(isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__" for node in names)


def _page(room: str, title: str) -> str:
    name = "twinlink" if room == "twinlink" else f"twinlink.{room}"
    modules = _modules(room)
    lines = [f"# {name}", "", f"{title}.", ""]
    for module in modules:
        lines += [f"::: {module}", ""]
    return "\n".join(lines)
