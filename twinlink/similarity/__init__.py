"""How alike two pages are inside: words and lexicons, content, structure; and what the evidence is worth together.

- lexicons: `read_lexicon`, `Lexicon`, `translation_matrix`; learned on the site: `learn_translations`
- candidates: `find_candidates`, `candidate_pattern`: the few pages of the other language that a page is compared with
- content: `content_similarity` (S_cb), `content_vectors`, `contrast_vectors`
- structure: `structural_similarity` (S_struct), `internal_similarity` (S_in)
- worth of evidence: `weigh`: each kind of evidence weighed on the site at hand, without labels; `learn_clues`
- decision: `choose_threshold`, `hand_out`: which pairs of a matching are kept

Functions take the arrays of one site and return arrays; nothing here knows a run or an address.
"""

from __future__ import annotations

from twinlink.similarity.candidates import candidate_pattern, find_candidates, nearest_pages, strongest
from twinlink.similarity.clues import learn_clues
from twinlink.similarity.content import combine_translations, content_similarity, content_vectors, page_vectors
from twinlink.similarity.contrast import contrast_vectors, near_duplicates, near_pages
from twinlink.similarity.decision import Decision, choose_threshold, hand_out
from twinlink.similarity.internal import internal_similarity
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.lexicon import identity_matrix, translation_matrix
from twinlink.similarity.lexicon_files import Entry, Lexicon, read_lexicon
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.structure import structural_similarity
from twinlink.similarity.weighing import Weighing, weigh

__all__ = [
    "Decision",
    "Entry",
    "Lexicon",
    "Rivalry",
    "Weighing",
    "candidate_pattern",
    "choose_threshold",
    "combine_translations",
    "content_similarity",
    "content_vectors",
    "contrast_vectors",
    "find_candidates",
    "hand_out",
    "identity_matrix",
    "internal_similarity",
    "learn_clues",
    "learn_translations",
    "near_duplicates",
    "near_pages",
    "nearest_pages",
    "page_vectors",
    "read_lexicon",
    "strongest",
    "structural_similarity",
    "translation_matrix",
    "weigh",
]
