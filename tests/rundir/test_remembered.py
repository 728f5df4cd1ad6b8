"""What a run remembers: one rule for all commands and for the library."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

import twinlink as tl
from tests.calling import Done, mine_toy, twinlink
from tests.loopback import links, serving
from tests.made_sites import BASE
from twinlink.config import Config, IngestSettings
from twinlink.errors import ConfigError, CrawlError, LexiconError, NothingFoundError, RunError
from twinlink.jobs.stages import crawl_stage
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import call_settings, flat, remember, remembered

pytestmark = pytest.mark.xdist_group("remembering")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the toy site and of its run."""
    folder = tmp_path_factory.mktemp("toy")
    assert mine_toy(folder).returncode == 0
    return folder


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy / "run", tmp_path / "run"))


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    file = tmp_path / "words.tsv"
    file.write_text("library\t圖書館\nswimming\t游泳\n", encoding="utf-8")
    return file


def config_of(run: Path) -> Config:
    return Config.load(run / "config.toml")


def told(done: Done) -> list[str]:
    """Return the lines that tell of remembered settings."""
    assert done.returncode == 0, done
    return [line for line in done.stderr.splitlines() if line.startswith("remembered in")]


def test_a_lexicon_that_is_not_there_is_not_remembered(run: Path) -> None:
    before = (run / "config.toml").read_text()
    assert twinlink("match", run, "--lexicon", "nofile.tsv").returncode == 2
    assert (run / "config.toml").read_text() == before
    for verb in ("match", "align"):
        assert twinlink(verb, run).returncode == 0


@pytest.mark.parametrize("verb", ["match", "align"])
def test_an_error_about_a_remembered_setting_says_where_it_is_and_how_to_clear_it(
    run: Path, lexicon: Path, verb: str
) -> None:
    assert twinlink("match", run, "--lexicon", lexicon).returncode == 0
    lexicon.unlink()
    done = twinlink(verb, run)
    assert done.returncode == 2
    clear = "--forget match.lexicons"
    assert f"match.lexicons is remembered in {run}/config.toml; `{clear}` takes the default" in done.stderr
    assert twinlink(verb, run, *clear.split()).returncode == 0
    assert twinlink("match", run, *clear.split()).returncode == 0
    assert config_of(run).match.lexicons == ()
    assert twinlink(verb, run).returncode == 0


def test_an_error_about_what_was_given_now_does_not_blame_what_is_remembered(run: Path, lexicon: Path) -> None:
    assert twinlink("match", run, "--lexicon", lexicon).returncode == 0
    done = twinlink("match", run, "--lexicon", "nofile.tsv")
    assert done.returncode == 2
    assert "remembered in" not in done.stderr.splitlines()[-1]


def test_languages_that_are_not_there_leave_the_pairs_and_what_is_remembered(run: Path) -> None:
    before = (run / "pairs.tsv").read_text()
    done = twinlink("match", run, "--langs", "en,rus")
    assert done.returncode == 5
    assert "0 pairs: no page is in rus (Russian), of langs en,rus. The run keeps its 5 pairs" in done.stderr
    assert "rejected in match: other-language" in done.stdout
    assert f"next: twinlink match {run} --langs en,zh-Hant" in done.stderr
    assert (run / "pairs.tsv").read_text() == before
    assert twinlink("match", run).returncode == 0
    assert (run / "pairs.tsv").read_text() == before
    assert config_of(run).langs == ("en", "zh")


def test_the_first_match_without_a_pair_is_kept_but_not_remembered(tmp_path: Path) -> None:
    assert mine_toy(tmp_path, "--langs", "en,rus").returncode == 5
    run = tmp_path / "run"
    assert "other-language" in twinlink("explain", run, f"{BASE}/zh/a.html").stdout
    assert config_of(run).langs == ()
    assert config_of(run).ingest.base_url == BASE, "reading has succeeded"
    assert twinlink("match", run).returncode == 0
    assert (run / "pairs.tsv").read_text().count("\n") == 6


