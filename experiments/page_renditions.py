"""Sites of which each page has a second one for printing: its text without menus.

::

    python -m experiments.page_renditions SITES...

Page ``/x`` has a link to ``/print/x``, which holds its title and its text, and a link back. The pages for printing of a
known pair are a known pair, too. Where half of the pairs are left, the others have lost one of their pages, of either
side in turn, and its page for printing. A cell is ``F1 (P / expected P)`` of the list that the default settings report,
and the number of wrong pairs in it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from lxml import etree
from lxml import html as lxml_html

from experiments.cases import case_words, match_case, open_case, outcome_of, read_meta
from experiments.site_files import page_file, read_rows, write_rows
from experiments.tables import own_cut, run_versions
from twinlink.evaluation.gold import evaluate

__all__ = ["main", "with_pages_for_printing", "with_pairs_left"]

FILES = "gold.tsv", "pages.tsv", "ignore.tsv", "equiv.tsv", "unscored.txt"
SEED = 1
_NO_TEXT = "//script|//style|//form|//nav|//header|//footer|//aside|//*[@role='navigation']|//*[{}]".format(
    " or ".join(
        f"contains(concat(' ', @{name}, ' '), '{word}')"
        for name in ("class", "id")
        for word in ("nav", "menu", "sidebar", "footer", "header", "breadcrumb")
    )
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    run_versions(__doc__ or "", "pages for printing", VERSIONS, _cell, arguments)


def _cell(folder: Path) -> str:
    with open_case(folder) as case:
        match = match_case(case, case_words(case))
        n_wrong = evaluate(match.pairs(), case.gold).n_wrong
        return f"{own_cut(outcome_of(case, match))}, {n_wrong} wrong"


def with_pairs_left(folder: Path, out: Path, share: float) -> Path:
    """Write a site folder in which a share of the known pairs is left; return it."""
    made = Path(shutil.copytree(folder, out / "left" / folder.name))
    pairs = read_rows(folder / "gold.tsv")
    random.Random(SEED).shuffle(pairs)
    apart = pairs[round(share * len(pairs)) :]
    gone = {pair[n % 2] for n, pair in enumerate(apart)}
    for address in gone:
        page_file(made, address).unlink()
    for name in FILES:
        write_rows(made / name, [row for row in read_rows(made / name) if not gone.intersection(row)])
    return made


def with_pages_for_printing(folder: Path, out: Path) -> Path:
    """Write a site folder in which each page of a language has a page for printing; return it."""
    made = Path(shutil.copytree(folder, out / "printed" / folder.name))
    host = read_meta(folder)["host"]
    pages = [row for row in read_rows(folder / "pages.tsv") if row[1] in "AB" and page_file(folder, row[0]).exists()]
    for address, *_ in pages:
        file, printed = page_file(made, address), page_file(made, _printed(address))
        page = cast("lxml_html.HtmlElement", lxml_html.document_fromstring(file.read_bytes()))
        page.make_links_absolute(f"http://{host}{address}")
        link = etree.SubElement(page.body, "a", href=_printed(address))
        link.text = "Print"
        file.write_bytes(lxml_html.tostring(page, encoding="utf-8"))
        printed.parent.mkdir(parents=True, exist_ok=True)
        printed.write_bytes(_for_printing(page, link, address))
    for name in FILES:
        rows = read_rows(folder / name)
        write_rows(made / name, rows + [[_printed(text) for text in row] for row in rows])
    return made


def _for_printing(page: lxml_html.HtmlElement, link: lxml_html.HtmlElement, address: str) -> bytes:
    """Return a page without menus, with a link to the whole page."""
    for menu in page.xpath(_NO_TEXT):
        if menu is not page and menu is not page.body and menu.getparent() is not None:
            menu.drop_tree()
    link.set("href", address)
    link.text = "Back"
    return bytes(lxml_html.tostring(page, encoding="utf-8"))


def _printed(text: str) -> str:
    """Return the address of a page for printing; other columns of a table as they are."""
    return f"/print{text}" if text.startswith("/") else text


def _printed_of_half(folder: Path, out: Path) -> Path:
    return with_pages_for_printing(with_pairs_left(folder, out, 0.5), out)


VERSIONS: dict[str, Callable[[Path, Path], Path]] = {
    "none": lambda folder, _: folder,
    "all": with_pages_for_printing,
    "none, half of the pairs left": partial(with_pairs_left, share=0.5),
    "all, half of the pairs left": _printed_of_half,
}


if __name__ == "__main__":
    main()
