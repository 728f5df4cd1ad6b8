"""Packages: downloaded by name, with apt or npm, and unpacked without root."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.sitemaker.partial import partial_folder
from experiments.sitemaker.recipes import RecipeError


class Package(NamedTuple):
    """One unpacked package: where it is from, with its name and version, and the folder that holds its files."""

    source: str
    root: Path


NPM = "npm:"
"""Start of the names of packages that are not Debian's: ``npm:NAME@VERSION``."""


def fetch(name: str, cache: Path) -> Package:
    """Download and unpack a package, unless ``cache`` has it from before.

    Raises
    ------
    RecipeError
        If this machine has no ``apt-get`` and ``dpkg-deb``, or ``npm``, or does not know the package.
    """
    cache.mkdir(parents=True, exist_ok=True)
    if name.startswith(NPM):
        return _fetch_npm(name.removeprefix(NPM), cache)
    files = sorted(cache.glob(f"{name}_*.deb"))
    if not files:
        _download(name, cache)
        files = sorted(cache.glob(f"{name}_*.deb"))
    if not files:
        raise RecipeError(f"apt-get download {name} left no file in {cache}")
    file = files[-1]
    return Package(f"Debian {file.stem.replace('%3a', ':')}", _unpack(file, ["dpkg-deb", "-x", str(file)]))


def _download(name: str, cache: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise RecipeError(
            "apt-get and dpkg-deb are not here: these sites are made from Debian packages, so make them on Debian or "
            f"Ubuntu, or put {name}_*.deb into {cache} yourself"
        )
    _run(["apt-get", "download", name], cache, "is the package list up to date? `apt-get update`")


def _fetch_npm(name: str, cache: Path) -> Package:
    file = cache / f"{re.sub('[@/]', '-', name)}.tgz"
    if not file.is_file():
        if not shutil.which("npm"):
            raise RecipeError(f"npm is not here: install it, or put {file.name} into {cache} yourself")
        with partial_folder(cache / "npm") as partial:
            _run(["npm", "pack", "--silent", name], partial, "is its name right, and npm's registry reached?")
            next(partial.glob("*.tgz")).rename(file)
    return Package(f"npm {file.stem}", _unpack(file, ["tar", "-xzf", str(file), "-C"]))


def _unpack(file: Path, command: Sequence[str]) -> Path:
    """Unpack a package into a folder beside it by a command that takes the folder last."""
    root = file.with_suffix("")
    if not root.is_dir():
        with partial_folder(root) as partial:
            _run([*command, str(partial)], None, f"if {file} is damaged, remove it")
    return root


def _run(command: Sequence[str], folder: Path | None, advice: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        message = "; ".join(done.stderr.strip().splitlines()) or "no message"
        raise RecipeError(f"{' '.join(command)}: {message} ({advice})")
