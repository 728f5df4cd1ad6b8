"""Catalogue of hostile responses, as named cases: `experiments.campaign.crawled` crawls all, the tests some."""

from __future__ import annotations

from experiments.campaign.case_packed import PACKED_CASES
from experiments.campaign.case_pages import PAGE_CASES
from experiments.campaign.case_roots import ROOT_CASES
from experiments.campaign.case_talks import TALK_CASES
from experiments.campaign.cases import Case

CATALOGUE: tuple[Case, ...] = (*PACKED_CASES, *PAGE_CASES, *TALK_CASES, *ROOT_CASES)
QUICK = tuple(case for case in CATALOGUE if case.is_quick)
