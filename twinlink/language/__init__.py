"""Language identification of pages: by text, by the other pages of the site, and by hints outside the text.

- one text: `identify_text`
- one site: `site_languages`: text, neighbours by links, and hints (`page_hints`) decide together; `read_site`,
  `SiteText`
- a run: `identify_pages`: stage `languages`, for runs that are not matched

A language that CLD2 does not know gets a new tag (`unknown_languages`).
"""

from __future__ import annotations

from twinlink.language.hints import page_hints
from twinlink.language.identify import Guess, identify_text
from twinlink.language.site_languages import LanguageFinder, site_languages
from twinlink.language.site_text import SiteText, read_site
from twinlink.language.stage import identify_pages, language_tables
from twinlink.language.unknown import Unknown, unknown_languages

__all__ = [
    "Guess",
    "LanguageFinder",
    "SiteText",
    "Unknown",
    "identify_pages",
    "identify_text",
    "language_tables",
    "page_hints",
    "read_site",
    "site_languages",
    "unknown_languages",
]
