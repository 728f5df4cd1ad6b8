"""Bitextor's filters: one pair for each reason, and pages found among others of the same template."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.baselines.bitextor2010 import (
    FALLBACK_TOLERANCE,
    fingerprint_verdicts,
    surface_verdicts,
    text_tolerance,
)
from twinlink.baselines.filters import SideShapes
from twinlink.config.baselines import BitextorSettings
from twinlink.errors import ShapeError
from twinlink.similarity.filter_verdicts import all_kept
from twinlink.sparse import entries

P, P_END, B = -1, -2, -3
ONE = csr_array(np.ones((1, 1)))


def tokens(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def side(*pages: NDArray[np.int32], language: str = "en", n_bytes: int = 1000) -> SideShapes:
    return SideShapes(pages, np.full(len(pages), n_bytes, np.int64), [language] * len(pages))


class TestSurface:
    @pytest.mark.parametrize(
        ("language", "n_bytes", "n_characters", "reason"),
        [
            ("fr", 1000, 100, ""),
            ("fr", 700, 25, ""),
            ("en", 1000, 100, "language"),
            ("en", 1, 1, "language"),
            ("fr", 699, 100, "size"),
            ("fr", 1, 1, "size"),
            ("fr", 1000, 24, "text-length"),
            ("fr", 1000, 401, "text-length"),
        ],
    )
    def test_first_reason(self, language: str, n_bytes: int, n_characters: int, reason: str) -> None:
        other = side(tokens(P, n_characters), language=language, n_bytes=n_bytes)
        assert surface_verdicts(side(tokens(P, 60, B, 40)), other, ONE).reasons() == [reason]

    def test_wanted_languages(self) -> None:
        other = side(tokens(P, 100), language="fr")
        assert surface_verdicts(side(tokens(P, 100)), other, ONE, ["en", "zh"]).reasons() == ["language"]

    def test_thresholds_are_settings(self) -> None:
        other = side(tokens(P, 10), language="fr", n_bytes=100)
        loose = BitextorSettings(size_difference=0.9, text_difference=0.9)
        assert surface_verdicts(side(tokens(P, 100)), other, ONE, settings=loose).reasons() == [""]


class TestFingerprints:
    def test_ten_differences_pass_and_eleven_do_not(self) -> None:
        page = side(tokens(*[P] * 40))
        others = side(tokens(*[B] * 10, *[P] * 30), tokens(*[B] * 11, *[P] * 29))
        verdicts = fingerprint_verdicts(page, others, all_kept(csr_array(np.ones((1, 2)))), 0.5)
        assert verdicts.reasons() == ["", "differences"]
        assert verdicts.scores[0] == pytest.approx(1 / 11)
        assert np.isnan(verdicts.scores[1])

    def test_the_number_of_differences_is_a_setting(self) -> None:
        page, other = side(tokens(P, P)), side(tokens(B, B))
        for most, reason in ((1, "differences"), (2, "")):
            settings = BitextorSettings(max_differences=most)
            assert fingerprint_verdicts(page, other, all_kept(ONE), 0.5, settings).reasons() == [reason]

    def test_long_pages_may_have_more_differences_if_a_share_is_set(self) -> None:
        page, other = side(tokens(*[P] * 100)), side(tokens(*[B] * 20, *[P] * 80))
        for share, reason in ((0.1, "differences"), (0.2, "")):
            settings = BitextorSettings(max_difference_share=share)
            assert fingerprint_verdicts(page, other, all_kept(ONE), 0.5, settings).reasons() == [reason]

    def test_the_nearest_of_one_template_is_chosen(self) -> None:
        """Pages k and k are of one length, all others within the tolerance, too."""
        lengths = [100, 110, 120]
        a, b = (side(*(tokens(P, n + more, P_END) for n in lengths)) for more in (0, 2))
        verdicts = fingerprint_verdicts(a, b, all_kept(csr_array(np.ones((3, 3)))), 0.5)
        assert verdicts.counts() == {"kept": 3, "differences": 0, "best": 6}
        assert np.array_equal(*entries(verdicts.kept()))
        assert verdicts.kept().data == pytest.approx([1 / (1 + 2 / (n + 2)) for n in lengths])

    def test_pages_of_which_they_are_the_best(self) -> None:
        """100 and 110 are both nearest to 104, which is nearest to 100."""
        a, b = side(tokens(100), tokens(110)), side(tokens(104))
        kept = {}
        for best_of in ("mutual", "rows", "columns", "either"):
            settings = BitextorSettings(best_of=best_of)
            verdicts = fingerprint_verdicts(a, b, all_kept(csr_array(np.ones((2, 1)))), 0.5, settings)
            kept[best_of] = verdicts.kept().nnz
        assert kept == {"mutual": 1, "rows": 2, "columns": 1, "either": 2}

    def test_what_fell_before_is_no_rival(self) -> None:
        a = side(tokens(P, 100), language="en")
        b = SideShapes([tokens(P, 100), tokens(P, 120)], np.array([1, 1000]), ["fr", "fr"])
        verdicts = surface_verdicts(a, b, csr_array(np.ones((1, 2))))
        assert fingerprint_verdicts(a, b, verdicts, 0.5).reasons() == ["size", ""]

    def test_pattern_must_fit(self) -> None:
        with pytest.raises(ShapeError, match="does not fit"):
            fingerprint_verdicts(side(tokens(P)), side(tokens(P)), all_kept(csr_array(np.ones((1, 2)))), 0.5)


class TestTolerance:
    def test_found_on_the_pairs_that_are_left(self) -> None:
        a, b = side(tokens(P, 50)), side(tokens(P, 20), language="fr")
        verdicts = surface_verdicts(a, b, ONE)
        assert text_tolerance(a, b, verdicts) == 0.6
        assert text_tolerance(a, b, verdicts, BitextorSettings(text_tolerance=0.1)) == 0.1

    def test_fallback(self) -> None:
        a, b = side(tokens(P, 50)), side(tokens(B, 50), language="fr")
        assert text_tolerance(a, b, surface_verdicts(a, b, ONE)) == FALLBACK_TOLERANCE
