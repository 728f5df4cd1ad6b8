"""All hostile answers, each a case with a name: what `experiments.campaign.crawled` crawls, and the tests in part."""

from __future__ import annotations

from experiments.campaign.case_packed import PACKED_CASES
from experiments.campaign.case_pages import PAGE_CASES
from experiments.campaign.case_roots import ROOT_CASES
from experiments.campaign.case_talks import TALK_CASES
from experiments.campaign.cases import Case

__all__ = ["CATALOGUE", "QUICK"]

CATALOGUE: tuple[Case, ...] = (*PACKED_CASES, *PAGE_CASES, *TALK_CASES, *ROOT_CASES)
QUICK = tuple(case for case in CATALOGUE if case.is_quick)
