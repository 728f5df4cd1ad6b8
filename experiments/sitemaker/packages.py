"""Packages: downloaded by name, with apt or npm, and unpacked without root."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from experiments.sitemaker.partial import partial_folder
from experiments.sitemaker.recipes import RecipeError


class Package(NamedTuple):
    """One unpacked package: its name with its version, and the folder that holds its files."""

    version: str
    root: Path


NPM = "npm:"
"""Start of the names of packages that are not Debian's: ``npm:NAME@VERSION``, without a scope."""


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
    return Package(files[-1].stem.replace("%3a", ":"), _unpack(files[-1]))


def _download(name: str, cache: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise RecipeError(
            "apt-get and dpkg-deb are not here: these sites are made from Debian packages, so make them on Debian or "
            f"Ubuntu, or put {name}_*.deb into {cache} yourself"
        )
    done = subprocess.run(["apt-get", "download", name], cwd=cache, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RecipeError(f"apt-get download {name}: {last[0]} (is the package list up to date? `apt-get update`)")


def _unpack(file: Path) -> Path:
    root = file.with_suffix("")
    if not root.is_dir():
        with partial_folder(root) as partial:
            done = subprocess.run(["dpkg-deb", "-x", file, partial], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RecipeError(f"dpkg-deb -x {file}: {done.stderr.strip()}")
    return root


def _fetch_npm(name: str, cache: Path) -> Package:
    file = cache / f"{name.replace('@', '-')}.tgz"
    if not file.is_file():
        if not shutil.which("npm"):
            raise RecipeError(f"npm is not here: install it, or put {file.name} into {cache} yourself")
        command = ["npm", "pack", "--silent", name]
        done = subprocess.run(command, cwd=cache, capture_output=True, text=True, check=False)
        if done.returncode or not file.is_file():
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise RecipeError(f"npm pack {name}: {last[0]}")
    root = file.with_suffix("")
    if not root.is_dir():
        with partial_folder(root) as partial:
            done = subprocess.run(["tar", "-xzf", file, "-C", partial], capture_output=True, text=True, check=False)
            if done.returncode:
                first = (done.stderr.strip().splitlines() or ["no message"])[0]
                raise RecipeError(f"tar -xzf {file}: {first} (remove the file, and try again)")
    return Package(file.stem, root)
