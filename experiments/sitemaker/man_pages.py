"""Manual pages (``man``) as HTML pages: one folder for each language.

``mandoc`` converts them, which several sites of manual pages use. It writes no links between pages of the older macros,
which most of them have, so the names of pages become links here, as on these sites.
"""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.sitemaker.languages import compact, language_folder
from experiments.sitemaker.partial import partial_folder

__all__ = ["HTML", "write_man_pages"]

MANUALS = "usr/share/man"
"""Folder of a package with sections of English pages, and a folder for each other language."""
HTML = "usr/share/man-html"
"""Folder beside it that the pages are written to."""
SOURCE = "en"
SECTIONS = "man[1-8]"
MANDOC = "usr/bin/mandoc"
FAULTS_OF_PAGE = 4
"""Largest exit status that means something wrong in the page; it is converted as well as possible."""
IS_ANOTHER = b".so "
"""Start of a page that is another one under a second name."""
NAME = re.compile(r"<b>([\w.+-]+)</b>\(([1-8]\w*)\)")
INDEX = "<html><head><title>man {0}</title></head><body><ul>{1}</ul></body></html>"


def write_man_pages(roots: Sequence[Path], langs: Collection[str]) -> None:
    """Write the HTML pages of some languages, and an index of each section, unless they are there from before.

    Parameters
    ----------
    roots : sequence of Path
        Unpacked packages: one with ``mandoc``, the others with manual pages. Pages of one language are written to the
        first package that has some.
    langs : collection of str
        Unknown languages are left out.
    """
    (mandoc,) = (root / MANDOC for root in roots if (root / MANDOC).is_file())
    for lang in sorted(langs):
        folders = {root: folder for root in roots if (folder := _folder(root, lang)) is not None}
        if not folders:
            continue
        root, folder = next(iter(folders.items()))
        out = root / HTML / (SOURCE if folder == root / MANUALS else folder.name.replace("_", "-"))
        if not out.is_dir():
            with partial_folder(out) as partial:
                _write_pages(_pages(folders.values()), mandoc.absolute(), partial)


def _folder(root: Path, lang: str) -> Path | None:
    """Return the folder with the sections of a language in a package."""
    manuals = root / MANUALS
    if compact(lang) == SOURCE:
        return manuals if any(manuals.glob(SECTIONS)) else None
    name = language_folder([folder.name for folder in sorted(manuals.glob("*")) if any(folder.glob(SECTIONS))], lang)
    return None if name is None else manuals / name


def _pages(folders: Iterable[Path]) -> dict[str, bytes]:
    """Return the pages of a language by their names, such as ``ls.1``, without second names of a page."""
    files = [file for folder in folders for file in sorted(folder.glob(f"{SECTIONS}/*")) if not file.is_symlink()]
    pages = {file.name.removesuffix(".gz"): _content(file) for file in files}
    return {name: text for name, text in pages.items() if not text.startswith(IS_ANOTHER)}


def _content(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _write_pages(pages: Mapping[str, bytes], mandoc: Path, out: Path) -> None:
    def write(name: str) -> None:
        command = [str(mandoc), "-K", "utf-8", "-T", "html"]
        done = subprocess.run(command, input=pages[name], capture_output=True, check=False)
        if done.returncode > FAULTS_OF_PAGE:
            done.check_returncode()
        (out / f"{name}.html").write_text(NAME.sub(linked, done.stdout.decode()))

    def linked(found: re.Match[str]) -> str:
        page = f"{found[1]}.{found[2]}"
        return f'<a href="{page}.html">{found[0]}</a>' if page in pages else found[0]

    with ThreadPoolExecutor() as threads:
        list(threads.map(write, pages))
    for section in "12345678":
        of_section = [name for name in sorted(pages) if name.rpartition(".")[2].startswith(section)]
        if of_section:
            entries = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in of_section)
            (out / f"index-{section}.html").write_text(INDEX.format(section, entries))
