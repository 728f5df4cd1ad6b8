"""Internal similarity of pages (lexicons, content, structure), the weighing of evidence, and the choice of pairs.

- lexicons: `read_lexicon`, `Lexicon`, `translation_matrix`; learned on the site: `learn_translations`
- candidates: `find_candidates`, `candidate_pattern`: the pages of the other language that a page is compared with
- content: `content_similarity` (S_cb), `content_vectors`, `contrast_vectors`
- structure: `structural_similarity` (S_struct), `internal_similarity` (S_in)
- weights: `weigh`, `learn_clues`: weights of all kinds of evidence, learned on the site without labels
- decision: `choose_threshold`, `keep_pairs`: select the pairs of a matching to keep

Functions take the arrays of one site and return arrays. Only `lexicon_sets`, which finds the lexicons of a run, uses a
run directory.
"""

from __future__ import annotations

from twinlink.similarity.candidates import candidate_pattern, find_candidates, strongest
from twinlink.similarity.clues import learn_clues
from twinlink.similarity.content import combine_translations, content_similarity, content_vectors, page_vectors
from twinlink.similarity.contrast import contrast_vectors, near_duplicates, near_pages
from twinlink.similarity.decision import Decision, choose_threshold, keep_pairs
from twinlink.similarity.internal import internal_similarity
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.lexicon import identity_matrix, translation_matrix
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry, read_lexicon
from twinlink.similarity.page_search import nearest_pages
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.structure import structural_similarity
from twinlink.similarity.weighing import Weighing, weigh

__all__ = [
    "Decision",
    "Lexicon",
    "LexiconEntry",
    "Rivalry",
    "Weighing",
    "candidate_pattern",
    "choose_threshold",
    "combine_translations",
    "content_similarity",
    "content_vectors",
    "contrast_vectors",
    "find_candidates",
    "identity_matrix",
    "internal_similarity",
    "keep_pairs",
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
