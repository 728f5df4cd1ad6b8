"""Sentence pairs from elsewhere, in each form that they come in."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from twinlink.align import learning as learn
from twinlink.align.formats.exports import Row, open_for_writing, write_moses, write_tmx, write_tsv
from twinlink.align.formats.sentence_pairs import PairFile, read_sentence_pairs
from twinlink.align.learning import known_from_pairs
from twinlink.align.words.model import WordSums
from twinlink.errors import ConfigError, InputError

PAIRS = [("The bridge is old.", "Le pont est vieux."), ("A & <b>.", "Ceci & <b>."), ("Ünïcode 橋.", "Pont 橋.")]
ROWS = [Row("http://x.org/1", "http://x.org/2", a, b, 0.9) for a, b in PAIRS]
LANGS = ("en", "fr")


def written(folder: Path, form: str, ending: str = "") -> PairFile:
    """Write the pairs as twinlink itself does."""
    if form == "moses":
        with (
            open_for_writing(folder / f"m.en{ending}") as one,
            open_for_writing(folder / f"m.fr{ending}") as other,
        ):
            write_moses(ROWS, one, other)
        return PairFile(folder / "m")
    path = folder / f"m.{form}{ending}"
    with open_for_writing(path) as file:
        if form == "tmx":
            write_tmx(ROWS, file, LANGS, "1", datetime(2026, 1, 1, tzinfo=UTC))
        else:
            write_tsv(ROWS, file)
    return PairFile(path)


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("form", ["tmx", "tsv"])
def test_what_twinlink_writes_is_read_back(tmp_path: Path, form: str, ending: str) -> None:
    assert list(read_sentence_pairs(written(tmp_path, form, ending), LANGS)) == PAIRS


def test_moses_files_are_read_back(tmp_path: Path) -> None:
    assert list(read_sentence_pairs(written(tmp_path, "moses"), LANGS)) == PAIRS


def test_languages_decide_the_order(tmp_path: Path) -> None:
    turned = [(b, a) for a, b in PAIRS]
    assert list(read_sentence_pairs(written(tmp_path, "tmx"), ("fr", "en"))) == turned
    assert list(read_sentence_pairs(written(tmp_path, "tmx"), ("en-GB", "fr-CA"))) == PAIRS
    assert list(read_sentence_pairs(written(tmp_path, "tmx"), ("", ""))) == PAIRS
    assert list(read_sentence_pairs(written(tmp_path, "tmx"), ("en", "de"))) == []
    named = written(tmp_path, "tsv")._replace(langs=LANGS)
    assert list(read_sentence_pairs(named, ("fr", "en"))) == turned
    assert list(read_sentence_pairs(named, ("de", "en"))) == []


def test_languages_of_a_file_are_named_in_any_way(tmp_path: Path) -> None:
    assert list(read_sentence_pairs(written(tmp_path, "tmx"), ("eng", "fra"))) == PAIRS
    assert PairFile.of("zh-TW-en=x").langs == ("zh-TW", "en")
    assert PairFile.of("pt-BR-fr=x").langs == ("pt-BR", "fr")
    assert PairFile.of("French-English=x").langs == ("fr", "en")
    assert PairFile.of("x-y/a=b").langs is None
    with pytest.raises(ConfigError, match=r"did you mean en \(English\)"):
        PairFile.of("englsih-fr=x")
    with pytest.raises(ConfigError, match="are the same language here"):
        PairFile.of("en-US-en-GB=x")
    chinese = [("One.", "一。"), ("Two.", "二。")]
    (tmp_path / "x.tmx").write_text(
        "<tmx><body>"
        + "".join(
            f'<tu><tuv xml:lang="en-US"><seg>{a}</seg></tuv><tuv xml:lang="zh_TW"><seg>{b}</seg></tuv></tu>'
            for a, b in chinese
        )
        + "</body></tmx>"
    )
    assert list(read_sentence_pairs(PairFile(tmp_path / "x.tmx"), ("en", "zh-Hant"))) == chinese
    assert list(read_sentence_pairs(PairFile(tmp_path / "x.tmx"), ("en", "ja"))) == []


def tmx_of(path: Path, *units: dict[str, str], attributes: str = "") -> PairFile:
    """Write TMX units, each of them segments by language."""
    tuvs = [[f'<tuv xml:lang="{lang}"><seg>{seg}</seg></tuv>' for lang, seg in unit.items()] for unit in units]
    body = "".join(f"<tu>{''.join(of_unit)}</tu>" for of_unit in tuvs)
    path.write_text(f"<tmx{attributes}><body>{body}</body></tmx>", encoding="utf-8")
    return PairFile(path)


def test_two_scripts_of_one_language_are_told_apart(tmp_path: Path) -> None:
    unit = {"zh-Hans": "简", "en": "One.", "zh-TW": "繁"}
    file = tmx_of(tmp_path / "x.tmx", unit)
    assert list(read_sentence_pairs(file, ("zh-Hans", "zh-Hant"))) == [("简", "繁")]
    assert list(read_sentence_pairs(file, ("zh-Hant", "zh-Hans"))) == [("繁", "简")]
    assert list(read_sentence_pairs(file, ("en", "zh-Hant"))) == [("One.", "繁")]
    (tmp_path / "x.tsv").write_text("繁\t简\n", encoding="utf-8")
    named = PairFile.of(f"zh-Hant-zh-Hans={tmp_path / 'x.tsv'}")
    assert list(read_sentence_pairs(named, ("zh-Hans", "zh-Hant"))) == [("简", "繁")]


def test_one_side_of_a_tmx_unit_is_not_taken_twice(tmp_path: Path) -> None:
    file = tmx_of(tmp_path / "x.tmx", {"zh": "简", "en": "One."})
    assert list(read_sentence_pairs(file, ("zh-Hans", "zh-Hant"))) == []


def test_formatting_codes_of_a_tmx_are_no_text(tmp_path: Path) -> None:
    seg = "<bpt i='1'>&lt;b&gt;</bpt>A <hi>red</hi> house<ept i='1'>&lt;/b&gt;<sub>note</sub></ept><ph>{0}</ph>."
    file = tmx_of(tmp_path / "x.tmx", {"en": seg, "fr": "Une <it pos='begin'>\\i</it>maison<ut>{}</ut>."})
    assert list(read_sentence_pairs(file, LANGS)) == [("A red house.", "Une maison.")]


def test_a_tmx_may_have_a_namespace_and_a_name_in_capitals(tmp_path: Path) -> None:
    unit = {"en": "One<ph>{0}</ph>.", "fr": "Un."}
    file = tmx_of(tmp_path / "MEMORY.TMX", unit, attributes=' xmlns="http://www.lisa.org/tmx14"')
    assert list(read_sentence_pairs(file, LANGS)) == [("One.", "Un.")]


def test_a_folder_may_have_the_name_of_two_moses_files(tmp_path: Path) -> None:
    file = written(tmp_path, "moses")
    file.path.mkdir()
    assert list(read_sentence_pairs(file, LANGS)) == PAIRS


def test_a_missing_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"memory\.tmx: no such file of sentence pairs, nor two of Moses"):
        list(read_sentence_pairs(PairFile(tmp_path / "memory.tmx"), LANGS))
    (tmp_path / "corpus.en").write_text("One.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"corpus\.\w+(-\w+)?: no such file; expected the other one of two"):
        list(read_sentence_pairs(PairFile(tmp_path / "corpus"), LANGS))


def test_moses_files_may_have_other_tags_than_the_run(tmp_path: Path) -> None:
    (tmp_path / "corpus.eng").write_text("One.\n")
    (tmp_path / "corpus.zh-TW").write_text("一。\n")
    (tmp_path / "corpus.readme").write_text("no text\n")
    assert list(read_sentence_pairs(PairFile(tmp_path / "corpus"), ("en", "zh-Hant"))) == [("One.", "一。")]
    named = PairFile.of(f"zho-en={tmp_path / 'corpus'}")
    assert list(read_sentence_pairs(named, ("en", "zh-Hant"))) == [("One.", "一。")]
    assert [path.name for path in named.files(("en", "zh-Hant"))] == ["corpus.zh-TW", "corpus.eng"]


def test_plain_columns_without_names(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("One.\tUn.\t0.5\n\nTwo.\tDeux.\n \tRien.\n")
    assert list(read_sentence_pairs(PairFile(tmp_path / "x.tsv"), LANGS)) == [("One.", "Un."), ("Two.", "Deux.")]


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("One.\tUn.\nTwo.\n")
    (tmp_path / "x.tmx").write_text("<tmx><body><tu>")
    (tmp_path / "x.gz").write_bytes(b"no gzip")
    (tmp_path / "x.zst").write_bytes(b"no zstd at all")
    (tmp_path / "y.en").write_text("One.\nTwo.\n")
    (tmp_path / "y.fr").write_text("Un.\n")
    (tmp_path / "latin.tsv").write_bytes(b"\xe9t\xe9\tsummer\n")
    for name in ("x.tsv", "x.tmx", "x.gz", "x.zst", "y", "none", "latin.tsv"):
        with pytest.raises(InputError, match=name):
            list(read_sentence_pairs(PairFile(tmp_path / name), LANGS))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("form", ["tmx", "tsv"])
def test_a_damaged_or_truncated_file_is_reported(tmp_path: Path, form: str, ending: str) -> None:
    file = written(tmp_path, form, ending)
    whole = file.path.read_bytes()
    for damaged in (whole[:10] + b"\xff" * 10 + whole[20:], whole[:-10]):
        file.path.write_bytes(damaged)
        with pytest.raises(InputError, match=file.path.name):
            list(read_sentence_pairs(file, LANGS))


def test_a_tmx_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "x.tmx").write_text(
        f'<!DOCTYPE tmx [<!ENTITY e SYSTEM "{secret.as_uri()}">]><tmx><body><tu>'
        '<tuv xml:lang="en"><seg>a &e;</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu></body></tmx>'
    )
    assert list(read_sentence_pairs(PairFile(tmp_path / "x.tmx"), LANGS)) == [("a ", "b")]


def test_many_pairs_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    a = [f"{x} house {y}." for x in ("red", "green", "old") for y in ("here", "there")] * 3
    b = [f"maison {x} {y}." for x in ("rouge", "verte", "vieille") for y in ("ici", "là")] * 3
    whole = known_from_pairs(a, b).words.sums()
    monkeypatch.setattr(learn, "WARM_PAIRS", 5)
    parts = known_from_pairs(a, b).words.sums()
    assert parts.seen_a.sum() == whole.seen_a.sum()

    def best(sums: WordSums) -> dict[str, str]:

        found: dict[str, tuple[float, str]] = {}
        for row, column, count in zip(sums.rows, sums.columns, sums.counts.tolist(), strict=True):
            word, other = sums.words_a[row], sums.words_b[column]
            found[word] = max(found.get(word, (0.0, "")), (count, other))
        return {word: other for word, (_, other) in found.items()}

    expected = {"red": "rouge", "green": "verte", "old": "vieil", "house": "maiso", "here": "ici", "there": "là"}
    assert expected.items() <= best(parts).items()
    assert expected.items() <= best(whole).items()
