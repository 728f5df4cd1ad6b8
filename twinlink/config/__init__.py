"""Settings: one frozen record for each algorithm, one file for each stage, put together in `Config`.

Start with `Config`: `Config.load` reads a TOML file, `Config.override` overrides single settings by name, such as
``match.ets.rounds``. The default of a setting is in the record of its algorithm, such as `EtsSettings`.
"""

from __future__ import annotations

from twinlink.config.config import Config
from twinlink.config.crawl import CrawlSettings
from twinlink.config.ingest import IngestSettings, LanguageSettings
from twinlink.config.match import (
    DEFAULT_EVIDENCE,
    CandidateSettings,
    EtsSettings,
    Evidence,
    InternalSettings,
    MatchSettings,
    WeighingSettings,
)

__all__ = [
    "DEFAULT_EVIDENCE",
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
