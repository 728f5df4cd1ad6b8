"""Degraded sites: half of a side removed, one template for all pages, noise in other languages.

::

    python -m experiments.robustness SITES... [--lexicons FOLDER] [--noise SITE]

A cell is ``F1 (P / expected P)`` of the default settings. With ``--noise``, the pages of side B of another site are
added, up to the number of pages of the site, so that half of the pages are noise. They should be in a language that the
site does not have.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.cases import Case, case_words, match_case, open_case, outcome_of
from experiments.tables import Column, columns_of, own_cut, print_tables
from twinlink.graph.document_order import sublists
from twinlink.match.evidence import Between, Side
from twinlink.similarity.lexicon import Lexicon

__all__ = ["half_of_b", "main", "measure", "one_template", "with_noise"]

SEED = 1


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--lexicons", type=Path, help="folder of lexicons named like zh-en.tsv.xz")
    parser.add_argument("--noise", type=Path, help="site folder whose side B is mixed in")
    given = parser.parse_args(arguments)

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        column = measure(case, lexicons)
        if given.noise:
            with tempfile.TemporaryDirectory() as temporary:
                folder, share = with_noise(case.folder, given.noise, Path(temporary))
                with open_case(folder) as noisy:
                    column["made worse"]["noise pages mixed in"] = f"{_cell(noisy, lexicons)} at {share:.0%}"
        return column

    print_tables(columns_of(given.sites, given.lexicons, of_site))


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the table's column of one site."""
    half = half_of_b(case)
    worse = {
        "as it is": case,
        "half of side B removed": half,
        "all pages with one template": one_template(case),
        "both": one_template(half),
    }
    return {"made worse": {label: _cell(each, lexicons) for label, each in worse.items()}}


def _cell(case: Case, lexicons: Sequence[Lexicon]) -> str:
    return own_cut(outcome_of(case, match_case(case, case_words(case, lexicons))))


def with_noise(folder: Path, other: Path, out: Path) -> tuple[Path, float]:
    """Copy a site folder and mix in pages of another site's side B; return the copy and the share of noise."""
    copy = Path(shutil.copytree(folder, out / folder.name))
    paths = [url.lstrip("/") for url, side, *_ in _pages(other) if side == "B"]
    n_pages = len(_pages(folder))
    there = [path for path in paths[:n_pages] if (other / "site" / path).is_file()]
    for path in there:
        target = copy / "site" / "noise" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(other / "site" / path, target)
    return copy, len(there) / (len(there) + n_pages)


def _pages(folder: Path) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "pages.tsv").read_text(encoding="utf-8").splitlines()]


def half_of_b(case: Case, seed: int = SEED) -> Case:
    """Remove a random half of side B, with its links and its gold pairs."""
    n = len(case.side_b.urls)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[: n // 2])
    side = _some_pages(case.side_b, rows)
    gone = {case.gold.key(url) for url in case.side_b.urls} - {case.gold.key(url) for url in side.urls}
    left = tuple(pair for pair in case.gold.pairs if not gone & set(pair))
    between = Between(*(each[:, rows] for each in (case.between.direct, case.between.hreflang)))
    return replace(case, side_b=side, between=between, gold=replace(case.gold, pairs=left))


def _some_pages(side: Side, rows: npt.NDArray[np.intp]) -> Side:
    return replace(
        side,
        page_ids=side.page_ids[rows],
        urls=[side.urls[row] for row in rows],
        blocks=[side.blocks[row] for row in rows],
        tags=[side.tags[row] for row in rows],
        names=[side.names[row] for row in rows] if side.names else (),
        graph=side.graph[rows][:, rows],
        lists=sublists(side.lists, rows) if side.lists else None,
    )


def one_template(case: Case) -> Case:
    """Give all pages the tags of the first one, so that structure is uninformative."""
    tags = case.side_a.tags[0]
    side_a, side_b = (replace(side, tags=[tags] * len(side.tags)) for side in (case.side_a, case.side_b))
    return replace(case, side_a=side_a, side_b=side_b)


if __name__ == "__main__":
    main()
