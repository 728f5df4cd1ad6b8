"""The command line called in this process: that saves a second a call."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.made_sites import BASE, write_toy
from twinlink.cli import main


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        told = json.loads(self.stdout, parse_constant=_refuse)
        assert isinstance(told, dict)
        return told


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def twinlink(*args: object, encoding: str = "utf-8") -> Done:
    """Call the command line."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2))
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with patch.object(sys, "argv", ["twinlink", *map(str, args)]):
                main()
        except SystemExit as end:
            code = end.code
    texts = [stream.buffer.getvalue().decode(encoding) for stream in (out, err)]
    return Done(int(str(code or 0)), *texts)


def mine_toy(folder: Path, *args: object) -> Done:
    """Mine the toy site in ``folder``, into ``folder / "run"``."""
    toy = write_toy(folder / "toy")
    return twinlink("mine", toy, "--base-url", BASE, "-o", folder / "run", "--langs", "en,zh", *args)
