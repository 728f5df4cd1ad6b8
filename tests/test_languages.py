"""Facts about languages: what tags mean, whatever way they are written, and how near they are."""

from __future__ import annotations

import itertools
import string
import subprocess
import sys

import pycld2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langcodes import Language, tag_is_valid

from twinlink.language_names import language_named
from twinlink.languages import (
    _LONGER_CODES,
    COMMON_SCRIPTS,
    base_language,
    canonical_language,
    includes_language,
    language_script,
    languages_of_site,
    letter_script,
)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("en-GB", "en"), ("PT_br", "pt"), ("zh-TW", "zh-Hant"), ("zh-Hans-HK", "zh-Hans"), ("zh-hk", "zh-Hant"),
        ("zh-SG", "zh-Hans"), ("zh", "zh"), ("iw", "he"), ("nb", "no"), ("", "und"), ("un", "und"), ("12", "und"),
        ("zho", "zh"), ("chi", "zh"), ("cmn", "zh"), ("cmn-Hant", "zh-Hant"), ("yue", "zh-Hant"), ("zh-yue", "zh-Hant"),
        ("rus", "ru"), ("fre", "fr"), ("ger", "de"), ("in", "id"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro"),
        ("nn", "no"), ("fil", "tl"), ("sr-Latn-RS", "sr"), ("arb", "ar"), ("swh", "sw"), ("en_US.UTF-8", "en"),
        ("ca_ES@valencia", "ca"), ("x-default", "und"), ("-", "und"), ("en-" + "a" * 500, "und"), ("i-navajo", "nv"),
        ("ypk", "ypk"), ("cn", "cn"),
    ],
)  # fmt: skip
def test_a_tag_has_one_form_in_our_tables(tag: str, expected: str) -> None:
    assert canonical_language(tag) == expected


@given(st.text(max_size=60))
def test_any_text_may_stand_where_a_tag_is_expected(text: str) -> None:
    found = canonical_language(text)
    assert found == "und" or (found.isascii() and canonical_language(found) == found)


def test_answers_of_the_finder_are_in_the_form_that_tables_have() -> None:
    forms = {canonical_language(code) for _, code in pycld2.LANGUAGES}
    assert {"he", "jv", "no", "tl", "zh", "zh-Hant"} <= forms
    assert not {"iw", "jw", "nn", "fil"} & forms


@pytest.mark.parametrize(
    ("wanted", "lang", "is_in"),
    [
        ("zh", "zh-Hans", True), ("zh-Hans", "zh", False), ("en-US", "en", True), ("en", "und", False),
        ("und", "und", False), ("zh_TW", "zh-Hant", True), ("zh-TW", "zh-Hans", False), ("ZHO", "zh-Hans", True),
        ("nb", "no", True), ("no", "nn", True), ("en", "enm", False),
    ],
)  # fmt: skip
def test_a_wanted_language_includes_its_kinds(wanted: str, lang: str, is_in: bool) -> None:
    assert includes_language(wanted, lang) == is_in


@pytest.mark.parametrize(
    ("wanted", "there", "meant"),
    [
        (["en", "zh-TW"], ["en", "zh-Hans", "zh-Hant"], [["en"], ["zh-Hant"]]),
        (["en", "zh-HK"], ["en", "zh-Hans"], [["en"], ["zh-Hans"]]),
        (["zh-TW", "zh-CN"], ["en", "zh-Hans"], [[], ["zh-Hans"]]),
        (["yue", "en"], ["en", "zh-Hans", "zh-Hant"], [["zh-Hant"], ["en"]]),
        (["en", "zh"], ["zh-Hant", "en", "zh-Hans"], [["en"], ["zh-Hans", "zh-Hant"]]),
        (["bs", "en"], ["hr", "en"], [["hr"], ["en"]]),
        (["bs", "hr"], ["hr", "en"], [[], ["hr"]]),
        (["en", "pt-BR"], ["en", "gl", "es"], [["en"], []]),
        (["en", "da"], ["en", "no"], [["en"], []]),
        (["en", "qaa"], ["en", "qab", "mul"], [["en"], []]),
    ],
)
def test_a_language_that_the_site_has_not_means_the_closest_one(
    wanted: list[str], there: list[str], meant: list[list[str]]
) -> None:
    assert languages_of_site(wanted, there) == dict(zip(wanted, meant, strict=True))


def test_scripts_of_letters_are_those_of_their_languages() -> None:
    texts = {
        "bn": "বাংলা", "am": "አማርኛ", "km": "ខ្មែរ", "hy": "հայերեն", "ka": "ქართული", "ta": "தமிழ்", "ja": "カタカナ",
        "ko": "한국어", "zh-TW": "中文々", "he": "עברית", "ur": "اردو", "ne": "नेपाली", "mn": "монгол", "iu": "ᐃᓄᒃᑎᑐᑦ",
        "vi": "tiếng",
    }  # fmt: skip
    for lang, text in texts.items():
        letters = {letter_script(letter) for letter in text if letter.isalpha()}
        assert letters == {language_script(lang)}, lang
    assert letter_script("7") == letter_script("。") == ""
    assert language_script("und") == language_script("x-y") == "Latn"


def test_base_language_is_without_script() -> None:
    assert [base_language(tag) for tag in ("zh-Hant", "pt_BR", "eng", "")] == ["zh", "pt", "en", "und"]


def test_registries_are_loaded_with_the_first_tag() -> None:
    code = (
        "import sys, twinlink.config, twinlink.languages, twinlink.language_names; sys.exit('langcodes' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_tags_of_common_languages_are_read_as_in_the_registry() -> None:
    for lang, script in COMMON_SCRIPTS.items():
        assert tag_is_valid(lang)
        found = Language.get(lang).maximize().script
        assert script == {"Jpan": "Kana", "Kore": "Hang", "Hans": "Hani"}.get(str(found), found)
        assert canonical_language(lang) == language_named(lang) == str(Language.get(lang).prefer_macrolanguage())
        for first, second in itertools.product(string.ascii_uppercase, repeat=2):
            read = Language.get(f"{lang}-{first}{second}").prefer_macrolanguage()
            if lang == "zh":
                expected = f"zh-{read.maximize().script}"
            else:
                expected = lang
                assert read.language == lang
            assert canonical_language(f"{lang}_{first}{second}") == expected


def test_short_codes_are_read_as_in_the_registry() -> None:
    told_as = {"nb": "no", "nn": "no", "fil": "tl", "un": "und"}
    for code in [*map("".join, itertools.product(string.ascii_lowercase, repeat=2)), *_LONGER_CODES]:
        for tag in (code, f"{code}-ME", f"{code}-Latn", f"{code}-Arab-IN"):
            expected = str(Language.get(tag).prefer_macrolanguage().language)
            found = canonical_language(tag)
            assert found.partition("-")[0] == told_as.get(expected, expected)


def test_the_registry_is_not_loaded_for_common_languages() -> None:
    code = """
import sys
from twinlink.language_names import read_languages
from twinlink.languages import canonical_language, language_script, letter_script
read_languages(["en", "zh"])
read_languages(["en", "zh_TW"])
assert [canonical_language(tag) for tag in ("en-US", "zh_TW", "ZH-hans")] == ["en", "zh-Hant", "zh-Hans"]
assert [canonical_language(code) for code in ("la", "iw", "nn", "ceb", "sr-ME")] == ["la", "he", "no", "ceb", "sr"]
assert language_script("zh-Hant") == "Hani"
assert [letter_script(letter) for letter in "éя行の한"] == ["Latn", "Cyrl", "Hani", "Kana", "Hang"]
sys.exit("langcodes" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
