"""Lexicon files, and the matrices between terms that are made from them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from twinlink.errors import LexiconError
from twinlink.similarity.lexicon import identity_matrix, translation_matrix
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry, read_lexicon

CEDICT = """# CC-CEDICT
#! version=1
服務器 服务器 [fu2 wu4 qi4] /server (computer)/CL:臺|台[tai2]/
跑 跑 [pao3] /to run; to escape/variant of 刨[pao2]/
"""


def weights(
    lexicon: Lexicon, terms_a: Sequence[str], lang_a: str, terms_b: Sequence[str], lang_b: str
) -> dict[tuple[str, str], float]:
    matrix = translation_matrix(lexicon, terms_a, lang_a, terms_b, lang_b)
    assert matrix.shape == (len(terms_a), len(terms_b))
    assert matrix.dtype.name == "float32"
    found = matrix.tocoo()
    places = zip(found.row, found.col, found.data.tolist(), strict=True)
    return {(terms_a[i], terms_b[j]): pytest.approx(value) for i, j, value in places}


def lexicon_of(*entries: tuple[str, str]) -> Lexicon:
    return Lexicon(tuple(LexiconEntry(*entry) for entry in entries))


# Files


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_tab_separated_files(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    text = "# a comment\nserveur\tserver\n\nmaison\thouse\t0.75\r\n\tnothing\n# one\t# un\n"
    path = tmp_path / "lexicon"
    path.write_bytes(compress(text.encode()))
    expected = (
        LexiconEntry("serveur", "server", 1.0),
        LexiconEntry("maison", "house", 0.75),
        LexiconEntry("# one", "# un"),
    )
    assert read_lexicon(path).entries == expected


def test_byte_order_mark_is_no_part_of_the_first_head(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv"
    path.write_bytes(b"\xef\xbb\xbfa\tb\n")
    assert read_lexicon(path).entries == (LexiconEntry("a", "b"),)


def test_cedict(tmp_path: Path) -> None:
    path = tmp_path / "cedict_ts.u8"
    path.write_text(CEDICT, encoding="utf-8")
    assert read_lexicon(path).entries == (
        LexiconEntry("服務器", "server (computer)"),
        LexiconEntry("服务器", "server (computer)"),
        LexiconEntry("跑", "to run"),
        LexiconEntry("跑", "to escape"),
    )


@pytest.mark.parametrize("text", ["cat chat\ndog chien\n", "cat chat\ndog\tchien\n"])
def test_muse(tmp_path: Path, text: str) -> None:
    path = tmp_path / "en-fr.txt"
    path.write_text(text, encoding="utf-8")
    assert read_lexicon(path).entries == (LexiconEntry("cat", "chat"), LexiconEntry("dog", "chien"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nno tab here\n", "line 2: expected head TAB translation"),
        (b"a\tb\na b\n", "line 2: expected head TAB translation"),
        (b"a b\na b c\n", "line 2: expected two words with a space"),
        (b"A A [a1] /gloss/\nA A\n", "line 2: expected Traditional Simplified"),
        (b"a\tb\t1\tc\n", "line 1: expected head TAB translation"),
        (b"a\tb\n\na\tb\tmuch\n", "line 3: expected a probability in .0, 1. in the third column"),
        (b"a\tb\t0\n", "line 1: expected a probability"),
        (b"a\tb\tnan\n", "line 1: expected a probability"),
        (b"a\tb\n\xff\xfe\tb\n", "line 2: not UTF-8"),
        (b"", "no entry; expected lines of the form head TAB translation"),
        (b"# only a comment\n\n\tb\n", "no entry"),
        (b"\x1f\x8bnot gzip", "not a readable lexicon file"),
        (gzip.compress(b"a\tb\n", mtime=0)[:-6], "not a readable lexicon file"),
        (lzma.compress(b"a\tb\n")[:-6], "not a readable lexicon file"),
        (b"BZhnot bzip2", "not a readable lexicon file"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(LexiconError, match=message):
        read_lexicon(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.tsv", tmp_path):
        with pytest.raises(LexiconError, match="not a readable lexicon file"):
            read_lexicon(path)


# Translations


FRENCH = lexicon_of(("serveur", "server"), ("maison", "house"), ("page d'accueil", "homepage"), ("eau", "water"))


def test_translation_through_stems() -> None:
    """Inflected heads and inflected translations find the terms of the pages, which are stems."""
    lexicon = lexicon_of(("serveurs", "servers"))
    assert weights(lexicon, ["server"], "en", ["serveur"], "fr") == {("server", "serveur"): 1}


def test_columns_may_stand_in_either_order() -> None:
    terms_en, terms_fr = ["hous", "server", "water"], ["eau", "maison", "serveur"]
    expected = {("hous", "maison"): 1, ("server", "serveur"): 1, ("water", "eau"): 1}
    assert weights(FRENCH, terms_en, "en", terms_fr, "fr") == expected
    turned = lexicon_of(*((entry.translation, entry.head) for entry in FRENCH.entries))
    assert weights(turned, terms_en, "en", terms_fr, "fr") == expected
    assert weights(FRENCH, terms_fr, "fr", terms_en, "en") == {(b, a): value for (a, b), value in expected.items()}


def test_words_of_an_entry_share_its_weight() -> None:
    """``page d'accueil`` has two words that count; the unknown third part of an entry keeps its share."""
    found = weights(FRENCH, ["accueil", "pag"], "fr", ["homepag"], "en")
    assert found == {("accueil", "homepag"): 0.5, ("pag", "homepag"): 0.5}
    assert weights(FRENCH, ["accueil"], "fr", ["homepag"], "en") == {("accueil", "homepag"): 0.5}