def mine(run: Path, toy: Path, *options: object) -> Done:
    return twinlink("mine", toy / "toy", "-o", run, *options)


@pytest.mark.parametrize("first", ["mine", "match"])
@pytest.mark.parametrize("then", ["mine", "match"])
@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (("--min-precision", "0.3"), "match.min_precision", 0.3),
        (("--method", "liu2014"), "match.method", "liu2014"),
        (("--min-probability", "0.1"), "match.min_probability", 0.1),
        (("--langs", "zh,en"), "langs", ["zh", "en"]),
    ],
)
def test_mine_and_match_remember_by_one_rule(
    toy: Path, run: Path, first: str, then: str, options: tuple[str, ...], name: str, value: object
) -> None:
    def call(verb: str, *words: str) -> Done:
        return mine(run, toy, *words) if verb == "mine" else twinlink("match", run, *words)

    assert call(first, *options).returncode == 0
    (line,) = told(call(then))
    said = ",".join(value) if isinstance(value, list) else value
    assert f"{name}={said}" in line
    assert f"{run}/config.toml" in line
    assert "--forget NAME takes the default" in line
    assert list(flat(config_of(run))[name]) == value if isinstance(value, list) else flat(config_of(run))[name] == value
    assert name not in "".join(told(call(then, *options))), "it is given, not remembered"
    forgot = call(then, "--forget", name)
    assert name not in "".join(told(forgot))
    assert flat(config_of(run))[name] == flat(Config())[name]


def test_nothing_is_reported_about_defaults_of_other_stages_or_when_quiet(run: Path) -> None:
    assert twinlink("match", run, "--langs", "en,zh", "--forget", "langs").returncode == 0
    (line,) = told(twinlink("ingest", "-o", run))
    assert "ingest.base_url" in line
    assert "langs" not in line
    assert told(twinlink("match", run, "--langs", "en,zh")) == []
    assert told(twinlink("match", run, "-q")) == []
    assert told(twinlink("report", run)) == []


def test_the_formats_of_an_alignment_are_remembered(run: Path) -> None:
    assert twinlink("align", run, "--format", "jsonl").returncode == 0
    (line,) = told(twinlink("align", run))
    assert "bitext.formats=jsonl" in line
    assert [file.suffix for file in sorted((run / "align").glob("en-*"))] == [".jsonl", ".tsv"]
    assert twinlink("align", run, "--forget", "bitext").returncode == 0
    assert (run / "align" / "en-zh-Hant.tmx").is_file()


@pytest.mark.parametrize("langs", ["", "en-zh="])
@pytest.mark.parametrize("option", ["--warm", "--set", "--config", "library"])
def test_sentence_pairs_to_learn_from_are_found_from_another_folder(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, langs: str
) -> None:
    (tmp_path / "memory.tsv").write_text("The library is old.\t圖書館很舊。\n", encoding="utf-8")
    (tmp_path / "c.toml").write_text(f'[bitext]\nwarm = ["{langs}memory.tsv"]\n')
    given = {"--warm": f"{langs}memory.tsv", "--set": f"bitext.warm={langs}memory.tsv", "--config": "c.toml"}
    monkeypatch.chdir(tmp_path)
    if option == "library":
        tl.open(run).align(bitext__warm=[f"{langs}memory.tsv"])
    else:
        assert twinlink("align", run, option, given[option]).returncode == 0
    assert config_of(run).bitext.warm == (f"{langs}{tmp_path / 'memory.tsv'}",)
    monkeypatch.chdir("/")
    assert "done again" not in twinlink("align", run).stderr


def test_an_unknown_language_of_sentence_pairs_to_learn_from_does_not_blame_the_run(run: Path) -> None:
    assert twinlink("match", run, "--langs", "en,zh").returncode == 0
    done = twinlink("align", run, "--warm", "en-xx=memory.tsv")
    assert done.returncode == 2
    assert "bitext.warm: 'xx': no language has this code or name" in done.stderr
    assert "remembered in" not in done.stderr.splitlines()[-1]


