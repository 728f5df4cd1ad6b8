"""A few translated pages among many that are not: language ceiling and F1.

::

    python -m experiments.few_translated SITE OTHER [--translated 52] [--pages 1130]

makes a site of the pages of SITE's side A, of as many pages of OTHER's side A as are missing, and of a few pages of
SITE's side B with known partners. All other pages of side B are left out, and links to them lead to their partners
instead, as on sites where only a few pages are translated.

In the second version, the frame of side B is replaced by that of side A (the blocks on a tenth of its pages). The third
version is a site with both sides complete, on which a tenth of side A has the frame of side B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urljoin

import msgspec
import numpy as np
import pyarrow as pa
import typer

from experiments.cases import langs_of, read_meta, site_tables
from twinlink.config import Config
from twinlink.evaluation.gold import Gold, evaluate, read_gold
from twinlink.languages import includes_language
from twinlink.match.site import match_site

__all__ = ["Made", "Row", "Site", "app", "few_translated", "foreign_frame", "measure", "read_site", "under_other_frame"]

_FRAME_SHARE = 0.1
_UNDER_OTHER_FRAME = 0.1


class Site(msgspec.Struct, frozen=True):
    """A site folder as tables, with the true languages and pairs of its pages."""

    pages: pa.Table
    links: pa.Table
    gold: Gold
    langs: tuple[str, str]

    def side(self, name: str) -> list[int]:
        """Return the rows of the pages of one side."""
        urls = self.pages["url"].to_pylist()
        return [row for row, url in enumerate(urls) if self.gold.sides.get(self.gold.key(url)) == name]


class Made(NamedTuple):
    """A generated site, and the languages of the pages under test by address."""

    site: Site
    asked: dict[str, str]


class Row(NamedTuple):
    """Results on a generated site."""

    version: str
    pages: int
    asked: int
    found: int
    """Pages under test that are identified as their right language."""
    ceiling: float
    """Share of the gold pairs with both pages in the right language."""
    precision: float
    recall: float
    f1: float


def read_site(folder: Path) -> Site:
    """Read a site folder (``site/``, ``gold.tsv``, ``pages.tsv``, ``meta.json``)."""
    return Site(*site_tables(folder), read_gold(folder / "gold.tsv"), langs_of(read_meta(folder)))


def few_translated(site: Site, other: Site, n_translated: int, n_pages: int) -> Made:
    """Keep a few pages of side B among ``n_pages`` of side A; all links lead to side A."""
    rows = {site.gold.key(url): row for row, url in enumerate(site.pages["url"].to_pylist())}
    pairs = [(a, b) for a, b in site.gold.pairs if a in rows and b in rows]
    kept = [pairs[i] for i in np.linspace(0, len(pairs) - 1, min(n_translated, len(pairs))).astype(int)]
    chosen = [rows[b] for _, b in kept]
    first = site.side("A")
    pages = site.pages.take([*first, *chosen])
    fill = other.pages.take(other.side("A")[: max(0, n_pages - len(first))])
    links = pa.concat_tables([_lead_to_first(site, rows, pairs), other.links])
    made = Site(_join(pages, fill), links, _only(site.gold, kept), site.langs)
    return Made(made, dict.fromkeys(site.pages.take(chosen)["url"].to_pylist(), site.langs[1]))


def _lead_to_first(site: Site, rows: dict[str, int], pairs: Sequence[tuple[str, str]]) -> pa.Table:
    number = site.pages["page_id"].to_pylist()
    instead = {number[rows[b]]: number[rows[a]] for a, b in pairs}
    targets = [instead.get(target, target) for target in site.links["target"].to_pylist()]
    column = site.links.column_names.index("target")
    return site.links.set_column(column, "target", pa.array(targets, site.links["target"].type))


def _join(pages: pa.Table, fill: pa.Table) -> pa.Table:
    """Put pages of another site below ``/other/`` of this one: opaque sites have the same addresses."""
    base = urljoin(pages["url"][0].as_py(), "/other/")
    urls = [base + url.split("/", 3)[3] for url in fill["url"].to_pylist()]
    for name, values in (("url", urls), ("site", [pages["site"][0].as_py()] * len(fill))):
        column = fill.column_names.index(name)
        fill = fill.set_column(column, pages.schema.field(name), pa.array(values))
    return pa.concat_tables([pages, fill]).sort_by("url")


def _only(gold: Gold, pairs: Sequence[tuple[str, str]]) -> Gold:
    return Gold(tuple(pairs), gold.ignored, gold.unscored, gold.groups, gold.sides, gold.with_host, gold.with_query)


def under_other_frame(site: Site) -> Made:
    """Give a tenth of side A the frame of side B, and links to and from its pages."""
    rows = site.side("A")[:: round(1 / _UNDER_OTHER_FRAME)]
    urls = site.pages["url"].to_pylist()
    framed = foreign_frame(site.pages, rows, site.side("B"))
    return Made(Site(framed, site.links, site.gold, site.langs), {urls[row]: site.langs[0] for row in rows})


def foreign_frame(pages: pa.Table, rows: Collection[int], others: Sequence[int]) -> pa.Table:
    """Replace the frame of ``rows`` by that of other pages; a frame is the blocks on at least a tenth of the pages."""
    blocks = pages["blocks"].to_pylist()
    old, new = _frame(blocks, rows), _frame(blocks, others)
    inside = set(rows)
    changed = [
        [*new, *(block for block in page if block not in old)] if row in inside else page
        for row, page in enumerate(blocks)
    ]
    column = pages.column_names.index("blocks")
    return pages.set_column(column, pages.schema.field(column), pa.array(changed, pages["blocks"].type))


def _frame(blocks: Sequence[Sequence[str]], rows: Collection[int]) -> list[str]:
    counts = Counter(block for row in rows for block in dict.fromkeys(blocks[row]))
    return [block for block, n in counts.items() if n > max(_FRAME_SHARE * len(rows), 3)]


def measure(version: str, made: Made) -> Row:
    """Find the languages and the pairs of a generated site."""
    site, asked = made
    result = match_site(site.pages, site.links, lambda *_: (), Config().override({"langs": list(site.langs)}), "")
    urls = site.pages["url"].to_pylist()
    language = dict(zip(urls, result.languages["lang"].to_pylist(), strict=True))
    by_key = {site.gold.key(url): lang for url, lang in language.items()}
    right = [
        all(includes_language(tag, by_key.get(page, "")) for page, tag in zip(pair, site.langs, strict=True))
        for pair in site.gold.pairs
    ]
    found = list(zip(result.pairs["url_a"].to_pylist(), result.pairs["url_b"].to_pylist(), strict=True))
    score = evaluate(found, site.gold)
    n_found = sum(includes_language(tag, language[url]) for url, tag in asked.items())
    return Row(version, len(urls), len(asked), n_found, float(np.mean(right)), score.precision, score.recall, score.f1)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    folder: Annotated[Path, typer.Argument(help="Site folder of the translated pages.")],
    other: Annotated[Path, typer.Argument(help="Site folder whose side A fills the site up.")],
    translated: Annotated[int, typer.Option(help="Number of translated pages.")] = 52,
    pages: Annotated[int, typer.Option(help="Number of pages of side A.")] = 1130,
) -> None:
    """Print the results for each version of the site."""
    site, fill = read_site(folder), read_site(other)
    few = few_translated(site, fill, translated, pages)
    rows = [row for row, url in enumerate(few.site.pages["url"].to_pylist()) if url in few.asked]
    first = [row for row in range(len(few.site.pages)) if row not in set(rows)]
    framed = Site(foreign_frame(few.site.pages, rows, first), few.site.links, few.site.gold, few.site.langs)
    made = {
        "few translated": few,
        "the same, frame of side A": Made(framed, few.asked),
        "side A under the frame of side B": under_other_frame(site),
    }
    typer.echo(f"{'version':34} {'pages':>6} {'asked':>6} {'found':>6} {'ceiling':>8} {'P':>6} {'R':>6} {'F1':>6}")
    for version, one in made.items():
        row = measure(version, one)
        typer.echo(
            f"{version:34} {row.pages:6} {row.asked:6} {row.found:6} {row.ceiling:8.3f}"
            f" {row.precision:6.3f} {row.recall:6.3f} {row.f1:6.3f}"
        )


if __name__ == "__main__":
    app()
