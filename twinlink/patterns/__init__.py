"""URL patterns (Zhang, Yao & Kit, section 2.1): parts of addresses that correspond between languages.

- one site: `learn_patterns` finds the keys of a site; `pairs_of_patterns` the pages that they join, `url_clues`
  also those whose partner they miss
- credibility: `credible_keys`, `is_rescued`
- many sites: `PatternLibrary`: sums over sites, merged in any order; `read_library`, `read_libraries`,
  `write_library`
- a run: `learn_run`: stage `patterns`
"""

from __future__ import annotations

from twinlink.patterns.credibility import (
    UrlClues,
    credible_keys,
    is_rescued,
    pairs_of_patterns,
    url_clues,
)
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import Pattern, SitePatterns, learn_patterns, pattern_evidence
from twinlink.patterns.library import KeySums, PatternLibrary, read_libraries, read_library, write_library
from twinlink.patterns.stage import learn_run

__all__ = [
    "Key",
    "KeySums",
    "Pattern",
    "PatternLibrary",
    "SitePatterns",
    "UrlClues",
    "credible_keys",
    "is_rescued",
    "learn_patterns",
    "learn_run",
    "pairs_of_patterns",
    "pattern_evidence",
    "read_libraries",
    "read_library",
    "url_clues",
    "write_library",
]
