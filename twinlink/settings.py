"""What all settings are made of: the base of the records, and ranges."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

__all__ = ["Natural", "Positive", "Settings", "Unit"]

Unit = Annotated[float, Meta(ge=0, le=1)]
Positive = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]


class Settings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """Base of the records: frozen, and unknown names are errors."""
