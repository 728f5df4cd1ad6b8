"""Names shared by pages across languages: image files, and addresses on other sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.language.hints import switch_names
from twinlink.lookup import places_of
from twinlink.tables import LINKS, iter_batches

__all__ = ["page_names", "read_links", "shared_names"]

LINK_COLUMNS = ("source", "target", "hreflang", "target_url", "target_site", "anchor")

MAX_SHARE = 1 / 3
"""A name on at least this share of a side's pages belongs to the site's layout (logo, licence) and is ignored."""


def read_links(path: Path, site: str) -> pa.Table:
    """Read the links of a site, without the columns that need most memory.

    The addresses of links that stay on the site are empty. In place of ``anchor`` there is ``switch``: the language
    that the text names, or nothing.
    """
    wanted = pa.schema([LINKS.field(name) for name in LINK_COLUMNS], metadata=LINKS.metadata)
    parts = []
    for part in iter_batches(path, wanted):
        outside = pc.if_else(pc.not_equal(part["target_site"], site), part["target_url"], "")
        kept = part.set_column(part.column_names.index("target_url"), wanted.field("target_url"), outside)
        parts.append(kept.append_column("switch", switch_names(kept["anchor"])).drop_columns("anchor"))
    empty = wanted.remove(wanted.get_field_index("anchor")).append(pa.field("switch", pa.string())).empty_table()
    return pa.concat_tables(parts) if parts else empty


def page_names(pages: pa.Table, links: pa.Table) -> list[tuple[str, ...]]:
    """Return the names on each page: ``img:FILE`` for an image, ``out:HOST/PATH`` for a link to another site.

    ``www.``, the query and a slash at the end do not count. Tables that lack the columns give no names.
    """
    names: list[list[str]] = [[] for _ in range(pages.num_rows)]
    if "images" in pages.column_names:
        for found, images in zip(names, pages["images"].to_pylist(), strict=True):
            found += [f"img:{image}" for image in images]
    if "target_url" in links.column_names and pages.num_rows:
        outside = links.filter(pc.not_equal(links["target_site"], pages["site"][0]))
        rows = places_of(outside["source"], among=pages["page_id"])
        urls = outside["target_url"].to_pylist()
        places = {url: _place(url) for url in set(urls)}
        for row, url in zip(rows.tolist(), urls, strict=True):
            if row >= 0:
                names[row].append(places[url])
    return [tuple(dict.fromkeys(found)) for found in names]


def shared_names(
    names_a: Sequence[Sequence[str]], names_b: Sequence[Sequence[str]]
) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Keep the names that are on both sides, and on less than a third of the pages of each.

    >>> shared_names([["img:a", "img:b"], ["img:b"], [], []], [["img:a"], ["img:c"], [], []])
    ([['img:a'], [], [], []], [['img:a'], [], [], []])
    """
    rare = _rare(names_a) & _rare(names_b)
    a, b = ([[name for name in names if name in rare] for names in side] for side in (names_a, names_b))
    return list(a), list(b)


def _rare(side: Sequence[Iterable[str]]) -> set[str]:
    counts = Counter(name for names in side for name in set(names))
    return {name for name, n in counts.items() if n < MAX_SHARE * len(side)}


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"out:{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}"
