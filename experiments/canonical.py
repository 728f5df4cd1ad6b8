"""Effect of `rel=canonical` with an address that was not read, and of links to it.

::

    python -m experiments.canonical SITES... [--scratch FOLDER]

Each site is mined unchanged, with a canonical address in every page, and with links that use these addresses as well:
the page at ``/a/b.html`` declares ``/a/b`` of its own host. F1 is that of the reported list, against known pairs with
the addresses that were read.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import twinlink as tl

__all__ = ["canonical_copy", "main"]

BASE = "http://site.example"
_HEAD = re.compile(rb"<head[^>]*>", re.IGNORECASE)
_LINK = re.compile(rb"""(<a\s[^>]*?href\s*=\s*["']?)([^"'#?\s>]+)\.html(?=["'\s>#])""", re.IGNORECASE)
_ENDING = re.compile(r"(?<!index)\.html$")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders")
    parser.add_argument("--langs", default="", help="languages that are paired; default: the site's, by its meta.json")
    given = parser.parse_args(arguments)
    print(f"{'site':28}  as it is  canonical  canonical links")
    for folder in given.sites:
        with tempfile.TemporaryDirectory() as scratch:
            print(f"{folder.name:28}  {_line(folder, Path(scratch), given.langs)}", flush=True)


def _line(folder: Path, scratch: Path, langs: str) -> str:
    found = []
    wanted = tuple(filter(None, langs.split(","))) or _known_langs(folder)
    for number, (named, linked) in enumerate(((False, False), (True, False), (True, True))):
        site = folder / "site" if not named else canonical_copy(folder / "site", scratch / f"site{number}", linked)
        run = tl.mine(str(site), out=scratch / f"run{number}", langs=wanted, ingest__base_url=BASE)
        found.append(run.evaluate(folder / "gold.tsv").f1)
    return f"{found[0]:8.3f}  {found[1]:9.3f}  {found[2]:15.3f}"


def _known_langs(folder: Path) -> tuple[str, ...]:
    """Return the two languages of a site folder, or none if it does not specify them."""
    meta = folder / "meta.json"
    known = json.loads(meta.read_text(encoding="utf-8")) if meta.is_file() else {}
    return tuple(known[name] for name in ("lang_a", "lang_b") if name in known)


def canonical_copy(site: Path, target: Path, linked: bool) -> Path:
    """Copy a folder of pages, each with a canonical address without the suffix; ``linked``: links use that address."""
    for path in sorted(site.rglob("*.html")):
        place = path.relative_to(site)
        body = path.read_bytes()
        if path.name != "index.html":
            tag = f'<link rel=canonical href="{BASE}/{_ENDING.sub("", place.as_posix())}">'.encode()
            body = _HEAD.sub(lambda head, tag=tag: head[0] + tag, body, count=1)  # type: ignore[misc]
        if linked:
            body = _LINK.sub(lambda link: link[0] if link[2].endswith(b"index") else link[1] + link[2], body)
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_bytes(body)
    return target


if __name__ == "__main__":
    main()
