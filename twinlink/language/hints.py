"""Language hints outside the text of a page: parts of its address, and names in the links to it.

Only names of languages are given. What ``/tc/`` or ``lang=2`` means is learned on each site, from the pages
whose language is clear (`twinlink.language.site_languages`).
"""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.language.site_text import NAMED
from twinlink.languages import LANGUAGE_OF
from twinlink.lookup import places_of

_PARTS = re.compile(r"[^\W\d_]{2,}(?:=\w{1,8}(?!\w))?")
_MIN_PAGES = 3


def switch_names(anchors: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the language that each link text names (``Français`` → ``fr``), empty for all other texts.

    >>> switch_names(pa.chunked_array([["Français", "News", "繁體"]])).to_pylist()
    ['fr', '', 'zh-Hant']
    """
    at = pc.index_in(pc.utf8_lower(pc.utf8_trim_whitespace(anchors)), pa.array(list(LANGUAGE_OF)))
    return pc.fill_null(pc.take(pa.array(list(LANGUAGE_OF.values())), at), "")


def page_hints(pages: pa.Table, links: pa.Table) -> list[tuple[str, ...]]:
    """Return the language hints of each page.

    ``url:PART`` for the words and short ``key=value`` parts of its address that some but not all pages share, and
    ``named:TAG`` for the language that a link to it names, by its hreflang or its text (column ``switch``, where there
    is one).
    """
    parts = [
        frozenset(_PARTS.findall(unquote("/".join(urlsplit(url)[1:4])).lower())) for url in pages["url"].to_pylist()
    ]
    counts = Counter(part for found in parts for part in found)
    telling = {part for part, n in counts.items() if _MIN_PAGES <= n < len(parts)}
    hints = [{f"url:{part}" for part in found & telling} for found in parts]
    for column in ("hreflang", "switch"):
        if column in links.column_names:
            naming = links.filter(pc.and_(pc.not_equal(links[column], ""), links["target"].is_valid()))
            targets = places_of(naming["target"], among=pages["page_id"])
            for row, tag in zip(targets.tolist(), naming[column].to_pylist(), strict=True):
                if row >= 0 and not tag.lower().startswith("x-"):
                    hints[row].add(NAMED + tag.lower())
    return [tuple(sorted(found)) for found in hints]
