"""Words of a text: tokens, stems, numbers, values; and term counts of pages.

- a text: `tokenize`, `one_form`, `stem`, `plain_number`, `values_in`
- pages: `count_words` (page × term), `with_names`, `page_texts`, `cut_texts`
"""

from __future__ import annotations

from twinlink.text.cutting import Cut, cut_texts
from twinlink.text.page_texts import PageTexts, page_texts
from twinlink.text.stems import stem
from twinlink.text.terms import plain_number
from twinlink.text.values import values_in
from twinlink.text.word_counts import count_words, with_names
from twinlink.text.words import TermTable, one_form, tokenize

__all__ = [
    "Cut",
    "PageTexts",
    "TermTable",
    "count_words",
    "cut_texts",
    "one_form",
    "page_texts",
    "plain_number",
    "stem",
    "tokenize",
    "values_in",
    "with_names",
]
