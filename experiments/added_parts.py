"""Sites with a part in one language alone, such as news or a forum beside documentation: pages of another site.

::

    python -m experiments.added_parts SITES... --other OTHER

Up to as many pages as the site has are added from one side of another site, whose languages should be those of the
site; they link to each other, and no page of the site links to them. Then all pages of both sides are added, with their
pairs. A cell is ``F1 (P / expected P)`` of the default settings.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from experiments.cases import Case, case_words, match_case, open_case, outcome_of
from experiments.robustness import NOISE, copy_pages, with_noise
from experiments.site_files import append_rows, read_rows
from experiments.tables import Column, columns_of, own_cut, print_tables, site_parser
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["main", "with_site"]

LISTS = "gold.tsv", "ignore.tsv", "unscored.txt"
"""Lists of addresses of a site folder."""
GROUPS = "equiv.tsv"
"""Groups of equivalent pages: number of the group, side, address."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = site_parser(__doc__)
    parser.add_argument("--other", type=Path, required=True, help="site folder whose pages are added")
    given = parser.parse_args(arguments)

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        rows = {"as it is": _cell(case, lexicons)}
        for side in ("A", "B"):
            with tempfile.TemporaryDirectory() as temporary:
                folder, _ = with_noise(case.folder, given.other, Path(temporary), side)
                with open_case(folder) as larger:
                    rows[f"with pages of side {side} of {given.other.name}"] = _cell(larger, lexicons)
        with (
            tempfile.TemporaryDirectory() as temporary,
            open_case(with_site(case.folder, given.other, Path(temporary))) as both,
        ):
            rows[f"with {given.other.name}"] = _cell(both, lexicons)
        return {"with a part in one language": rows}

    print_tables(columns_of(given.sites, given.lexicons, of_site))


def with_site(folder: Path, other: Path, out: Path) -> Path:
    """Copy a site folder and add all pages and known pairs of another site; return the copy."""
    copy = Path(shutil.copytree(folder, out / folder.name))
    copy_pages(other, [address for address, *_ in read_rows(other / "pages.tsv")], copy)
    for name in LISTS:
        append_rows(copy / name, [[*map(_added, row)] for row in read_rows(other / name)])
    groups = [[f"{NOISE} {group}", *map(_added, row)] for group, *row in read_rows(other / GROUPS)]
    append_rows(copy / GROUPS, groups)
    return copy


def _added(text: str) -> str:
    """Return the address of an added page; other columns as they are."""
    return f"/{NOISE}{text}" if text.startswith("/") else text


def _cell(case: Case, lexicons: Sequence[Lexicon]) -> str:
    return own_cut(outcome_of(case, match_case(case, case_words(case, lexicons))))


if __name__ == "__main__":
    main()
