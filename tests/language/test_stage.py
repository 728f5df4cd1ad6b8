"""Stage languages: a language for each page, which URL patterns respect."""

from __future__ import annotations

import pytest

from tests.made_sites import page, write_pages
from twinlink.config import Config
from twinlink.errors import MissingStageError
from twinlink.ingest.stage import ingest
from twinlink.language.stage import identify_pages, language_tables
from twinlink.patterns.stage import PAIRS_FILE, learn_run
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import LANGUAGES, PAGES, read_table

CONFIG = Config()
EN, ZH = "The opening hours of the public library, number {}", "公共圖書館的開放時間，第{}號"


def pairs(run):
    learn_run(run, CONFIG)
    return (run.stage_folder("patterns") / PAIRS_FILE).read_text(encoding="utf-8").splitlines()


def site(folder):
    """Five articles in two languages, five with a print version."""
    names = {f"{lang}/a{k}.html": page(text.format(k)) for k in range(5) for lang, text in (("en", EN), ("tc", ZH))}
    names |= {f"{form}/b{k}.html": page(EN.format(k + 50)) for k in range(5) for form in ("view", "print")}
    write_pages(folder / "www.x.hk", names)
    return folder


def test_pages_of_one_language_are_no_pair_of_a_pattern(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site(tmp_path / "mirror")], CONFIG.ingest)
    by_addresses = pairs(run)
    assert len(by_addresses) == 10
    assert sum("print" in line for line in by_addresses) == 5
    identify_pages(run)
    by_languages = pairs(run)
    assert by_languages == [line for line in by_addresses if "print" not in line]


def test_every_page_has_a_language_and_the_stage_is_done_once(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site(tmp_path / "mirror")], CONFIG.ingest)
    steps = []
    identify_pages(run, lambda done, total: steps.append((done, total)))
    identify_pages(run, lambda done, total: steps.append((done, total)))
    assert steps == [(1, 1)]
    found = read_table(run.stage_folder("languages"), LANGUAGES).to_pylist()
    url_of = {row["page_id"]: row["url"] for row in read_table(run.path / "ingest" / "pages", PAGES).to_pylist()}
    assert {url_of[row["page_id"]]: row["lang"] for row in found} == {
        url: "zh-Hant" if "/tc/" in url else "en" for url in url_of.values()
    }


def test_languages_of_other_pages_do_not_count(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site(tmp_path / "mirror")], CONFIG.ingest)
    assert language_tables(run) is None
    identify_pages(run)
    assert language_tables(run) is not None
    write_pages(tmp_path / "mirror" / "www.x.hk", {"en/late.html": page(EN.format(99))})
    ingest(run, [tmp_path / "mirror"], CONFIG.ingest)
    assert language_tables(run) is None
    assert len(pairs(run)) == 10


def test_without_pages_there_are_no_languages(tmp_path):
    with pytest.raises(MissingStageError):
        identify_pages(RunDirectory.create(tmp_path))
