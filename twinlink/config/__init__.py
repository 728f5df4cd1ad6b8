"""Settings: one frozen record for each algorithm, one file for each stage, put together in `Config`.

`Config.load` reads a TOML file, `Config.override` overrides single settings by name: ``match.ets.alpha``.
"""

from __future__ import annotations

from twinlink.config.config import Config
from twinlink.config.crawl import CrawlSettings
from twinlink.config.ingest import IngestSettings, LanguageSettings
from twinlink.config.match import (
    EVIDENCE,
    CandidateSettings,
    EtsSettings,
    Evidence,
    InternalSettings,
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
