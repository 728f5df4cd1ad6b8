"""Sentences of blocks, in many scripts, with their places."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.bitext.sentences import split_block, split_blocks


@pytest.mark.parametrize(
    ("lang", "text", "sentences"),
    [
        ("en", "Mr. Lee came at 5 p.m. yesterday. He left.", ["Mr. Lee came at 5 p.m. yesterday.", "He left."]),
        ("zh-Hant", "你好。我是誰？他說：「走吧！」", ["你好。", "我是誰？", "他說：「走吧！」"]),
        ("ja", "今日は晴れです。明日は雨でしょう。", ["今日は晴れです。", "明日は雨でしょう。"]),
        ("kk", "Бұл не? Бұл кітап. Иә!", ["Бұл не?", "Бұл кітап.", "Иә!"]),
        ("de", "Das ist z.B. gut. Und das auch.", ["Das ist z.B. gut.", "Und das auch."]),
        ("xx", "One. Two.", ["One.", "Two."]),
        ("", "One. Two.", ["One.", "Two."]),
    ],
)
def test_sentences_of_many_languages(lang, text, sentences):
    assert [text[start:end] for start, end in split_block(text, lang)] == sentences


def test_blocks_are_never_joined():
    blocks = ["Office hours", "Monday to Friday", "", "Closed. See also: news"]
    found = split_blocks(blocks, "en")
    assert [(one.text, one.block) for one in found] == [
        ("Office hours", 0),
        ("Monday to Friday", 1),
        ("Closed.", 3),
        ("See also: news", 3),
    ]
    assert all(blocks[one.block][one.start : one.end] == one.text for one in found)


@given(st.text(max_size=60), st.sampled_from(["en", "zh", "kk", "ja", "fr"]))
def test_sentences_cover_the_text_in_order(text, lang):
    places = split_block(text, lang)
    assert all(start < end for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert "".join("".join(text[start:end].split()) for start, end in places) == "".join(text.split())
