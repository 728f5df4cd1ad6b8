"""Settings: TOML file, overrides over it, and clear refusals."""

from __future__ import annotations

import pytest

from twinlink.config import Config
from twinlink.config.align import TagAlignerSettings
from twinlink.errors import ConfigError


def test_defaults_survive_toml(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(Config().to_toml(), encoding="utf-8")
    assert Config.load(path) == Config()


def test_every_setting_survives_toml(tmp_path):
    path = tmp_path / "config.toml"
    config = Config().override(
        {"langs": ["en", "zh-Hant"], "crawl.delay": 0.5, "match.max_pairs": 7, "match.lexicons": ["a b.tsv"]}
    )
    path.write_text(config.to_toml(), encoding="utf-8")
    assert Config.load(path) == Config.load(str(path)) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crawl = 3", "crawl: expected a table of settings, got a whole number"),
        ("[match.ets]\nalpha = 1.5", r"match\.ets\.alpha: expected a number <= 1\.0, got 1\.5"),
        ("[match.ets]\nalfa = 0.5", r"match\.ets: there is no setting `alfa`"),
        ("[crawl]\nmax_pages = 0", "max_pages"),
        ("[match.internal]\ncontent = 'magic'", "content"),
        ("langs = [", "not a TOML file"),
        ("langs = " + "9" * 100_000, "a number with too many digits"),
        ("[crawl]\nmax_pages = 0x" + "f" * 5_000, "crawl.max_pages: expected a number of at most 18 digits"),
        ("[match]\nmax_pairs = 1_000_000_000_000_000_000", "match.max_pairs: expected a number of at most 18 digits"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 50_000, "nested too deeply"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        Config.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 500_000) + " = 1",
        ".".join(["a"] * 500_000),
        "langs = ['en']\n[ " + " . ".join(["'a.b'"] * 50_000) + " ]",
        '[match]\nx = [1, {"a" . ' + ".".join(['"."'] * 50_000) + " = 1}]",
        '# """\nmatch' + ".a" * 50_000 + "=1",
    ],
)
def test_names_without_an_end_are_refused_before_they_are_parsed(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a name of \d+ parts; names of settings have at most 32"):
        Config.load(path)  # half a million parts would take an hour, and all memory


def test_dots_in_values_are_no_names(tmp_path):
    hosts = ".".join(["www"] * 40)
    path = tmp_path / "config.toml"
    lines = [
        f"crawl.contact = '{hosts}' # {hosts}",
        f'crawl.include = ["{hosts}", """{hosts}\n""", \'\'\'{hosts}\'\'\']',
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    config = Config.load(path)
    assert (config.crawl.contact, config.crawl.include) == (hosts, (hosts, hosts + "\n", hosts))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="no such settings file"):
        Config.load(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["alpha", "match.alpha", "match.ets.alpha.x", "", "match..alpha"])
def test_an_unknown_setting_is_refused(name):
    with pytest.raises(ConfigError, match="no setting"):
        Config().override({name: 1})


def test_a_name_that_is_almost_one_is_reported():
    with pytest.raises(ConfigError, match=r"no setting 'match\.ets\.alpa'; did you mean match\.ets\.alpha\?"):
        Config().override({"match.ets.alpa": 0.5})


def test_a_name_like_no_other_is_answered_by_what_lists_all():
    with pytest.raises(ConfigError, match=r"no setting 'foo'; in Python, `print\(twinlink\.Config\(\)\.to_toml\(\)\)`"):
        Config().override({"foo": 1})
    assert "[match.ets]" in Config().to_toml()


def test_a_list_of_one_item_needs_no_brackets():
    assert Config().override({"bitext.tags.swaps": "heading-list=0.5"}).bitext.tags.swaps == ("heading-list=0.5",)
    assert Config().override({"crawl.include": ["/a,b/"]}).crawl.include == ("/a,b/",)
    with pytest.raises(ConfigError, match=r"crawl\.include"):
        Config().override({"crawl.include": 3})


@pytest.mark.parametrize("text", ["heading=1", "heading-nothing=1", "heading-list=0", "heading-list=x"])
def test_a_weight_of_two_categories_is_checked_before_it_is_used(tmp_path, text):
    message = r"bitext\.tags\.swaps: expected two of section, .* and a number above 0, such as heading-list=0\.5; got"
    with pytest.raises(ConfigError, match=f"settings: {message} '{text}'"):
        Config().override({"bitext.tags.swaps": text})
    (tmp_path / "c.toml").write_text(f'[bitext.tags]\nswaps = ["{text}"]\n')
    with pytest.raises(ConfigError, match=rf"c\.toml: {message}"):
        Config.load(tmp_path / "c.toml")
    with pytest.raises(ConfigError, match=message):
        TagAlignerSettings(swaps=(text,))


def test_overriding_leaves_the_original_alone():
    config = Config()
    assert config.override({"match.ets.alpha": 0.1}).match.ets.alpha == 0.1
    assert config == Config()


def test_a_file_over_other_settings_leaves_what_it_does_not_name(tmp_path):
    path = tmp_path / "more.toml"
    path.write_text("[match.ets]\nalpha = 0.1\n")
    base = Config().override({"ingest.base_url": "http://a.org/", "match.ets.rounds": 2})
    found = Config.load(path, base)
    assert (found.ingest.base_url, found.match.ets.rounds, found.match.ets.alpha) == ("http://a.org/", 2, 0.1)


@pytest.mark.parametrize(("text", "items"), [("tmx", ("tmx",)), ("tmx,tsv", ("tmx", "tsv")), (" moses , ", ("moses",))])
def test_a_text_gives_a_list_of_choices(text, items):
    assert Config().override({"bitext.formats": text}).bitext.formats == items


def test_a_text_is_one_item_of_a_list_that_takes_any():
    assert Config().override({"bitext.lexicons": "a,b.tsv"}).bitext.lexicons == ("a,b.tsv",)


@pytest.mark.parametrize(
    ("named", "allowed"),
    [
        ({"bitext.formats": ["tmx", "xlsx"]}, "tmx, tsv, moses, jsonl"),
        ({"bitext.formats": "tmx,xlsx"}, "tmx, tsv, moses, jsonl"),
        ({"bitext.formats": ""}, "tmx, tsv, moses, jsonl"),
        ({"bitext.compress": "rar"}, "'', gzip, zstd"),
    ],
)
def test_a_wrong_choice_is_reported_with_those_that_there_are(named, allowed):
    with pytest.raises(ConfigError) as error:
        Config().override(named)
    assert set(str(error.value).partition("choose from ")[2].split(", ")) == set(allowed.split(", "))


@pytest.mark.parametrize(
    ("size", "n_bytes"), [("2GB", 2 * 10**9), ("512MiB", 2**29), ("1500 kB", 1_500_000), (10**6, 10**6), ("0", 0)]
)
def test_memory_is_a_number_of_bytes_or_a_size(tmp_path, size, n_bytes):
    config = Config().override({"run.memory": size})
    assert config.run.memory == n_bytes
    (tmp_path / "c.toml").write_text(config.to_toml())
    assert Config.load(tmp_path / "c.toml") == config
    assert config.memory.n_bytes == n_bytes or not n_bytes


@pytest.mark.parametrize("size", ["much", "2 G B", "-1", "1e9", "GB", -1, 1.5, True, "4", 512, "999kB"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(ConfigError, match=r"settings: run\.memory: expected .*"):
        Config().override({"run.memory": size})
