"""The short ways for texts of nothing but ASCII letters, and for printable ones, give what the long ones give."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from string import ascii_letters

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.language.identify import count_scripts
from twinlink.scripts import (
    _UNIT,
    _expander,
    chinese_converter,
    clean_text,
    count_letters,
    only_script,
    script_of,
    split_units,
    units_and_breaks,
    words_per_unit,
)

TEXTS = st.one_of(st.text(max_size=12), st.text("abXé1_ .'行の한", max_size=12))


@given(TEXTS)
def test_letters(text: str) -> None:
    letters = [character for character in text if re.fullmatch(r"[^\W\d_]", character)]
    assert count_letters(text) == len(letters)


@given(st.text(ascii_letters + " -", max_size=12))
def test_units_of_plain_text(text: str) -> None:
    assert split_units(text) == text.replace("-", " ").split()


@given(st.lists(TEXTS.map(lambda text: text.replace("\n", " "))))
def test_units_of_lines(lines: list[str]) -> None:
    ended = [[*split_units(line), "\n"] for line in lines]
    assert units_and_breaks("".join(line + "\n" for line in lines)) == [unit for line in ended for unit in line]


# Controls, direction marks and other invisible characters, surrogates, and what Unicode says is no character.
UNUSABLE = [
    *(set(range(0x20)) - {9, 10, 13} | set(range(0x7F, 0xA0)) | set(range(0x200B, 0x2010)) | {0xFEFF}),
    *range(0xD800, 0xE000),
    *range(0xFDD0, 0xFDF0),
    *(plane << 16 | end for plane in range(17) for end in (0xFFFE, 0xFFFF)),
]


def test_clean_text() -> None:
    numbers = np.arange(sys.maxunicode + 1)
    text = "".join(map(chr, numbers.tolist()))
    assert clean_text(text) == "".join(map(chr, np.where(np.isin(numbers, UNUSABLE), 0x20, numbers).tolist()))


@pytest.mark.parametrize("plane", range(17))
def test_the_last_two_characters_of_each_plane_are_no_text(plane: int) -> None:
    ends = chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF)
    assert clean_text(f"a{ends}b") == "a  b"


@given(st.sampled_from(["LATIN", "HAN", "CYRILLIC", "HANGUL"]), st.one_of(TEXTS, st.text("abéя行각ि1 '-", max_size=12)))
def test_units_of_one_script(script: str, text: str) -> None:
    expected = re.sub(_UNIT, lambda unit: unit[0] if script_of(unit[0][0]) == script else " ", text)
    assert only_script(script, text) == expected


@given(st.lists(st.sampled_from(["a", "Word", "é", "行", "の", "я", "они"]), max_size=8))
def test_words_of_each_script(units: list[str]) -> None:
    words = [unit for unit in units if unit != "я"]  # a single letter is no word
    expected = dict.fromkeys((script_of(unit[0]) for unit in words), 0.0)
    for unit in words:
        expected[script_of(unit[0])] += words_per_unit(script_of(unit[0]))
    assert count_scripts(units) == pytest.approx(expected)


def test_characters_expand_as_they_do_among_phrases() -> None:
    ours, whole = _expander(), chinese_converter("s2t")
    differing = [c for c in map(chr, range(0x4E00, 0xA000)) if (ours.convert(c) == c) != (whole.convert(c) == c)]
    assert not differing


def test_a_dictionary_in_another_place_is_not_needed(monkeypatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    assert _expander.__wrapped__() is chinese_converter("s2t")
