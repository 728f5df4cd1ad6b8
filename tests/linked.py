"""What a package needs, linked into an environment of its own from the one that runs the tests.

pip would fetch and unpack the same files again, which takes half a minute of processor time, and Python compile them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needed(requirements: Iterable[str]) -> list[Distribution]:
    """Return what is installed here of some requirements, and of all that these require; versions are not compared."""
    found: dict[str, Distribution] = {}
    done: set[tuple[str, str]] = set()
    waiting = [(Requirement(each), "") for each in requirements]
    while waiting:
        requirement, of_extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": of_extra}):
            continue
        name = canonicalize_name(requirement.name)
        there = found.setdefault(name, distribution(name))
        for extra in {"", *requirement.extras}:
            if (name, extra) not in done:
                done.add((name, extra))
                waiting += [(Requirement(each), extra) for each in there.requires or ()]
    return list(found.values())


def link_into(folder: Path, distributions: Iterable[Distribution]) -> None:
    """Link the files of distributions, with what Python has compiled of them, into a folder of packages."""
    for each in distributions:
        for file in map(PurePath, each.files or ()):
            if ".." in file.parts:
                continue  # commands stand elsewhere, and name another interpreter
            source = Path(str(each.locate_file(file)))
            _link(source, folder / file)
            for compiled in source.parent.glob(f"__pycache__/{source.stem}.*.pyc"):
                _link(compiled, folder / file.parent / "__pycache__" / compiled.name)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        return
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
