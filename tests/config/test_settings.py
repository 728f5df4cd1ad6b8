"""Records of settings that are made in Python."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from twinlink.config import CandidateSettings, EtsSettings, IngestSettings, MatchSettings
from twinlink.errors import ConfigError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CandidateSettings(per_page=0), "CandidateSettings: per_page: expected a whole number >= 1, got 0"),
        (lambda: EtsSettings(alpha=2), r"EtsSettings: alpha: expected a number <= 1\.0, got 2"),
        (lambda: EtsSettings(alpha=np.nan), r"EtsSettings: alpha: expected a number >= 0\.0"),
        (lambda: EtsSettings(rounds=1.5), "EtsSettings: rounds: expected a whole number, got a number"),
        (lambda: EtsSettings(start="x"), "EtsSettings: start: unknown value 'x'; choose from internal, random"),
        (lambda: replace(EtsSettings(), tolerance=-1.0), "EtsSettings: tolerance"),
        (lambda: MatchSettings(lexicons=("a", 1)), r"MatchSettings: lexicons\[1\]: expected text"),
        (lambda: MatchSettings(ets=CandidateSettings()), "MatchSettings: ets: expected a table of settings"),
    ],
)
def test_values_out_of_range_are_refused_with_their_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_numbers_of_numpy_and_lists_are_settings_too() -> None:
    assert EtsSettings(alpha=np.float64(0.5), rounds=np.int64(2)) == EtsSettings(alpha=0.5, rounds=2)
    assert MatchSettings(lexicons=["own.tsv"]).lexicons == ("own.tsv",)


def test_records_keep_their_values() -> None:
    settings = MatchSettings(ets=EtsSettings(alpha=0.25), max_pairs=7)
    assert pickle.loads(pickle.dumps(settings)) == replace(settings) == settings
    assert settings.ets.alpha == 0.25


def test_passwords_of_addresses_are_no_settings() -> None:
    settings = IngestSettings(base_url="http://me:secret@a.org/", url_prefixes=("http://me@a.org/en", "b.org"))
    assert (settings.base_url, settings.url_prefixes) == ("http://a.org/", ("http://a.org/en", "b.org"))
