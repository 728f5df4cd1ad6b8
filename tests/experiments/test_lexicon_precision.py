"""The learned lexicon beside a dictionary."""

from __future__ import annotations

import pytest

from experiments.lexicon_precision import Dictionary, Entry, _draw, read_entries
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.lexicon_files import LexiconEntry as Pair


@pytest.fixture(scope="module")
def chinese():
    entries = (Pair("檔案", "file"), Pair("打開", "to open"), Pair("印表機", "computer printer"))
    return Dictionary([Lexicon(entries)], ("en", "zh-Hant"))


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("file", "档案", "there"),  # the other script
        ("files", "檔案", "there"),  # another form
        ("open", "打開", "there"),  # without `to`
        ("printer", "印表機", "in a phrase"),
        ("file", "打開", "not there"),
        ("menu", "選單", "unknown word"),
        ("files", "", "not there"),
    ],
)
def test_verdicts(chinese, a, b, verdict):
    assert chinese.judge(Entry(a, b)) == verdict


def test_either_column_may_be_either_language():
    french = Dictionary([Lexicon((Pair("fichier", "file"), Pair("file", "queue")))], ("en", "fr"))
    assert french.judge(Entry("file", "fichiers")) == "there"
    assert french.judge(Entry("queue", "file")) == "there"
    assert french.knows_first(Entry("queue", "x"))
    assert not french.knows_first(Entry("menu", "x"))


def test_a_learned_lexicon_is_read(tmp_path):
    (tmp_path / "en-fr.lexicon.tsv").write_text(
        'word_a\tword_b\tp_b_given_a\tp_a_given_b\tcount\nfile\tfichier\t0.9\t0.8\t7\n"\t«\t0.9\t0.8\t7\n',
        encoding="utf-8",
    )
    assert read_entries(tmp_path / "en-fr.lexicon.tsv") == [Entry("file", "fichier"), Entry('"', "«")]


def test_the_draw_does_not_depend_on_the_order():
    entries = [Entry(str(k), str(k)) for k in range(100)]
    assert _draw(entries) == _draw(entries[::-1])
    assert len(_draw(entries)) == 40
