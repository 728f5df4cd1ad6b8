"""Tokens, stems and counts."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.term_twin import count_terms
from twinlink.text.chinese import cut_chinese, forget_dictionary
from twinlink.text.stems import stem, stems
from twinlink.text.terms import has_latin_script, is_latin, is_number
from twinlink.text.words import (
    _IS_PLAIN,
    _cut_spaced,
    _cut_unspaced,
    _line_tokens,
    _tokens_of_any,
    one_form,
    texts_in_one_form,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "lang", "tokens"),
    [
        ("The user's don't", "en", ["the", "user", "don't"]),
        ("L’été d'Apache aujourd'hui", "fr", ["l", "été", "d", "apache", "aujourd", "hui"]),
        ("ipv6 a.b@c-d x86_64", "en", ["ipv6", "a", "b", "c", "d", "x86_64"]),
        ("Straße ÄRGER", "de", ["straße", "ärger"]),
        ("行政長官，立法會 httpd 2.4", "zh-Hant", ["行政长官", "立法会", "httpd", "2.4"]),
        ("ＡＢＣ１２", "zh-Hans", ["abc12"]),
        ("サーバーの設定を変更管理表", "ja", ["サーバー", "設定", "変更", "更管", "管理", "理表"]),
        ("서버를 시작", "ko", ["서버를", "시작"]),
        ("หนังสือ", "th", ["หนัง", "นังส", "ังสื", "งสือ"]),
        ("हिन्दी में", "hi", ["हिन्दी", "में"]),
        ("二〇二六年", "ja", ["二〇", "〇二", "二六", "六年"]),
        ("объём Қазақстан", "kk", ["объём", "қазақстан"]),
        ("", "en", []),
        ("… !? —", "zh-Hans", []),
    ],
)
def test_tokenize(text: str, lang: str, tokens: list[str]) -> None:
    assert tokenize(text, lang) == tokens


@pytest.mark.parametrize(
    ("text", "lang", "number"),
    [
        ("1,234.50", "en", "1234.50"),
        ("1.234,50", "de", "1234.50"),
        ("1 234,50", "fr", "1234.50"),
        ("1\u202f234,50", "en", "1234.50"),
        ("1,234,567", "en", "1234567"),
        ("1,234", "en", "1234"),
        ("3,5", "fr", "3.5"),
        ("2.4.57", "en", "2.4.57"),
        ("10.0.0.1", "en", "10.0.0.1"),
        ("007", "en", "7"),
        ("0", "en", "0"),
        ("0.5", "en", "0.5"),
        ("٣٤", "ar", "34"),
    ],
)
def test_a_number_is_one_token_however_written(text: str, lang: str, number: str) -> None:
    assert tokenize(text, lang) == [number]


def test_plain_space_groups_only_where_the_language_does_so() -> None:
    assert tokenize("page 1 234", "en") == ["page", "1", "234"]
    assert tokenize("page 1 234", "fr") == ["page", "1234"]


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
def test_a_space_groups_no_more_than_three_digits_before_it(space: str) -> None:
    assert tokenize(f"en 2009{space}100 pages", "fr") == ["en", "2009", "100", "pages"]
    assert tokenize(f"12{space}345{space}678 pages", "fr") == ["12345678", "pages"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1 234 567", ["1234567"]),
        ("$1 200", ["1200"]),
        ("1 200元", ["1200", "元"]),
        ("1 200", ["1", "200"]),
        ("第1 200页", ["第", "1", "200", "页"]),
    ],
)
def test_plain_space_in_chinese_numbers(text: str, tokens: list[str]) -> None:
    assert tokenize(text, "zh-Hans") == tokens


def test_encoded_data_is_no_word() -> None:
    for piece in ("x", "9", "x@", "1.", "1,000", "2026 ", "3億", "5km "):
        tokenize(piece * 20_000, "zh")  # it is done in linear time, or never
    assert tokenize("x" * 100_000 + " end " + "9" * 100_000, "en") == ["end"]


@given(st.text(max_size=60), st.sampled_from(["en", "fr", "zh-Hant", "ja", "ko", "th", "kk", "und"]))
def test_tokens_are_made_of_the_text(text: str, lang: str) -> None:
    tokens = tokenize(text, lang)
    assert all(tokens)
    assert not any(token.isspace() for token in tokens)
    assert count_terms([tokens], lang).counts.sum() == len(tokens)


@pytest.mark.parametrize(
    ("word", "lang", "expected"),
    [
        ("servers", "en", "server"),
        ("serveurs", "fr", "serveur"),
        ("servers", "zh-Hans", "server"),
        ("servers", "kk", "server"),
        ("серверов", "ru", "сервер"),
        ("қазақстанның", "kk", "қазақ"),
        ("서버에서", "ko", "서버"),
        ("나", "ko", "나"),
        ("服务器", "zh-Hans", "服务器"),
        ("1234", "en", "1234"),
        ("wort", "xx", "wort"),
    ],
)
def test_stem(word: str, lang: str, expected: str) -> None:
    assert stem(word, lang) == expected


@given(
    st.lists(st.sampled_from(["servers", "x" * 90, "2.0", "20km", "a@b.de", "img:a.png", "서버를", "қазақтар", "été"])),
    st.sampled_from(["en", "fr", "zh-Hant", "kk", "ko", "la", "ru"]),
)
def test_stems_of_many_words(words: list[str], lang: str) -> None:
    assert stems(words, lang) == [stem(word, lang) for word in words]


LINES = [
    "One 1 234", "l'Été 1\u202f234", "ＴＷＯ", "ΟΔΟΣ", "İ", "e\u0301 1 234", "\u03011 234 567元", "100 200 300", "",
    "²℃", "（1，234）", "！\u0338", "One\n1 234",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(LINES), max_size=3).map(" ".join)), st.sampled_from(["en", "fr", "zh", "el"]))
def test_lines_have_the_form_of_each_alone(lines: list[str], base: str) -> None:
    assert texts_in_one_form(lines, base) == [one_form(line, base) for line in lines]


@given(st.text("aB1.,，：；？！（）＝ａ\u0338\u0301ΣİÉ行가각\u11a8℃\n", max_size=12))
def test_one_form_is_the_normal_form_in_lower_case(text: str) -> None:
    assert one_form(text, "en") == "\n".join(unicodedata.normalize("NFKC", line) for line in text.lower().split("\n"))


def test_counts_put_the_forms_of_a_word_together() -> None:
    table = count_terms([["server", "servers", "b"], [], ["b", "b"]], "en")
    assert table.vocabulary == ["b", "server"]
    assert table.counts.toarray().tolist() == [[1, 2], [0, 0], [2, 0]]
    assert table.counts.dtype.name == "float32"


def test_counts_of_no_pages() -> None:
    assert count_terms([], "en").counts.shape == (0, 0)


def test_kinds_of_terms() -> None:
    assert [is_number(term) for term in ("12", "2.4", "a2")] == [True, True, False]
    assert [is_latin(term) for term in ("été", "max_size", "ipv6", "сервер", "服务", "12")] == [True] * 3 + [False] * 3
    assert [has_latin_script(lang) for lang in ("fr", "zh-Hant", "kk")] == [True, False, False]


@given(st.text(st.characters(max_codepoint=126)), st.sampled_from(["en", "fr", "zh", "ja", "kk", "th"]))
def test_lines_of_nothing_but_letters_take_a_short_way_to_the_same_words(text: str, lang: str) -> None:
    assert _line_tokens(text, lang) == _tokens_of_any(text, lang)
    assert bool(_IS_PLAIN(text)) == (not any(c in "'@_" or c.isdigit() or (c < " " and c != "\t") for c in text))


@given(st.text(st.sampled_from("aé'’ _0.,1۴д@x²- ")), st.sampled_from(["en", "fr", "it", "kk"]))
def test_texts_without_runs_are_cut_alike_on_both_ways(text: str, lang: str) -> None:
    assert _cut_spaced(text, lang) == _cut_unspaced(text, lang)


def test_the_dictionary_of_chinese_is_loaded_again_after_it_was_forgotten() -> None:
    before = list(cut_chinese(["特區行政長官"]))
    forget_dictionary()
    assert "rjieba" not in sys.modules
    forget_dictionary()
    assert list(cut_chinese(["特區行政長官"])) == before