def test_settings_of_the_alignment_are_reported_where_mine_aligns(toy: Path, run: Path) -> None:
    assert twinlink("align", run, "--set", "bitext.filters.min_chance=0.5").returncode == 0
    assert "bitext" not in "".join(told(mine(run, toy)))
    assert "bitext.filters.min_chance=0.5" in "".join(told(mine(run, toy, "--align")))


def test_a_library_of_patterns_is_remembered_and_counts_where_patterns_do(run: Path, tmp_path: Path) -> None:
    assert twinlink("match", run, "--method", "liu2014").returncode == 0
    assert twinlink("patterns", run, "--export", tmp_path / "library.tsv").returncode == 0
    assert twinlink("patterns", run, "--library", tmp_path / "library.tsv").returncode == 0
    assert config_of(run).match.patterns.libraries == (str(tmp_path / "library.tsv"),)
    done = twinlink("match", run)
    assert done.returncode == 0
    assert "done again" not in done.stderr
    assert "match.patterns.libraries" in twinlink("match", run, "--method", "weighed").stderr


def test_what_is_done_again_is_reported_before_with_what_comes_after(run: Path) -> None:
    assert twinlink("align", run).returncode == 0
    lines = twinlink("match", run, "--min-precision", "0.3").stderr.splitlines()
    again = "match is done again (match.min_precision none → 0.3); align/ must be rebuilt"
    (place,) = (number for number, line in enumerate(lines) if line.startswith(again))
    (progress,) = (number for number, line in enumerate(lines) if line.startswith("match: ") and "100 %" in line)
    assert place < progress
    assert (run / "align" / "en-zh-Hant.tsv").is_file()
    assert "align is done again (its input has changed)" in twinlink("align", run).stderr


def test_no_sentence_pair_leaves_those_of_before(run: Path) -> None:
    assert twinlink("align", run).returncode == 0
    before = (run / "align" / "en-zh-Hant.tsv").read_text()
    done = twinlink("align", run, "--set", "bitext.filters.min_words=99")
    assert (done.returncode, "0 sentence pairs" in done.stderr) == (5, True)
    assert (run / "align" / "en-zh-Hant.tsv").read_text() == before
    assert config_of(run).bitext == Config().bitext


def test_a_lexicon_of_a_settings_file_is_found_from_another_folder(
    run: Path, lexicon: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lexicon.parent / "c.toml").write_text(f'[match]\nlexicons = ["{lexicon.name}"]\n')
    monkeypatch.chdir(lexicon.parent)
    assert twinlink("match", run, "-c", "c.toml").returncode == 0
    monkeypatch.chdir("/")
    assert twinlink("match", run).returncode == 0
    assert config_of(run).match.lexicons == (str(lexicon),)


