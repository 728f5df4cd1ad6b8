"""Tables of experiments: one row per setting, one column per site, printed as Markdown."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from experiments.cases import Case, Outcome, find_cases, find_lexicons, open_case
from twinlink.similarity.lexicon_files import Lexicon

Column = dict[str, dict[str, str]]
"""Results of one site: title of the table → label of the row → text of the cell."""
Measure = Callable[[Case, Sequence[Lexicon]], Column]


def run(doc: str, measure: Measure, arguments: Sequence[str] | None = None) -> None:
    """Read the command line of an experiment (site folders, ``--lexicons``), measure all sites, print the tables."""
    given = site_parser(doc).parse_args(arguments)
    print_tables(columns_of(given.sites, given.lexicons, measure))


def run_versions(
    doc: str,
    title: str,
    versions: Mapping[str, Callable[[Path, Path], Path]],
    cell: Callable[[Path], str],
    arguments: Sequence[str] | None = None,
) -> None:
    """Read the command line of an experiment that changes site folders, measure all sites, print a table.

    Parameters
    ----------
    doc : str
        Of the experiment's module.
    title : str
        Of the table.
    versions : mapping of str to callable
        From the label of a row to a function that writes a changed site folder into another folder, and returns it.
    cell : callable
        Returns what stands in the table for a site folder.
    arguments : sequence of str, optional
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    columns: dict[str, Column] = {}
    for folder in find_cases(parser.parse_args(arguments).sites):
        columns[folder.name] = {title: {}}
        for label, written in versions.items():
            with tempfile.TemporaryDirectory() as temporary:
                columns[folder.name][title][label] = cell(written(folder, Path(temporary)))
    print_tables(columns)


def site_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of site folders and ``--lexicons``, with the first line of a docstring as description."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--lexicons", type=Path, help="folder of lexicons named like zh-en.tsv.xz")
    return parser


def columns_of(places: Sequence[Path], lexicons: Path | None, measure: Measure) -> dict[str, Column]:
    """Return the results of each site, by the name of the site."""
    columns = {}
    for folder in find_cases(places):
        with open_case(folder) as case:
            columns[case.name] = measure(case, find_lexicons(lexicons, case.langs))
    return columns


def print_tables(columns: Mapping[str, Column], *, sites_down: bool = False) -> None:
    """Print one table per title, with a dash if a site does not have a cell.

    Sites are columns, or rows with ``sites_down``.
    """
    for title in dict.fromkeys(title for column in columns.values() for title in column):
        sites = [site for site, column in columns.items() if title in column]
        labels = list(dict.fromkeys(label for site in sites for label in columns[site][title]))
        grid = [["", *labels]] + [
            [_short(site), *(columns[site][title].get(label, "–") for label in labels)] for site in sites
        ]
        print_grid(title, grid if sites_down else [list(row) for row in zip(*grid, strict=True)])


def print_grid(title: str, grid: Iterable[Sequence[str]]) -> None:
    """Print one table with its title; its first row has the heads of the columns."""
    head, *rows = grid
    print(f"\n**{title}**\n")
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |", flush=True)


def _short(site: str) -> str:
    """Remove the suffix that nearly all names have.

    >>> _short("apache-en-fr-opaque"), _short("apache-en-fr-plain")
    ('apache-en-fr', 'apache-en-fr-plain')
    """
    return site.removesuffix("-opaque")


def number(value: float) -> str:
    """Return a share with three digits as text.

    >>> number(0.98712), number(1), number(float("nan"))
    ('.987', '1.000', '–')
    """
    return "–" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def own_cut(outcome: Outcome) -> str:
    """Return ``F1 (P / expected P)`` of a reported list."""
    return f"{number(outcome.f1)} ({number(outcome.precision)} / {number(outcome.expected)})"


def claims(outcome: Outcome) -> str:
    """Return ``best F1; F1 (P / expected P)``: at the best threshold, and of the reported list."""
    return f"{number(outcome.oracle)}; {own_cut(outcome)}"
