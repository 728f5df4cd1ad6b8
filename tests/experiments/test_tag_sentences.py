"""TagAligner beside the default aligner: what both put out is judged once, and counts for both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import tag_sentences
from experiments.judgements import read_judged, write_judged
from twinlink.align.formats.exports import Row

BOTH = [Row("http://x/a", "http://x/b", f"one {k}", f"un {k}", 1.0) for k in range(3)]
WORDS = [*BOTH, Row("http://x/a", "http://x/b", "only words", "mots", 0.9)]
TAGS = [*BOTH, Row("http://x/a", "http://x/b", "only tags", "balises", 1.0)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Call the program on a site with these sentence pairs; it returns what was printed."""
    rows = {"words": WORDS, "tagaligner": TAGS}
    monkeypatch.setattr(tag_sentences, "find_cases", lambda places: [tmp_path / "small-opaque"])
    monkeypatch.setattr(tag_sentences, "align_site", lambda folder, out, method: SimpleNamespace(rows=rows[method]))

    def call(*options: str) -> str:
        tag_sentences.main([str(tmp_path), "--judged", str(tmp_path), *options])
        return capsys.readouterr().out

    return call


def test_a_pair_of_both_is_in_one_list_only(tmp_path: Path, run: Callable[..., str]) -> None:
    run("--draw")
    lists = [read_judged(tmp_path / name) for name in ("small.tsv", "tagaligner/small.tsv")]
    assert [{row.source for row in rows} for rows in lists] == [{row.source for row in WORDS}, {"only tags"}]
    run("--draw")
    assert lists == [read_judged(tmp_path / name) for name in ("small.tsv", "tagaligner/small.tsv")]


def test_the_lists_at_hand_have_verdicts_on_other_pairs() -> None:
    lists = sorted((tag_sentences.JUDGED / "tagaligner").glob("*.tsv"))
    assert lists
    for file in lists:
        rows = read_judged(file)
        assert all(row.verdict for row in rows)
        assert not {row.key for row in rows} & {row.key for row in read_judged(tag_sentences.JUDGED / file.name)}


def test_verdicts_are_counted_for_both_aligners(tmp_path: Path, run: Callable[..., str]) -> None:
    run("--draw")
    file = tmp_path / "small.tsv"
    write_judged(file, [row._replace(verdict="correct") for row in read_judged(file)])
    last = run().splitlines()[-2:]
    assert last == [
        "| small | words | 4 | 4 | 0 | 0 | 0 | 3 | correct 1 |",
        "| small | tagaligner | 4 | 3 | 0 | 0 | 1 | 3 | not judged 1 |",
    ]
