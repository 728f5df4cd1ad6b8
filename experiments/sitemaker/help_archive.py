"""HTML pages of a manual that packages have in an archive: one archive, and one folder, for each language."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path

__all__ = ["HTML", "unpack_help"]

ARCHIVES = "usr/share/scilab/modules/helptools/jar"
"""Folder of a package with archives such as ``scilab_pt_BR_help.jar``."""
HTML = "usr/share/scilab/help-html"
NAME = re.compile(r"scilab_([a-z]{2}_[A-Z]{2})_help\.jar")


def unpack_help(roots: Sequence[Path], langs: Collection[str]) -> None:  # noqa: ARG001  (a package has one language)
    """Unpack the pages of every language of some unpacked packages, unless they are there from before."""
    for root in roots:
        for archive in sorted((root / ARCHIVES).glob("*.jar")):
            if (named := NAME.fullmatch(archive.name)) is None:
                continue
            out = root / HTML / named[1].replace("_", "-")
            if not out.is_dir():
                partial = out.with_name(out.name + ".tmp")
                shutil.rmtree(partial, ignore_errors=True)
                with zipfile.ZipFile(archive) as content:
                    pages = [name for name in content.namelist() if name.endswith(".html")]
                    content.extractall(partial, pages)
                (partial / archive.stem).rename(out)
                shutil.rmtree(partial)
