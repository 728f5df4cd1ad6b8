"""Deep pages (Zhang, Yao & Kit, section 2.2): addresses that no page links to are guessed, fetched, and checked.

- guess: `guess_partners`: URL patterns applied to one address; `guess_run`: to the pages of a run
- check: `judge_answers`, `ErrorPages`: tell missing pages from error pages and other responses
- a run: `recover`: stage `recover`
"""

from __future__ import annotations

from twinlink.recover.error_pages import ErrorPages
from twinlink.recover.guessing import guess_run
from twinlink.recover.partner_addresses import PartnerGuess, Rule, guess_partners, site_rule
from twinlink.recover.stage import recover
from twinlink.recover.verdicts import Verdict, judge_answers

__all__ = [
    "ErrorPages",
    "PartnerGuess",
    "Rule",
    "Verdict",
    "guess_partners",
    "guess_run",
    "judge_answers",
    "recover",
    "site_rule",
]
