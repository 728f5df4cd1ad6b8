"""`--lexicon auto`: dictionaries are found, named in a line, used, and missed without harm."""

from __future__ import annotations

from pathlib import Path

import pytest

import twinlink as tl
from tests.calling import mine_toy, twinlink
from tests.dictionaries import write_dictd
from tests.made_sites import BASE
from twinlink.demo import write_site
from twinlink.similarity import installed_dictionaries as installed
from twinlink.similarity.lexicon_files import read_lexicon

NONE = "lexicon: none is installed for en-zh, and no Debian package has one"


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of dictionaries; there are no others on this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "share"))
    monkeypatch.setattr(installed, "_DEBIAN", tmp_path / "share" / "dictd")
    return tmp_path / "share" / "dictd"


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the demo's own lexicon has, English first."""
    site = write_site(tmp_path_factory.mktemp("demo") / "site", pages=60)
    entries = read_lexicon(site.lexicon).entries
    by_head = {entry.head: entry.translation for entry in entries}
    return by_head if next(iter(by_head)).isascii() else {word: head for head, word in by_head.items()}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with the demo's pages, not yet matched."""
    site = write_site(tmp_path / "demo", pages=60)
    done = twinlink("ingest", site.folder, "--base-url", "https://demo.example", "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def content(run: Path) -> float:
    return float(tl.open(run).candidates["content"].sum())


def test_an_installed_dictionary_does_what_the_same_one_does_when_it_is_named(
    share: Path, words: dict[str, str], run: Path
) -> None:
    index = write_dictd(share / "freedict-eng-zho.index", words)
    done = twinlink("match", run, "--langs", "en,zh", "--lexicon", "auto")
    assert f"lexicon: {index} ({len(words):,} head words)" in done.stdout.splitlines()
    assert tl.open(run).config.match.lexicons == ("auto",)
    found, pairs = content(run), tl.open(run).pairs[["url_a", "url_b"]].values.tolist()
    assert "lexicon" not in twinlink("match", run, "--lexicon", index).stdout
    assert content(run) == found
    assert tl.open(run).pairs[["url_a", "url_b"]].values.tolist() == pairs
    twinlink("match", run, "--set", "match.lexicons=[]")
    assert content(run) < found


def test_without_a_dictionary_the_job_goes_on(share: Path, tmp_path: Path) -> None:
    write_dictd(share / "freedict-fra-eng.index", {"chat": "cat"})  # of other languages
    done = mine_toy(tmp_path, "--lexicon", "auto")
    assert done.returncode == 0, done.stderr
    assert NONE in done.stdout.splitlines()
    told = twinlink("match", tmp_path / "run", "--json").object["lexicons"]
    assert told == {"used": {}, "unreadable": {}, "missing": {"en-zh": []}}


def test_a_package_that_has_one_is_named(share: Path, tmp_path: Path) -> None:
    assert not share.exists()
    english, french = "This page tells of the opening hours of the library {}", "Cette page dit les horaires de la {}"
    for n in range(5):
        for lang, text in (("en", english), ("fr", french)):
            file = tmp_path / "site" / lang / f"{n}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"<title>{n}</title><p>{text.format(n * 1111)}</p>", encoding="utf-8")
    done = twinlink("mine", tmp_path / "site", "--base-url", BASE, "-o", tmp_path / "run", "--lexicon", "auto")
    packages = "dict-freedict-eng-fra or dict-freedict-fra-eng"
    assert f"lexicon: none is installed for en-fr; Debian package: {packages}" in done.stdout, done.stderr


def test_a_match_is_made_anew_for_dictionaries_of_its_languages_alone(
    share: Path, words: dict[str, str], run: Path
) -> None:
    signature = run / "match" / "signature.json"

    def match() -> int:
        assert twinlink("match", run, "--langs", "en,zh-TW", "--lexicon", "auto").returncode == 0
        return signature.stat().st_mtime_ns

    first = match()
    write_dictd(share / "freedict-fra-eng.index", {"chat": "cat"})
    assert match() == first
    write_dictd(share / "freedict-eng-zho.index", dict(list(words.items())[:5]))
    second = match()
    assert second != first
    assert match() == second
    write_dictd(share / "freedict-eng-zho.index", words)
    assert match() != second


def test_a_dictionary_that_is_broken_is_left_out_with_a_reason(share: Path, words: dict[str, str], run: Path) -> None:
    index = write_dictd(share / "freedict-eng-zho.index", words)
    index.with_suffix(".dict.dz").write_bytes(b"\x1f\x8bno gzip")
    done = twinlink("match", run, "--langs", "en,zh", "--lexicon", "auto")
    assert done.returncode == 0, done.stderr
    assert "lexicon left out: " in done.stdout
    assert "not a readable lexicon file" in done.stdout
    assert f"lexicon: {index}" not in done.stdout


def test_named_lexicons_count_beside_those_that_are_found(share: Path, words: dict[str, str], run: Path) -> None:
    half = len(words) // 2
    write_dictd(share / "eng-zho" / "eng-zho.index", dict(list(words.items())[:half]))
    more = run.parent / "more.tsv"
    more.write_text("".join(f"{head}\t{word}\n" for head, word in list(words.items())[half:]), encoding="utf-8")
    twinlink("match", run, "--langs", "en,zh", "--lexicon", "auto")
    found = content(run)
    twinlink("match", run, "--lexicon", "auto", "--lexicon", more)
    assert content(run) > found
    assert tl.open(run).config.match.lexicons == ("auto", str(more))
    done = twinlink("match", run, "--lexicon", "auto", "--lexicon", run.parent / "none.tsv")
    assert done.returncode == 2
    assert "not a readable lexicon" in done.stderr


def test_align_finds_dictionaries_too(share: Path, words: dict[str, str], run: Path) -> None:
    index = write_dictd(share / "freedict-eng-zho.index", words)
    line = f"lexicon: {index} ({len(words):,} head words)"
    twinlink("match", run, "--langs", "en,zh")
    done = twinlink("align", run, "--lexicon", "auto")
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.splitlines()
    assert line in twinlink("align", run).stdout.splitlines()  # remembered
    assert "lexicon" not in twinlink("align", run, "--forget", "bitext.lexicons").stdout
    tl.open(run).align(lexicon=["auto"])
    assert (run / "align" / "lexicons.json").is_file()


def test_two_texts_say_their_languages_by_their_names(share: Path, tmp_path: Path) -> None:
    index = write_dictd(share / "freedict-fra-eng.index", {"chat": "cat", "chien": "dog", "maison": "house"})
    texts = {
        "a.en": "The cat.\nA dog.\nThe house.\n",
        "a.fra": "Le chat.\nUn chien.\nLa maison.\n",
        "a.txt": "Le chat.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    done = twinlink("align", tmp_path / "a.en", tmp_path / "a.fra", "--lexicon", "auto")
    assert f"lexicon: {index} (3 head words)" in done.stderr.splitlines()
    assert "The cat.\tLe chat." in done.stdout
    done = twinlink("align", tmp_path / "a.en", tmp_path / "a.txt", "--lexicon", "auto")
    assert done.returncode == 2
    assert "the language of" in done.stderr
