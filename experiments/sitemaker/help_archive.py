"""HTML pages of a manual that packages have in an archive: one archive, and one folder, for each language."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path

from experiments.sitemaker.partial import partial_folder

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
                with partial_folder(out) as partial, zipfile.ZipFile(archive) as content:
                    for page in zipfile.Path(content, f"{archive.stem}/").iterdir():
                        if page.name.endswith(".html"):
                            (partial / page.name).write_bytes(page.read_bytes())
