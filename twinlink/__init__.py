"""twinlink finds pages that are translations of each other, and the sites that have them, by how pages link.

The names below are loaded when they are first used, so that ``import twinlink`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from twinlink.version import __version__ as __version__

if TYPE_CHECKING:
    from twinlink.comparison import compare
    from twinlink.config import Config
    from twinlink.evaluation.gold import Evaluation, evaluate, read_gold
    from twinlink.mining import discover, mine
    from twinlink.run import Run
    from twinlink.run import open_run as open
    from twinlink.toy import toy_site

__all__ = ["Config", "Evaluation", "Run", "compare", "discover", "evaluate", "mine", "open", "read_gold", "toy_site"]

_HOMES = {
    "Config": ("twinlink.config", "Config"),
    "Evaluation": ("twinlink.evaluation.gold", "Evaluation"),
    "Run": ("twinlink.run", "Run"),
    "compare": ("twinlink.comparison", "compare"),
    "discover": ("twinlink.mining", "discover"),
    "evaluate": ("twinlink.evaluation.gold", "evaluate"),
    "mine": ("twinlink.mining", "mine"),
    "open": ("twinlink.run", "open_run"),
    "read_gold": ("twinlink.evaluation.gold", "read_gold"),
    "toy_site": ("twinlink.toy", "toy_site"),
}


_PACKAGES = frozenset(
    "align baselines config errors evaluation explain export graph ingest labels language match pages patterns plots"
    " recover review rundir similarity sites sources spiders tables text toy".split()
)
"""Packages and modules that ``twinlink.NAME`` loads."""


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"twinlink.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'twinlink' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__version__"])