def test_settings_of_the_call_come_last(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    remember(run, Config().override({"langs": ["en", "zh"], "match.ets.alpha": 0.2, "match.max_pairs": 7}), "match")
    file = tmp_path / "c.toml"
    file.write_text("[match.ets]\nalpha = 0.3\nrounds = 1\n")
    call = call_settings(run.path, {"match.ets.rounds": 2}, file, ["langs"])
    assert (call.config.langs, call.config.match.ets.alpha, call.config.match.ets.rounds) == ((), 0.3, 2)
    assert call.applied == {"match.max_pairs": 7}
    assert call_settings(run.path, {}, None, ["all"]).config == Config()
    with pytest.raises(ConfigError, match=r"did you mean match\.max_pairs"):
        call_settings(run.path, {}, None, ["match.maxpairs"])


def test_stages_remember_what_they_use_and_nothing_else(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    config = Config().override({"langs": ["en", "zh"], "crawl.again": True, "crawl.max_pages": 7, "bitext.rounds": 9})
    remember(run, config, "crawl")
    assert remembered(run) == Config().override({"crawl.max_pages": 7})
    remember(run, config, "align")
    assert remembered(run) == Config().override({"crawl.max_pages": 7, "bitext.rounds": 9})
    changed = run.config_file.stat().st_mtime_ns
    remember(run, config, "align", "crawl")
    assert run.config_file.stat().st_mtime_ns == changed, "what is there is not written again"


@pytest.mark.parametrize("has_pages", [True, False])
def test_a_crawl_that_is_stopped_remembers_from_its_first_page_on(tmp_path: Path, has_pages: bool) -> None:
    pages = {"/": links("/one.html", "/two.html"), "/one.html": links(), "/two.html": links()} if has_pages else {}
    run = RunDirectory.create(tmp_path / "run")

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        if done:
            raise KeyboardInterrupt

    config = Config().override({"crawl.site_by": "host", "crawl.retries": 0, "langs": ["en", "zh"]})
    with serving(pages.get) as server, pytest.raises(KeyboardInterrupt if has_pages else CrawlError):
        crawl_stage([server.url], run, config, report)
    assert run.config_file.exists() == has_pages
    if has_pages:
        assert RunDirectory.existing(run.path)
        assert remembered(run) == Config().override({"crawl.site_by": "host", "crawl.retries": 0})


def test_a_notebook_follows_the_same_rule(run: Path, toy: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = str(toy / "toy")
    first = tl.mine(source, out=run, match__min_precision=0.3)
    again = tl.mine(source, out=run)
    assert again.config == first.config
    assert again.config.match.min_precision == 0.3
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert any("match is done again (match.min_precision none → 0.3)" in line for line in lines)
    assert any("match.min_precision=0.3 (forget=[NAME] takes the default)" in line for line in lines)
    assert tl.mine(source, out=run, forget=["match__min_precision"]).config.match.min_precision is None
    with pytest.raises(LexiconError):
        tl.mine(source, out=run, match__lexicons=["/nowhere.tsv"])
    assert again.reload().config.match.lexicons == ()
    with pytest.raises(NothingFoundError, match="no page is in rus"):
        tl.mine(source, out=run, langs="en,rus")
    assert len(tl.open(run).pairs) == 5
    with pytest.raises(RunError, match="was made from"):
        tl.mine(str(toy / "run"), out=run)
    assert again.align(bitext__formats=["jsonl"]).config.bitext.formats == ("jsonl",)
    assert again.align(forget=["bitext"]).reload().config.bitext == Config().bitext
    assert again.match(match__min_precision=0.3).config.match.min_precision == 0.3
    assert again.match(forget="match__min_precision").config.match.min_precision is None


def test_a_run_of_an_earlier_version_opens_and_keeps_its_pages(run: Path, toy: Path) -> None:
    """It remembers all settings of that version, and signed those of ingest with `site_by` among them."""
    directory = RunDirectory(run)
    signature = directory.read_signature("ingest")
    assert signature is not None
    assert signature.settings["ingest"].keys() == {*IngestSettings.__struct_fields__, "site_by"}
    text = run.joinpath("config.toml").read_text()
    run.joinpath("config.toml").write_text(text.replace("[ingest]\n", '[ingest]\nsite_by = "domain"\n'))
    assert tl.open(run).config == config_of(toy / "run")
    done = mine(run, toy)
    assert (done.returncode, directory.read_signature("ingest")) == (0, signature)
    assert "ingest is done again" not in done.stderr
    assert "site_by" not in run.joinpath("config.toml").read_text().partition("[ingest]")[2]
    assert "(crawl.site_by domain → host)" in mine(run, toy, "--set", "crawl.site_by=host").stderr
    with pytest.raises(ConfigError, match="did you mean"):
        Config().override({"ingest.site_by": "host"})


def test_a_run_with_a_setting_that_never_existed_is_refused(run: Path) -> None:
    text = run.joinpath("config.toml").read_text()
    run.joinpath("config.toml").write_text(text.replace("[ingest]\n", '[ingest]\nsites_by = "domain"\n'))
    with pytest.raises(ConfigError, match=r"there is no setting `sites_by`.*The run remembers its settings"):
        _ = tl.open(run).config
