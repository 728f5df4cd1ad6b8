"""Settings of a run as a whole: the memory that its stages may take."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta

from twinlink.config.settings import Settings
from twinlink.errors import ConfigError

__all__ = ["RunSettings", "read_size"]

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?([kMGT]i?)?B?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class RunSettings(Settings, frozen=True):
    """Means of a run; no result depends on them."""

    memory: Annotated[int, Meta(ge=0)] | str = 0
    """Memory that a stage may take, in bytes or as a size (`2GB`, `500MB`, `1.5GiB`). By it, stages plan how many
    processes work, how much they hold before they write to disk, and which sites are matched at the same time. 0: half
    of what the machine has, or of the limit of the container. One site is always matched as a whole, even if it takes
    more."""


def read_size(text: int | str, where: str) -> int:
    """Return the bytes of a size.

    Parameters
    ----------
    text : int or str
        Bytes, or a number with a unit: kB, MB, GB, TB (powers of 1,000), KiB, MiB, GiB, TiB (of 1,024).
    where : str
        Its name in messages.

    Raises
    ------
    ConfigError
        If it is none.

    Examples
    --------
    >>> read_size("2GB", "run.memory"), read_size("1.5 GiB", "run.memory"), read_size(7, "run.memory")
    (2000000000, 1610612736, 7)
    """
    if isinstance(text, int):
        return text
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        raise ConfigError(f"{where}: expected bytes or a size such as 2GB, got {text!r}")
    unit = (size[2] or "").lower()
    factor: int = (1024 if unit.endswith("i") else 1000) ** _POWERS[unit[:1]]
    return round(float(size[1]) * factor)
