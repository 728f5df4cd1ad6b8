"""Dictionaries that are installed: which are found, for which languages, and which package has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dictionaries import write_dictd
from twinlink.languages import canonical_language
from twinlink.similarity.installed_dictionaries import (
    debian_packages,
    dictionaries_between,
    dictionaries_for,
    dictionary_folders,
    installed_dictionaries,
    two_languages_in,
)
from twinlink.similarity.lexicon_files import read_lexicon

REAL = Path("/usr/share/dictd/freedict-fra-eng.index")
WORDS = {"chat": "cat", "chien": "dog"}


def found(folder: Path) -> dict[str, list[str]]:
    return {each.index.name: sorted(each.langs) for each in installed_dictionaries([folder])}


def test_languages_are_those_of_the_name_or_else_of_the_title(tmp_path: Path) -> None:
    write_dictd(tmp_path / "freedict-fra-eng.index", WORDS)
    write_dictd(tmp_path / "english-german.index", {"cat": "Katze"}, compressed=False)
    write_dictd(tmp_path / "mueller7.index", {"cat": "кот"}, "Mueller English-Russian Dictionary")
    write_dictd(tmp_path / "wikdict-zh-en.index", {"猫": "cat"})
    write_dictd(tmp_path / "wn.index", WORDS, "WordNet (r) 3.0 (2006)")
    write_dictd(tmp_path / "foldoc.index", WORDS, "The Free On-line Dictionary of Computing")
    write_dictd(tmp_path / "freedict-nno-nob.index", WORDS)  # one language here
    assert found(tmp_path) == {
        "english-german.index": ["de", "en"],
        "freedict-fra-eng.index": ["en", "fr"],
        "mueller7.index": ["en", "ru"],
        "wikdict-zh-en.index": ["en", "zh"],
    }


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    write_dictd(tmp_path / "eng-deu.index", WORDS).with_suffix(".dict.dz").unlink()
    write_dictd(tmp_path / "untitled.index", WORDS).with_suffix(".dict.dz").write_bytes(b"no gzip")
    (tmp_path / "nonsense.index").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nonsense.dict").write_bytes(b"")
    (tmp_path / "eng-spa.index").mkdir()
    assert found(tmp_path) == {}
    assert installed_dictionaries([tmp_path / "none"]) == []


def test_what_is_there_twice_counts_once_and_folders_are_looked_into(tmp_path: Path) -> None:
    inner = write_dictd(tmp_path / "a" / "fra-eng" / "fra-eng.index", WORDS)
    (tmp_path / "b").mkdir()
    for file in (inner, inner.with_suffix(".dict.dz")):
        (tmp_path / "b" / file.name).symlink_to(file)
    dictionaries = installed_dictionaries([tmp_path / "a", tmp_path / "b"])
    assert [each.index for each in dictionaries] == [inner]
    assert dictionaries[0].n_heads == len(WORDS)


def test_folders_are_those_of_the_user_first() -> None:
    folders = dictionary_folders({"XDG_DATA_HOME": "", "XDG_DATA_DIRS": "relative:/opt/data"})
    assert folders[0] == Path.home() / ".local/share/dictd"
    assert Path("/opt/data/dictd") in folders
    assert folders[-1] == Path("/usr/share/dictd")
    assert all(folder.is_absolute() for folder in folders)


def test_dictionaries_are_chosen_by_what_wanted_languages_may_mean(tmp_path: Path) -> None:
    for name in ("eng-hrv", "eng-fra", "fra-eng", "deu-fra", "eng-zho"):
        write_dictd(tmp_path / f"{name}.index", WORDS)
    there = installed_dictionaries([tmp_path])

    def names(wanted: list[str]) -> list[str]:
        return [each.index.stem for each in dictionaries_for(there, wanted)]

    assert names(["en-US", "fra"]) == ["eng-fra", "fra-eng"]
    assert names(["en", "zh-TW"]) == ["eng-zho"]
    assert names(["bs", "en"]) == ["eng-hrv"]
    assert names(["en", "de", "fr"]) == ["deu-fra", "eng-fra", "fra-eng"]
    assert names(["en", "fi"]) == []
    assert len(names([])) == len(there)
    assert [each.index.stem for each in dictionaries_between(there, "zh-Hant", "en")] == ["eng-zho"]
    assert dictionaries_between(there, "en", "en") == []


@pytest.mark.parametrize(
    ("text", "codes", "langs"),
    [
        ("freedict-ckb-kmr", True, ["ckb", "ku"]),
        ("de-en", True, ["de", "en"]),
        ("french", True, None),
        ("a-b", True, None),
        ("French-English FreeDict Dictionary ver. 0.4.1", False, ["en", "fr"]),
        ("English - German Dictionary devel 2023-01-30", False, ["de", "en"]),
        ("fra-eng", False, None),
        ("English-English Dictionary", False, None),
        ("", False, None),
    ],
)
def test_two_languages_of_a_text(text: str, codes: bool, langs: list[str] | None) -> None:
    assert two_languages_in(text, codes=codes) == (frozenset(langs) if langs else None)


def test_the_list_of_packages_is_of_two_languages_each() -> None:
    packages = debian_packages()
    assert len(packages) > 100
    assert all(len(langs) == 2 for langs in packages)
    assert all(canonical_language(lang) == lang for langs in packages for lang in langs)
    assert packages[frozenset(("en", "ru"))] == ["dict-freedict-eng-rus", "mueller7-dict", "mueller7accent-dict"]
    assert frozenset(("en", "zh")) not in packages


@pytest.mark.skipif(not REAL.exists(), reason="the package dict-freedict-fra-eng is not installed")
def test_a_dictionary_that_is_really_installed() -> None:
    (dictionary,) = (each for each in installed_dictionaries([REAL.parent]) if each.index == REAL)
    assert dictionary.langs == {"en", "fr"}
    heads = {entry.head for entry in read_lexicon(REAL).entries}
    assert 0.9 * dictionary.n_heads < len(heads) <= dictionary.n_heads
