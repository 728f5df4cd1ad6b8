"""Dictionaries in dictd's form."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from twinlink.errors import LexiconError
from twinlink.similarity.dictd import glosses_of
from twinlink.similarity.lexicon_files import LexiconEntry, read_lexicon

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
TEXTS = {
    "00databaseinfo": "00-database-info\nmade by somebody\n",
    "bordel": "bordel /bɔʀdɛl/ <n, masc>\n1. brothel\n2. bawdy, whorehouse\n",
    "sévanouir": "s'évanouir /sevanwiʀ/ <vi>\nfaint\n",
    "long": "long /lɔ̃/\n" + "long, " * 40 + "tall\n",
    "fin": "fin /fɛ̃/ <n>\nend\n",
}


def base64(value: int) -> str:
    return (base64(value // 64) if value >= 64 else "") + DIGITS[value % 64]


def write(folder: Path, *, compressed: bool = True) -> Path:
    data, index = b"", ""
    for head, text in TEXTS.items():
        index += f"{head}\t{base64(len(data))}\t{base64(len(text.encode()))}\n"
        data += text.encode()
    (folder / "fra-eng.index").write_text(index, encoding="utf-8")
    (folder / ("fra-eng.dict" + ".dz" * compressed)).write_bytes(gzip.compress(data) if compressed else data)
    return folder / "fra-eng.index"


@pytest.mark.parametrize("compressed", [True, False])
def test_either_file_is_the_dictionary(tmp_path: Path, compressed: bool) -> None:
    index = write(tmp_path, compressed=compressed)
    expected = (
        LexiconEntry("bordel", "brothel"),
        LexiconEntry("bordel", "bawdy"),
        LexiconEntry("bordel", "whorehouse"),
        LexiconEntry("s'évanouir", "faint"),
        LexiconEntry("long", "long"),
        LexiconEntry("long", "tall"),
        LexiconEntry("fin", "end"),
    )
    other = tmp_path / ("fra-eng.dict" + ".dz" * compressed)
    assert read_lexicon(index).entries == read_lexicon(other).entries == expected


@pytest.mark.parametrize(
    ("text", "glosses"),
    [
        ("coing /kwɛ̃/ <n, masc>\nquince\n", ["quince"]),
        ("As /ˈɑːs/ <neut>\n [mus.] A <n>, A sharp <n>\n   Synonyms: {A}, {Ais}\n\n see: {Aal}\n", ["A", "A sharp"]),
        ("修飾 /a/\n(noun (common) (futsuumeishi))\n [computer] qualified name\n", ["qualified name"]),
        (
            "abort\n   [ɜbɘt] _v.\n   1) выкидывать, прервать\n   2) _биол. зачахнуть\n",
            ["выкидывать", "прервать", "зачахнуть"],
        ),
        ("", []),
    ],
)
def test_glosses(text: str, glosses: list[str]) -> None:
    assert glosses_of(text) == glosses


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (b"bordel\tA\n", "line 1: expected headword TAB offset TAB length"),
        (b"\nbordel\tA\t!\n", "line 2: expected headword TAB offset TAB length"),
        (b"bordel\tA\t////\n", "line 1: the entry of 'bordel' ends beyond"),
        (b"a\tA\tB\n\xff\n", "line 2: not UTF-8"),
        (b"", "no entry with a translation$"),
        (b"00databaseinfo\tA\tB\n", "no entry with a translation$"),
    ],
)
def test_bad_index(tmp_path: Path, index: bytes, message: str) -> None:
    path = write(tmp_path)
    path.write_bytes(index)
    with pytest.raises(LexiconError, match=message):
        read_lexicon(path)


def test_a_file_without_its_partner(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "fra-eng.dict.dz").rename(tmp_path / "other.dict.dz")
    with pytest.raises(LexiconError, match=r"needs fra-eng.dict.dz"):
        read_lexicon(path)
    with pytest.raises(LexiconError, match=r"needs its index other.index"):
        read_lexicon(tmp_path / "other.dict.dz")
