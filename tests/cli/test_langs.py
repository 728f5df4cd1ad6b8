"""Languages as people write them, on the command line, in a settings file and in a notebook."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, page, write_pages, write_toy
from twinlink.errors import ConfigError

N_PAIRS = 5
HEAVY = ("pyarrow", "pandas", "numba", "scrapy", "scipy", "duckdb")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the toy site's pages, which are in English and in Traditional Chinese."""
    folder = tmp_path_factory.mktemp("toy")
    done = twinlink("ingest", write_toy(folder / "toy"), "--base-url", BASE, "-o", folder / "run", "-q")
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.mark.parametrize(
    ("langs", "lines"),
    [
        ("en,zh", []),
        ("en,zh-Hant", []),
        ("EN,ZH", []),
        ("en,zh-TW", ["zh-TW: the site's zh-Hant"]),
        ("en,zh-HK", ["zh-HK: the site's zh-Hant"]),
        ("en,zh-CN", ["zh-CN: the site's zh-Hant"]),
        ("en,zh_TW", ["zh_TW: the site's zh-Hant"]),
        ("en,zh-tw", ["zh-tw: the site's zh-Hant"]),
        ("en-US,zh", ["en-US: the site's en"]),
        ("eng,zho", ["eng: the site's en", "zho: the site's zh-Hant"]),
        ("en,chi", ["chi: the site's zh-Hant"]),
        ("en,cmn", ["cmn: the site's zh-Hant"]),
        ("en,yue", ["yue: the site's zh-Hant"]),
        ("English,Chinese", []),
        ("english, Traditional Chinese", []),
        ("英文,中文", []),
    ],
)
def test_a_language_means_the_closest_one_of_the_site(toy: Path, langs: str, lines: list[str]) -> None:
    done = twinlink("match", toy, "--langs", langs)
    assert done.returncode == 0, done.stderr
    found = tl.open(toy)
    assert [line for line in done.stdout.splitlines() if "the site's" in line] == lines
    assert set(found.pairs["lang_a"]) | set(found.pairs["lang_b"]) == {"en", "zh-Hant"}
    assert len(found.pairs) == N_PAIRS


@pytest.mark.parametrize(
    ("langs", "missing"),
    [
        ("eng,fra", "fra (French)"),
        ("en-US,pt-BR", "pt-BR (Portuguese (Brazil))"),
        ("en,rus", "rus (Russian)"),
        ("en,iw", "iw (Hebrew)"),
        ("en,in", "in (Indonesian)"),
        ("en,tw", "tw (Twi)"),
    ],
)
def test_a_language_that_no_page_is_in_is_named_as_it_was_written(toy: Path, langs: str, missing: str) -> None:
    done = twinlink("match", toy, "--langs", langs)
    assert done.returncode == 5
    assert f"0 pairs: no page is in {missing}, of langs {langs}. " in done.stderr
    assert "next: twinlink match" in done.stderr


@pytest.mark.parametrize("pairs_before", [False, True])
def test_it_is_named_so_in_a_first_match_and_in_a_later_one(tmp_path: Path, pairs_before: bool) -> None:
    toy, run = write_toy(tmp_path / "toy"), tmp_path / "run"
    twinlink("ingest", toy, "--base-url", BASE, "-o", run)
    if pairs_before:
        assert twinlink("match", run, "--langs", "en,zh", "--set", "match.min_score=0").returncode == 0
    for again in ("match", "match"):
        done = twinlink(again, run, "--langs", "eng,fra")
        assert "0 pairs: no page is in fra (French), of langs eng,fra. " in done.stderr
    done = twinlink("mine", toy, "--base-url", BASE, "-o", run, "--langs", "eng,pt-BR", "--replace")
    assert "0 pairs: no page is in pt-BR (Portuguese (Brazil)), of langs eng,pt-BR. " in done.stderr


