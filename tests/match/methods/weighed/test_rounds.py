"""Rounds: how many there are, how they are reported, and what they log."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.match.methods.weighed.made_sites import f1, made_site, no_links
from twinlink.config import Config
from twinlink.match.evidence import read_words
from twinlink.match.methods.weighed import match_weighed, method, rounds
from twinlink.system.steps import Steps


def test_more_rounds_learn_more() -> None:
    """Without rounds no word is learned. Where structure says little, learned words find what was missed."""
    sites = [made_site(40, seed, noise=0.5, tag_noise=0.8) for seed in range(8)]
    none, some = ([site.found(weighing__rounds=rounds) for site in sites] for rounds in (0, 3))
    assert all("learned" not in found.evidence for found in none)
    assert all("learned" in found.evidence for found in some)
    gains = [f1(site, more) - f1(site, less) for site, more, less in zip(sites, some, none, strict=True)]
    assert min(gains) >= 0
    assert np.mean(gains) > 0.1


def test_each_round_is_reported_further_on_than_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planned rounds share the way equally; each round beyond them takes half of what is left."""
    monkeypatch.setattr(rounds, "GROWTH", 0.0)
    monkeypatch.setattr(rounds, "SETTLED", 2.0)
    monkeypatch.setattr(rounds, "MAX_ROUNDS", 4)
    site, settings = made_site(8), Config().override({"match.weighing.rounds": 1}).match
    words = read_words(site.a, site.b, [], settings)
    seen: list[tuple[float, str]] = []
    steps = Steps(lambda share, step: seen.append((share, step)))
    match_weighed(site.a, site.b, words, no_links(site.a, site.b), settings, steps)
    shares = np.array([share for share, step in seen if "round" in step])
    done = (shares - shares[0]) / (1 - shares[0]) / method.FIRST_RUN_SHARE
    assert done == pytest.approx([0.0, 0.5, 0.75, 0.875, 0.9375])


def test_the_log_says_what_the_candidates_of_a_large_site_hold(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "twinlink.memory")
    site = made_site(20)
    site.found()
    assert not caplog.messages
    monkeypatch.setattr(rounds, "MANY", 1)
    site.found()
    lang_a, lang_b = site.a.lang, site.b.lang
    assert caplog.messages[0].startswith(f"match, {lang_a}-{lang_b}: round 1: ")
    assert all(re.search(r": \d+ candidates hold [\d.]+ kB, words [\d.]+ kB$", line) for line in caplog.messages)
