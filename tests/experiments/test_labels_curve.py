"""The labels curve: what it measures, by hand, and a reviewer on a small site."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.labels_curve import Quality, curve, main, quality
from twinlink.evaluation.gold import Gold

GOLD = Gold((("/a", "/x"), ("/b", "/y"), ("/c", "/z")))
PAIRS = pd.DataFrame({"url_a": ["/a", "/b", "/c"], "url_b": ["/x", "/z", "/y"], "probability": [0.9, 0.7, 0.2]})


def test_quality_by_hand() -> None:
    """Two are reported, one of them is right; the best cut is behind the first: P = 1, R = 1/3."""
    found = quality(PAIRS, GOLD)
    assert (found.f1, found.best, found.true) == pytest.approx((0.4, 0.5, 0.5))
    assert found.stated == pytest.approx(0.8)


def test_labelled_pairs_are_left_out() -> None:
    found = quality(PAIRS, Gold(GOLD.pairs[1:]), without={("/a", "/x")})
    assert found == Quality(0.0, 0.0, 0.7, 0.0)
    assert np.isnan(quality(PAIRS[2:], GOLD).stated)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pages a side with words of their own."""
    folder = tmp_path_factory.mktemp("sites") / "small"
    words = {"en": "the house and the garden of my", "fr": "la maison et le jardin de mon"}
    pairs = []
    for k in range(12):
        for lang, text in words.items():
            file = folder / "site" / lang / f"{k}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            body = "".join(f"<p>{text} {chr(97 + k) * 4} {1000 + 7 * k + i}</p>" for i in range(6))
            file.write_text(f'<html lang="{lang}"><body><h1>{text} {k}</h1>{body}</body></html>', encoding="utf-8")
        pairs.append(f"/en/{k}.html\t/fr/{k}.html\n")
    (folder / "gold.tsv").write_text("".join(pairs), encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps({"lang_a": "en", "lang_b": "fr", "host": "small.example"}))
    return folder


def test_a_reviewer_labels_until_no_pair_is_left(site: Path) -> None:
    asked: list[int] = []

    def in_order(pairs: pd.DataFrame) -> np.ndarray:
        asked.append(len(pairs))
        return np.arange(len(pairs))

    points = curve(site, in_order, (0, 3, 50))
    assert [point.n_labels for point in points] == [0, 3, 12]
    assert [point.all_pairs.f1 for point in points] == [1.0, 1.0, 1.0]
    assert points[0].others == points[0].all_pairs == points[0].before
    assert asked == [12, 12]


def test_the_table(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(site.parent), "--sites", "small", "--steps", "0,2", "--draws", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert "**small**" in lines
    assert [line.split(" | ")[:3] for line in lines if "labels" in line] == [
        ["| 0 labels", "0", "1.000"],
        ["| 2 labels", "0", "1.000"],
    ]