def test_explanations_are_not_used() -> None:
    lexicon = lexicon_of(("kit", "box with many useful things inside"))
    assert weights(lexicon, ["kit"], "fr", ["box", "use"], "en") == {}


def test_notes_and_stop_words_do_not_count() -> None:
    lexicon = lexicon_of(("courir", "to run (on foot)"))
    assert weights(lexicon, ["cour"], "fr", ["foot", "run"], "en") == {("cour", "run"): 1}


def test_probability_is_the_weight_and_the_best_entry_counts() -> None:
    lexicon = Lexicon(
        (LexiconEntry("eau", "water", 0.25), LexiconEntry("eaux", "waters", 0.5), LexiconEntry("eau", "water", 0.125))
    )
    assert weights(lexicon, ["eau"], "fr", ["water"], "en") == {("eau", "water"): 0.5}


def test_traditional_and_simplified_heads_meet() -> None:
    lexicon = lexicon_of(("服務器", "server"))
    assert weights(lexicon, ["server"], "en", ["服务器"], "zh-Hant") == {("server", "服务器"): 1}


def test_long_chinese_term_is_taken_apart_into_the_longest_heads() -> None:
    lexicon = lexicon_of(
        ("行政", "administration"), ("行政长官", "chief executive"), ("办公室", "office"), ("室", "room")
    )
    terms = ["administr", "chief", "execut", "offic", "room"]
    assert weights(lexicon, ["行政长官办公室"], "zh-Hans", terms, "en") == {
        ("行政长官办公室", "chief"): 0.25,
        ("行政长官办公室", "execut"): 0.25,
        ("行政长官办公室", "offic"): 0.5,
    }


def test_chinese_term_with_an_unknown_rest_stays_whole() -> None:
    assert weights(lexicon_of(("办公", "office")), ["办公某某"], "zh-Hans", ["offic"], "en") == {}


def test_nothing_in_common() -> None:
    assert weights(FRENCH, ["x"], "en", ["y"], "fr") == {}
    assert weights(FRENCH, [], "en", [], "fr") == {}


# Shared tokens


@pytest.mark.parametrize(
    ("lang", "shared"),
    [("fr", ["404", "httpd"]), ("zh-Hant", ["404", "httpd", "on"]), ("kk", ["404", "httpd", "on"])],
)
def test_shared_tokens(lang: str, shared: list[str]) -> None:
    """Short Latin words are shared with other scripts only; words in other letters never."""
    terms = ["404", "httpd", "on", "服务", "私"]
    matrix = identity_matrix(terms, "en", ["zzz", *terms], lang)
    assert matrix.shape == (5, 6)
    found = matrix.tocoo()
    assert [terms[i] for i in sorted(found.row)] == shared
    assert (found.col == found.row + 1).all()
    assert set(found.data.tolist()) <= {1.0}


def test_no_shared_tokens() -> None:
    assert identity_matrix(["a"], "en", [], "fr").shape == (1, 0)


def test_numbers_alone_are_shared() -> None:
    terms = ["2026-03-12", "20km", "a@b.org", "img:a.png", "out:b.org/c", "httpd"]
    for shared, n in (("all", 6), ("numbers", 2), ("none", 0)):
        assert identity_matrix(terms, "en", terms, "fr", shared).nnz == n  # type: ignore[arg-type]


def test_chinese_characters_are_shared_in_their_simplified_form() -> None:
    terms_ja, terms_zh = ["検索", "環境", "語"], ["检索", "环境", "语"]
    assert identity_matrix(terms_zh, "zh-Hans", terms_ja, "ja").toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert identity_matrix(terms_zh, "zh-Hans", terms_ja, "ja", "numbers").nnz == 0
    assert identity_matrix(terms_zh, "zh-Hans", terms_zh, "en").nnz == 0


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("cat\tchat\n", encoding="utf-8")
    assert read_lexicon(str(path)) == read_lexicon(path)
