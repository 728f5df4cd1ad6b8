"""Names of languages as packages write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["compact", "language_folder"]


def compact(lang: str) -> str:
    """Return a language without separators in lower case.

    Examples
    --------
    >>> compact("zh-TW"), compact("pt_BR")
    ('zhtw', 'ptbr')
    """
    return re.sub(r"[^a-z]", "", lang.lower())


def language_folder(names: Sequence[str], lang: str) -> str | None:
    """Return the name of a language among those of folders, or of its only variety; None: there is none.

    Examples
    --------
    >>> language_folder(["de", "pt_BR", "zh_CN", "zh_TW"], "ptbr"), language_folder(["de", "pt_BR"], "pt")
    ('pt_BR', 'pt_BR')
    """
    exact = [name for name in names if compact(name) == compact(lang)]
    related = [name for name in names if re.split("[-_]", name)[0].lower() == lang.lower()]
    if exact:
        return exact[0]
    return related[0] if len(related) == 1 else None