@pytest.mark.parametrize(
    ("langs", "message"),
    [
        ("en,englsih", "'englsih': no language has this code or name; did you mean en (English)?"),
        ("en", "en alone is wanted; pairs need two languages, e.g. en,zh"),
    ],
)
def test_what_is_no_two_languages_is_refused_before_any_work(tmp_path: Path, langs: str, message: str) -> None:
    done = twinlink("mine", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", tmp_path / "run", "--langs", langs)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("verb", "langs"), [("mine", "en,englsih"), ("discover", "en,englsih"), ("crawl", "en,englsih"), ("mine", "en")]
)
def test_a_refusal_waits_for_nothing_that_takes_long_to_load(tmp_path: Path, verb: str, langs: str) -> None:
    words = ["twinlink", verb, "http://127.0.0.1:9/", "-o", str(tmp_path / "run"), "--langs", langs]
    code = (
        f"import sys; sys.argv = {words!r}\nfrom twinlink.cli import main\n"
        f"try:\n    main()\nfinally:\n    print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (2, []), done.stderr
    assert not (tmp_path / "run").exists()


def test_a_settings_file_and_an_assignment_are_read_likewise(toy: Path, tmp_path: Path) -> None:
    (tmp_path / "good.toml").write_text('langs = ["eng", "zh-TW"]\n')
    assert "zh-TW: the site's zh-Hant" in twinlink("match", toy, "-c", tmp_path / "good.toml").stdout
    assert tl.open(toy).config.langs == ("eng", "zh-TW")
    assert "zh-TW: the site's zh-Hant" in twinlink("match", toy).stdout
    assert "zh_HK: the site's zh-Hant" in twinlink("match", toy, "--set", 'langs=["en", "zh_HK"]').stdout
    (tmp_path / "bad.toml").write_text('langs = ["en", "englsih"]\n')
    done = twinlink("match", toy, "-c", tmp_path / "bad.toml")
    assert done.returncode == 2
    assert f"{tmp_path / 'bad.toml'}: langs: 'englsih'" in done.stderr
    done = twinlink("match", toy, "--set", 'crawl.langs=["en", "englsih"]')
    assert "crawl.langs: 'englsih'" in done.stderr


def test_a_match_in_other_words_is_not_done_again(toy: Path) -> None:
    twinlink("match", toy, "--langs", "en,zh-TW")
    before = (toy / "match" / "signature.json").stat().st_mtime_ns
    assert "pairs" in twinlink("match", toy, "--langs", "eng,zh-HK").stdout
    assert (toy / "match" / "signature.json").stat().st_mtime_ns == before


def test_a_notebook_reads_languages_likewise(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "toy")
    given = {"ingest__base_url": BASE, "match__min_score": 0.0}
    run = tl.mine(toy, out=tmp_path / "run", langs=("English", "zh-TW"), **given)
    assert (len(run.pairs), run.config.langs) == (5, ("en", "zh-TW"))
    assert "zh-TW: the site&#x27;s zh-Hant" in run._repr_html_()
    with pytest.raises(ConfigError, match=r"did you mean en \(English\)"):
        tl.mine(toy, out=tmp_path / "other", langs="englsih,zh", **given)
    with pytest.raises(ConfigError, match="alone is wanted"):
        tl.mine(toy, out=tmp_path / "other", langs="en", **given)
    assert not (tmp_path / "other").exists()


def test_evaluate_takes_what_mine_takes(toy: Path) -> None:
    twinlink("match", toy, "--langs", "en,zh")
    gold = shutil.copy(toy / "pairs.tsv", toy.parent / "gold.tsv")
    assert len(tl.open(toy).pairs) == N_PAIRS
    for langs in ("eng,zh-TW", "Chinese,English", "en,zh-CN"):
        done = twinlink("evaluate", toy, "--gold", gold, "--langs", langs)
        assert f"gold {N_PAIRS}, predicted {N_PAIRS}, right {N_PAIRS}" in done.stdout, done.stderr
        assert ("zh-TW: the site's zh-Hant" in done.stdout) == ("zh-TW" in langs)
    assert (
        "are the same language here (en)" in twinlink("evaluate", toy, "--gold", gold, "--langs", "en-US,en-GB").stderr
    )
    assert "did you mean en" in twinlink("evaluate", toy, "--gold", gold, "--langs", "englsih,zh").stderr


def test_each_site_has_its_own_closest_language(tmp_path: Path) -> None:
    write_pages(tmp_path / "hk", two_versions("這是關於圖書館開放時間和還書的網頁"))
    write_pages(tmp_path / "cn", two_versions("这是关于图书馆开放时间和还书的网页"))
    files = [(name, file) for name in ("hk", "cn") for file in sorted((tmp_path / name).rglob("*.html"))]
    lines = [f"http://www.{name}.example/{file.relative_to(tmp_path / name)}\t{file}\n" for name, file in files]
    (tmp_path / "pages.tsv").write_text("".join(lines))
    done = twinlink("mine", tmp_path / "pages.tsv", "-o", tmp_path / "run", "--langs", "en,zh-TW")
    assert "zh-TW: zh-Hans (1 site), zh-Hant (1 site)" in done.stdout, done.stderr
    assert done.returncode == 0


def two_versions(chinese: str) -> dict[str, str]:
    english = "This page is about the opening hours of the library and its books"
    return {
        f"{lang}/{n}.html": page(f"{text} {n}{n}{n}")
        for n in range(6)
        for lang, text in (("en", english), ("zh", chinese))
    }


def test_json_has_what_languages_mean(toy: Path) -> None:
    assert twinlink("match", toy, "--langs", "en,zh-TW", "--json").object["meant"] == {"zh-TW": {"zh-Hant": 1}}
    assert twinlink("match", toy, "--langs", "en,zh", "--json").object["meant"] == {}
