"""Tables 1 and 2 and Figure 3 of Tomás et al. (WebMining) on our sites.

::

    python -m experiments.paper_002 SITES... [--out FOLDER]

**Table 1**: precision and recall by structure alone, of all filters but the last one, beside the paper's sites.
**Table 2**: the same with the content filter, summed over all sites. **Figure 3**: tag distance of right and wrong
pairs (`experiments.injected`) over the number of tags of the larger page, and the line that separates them best;
``--out`` gets one picture per site.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from experiments.cases import Case, find_cases, open_case
from experiments.charts import Floats, save_points
from experiments.injected import KINDS, RIGHT, pairs_to_verify
from experiments.methods import with_shapes
from experiments.tables import number, print_grid
from twinlink.baselines.distance_line import fit_line
from twinlink.baselines.tag_distance import tag_distances, text_in_words
from twinlink.config import MatchSettings
from twinlink.config.baselines import WebminingSettings
from twinlink.evaluation.gold import evaluate
from twinlink.match.selection import match_sides

__all__ = ["PAPER_1", "PAPER_2", "Site", "main", "measure"]

PAPER_1 = (
    ("www.puc-rio.br/louvre", "es, fr, en", 290, 242, ".97", ".82"),
    ("www.a-dictam.com", "es, fr", 34, 17, ".88", ".94"),
    ("www.covax.org", "es, ct, en, de, it", 71, 110, "1.00", ".64"),
    ("www.faocopemed.org", "es, fr, en", 193, 94, "1.00", ".87"),
    ("www.eapn.org", "fr, en", 124, 46, "1.00", ".68"),
    ("www.fsmed.info", "es, ct, en, de, it", 36, 63, "1.00", ".92"),
    ("www.sphereproject.org", "es, fr, en", 315, 56, ".11", ".55"),
    ("www.rocksolid.com", "es, pt, en", 24, 24, ".32", ".71"),
    ("total", "", 1087, 652, ".89", ".78"),
)
"""Table 1: site, languages, pages, parallel pages, precision, recall."""
PAPER_2 = {"structure": (".85", ".82"), "structure and content": (".96", ".89")}
"""Table 2: precision and recall."""


class Counts(NamedTuple):
    """Pairs of a method: reported and neither ignored nor unscored, right ones, known ones."""

    reported: int = 0
    right: int = 0
    known: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))

    def cells(self) -> tuple[str, str]:
        """Return precision and recall as text.

        >>> Counts(4, 3, 6).cells()
        ('.750', '.500')
        """
        return number(self.right / self.reported if self.reported else float("nan")), number(self.right / self.known)


class Site(NamedTuple):
    """Results of one site."""

    languages: str
    n_pages: int
    by_structure: Counts
    by_content: Counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--out", type=Path, help="folder for the figures")
    given = parser.parse_args(arguments)
    sites: dict[str, Site] = {}
    for folder in find_cases(given.sites):
        with open_case(folder) as case:
            shaped = with_shapes(case)
            sites[case.name] = measure(shaped)
            if given.out:
                draw(shaped, given.out)
    print_tables(sites)


def measure(case: Case) -> Site:
    """Match a site whose pages are linearised, with structure alone and with the content filter."""
    by_structure, by_content = (_counts(case, content) for content in (False, True))
    n_pages = len(case.side_a.urls) + len(case.side_b.urls)
    return Site(", ".join(case.langs), n_pages, by_structure, by_content)


def _counts(case: Case, content: bool) -> Counts:
    settings = MatchSettings(method="webmining", webmining=replace(WebminingSettings(), content=content))
    found = evaluate(match_sides(case.side_a, case.side_b, case.between, (), settings).pairs(), case.gold)
    return Counts(found.n_right + found.n_wrong, found.n_right, len(case.gold.pairs))


def print_tables(sites: dict[str, Site]) -> None:
    """Print both tables, ours above the paper's."""
    head = ["site", "languages", "pages", "parallel pages", "precision", "recall"]
    rows = [_row(name, site.languages, site.n_pages, site.by_structure) for name, site in sites.items()]
    by_structure, by_content = Counts(), Counts()
    for site in sites.values():
        by_structure, by_content = by_structure.plus(site.by_structure), by_content.plus(site.by_content)
    rows.append(_row("total", "", sum(site.n_pages for site in sites.values()), by_structure))
    print_grid("Table 1, structure alone", [head, *rows])
    print_grid("Table 1 of the paper", [head, *([str(cell) for cell in row] for row in PAPER_1)])
    ours = {"structure": by_structure.cells(), "structure and content": by_content.cells()}
    both = [[name, *cells, *PAPER_2[name]] for name, cells in ours.items()]
    print_grid("Table 2", [["", "precision", "recall", "precision in the paper", "recall in the paper"], *both])
    each = [[name, *site.by_structure.cells(), *site.by_content.cells()] for name, site in sites.items()]
    heads = [f"{name}, {kind}" for kind in ours for name in ("precision", "recall")]
    print_grid("Table 2 by site", [["", *heads], *each])


def _row(name: str, languages: str, n_pages: int, counts: Counts) -> list[str]:
    return [name, languages, str(n_pages), str(counts.known), *counts.cells()]


def draw(case: Case, out: Path) -> None:
    """Draw Figure 3: tag distance over tags of right and of wrong pairs, with the line between them."""
    pairs = pairs_to_verify(case)
    words_a, words_b = (
        [text_in_words(page.tokens, page.words) for page in side] for side in (pairs.pages_a, pairs.pages_b)
    )
    distances = tag_distances(words_a, words_b, pairs.pattern()).data.astype(np.float64)
    tags_a, tags_b = (np.array([np.sum(page < 0) for page in side], np.float64) for side in (words_a, words_b))
    tags = np.maximum(tags_a[pairs.rows], tags_b[pairs.columns])
    right = pairs.kinds == RIGHT
    shown = right | (pairs.kinds != KINDS.index("half translated"))
    line = fit_line(tags[shown], distances[shown], right[shown])
    x_top, y_top = (float(np.quantile(values[shown], 0.98)) for values in (tags, distances))

    def points(which: Floats) -> tuple[Floats, Floats]:
        return np.minimum(tags[which], x_top), np.minimum(distances[which], y_top)

    save_points(
        out / f"figure-3-{case.name}.svg",
        f"Tag distance of right and wrong pairs of {case.name} by the tags of the larger page",
        {"right": points(right), "wrong": points(shown & ~right)},
        ("tags of the larger page", (0.0, x_top)),
        ("tag distance", (0.0, y_top)),
        [((0.0, line.intercept), (x_top, float(line.at(x_top))))],
    )


if __name__ == "__main__":
    main()
