"""Sites on which pages have a second address: their copies are pages with the same content.

::

    python -m experiments.page_copies SITES...

A share of the known pairs is drawn, and both pages of each get a copy: ``x-copy.html`` beside ``x.html``, or, where
addresses tell nothing, a number. Half of the links to the page, drawn at random, lead to its copy instead. The two
copies are a known pair, too. A cell is F1 (precision / recall).
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

from experiments.cases import case_words, match_case, open_case, outcome_of
from experiments.site_files import append_rows, page_file, read_rows
from experiments.tables import run_versions

__all__ = ["main", "with_page_copies"]

SHARES = 0.0, 0.3, 1.0
SEED = 1
_LINK = re.compile(rb"""(<a\s[^>]*?href\s*=\s*["'])([^"'#?]+)""", re.IGNORECASE)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    versions = {f"{share:.0%}": partial(with_page_copies, share=share) for share in SHARES}
    run_versions(__doc__ or "", "share of the known pairs with copies", versions, _cell, arguments)


def _cell(folder: Path) -> str:
    with open_case(folder) as case:
        outcome = outcome_of(case, match_case(case, case_words(case)))
    return f"{outcome.f1:.3f} ({outcome.precision:.3f} / {outcome.recall:.3f})"


def with_page_copies(folder: Path, out: Path, share: float) -> Path:
    """Write a site folder in which the pages of a share of the known pairs have copies; return it."""
    made = Path(shutil.copytree(folder, out / folder.name))
    draw = random.Random(SEED)
    chosen = [pair for pair in read_rows(folder / "gold.tsv") if draw.random() < share]
    copy_of = {address: _copy_address(address, draw) for pair in chosen for address in pair[:2]}
    copies = {page_file(folder, address): page_file(made, copy) for address, copy in copy_of.items()}
    for page in sorted((folder / "site").rglob("*")):
        if page.is_file():
            own = page.relative_to(folder)
            content = _with_links(page.read_bytes(), f"/{own.relative_to('site').as_posix()}", copy_of, draw)
            for file in (made / own, copies[page]) if page in copies else (made / own,):
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(content)
    append_rows(made / "gold.tsv", [[copy_of[a], copy_of[b], *rest] for a, b, *rest in chosen])
    pages = [row for row in read_rows(folder / "pages.tsv") if row[0] in copy_of]
    append_rows(made / "pages.tsv", [[copy_of[page[0]], *page[1:]] for page in pages])
    sides = {address: "AB"[side] for pair in chosen for side, address in enumerate(pair[:2])}
    groups = {row[2]: row[0] for row in read_rows(folder / "equiv.tsv")}
    names = {address: groups.get(address, f"copy-{n}") for n, address in enumerate(copy_of)}
    both = [(address, one) for address in copy_of for one in (address, copy_of[address])]
    append_rows(made / "equiv.tsv", [[names[address], sides[address], one] for address, one in both])
    return made


def _copy_address(address: str, draw: random.Random) -> str:
    """Return the address of a copy; one of a number where the page's own is one."""
    path = Path(address)
    stem = f"{draw.randrange(10**6, 10**7)}" if path.stem.isdigit() else f"{path.stem}-copy"
    return str(path.with_name(stem + path.suffix)) + "/" * address.endswith("/")


def _with_links(content: bytes, page: str, copy_of: Mapping[str, str], draw: random.Random) -> bytes:
    """Return a page of which each link leads to the copy of a page at random."""

    def lead(link: re.Match[bytes]) -> bytes:
        target = unquote(urlsplit(urljoin(page, link[2].decode("utf-8", "replace"))).path)
        copied = copy_of.get(target) or copy_of.get(target.removesuffix("index.html"))
        return link[1] + quote(copied).encode() if copied and draw.random() < 0.5 else link[0]

    return _LINK.sub(lead, content)


if __name__ == "__main__":
    main()
