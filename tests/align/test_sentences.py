"""Sentences of blocks, in many scripts, with their places."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.align.sentences import LONGEST_PIECE, TITLES, split_block, split_blocks
from twinlink.scripts import visible_text


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


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("fr", ["J'ai vu M. Smith hier.", "Mme. Dupont vient.", "«M. Petit» aussi."]),
        ("ar", ["قال د. محمد ذلك.", "ثم ذهب."]),
        ("hi", ["यह दूसरा है।", "डॉ. शर्मा आए।"]),
        ("pl", ["Pan dr. Kowalski przyszedł.", "On wyszedł."]),
        ("nl", ["Mevr. De Vries niet.", "Hij wel."]),
        ("vi", ["GS. TS. Nguyễn Văn An đến.", "Ông ấy đi."]),
    ],
)
def test_a_title_stays_with_its_name(lang, sentences):
    text = "  ".join(sentences)
    assert [text[start:end] for start, end in split_block(text, lang)] == sentences


@pytest.mark.parametrize(
    ("lang", "title"), [(lang, title) for lang, titles in TITLES.items() for title in sorted(titles)]
)
def test_every_title_stays_with_its_name(lang, title):
    assert split_block(f"Xxx {title} Yyyy zzz.", lang) == [(0, 14 + len(title))]


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("ru", ["Пришёл Н. Назаров.", "А. Б. Иванов ушёл."]),
        ("kk", ["Президент Н. Ә. Назарбаев келді.", "Елші Б. Ордабаев кетті."]),
        ("bg", ["Дойде Н. Назаров.", "После А.Б. Иванов."]),
        ("fr", ["Le 6 juillet 1956 J. Hartog et Tom Patey.", "J.-P. Dupont aussi."]),
        ("xx", ["Aaa J. Smith bbb.", "Ccc A. B. Jones ddd."]),
    ],
)
def test_initials_stay_with_their_name(lang, sentences):
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split_block(text, lang)] == sentences


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("ru", ["Он перезапустил X.", "Потом он ушёл."]),  # of another script
        ("fr", ["Elle est en C.", "Il dit: il faut la lire."]),  # the page has the word in lower case
        ("fr", ["C'est le plan B.", "«Bien.»"]),
        ("en", ["You restart X.", "Then it works."]),
    ],
)
def test_one_letter_may_end_a_sentence(lang, sentences):
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split_block(text, lang)] == sentences


def test_the_words_of_a_name_are_looked_up_on_the_whole_page():
    last = "Le module est écrit en C. Il est rapide."
    assert len(split_blocks([last], "fr")) == 1
    assert [one.text for one in split_blocks([last, "Oui, s'il est là"], "fr")][:2] == [last[:25], last[26:]]


@pytest.mark.parametrize("lang", ["en", "fr", "es", "ru", "kk", "zh", "ja", "de"])
def test_kinds_of_companies_end_no_sentence(lang):
    texts = ["Xxxx Acme Inc. (xxx).", "Xxxx Acme Co. Ltd. (xxx).", "Xxxx Acme S.A. xxx."]
    assert all(split_block(text, lang) == [(0, len(text))] for text in texts)


@pytest.mark.parametrize("lang", ["fr", "es", "ru"])
def test_a_sentence_may_begin_after_a_company(lang):
    text = "Xxxx Acme Inc. Yyyy zzzz."
    assert split_block(text, lang) == [(0, 14), (15, 25)]


def test_a_title_at_the_end_of_a_text_is_its_end():
    assert split_block("Il est là. C'est M.", "fr") == [(0, 10), (11, 19)]


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
    assert _visible("".join(text[start:end] for start, end in places)) == _visible(text)


def _visible(text):
    return "".join(visible_text(text).split())


@pytest.mark.parametrize("mark", ["\u200f", "\u200b", "\ufeff", " \u202c \u2060"])
def test_invisible_characters_at_the_end_are_no_sentence(mark):
    assert split_block(f"{mark}Aaa bbb. Ccc ddd.{mark}", "en") == [
        (len(mark), len(mark) + 8),
        (len(mark) + 9, len(mark) + 17),
    ]
    assert split_block(mark, "en") == []


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u3000", "\u2028", " \u00a0", "\u2029\u2029"])
@pytest.mark.parametrize("lang", ["en", "fr", "zh-Hant", "ja", "kk", "th", "xx"])
def test_a_wide_space_before_a_period_is_no_harm(space, lang):
    text = f"La vitamine C{space}. Le reste est bon."
    (first, *_), sentences = split_block(text, lang), split_blocks([text], lang)
    assert first[0] == 0
    assert [text[one.start : one.end] for one in sentences] == [one.text for one in sentences]
    assert "".join("".join(one.text for one in sentences).split()) == "".join(text.split())  # nothing is lost


@pytest.mark.parametrize("sentence", ["“你好。”", "你好。", "「走吧？」", "“好！！”"])
def test_a_long_text_is_split_in_pieces(sentence):
    number = 3 * LONGEST_PIECE // len(sentence)
    size = len(sentence)
    expected = [(k * size, (k + 1) * size) for k in range(number)]
    assert split_block(sentence * number, "zh") == expected


def test_a_long_text_that_cannot_be_cut_is_split_at_once():
    text = "word " * LONGEST_PIECE + "end. Next one."
    assert split_block(text, "en") == [(0, len(text) - 10), (len(text) - 9, len(text))]


def test_half_a_surrogate_pair_is_no_harm():
    text = "A \ud800 came. He left."
    assert [text[start:end] for start, end in split_block(text, "en")] == ["A \ud800 came.", "He left."]
