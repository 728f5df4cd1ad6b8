"""Language ceilings: share of the known pairs with both pages in the right language.

::

    python -m experiments.languages SITES...

prints one row per site: pages, ceiling by CLD2 on each page alone, ceiling by `page_languages`, and CPU seconds of the
latter. No matcher can find more pairs than this ceiling.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import pycld2
import typer

from experiments.cases import langs_of, read_meta, site_tables
from twinlink.config import Config
from twinlink.evaluation.gold import read_gold
from twinlink.languages import canonical_language, includes_language
from twinlink.match.sides import SitePages
from twinlink.match.site import page_languages
from twinlink.scripts import clean_text

__all__ = ["Ceiling", "app", "measure"]


class Ceiling(NamedTuple):
    """Shares of the gold pairs with both pages in the right language."""

    pages: int
    alone: float
    """By CLD2 on each page's text."""
    found: float
    """By the site's text, links and addresses."""
    seconds: float


def measure(folder: Path) -> Ceiling:
    """Measure one site folder (``site/``, ``gold.tsv``, ``meta.json``)."""
    langs = langs_of(read_meta(folder))
    pages, links = site_tables(folder)
    start = time.process_time()
    found, _ = page_languages(SitePages(pages, links), Config().override({"langs": list(langs)}))
    seconds = time.process_time() - start
    alone = [_by_cld2("\n".join(blocks)) for blocks in pages["blocks"].to_pylist()]
    alone_share, found_share = (_ceiling(folder, pages, languages, langs) for languages in (alone, found))
    return Ceiling(pages.num_rows, alone_share, found_share, seconds)


def _by_cld2(text: str) -> str:
    _, _, answers = pycld2.detect(clean_text(text), isPlainText=True, bestEffort=True)
    return canonical_language(answers[0][1])


def _ceiling(folder: Path, pages: pa.Table, languages: Sequence[str], wanted: Sequence[str]) -> float:
    gold = read_gold(folder / "gold.tsv")
    language = {gold.key(url): name for url, name in zip(pages["url"].to_pylist(), languages, strict=True)}
    right = [
        all(includes_language(tag, language.get(page, "")) for page, tag in zip(pair, wanted, strict=True))
        for pair in gold.pairs
    ]
    return float(np.mean(right))


app = typer.Typer(add_completion=False)


@app.command()
def main(folders: Annotated[list[Path], typer.Argument(help="Site folders.")]) -> None:
    """Print the language ceiling of each site."""
    typer.echo(f"{'site':34} {'pages':>6} {'alone':>6} {'found':>6} {'CPU s':>6}")
    for folder in folders:
        row = measure(folder)
        typer.echo(f"{folder.name:34} {row.pages:6} {row.alone:6.3f} {row.found:6.3f} {row.seconds:6.1f}")


if __name__ == "__main__":
    app()
