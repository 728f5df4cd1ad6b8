"""The base of all results, and their JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec

from twinlink.errors import TwinlinkError


class Count(msgspec.Struct, frozen=True):
    """Number of rejects with a stage and a reason."""

    stage: str
    """Stage that dropped it."""
    reason: str
    """Reason, as in ``rejects.parquet``."""
    count: int
    """Their number."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the results of verbs; the names of the fields are the keys of the JSON object."""

    def problem(self) -> TwinlinkError | None:
        """Return the error that the verb ends with although it has a result: nothing was found."""
        return None

    def remedy(self) -> tuple[str | Path, ...]:
        """Return the words of a command that may help with the problem; none where there is no such command."""
        return ()

    def advice(self) -> str:
        """Return a line of advice on the problem; empty for none."""
        return ""


def error_object(message: str, kind: str, exit_code: int) -> dict[str, Any]:
    """Return the keys that an error has in JSON."""
    return {"error": message, "kind": kind, "exit_code": exit_code}


def json_text(result: Record | dict[str, Any], problem: TwinlinkError | None = None) -> str:
    r"""Return a JSON object, in ASCII: every terminal and every pipe can take it. What is no number is null.

    >>> json_text({"pair": ["α", float("nan")]})
    '{"pair": ["\\u03b1", null]}'
    """
    keys = _finite(msgspec.to_builtins(result))
    if problem is not None:
        keys |= error_object(str(problem), type(problem).__name__, problem.exit_code)
    return json.dumps(keys, allow_nan=False)


def _finite(value: Any) -> Any:
    """Return a value with null for floats that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, (list, tuple)) else value
