"""Damaged files of a run: errors that name the command to rebuild the stage."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from twinlink.errors import DamagedError, RunError
from twinlink.files import NOT_JSON, shell_word
from twinlink.run_files import CONFIG_FILE

__all__ = ["SOURCES_NAME", "STAGES", "damaged", "list_tables", "lost_tables", "read_json", "remake", "remedy"]

T = TypeVar("T")
_LONGEST_PROBLEM = 300  # characters
_FEW = 3  # sources that are named

SOURCES_NAME = "sources.txt"
"""File of stage `ingest` with the paths that it has read."""

STAGES = (
    "warc",
    "ingest",
    "shapes",
    "match",
    "align",
    "patterns",
    "recover",
    "languages",
    "hosts",
    "rank",
    "discover",
    "page_parts",
)
"""The folders of a run, each of one stage."""

_COMMANDS = {
    "warc": "`twinlink crawl URL... -o RUN` or `twinlink mine`",
    "page_parts": "`twinlink mine`",
    "match": "`twinlink match RUN` or `twinlink mine`",
    "shapes": "`twinlink match RUN`",
    "hosts": "`twinlink rank RUN`",
    "languages": "`twinlink discover SEED... -o RUN`",
    "discover": "`twinlink discover SEED... -o RUN`",
}
"""Commands that make a stage's folder, where they differ from its name."""


def remake(run: Path, stage: str) -> str:
    """Return the command that rebuilds a stage of a run.

    >>> remake(Path("my run"), "align")
    "`twinlink align 'my run'`"
    """
    target = shell_word(run)
    if stage == "ingest":
        return f"`twinlink ingest {_sources(run)}-o {target}` or `twinlink mine`"
    return _COMMANDS.get(stage, f"`twinlink {stage} RUN`").replace("RUN", target)


def _sources(run: Path) -> str:
    """Return the sources of a run's pages as arguments of a command; its own crawl needs none."""
    try:
        sources = (run / "ingest" / SOURCES_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        sources = []
    if not sources and (run / "warc").is_dir():
        return ""
    return f"{shlex.join(sources)} " if 0 < len(sources) <= _FEW else "PATH... "


def damaged(path: Path, problem: object) -> DamagedError:
    """Return the error for an unreadable file of a run: the file, the problem, and the command that rebuilds it."""
    said = " ".join(str(problem).split()) or type(problem).__name__
    return DamagedError(f"{path}: damaged ({said[:_LONGEST_PROBLEM]}){remedy(path)}")


def remedy(path: Path) -> str:
    """Return the remedy for a damaged file, to append to the error message; empty for a file outside of a run.

    A loop of discovery holds runs of its own, so the outermost run counts.
    """
    for run in reversed(path.parents):
        inside = path.relative_to(run).parts
        if inside[0] in STAGES and (run / CONFIG_FILE).is_file():
            # What else a loop of discovery has found stays: its rounds are stages by themselves.
            part = run.joinpath(*inside[: 2 if inside[0] == "discover" else 1])
            return f"; remove {shell_word(part)}, and {remake(run, inside[0])} rebuilds it"
    return ""


def read_json(path: Path, kind: type[T]) -> T:
    """Return the content of a JSON file of a run.

    Raises
    ------
    DamagedError
        If it is not JSON, or not of type ``kind``.
    RunError
        If it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}){remedy(path)}") from error
    except NOT_JSON as error:
        raise damaged(path, error) from error


class _Tables(msgspec.Struct, frozen=True):
    """Table sizes in a stage's signature."""

    tables: dict[str, int] = {}


def list_tables(folder: Path) -> dict[str, int]:
    """Return the sizes of the tables below a folder by their names."""
    return {str(table.relative_to(folder)): table.stat().st_size for table in sorted(folder.rglob("*.parquet"))}


def written_tables(signature: Path) -> Mapping[str, int]:
    """Return what a stage's signature lists (`list_tables`); nothing if it is not done, or by an earlier version."""
    try:
        return read_json(signature, _Tables).tables
    except RunError:
        return {}


def lost_tables(signature: Path) -> Iterator[Path]:
    """Yield the tables that a stage's signature lists (`list_tables`) and that are missing, or of another size."""
    for name, size in written_tables(signature).items():
        try:
            is_whole = (signature.parent / name).stat().st_size == size
        except OSError:
            is_whole = False
        if not is_whole:
            yield signature.parent / name
