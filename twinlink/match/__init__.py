"""Stage `match`: find page pairs among the pages of a site.

- a run: `match`
- a site: `match_site`: `page_languages`, then the sides of every two languages (`site_sides`, `SitePages`)
- two languages: `match_sides`: a method of `METHODS` gives a `FoundPairs`; `choose_pairs` keeps the probable pairs
- several languages: `reconcile`: evidence from further languages for doubtful pairs

Evidence is measured in `twinlink.match.measures`, labels are applied in `twinlink.match.labels`, and
`twinlink.match.unpaired` finds the reason why a page is in no pair.
"""

from __future__ import annotations

from twinlink.match.evidence import Between, FoundPairs, Side, Words, read_words
from twinlink.match.families import reconcile
from twinlink.match.methods.registry import METHODS, Method
from twinlink.match.selection import SideMatch, choose_pairs, match_sides
from twinlink.match.sides import SitePages
from twinlink.match.site import match_site, page_languages, site_sides
from twinlink.match.site_tables import SiteResult
from twinlink.match.stage import match

__all__ = [
    "METHODS",
    "Between",
    "FoundPairs",
    "Method",
    "Side",
    "SideMatch",
    "SitePages",
    "SiteResult",
    "Words",
    "choose_pairs",
    "match",
    "match_sides",
    "match_site",
    "page_languages",
    "read_words",
    "reconcile",
    "site_sides",
]
