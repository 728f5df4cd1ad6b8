"""Protocol of an explanation that is printed or displayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pandas as pd

__all__ = ["Explained"]


class Explained(Protocol):
    """Protocol of the shown parts of a `twinlink.explain.explanation.Explanation`."""

    @property
    def url(self) -> str:
        """Address of the explained page."""

    @property
    def verdict(self) -> str:
        """The result in a sentence."""

    @property
    def state(self) -> str:
        """``pair``, ``no pair`` or ``not kept``."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks below the verdict."""

    @property
    def shown(self) -> tuple[str, str] | None:
        """The two addresses whose evidence is shown."""

    @property
    def evidence(self) -> pd.DataFrame:
        """Kinds of evidence, a row each."""

    @property
    def checks(self) -> pd.DataFrame:
        """Values behind the verdicts of methods by structure."""

    @property
    def candidates(self) -> pd.DataFrame:
        """Candidates of both pages."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Titles of pages by address."""
