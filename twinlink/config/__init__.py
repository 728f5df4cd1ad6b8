"""Settings: one frozen record for each algorithm, one module for each stage, put together in `Config`."""

from __future__ import annotations

from twinlink.config.config import (
    EVIDENCE,
    CandidateSettings,
    Config,
    CrawlSettings,
    EtsSettings,
    Evidence,
    IngestSettings,
    InternalSettings,
    LanguageSettings,
    MatchSettings,
    WeighingSettings,
)

__all__ = [
    "EVIDENCE",
    "CandidateSettings",
    "Config",
    "CrawlSettings",
    "EtsSettings",
    "Evidence",
    "IngestSettings",
    "InternalSettings",
    "LanguageSettings",
    "MatchSettings",
    "WeighingSettings",
]
