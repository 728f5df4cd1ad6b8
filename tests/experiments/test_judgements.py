"""Lists of judged sentence pairs: drawn, kept, compared with what comes out now."""

from __future__ import annotations

import pytest

from experiments.judgements import (
    VERDICTS,
    draw,
    judged_of,
    key_of,
    merged,
    precision_at,
    read_judged,
    wilson,
    write_judged,
)
from experiments.sentences import JUDGED, Read, _quality, _read, _told
from twinlink.align.formats.exports import Row

ROWS = [Row("a", "b", f"source {k}", f"target {k}", 1.0) for k in range(1000)]


def test_the_draw_is_at_random_and_does_not_depend_on_the_order():
    drawn = draw(ROWS, 100, 6)
    assert drawn == draw(ROWS[::-1], 100, 6)
    assert drawn != draw(ROWS, 100, 7)
    first_half = sum(row in ROWS[:500] for row in drawn)
    assert 30 < first_half < 70  # 50 expected, 4 standard deviations


def test_what_stays_is_drawn_again():
    drawn = draw(ROWS, 100, 6)
    fewer = [row for row in ROWS if row not in drawn[:10]]
    assert draw(fewer, 100, 6)[:90] == drawn[10:]


def test_a_list_is_read_as_it_was_written(tmp_path):
    row = Row("a", "b", 'with "quotes"\tand tab', "x" * 500, 0.5)
    write_judged(tmp_path / "site.tsv", [judged_of(row, "partly"), judged_of(ROWS[0])])
    first, second = read_judged(tmp_path / "site.tsv")
    assert (first.source, len(first.target), first.verdict) == ('with "quotes" and tab', 301, "partly")
    assert first.key == key_of(row)
    assert second.verdict == ""


@pytest.mark.parametrize("line", ["a\tb\t1-1\t1.0\tx\ty\tgood", "a\tb\t1-1\t1.0\tx\ty"])
def test_a_wrong_line_is_reported(tmp_path, line):
    (tmp_path / "site.tsv").write_text(f"header\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"good|6 columns"):
        read_judged(tmp_path / "site.tsv")


def test_verdicts_survive_a_new_draw_with_new_scores():
    old = [judged_of(ROWS[0], "correct"), judged_of(ROWS[1], "wrong")]
    now = {key_of(row): row for row in (ROWS[0]._replace(probability=0.25), ROWS[2])}
    rows = merged(old, now)
    assert [(row.source, row.score, row.verdict) for row in rows] == [
        ("source 0", "0.2500", "correct"),
        ("source 1", "1.0000", "wrong"),
        ("source 2", "1.0000", ""),
    ]
    assert [(one.probability, one.verdict) for one in _read(rows, now)] == [
        (0.25, "correct")
    ]  # the rest is not put out


def test_precision_by_cut():
    scored = [(0.5, "wrong"), (0.9, "partly"), (0.95, "correct"), (1.0, "correct")]
    assert [tuple(at) for at in precision_at(scored, [0.0, 0.9, 1.0])] == [(0, 4, 2, 1), (0.9, 3, 2, 1), (1.0, 1, 1, 0)]


def test_wilson_by_the_book():
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81 of 263, 15 of 148, 0 of 20
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)


def test_tables_of_quality():
    read = [Read(0.95, 0.2, "wrong"), Read(1.0, 3.0, "correct"), Read(0.6, 3.0, "partly"), Read(1.0, 1.5, "correct")]
    tables = _quality(read)
    assert tables["Verdicts"] == {"correct": "2", "partly": "1", "wrong": "1"}
    assert tables["Correct, by least probability"]["≥ 0.99"].startswith("1.000 ")
    assert tables["Correct or partly, by least score a word"]["≥ 0.5"].endswith("of 3")


def test_the_lists_at_hand_are_whole():
    lists = [file for file in sorted(JUDGED.glob("*.tsv")) if not file.name.endswith(".lexicon.tsv")]
    assert lists
    for file in lists:
        rows = read_judged(file)
        assert len(rows) >= 100
        assert len({row.key for row in rows}) == len(rows)
        assert {row.verdict for row in rows} <= {*VERDICTS}


def test_chances_are_compared_with_what_is_right():
    read = [Read(1.0, 1.0, "correct", 0.85), Read(1.0, 1.0, "wrong", 0.82), Read(1.0, 1.0, "correct", 1.0)]
    cells = _told(read)["Correct, by the chance told"]
    assert cells["0.8 to 0.9"].startswith("told .835, .500")
    assert cells["0.98 to 1"].startswith("told 1.000, 1.000")
    assert cells["0 to 0.5"] == "–"
