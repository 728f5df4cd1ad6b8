"""Stage match: languages, groups, pairs and a reason for every page without one."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from tests.dictionaries import write_dictd
from tests.made_sites import BASE, LANGS, page, write_pages, write_town, write_toy
from twinlink.config import Config, MatchSettings
from twinlink.config.match import WeighingSettings
from twinlink.config.patterns import PatternSettings
from twinlink.errors import ConfigError, InputError, LexiconError, MissingStageError
from twinlink.graph import propagation
from twinlink.ingest.stage import ingest
from twinlink.language.site_languages import site_languages
from twinlink.match import measures, site
from twinlink.match import stage as module
from twinlink.match.expected_memory import too_large
from twinlink.match.stage import match
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity import lexicon_sets, page_search, structure
from twinlink.similarity.installed_dictionaries import installed_dictionaries
from twinlink.similarity.lexicon_sets import RECORD
from twinlink.system import side_by_side, workers
from twinlink.system.workers import worker_processes
from twinlink.tables.parts import iter_parts
from twinlink.text.chinese import load_dictionary
from twinlink.toy import toy_site

CONFIG = Config().override(
    {"langs": list(LANGS), "ingest.base_url": BASE, "match.method": "liu2014", "match.min_score": 0.0}
)


def matched(tmp_path, folder, config=CONFIG):
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(config.to_toml())
    ingest(run, [folder], config.ingest)
    match(run, config)
    return Run(run.path)


def test_the_toy_site_gives_its_five_pairs(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    assert set(zip(run.pairs["url_a"], run.pairs["url_b"], strict=True)) == set(toy_site().pairs)
    assert run.pairs["external"].max() > 0


def test_pairs_file_has_a_header_and_every_pair(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    lines = (run.path / "pairs.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:5] == ["url_a", "url_b", "lang_a", "lang_b", "probability"]
    assert len(lines) == 6
    assert {len(line.split("\t")) for line in lines} == {len(run.pairs.columns)}


def test_the_numbers_of_a_pair_are_those_of_its_candidate(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    both = run.pairs.merge(run.candidates, on=["page_a", "page_b"], suffixes=("", "_c"))
    assert len(both) == 5
    for name in ("score", "content", "structure", "internal", "external"):
        assert np.array_equal(both[name], both[f"{name}_c"])
    ets = CONFIG.match.ets
    expected = (1 - ets.alpha) * both["internal"] + ets.alpha * both["external"]
    assert np.allclose(both["score"], expected, atol=1e-6)


@pytest.mark.parametrize("n", [2, 4])
def test_any_number_of_workers_gives_the_same(tmp_path, monkeypatch, n):
    for host in range(5):
        write_town(tmp_path / "sites" / f"www.town{host}.org", 3 + 2 * host, first=10 * host)
    config = Config().override({"langs": ["en", "fr"]})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], config.ingest)
    monkeypatch.setattr(module, "TASK_BYTES", 12_000)
    match(run, config)
    alone, counts = files_of(run.path / "match"), []
    assert sum(name.startswith("pairs/") for name in alone) == 5
    (run.path / "match" / "signature.json").unlink()
    (run.path / "match" / "sites.json").unlink()
    with worker_processes(n) as executor:
        match(run, config, lambda *step: counts.append(step), executor=executor)
    assert files_of(run.path / "match") == alone
    n_pages = len(Run(run.path).pages)
    assert [n for n, _, _ in counts] == sorted(n for n, _, _ in counts)
    assert counts[-1] == (n_pages, n_pages, "")
    assert not [path for path in run.path.rglob(".*") if path != run.lock_file]


@pytest.mark.parametrize("n", [2, 4])
def test_any_number_of_cores_gives_the_same_for_one_site(tmp_path, monkeypatch, n):
    """Its pages are done in parts, by forked processes and by threads."""
    write_town(tmp_path / "site", 40, first=0)
    config = Config().override({"langs": ["en", "fr"], "ingest.base_url": "https://www.town.org/"})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "site"], config.ingest)
    match(run, config)
    alone = files_of(run.path / "match")
    (run.path / "match" / "signature.json").unlink()
    (run.path / "match" / "sites.json").unlink()
    forks = []
    monkeypatch.setattr(side_by_side, "FORK_SECONDS", 1e-6)
    monkeypatch.setattr(side_by_side, "THREAD_SECONDS", 0)
    monkeypatch.setattr(side_by_side, "RANGE_SECONDS", 1e-6)
    monkeypatch.setattr(measures, "MANY_PAGES", 0)  # candidates and structure in parts, too
    monkeypatch.setattr(page_search, "_PART", 1)
    monkeypatch.setattr(structure, "_FEW", 0)
    monkeypatch.setattr(propagation, "FEW_CANDIDATES", 0)
    monkeypatch.setattr(side_by_side, "_Copy", lambda *given, copy=side_by_side._Copy: forks.append(n) or copy(*given))
    with worker_processes(n) as executor:
        match(run, config, executor=executor)
    assert forks
    assert files_of(run.path / "match") == alone


def test_steps_of_other_processes_are_reported(tmp_path, monkeypatch):
    for host in range(4):
        write_town(tmp_path / "sites" / f"www.town{host}.org", 40, first=40 * host)
    config = Config().override({"langs": ["en", "fr"]})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], config.ingest)
    monkeypatch.setattr(module, "TASK_BYTES", 1)
    monkeypatch.setattr(module, "STEP_BYTES", 0)
    monkeypatch.setattr(workers, "POLL_SECONDS", 0.001)
    seen = []
    with worker_processes(2) as executor:
        match(run, config, lambda *step: seen.append(step), executor=executor)
    steps = {step for _, _, step in seen}
    assert any(step.startswith("town") and step.endswith("en-fr: round 1 of 4") for step in steps), steps
    assert any(step.endswith(": languages") for step in steps), steps
    assert seen[-1][2] == ""


def test_small_sites_of_a_task_are_counted_before_its_end(tmp_path, monkeypatch):
    for host in range(6):
        write_town(tmp_path / "sites" / f"www.town{host}.org", 2, first=10 * host)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    # One task of three sites for each thread; the last of each waits until the two before it are reported.
    monkeypatch.setattr(module, "_batches", lambda parts: iter([sorted(parts)[:3], sorted(parts)[3:]]))
    monkeypatch.setattr(workers, "POLL_SECONDS", 0.01)
    counted, seen, really_write = threading.Event(), [], module.write_site

    def write_site(result, folder, part, writer):
        if part.stem in ("town2.org", "town5.org"):
            assert counted.wait(60)
        really_write(result, folder, part, writer)

    def on_pages(done, total, step):
        seen.append((done, step))
        if done >= 16:
            counted.set()

    monkeypatch.setattr(module, "write_site", write_site)
    with ThreadPoolExecutor(2) as executor:
        match(run, Config().override({"langs": ["en", "fr"]}), on_pages, executor=executor)
    assert 16 in [done for done, _ in seen]
    assert seen[-1] == (24, "")


def files_of(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_every_page_is_in_a_pair_or_has_a_reason(tmp_path):
    folder = write_toy(tmp_path / "toy")
    russian = "Эта страница на русском языке рассказывает о погоде и о городской библиотеке."
    write_pages(folder, {"ru.html": page(russian), "numbers.html": page("1 2 3")})
    run = matched(tmp_path, folder)
    paired = set(run.pairs["url_a"]) | set(run.pairs["url_b"])
    rejected = run.rejects[run.rejects["stage"] == "match"].set_index("url")["reason"].to_dict()
    assert paired.isdisjoint(rejected)
    assert paired | set(rejected) == set(run.pages["url"])
    assert rejected[f"{BASE}/ru.html"] == "other-language"
    assert rejected[f"{BASE}/numbers.html"] == "no-language"


def test_a_cut_above_every_score_leaves_no_pair_but_a_reason_for_each_page(tmp_path):
    config = CONFIG.override({"match.min_score": 1.0, "match.ets.alpha": 0.5})
    run = matched(tmp_path, write_toy(tmp_path / "toy"), config)
    assert run.pairs.empty
    assert set(run.rejects["reason"]) == {"over-limit"}
    assert all("match.min_score leaves out its pair with" in detail for detail in run.rejects["detail"])
    assert len(run.rejects) == 10


def test_max_pairs_is_kept(tmp_path):
    assert len(matched(tmp_path, write_toy(tmp_path / "toy"), CONFIG.override({"match.max_pairs": 2})).pairs) == 2


def test_a_second_call_is_skipped_and_another_setting_is_not(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    seen = []
    match(RunDirectory(run.path), CONFIG, lambda *step: seen.append(step))
    assert seen == []
    match(RunDirectory(run.path), CONFIG.override({"match.ets.alpha": 0.1}), lambda *step: seen.append(step))
    assert seen[-1] == (10, 10, "")
    assert [step for _, _, step in seen[:3]] == ["languages", "en-zh-Hant: words", f"en-zh-Hant: {CONFIG.match.method}"]


def test_a_lost_pairs_file_is_written_again(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    text = (run.path / "pairs.tsv").read_text()
    (run.path / "pairs.tsv").unlink()
    match(RunDirectory(run.path), CONFIG)
    assert (run.path / "pairs.tsv").read_text() == text


def test_matching_before_ingesting_is_refused(tmp_path):
    with pytest.raises(MissingStageError, match="ingest"):
        match(RunDirectory.create(tmp_path / "run"), CONFIG)


def test_a_lexicon_that_is_not_there_is_refused(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    with pytest.raises(LexiconError):
        match(RunDirectory(run.path), CONFIG.override({"match.lexicons": ["none.tsv"]}))


@pytest.mark.parametrize("cut", [{"match.min_precision": 0.9}, {"match.min_probability": 0.9}])
def test_a_cut_by_probabilities_is_refused_where_the_method_gives_none(tmp_path, cut):
    with pytest.raises(ConfigError, match="gives no probabilities"):
        match(RunDirectory.create(tmp_path / "run"), CONFIG.override({"match.method": "urls", **cut}))


def test_a_page_in_two_languages_has_its_own_reason(tmp_path):
    folder = write_toy(tmp_path / "toy")
    notice = (
        "<p>The office is closed on all public holidays.<p>辦事處於所有公眾假期休息，不便之處敬請原諒。"
        "<p>Forms can be handed in at the counter.<p>表格可於櫃位遞交，詳情請向職員查詢。"
        "<p>Please bring your identity card with you.<p>請攜帶閣下的身份證明文件。"
        "<p>All fees are paid in cash at the counter.<p>所有費用須於櫃位以現金繳付。"
    )
    write_pages(folder, {"both.html": page(notice)})
    rejects = matched(tmp_path, folder).rejects
    assert rejects.set_index("url")["reason"][f"{BASE}/both.html"] == "two-languages"


def test_the_language_finder_can_be_replaced(tmp_path):
    def none(blocks, declared, wanted, settings=None, links=None, hints=None):
        assert links.shape == (len(blocks), len(blocks))
        assert len(hints) == len(blocks)
        return ["und"] * len(blocks), np.zeros(len(blocks), np.float32)

    run, other = (RunDirectory.create(tmp_path / name) for name in ("run", "other"))
    for each in (run, other):
        ingest(each, [write_toy(tmp_path / "toy")], CONFIG.ingest)
    assert match(run, CONFIG, find_languages=none) != match(other, CONFIG)
    assert len(Run(run.path).pairs) == 0
    assert set(Run(run.path).rejects["reason"]) == {"no-language"}


PATTERNS = PatternSettings(min_pairs=9)


@pytest.mark.parametrize(
    ("method", "evidence", "counts"),
    [
        ("urls", ("content",), True),
        ("weighed", ("content", "pattern"), True),
        ("weighed", ("content",), False),
        ("liu2014", ("content", "pattern"), False),
        ("jangeldin", ("content", "pattern"), False),
    ],
)
def test_settings_of_patterns_count_where_patterns_are_used(method, evidence, counts):
    settings = MatchSettings(method=method, weighing=WeighingSettings(evidence=evidence), patterns=PATTERNS)
    assert module._that_count(settings).patterns == (PATTERNS if counts else PatternSettings())


def test_another_language_finder_is_signed_by_its_name():
    def finder():
        raise NotImplementedError

    class Finder:
        pass

    assert "find_languages" not in module._signed_settings(CONFIG, LANGS, site_languages)
    assert module._signed_settings(CONFIG, LANGS, finder)["find_languages"].endswith(".finder")
    assert module._signed_settings(CONFIG, LANGS, Finder())["find_languages"].endswith(".Finder")


def test_every_two_languages_that_are_matched_face_each_other():
    table = pa.table({"lang": ["en", "de", "fr", "und", "zh-Hant", "zh-Hans"]})
    assert module._facing_languages(table, ["en", "fr"], [""] * 6) == {("en", "fr")}
    assert module._facing_languages(table, ["en", "zh"], [""] * 6) == {("en", "zh-Hans"), ("en", "zh-Hant")}


def test_small_sites_are_matched_together_and_the_largest_first(tmp_path, monkeypatch):
    sizes = {"a": 3, "b": 10, "c": 4, "d": 2, "e": 6, "f": 1}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    monkeypatch.setattr(module, "TASK_BYTES", 10)
    batches = module._batches(tmp_path / name for name in sizes)
    assert [[part.name for part in batch] for batch in batches] == [["b"], ["e", "c"], ["a", "d", "f"]]
    (tmp_path / "g").write_bytes(b"x" * 4)
    whole = module._batches(tmp_path / name for name in [*sizes, "g"])
    assert [[part.name for part in batch] for batch in whole] == [["b"], ["e", "g"], ["c", "a", "d", "f"]]


def test_a_match_that_is_done_remembers_its_settings_again(tmp_path):
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    file = RunDirectory(run.path).config_file
    file.unlink()
    match(RunDirectory(run.path), CONFIG)
    assert Config.load(file).match.method == "liu2014"


def test_a_match_without_pairs_is_not_remembered_however_often_it_is_called(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_toy(tmp_path / "toy")], CONFIG.ingest)
    before = run.config_file.read_text() if run.config_file.exists() else ""
    nothing = CONFIG.override({"langs": ["en", "fr"]})
    assert match(run, nothing) == match(run, nothing)
    assert (run.config_file.read_text() if run.config_file.exists() else "") == before


def test_rejects_of_all_sites_are_in_one_table_in_the_order_of_sites(tmp_path):
    for host in ("b.example.org", "a.example.net"):
        write_pages(tmp_path / "sites", {f"{host}/{n}.html": page(f"{n} {n}") for n in range(2)})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    seen = []
    match(run, Config(), lambda *step: seen.append(step))
    assert seen == [(0, 4, "example.net: languages"), (2, 4, ""), (2, 4, "example.org: languages"), (4, 4, "")]
    urls = [url for url in Run(run.path).rejects["url"] if "example" in url]
    assert [url.split("/")[2] for url in urls] == ["a.example.net"] * 2 + ["b.example.org"] * 2


class Watched(ThreadPoolExecutor):
    """An executor without processes, which counts its tasks; they read what workers share from its file."""

    n_tasks = 0

    def submit(self, *args, **kwargs):
        self.n_tasks += 1
        return super().submit(*args, **kwargs)


@pytest.fixture
def two_sites(tmp_path, monkeypatch):
    """A run of two sites in two languages, each site a task of its own."""
    for host in range(2):
        write_town(tmp_path / "sites" / f"www.town{host}.org", 2, first=10 * host)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    monkeypatch.setattr(module, "TASK_BYTES", 1)
    return run


def test_an_executor_matches_sites_if_there_are_several_tasks(two_sites, monkeypatch):
    config = Config().override({"langs": ["en", "fr"]})
    with Watched(1) as executor:
        match(two_sites, config, executor=executor)
        assert executor.n_tasks == 2
        monkeypatch.setattr(module, "TASK_BYTES", 10**9)
        match(two_sites, config.override({"match.max_pairs": 1}), executor=executor)
        assert executor.n_tasks == 2


class Forsaken(Executor):
    """Every task is given up at once, while its worker is about to write its tables, which it does when told."""

    n_workers = 2

    def __init__(self, monkeypatch):
        self.go_on, self.workers, self.errors = threading.Event(), [], []
        self._is_there = threading.Event()
        really_write = module.write_site

        def write_late(*args):
            if threading.current_thread() in self.workers:
                self._is_there.set()
                assert self.go_on.wait(60)
            really_write(*args)

        monkeypatch.setattr(module, "write_site", write_late)

    def submit(self, fn, *args):
        self._is_there.clear()
        self.workers.append(threading.Thread(target=self._work, args=(fn, args)))
        self.workers[-1].start()
        assert self._is_there.wait(60)
        future = Future()
        future.set_exception(BrokenExecutor("given up"))
        return future

    def _work(self, fn, args):
        try:
            fn(*args)
        except FileNotFoundError as error:
            self.errors.append(error)

    def end(self):
        self.go_on.set()
        for worker in self.workers:
            worker.join(60)
            assert not worker.is_alive()


OTHERWISE = Config().override({"langs": ["en", "fr"], "match.max_pairs": 1})


def test_a_late_worker_does_not_write_into_a_later_match(two_sites, tmp_path, monkeypatch):
    other = RunDirectory(tmp_path / "other")
    shutil.copytree(two_sites.path, other.path)
    match(other, OTHERWISE)
    forsaken = Forsaken(monkeypatch)
    match(two_sites, Config().override({"langs": ["en", "fr"]}), executor=forsaken)
    assert len(forsaken.workers) == 2
    before = files_of(two_sites.path / "match")
    assert before != files_of(other.path / "match")

    def on_pages(done, total, step):
        if done and not forsaken.go_on.is_set():  # in the middle of the later match
            forsaken.end()

    with ThreadPoolExecutor(2) as executor:
        match(two_sites, OTHERWISE, on_pages, executor=executor)
    assert forsaken.go_on.is_set()
    assert len(forsaken.errors) == 2  # their folders are not there any more
    assert files_of(two_sites.path / "match") == files_of(other.path / "match")
    assert not [path for path in two_sites.path.iterdir() if path.name.startswith(".match")]


def test_a_late_part_of_a_match_is_not_counted(two_sites, monkeypatch):
    forsaken, folders = Forsaken(monkeypatch), []

    def on_pages(done, total, step):
        if done == total:  # all tasks were done by others, and nothing is committed yet
            forsaken.end()
            folders.extend((two_sites.path / ".match.parts").glob("*/*/pairs/*.parquet"))

    match(two_sites, Config().override({"langs": ["en", "fr"]}), on_pages, executor=forsaken)
    assert len(folders) == 2
    assert not forsaken.errors
    assert len(list((two_sites.path / "match" / "pairs").iterdir())) == 2
    assert not [path for path in two_sites.path.iterdir() if path.name.startswith(".match")]


def test_sites_that_are_done_behind_the_largest_count_at_once(tmp_path, monkeypatch):
    for host, n_pairs in enumerate((9, 2, 2)):
        write_town(tmp_path / "sites" / f"www.town{host}.org", n_pairs, first=10 * host)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    monkeypatch.setattr(module, "TASK_BYTES", 1)
    others_counted, seen, really_write = threading.Event(), [], module.write_site

    def write_site(result, folder, part, writer):
        if "town0" in part.name:
            assert others_counted.wait(60)
        really_write(result, folder, part, writer)

    def on_pages(done, total, step):
        seen.append((done, total, step))
        if done >= 8:
            others_counted.set()

    monkeypatch.setattr(module, "write_site", write_site)
    with ThreadPoolExecutor(2) as executor:
        match(run, Config().override({"langs": ["en", "fr"]}), on_pages, executor=executor)
    assert [done for done, _, step in seen if not step] == [0, 4, 8, 26]


def test_large_sites_are_matched_one_after_another_where_memory_is_scarce(tmp_path, monkeypatch):
    """With the same result as where all fit in."""
    for host in range(4):
        write_town(tmp_path / "sites" / f"www.town{host}.org", 4 + host, first=10 * host)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], Config().ingest)
    monkeypatch.setattr(module, "TASK_BYTES", 1)
    lock, at_work, most, results = threading.Lock(), [], [], []
    really_match = module.match_site

    def match_site(*args):
        with lock:
            at_work.append(1)
            most.append(len(at_work))
        time.sleep(0.2)
        try:
            return really_match(*args)
        finally:
            at_work.pop()

    monkeypatch.setattr(module, "match_site", match_site)
    for memory in ("1MB", "900GB"):
        most.clear()
        config = Config().override({"langs": ["en", "fr"], "run.memory": memory})
        with ThreadPoolExecutor(2) as executor:
            match(run, config, executor=executor)
        results.append(({**files_of(run.path / "match")}, max(most)))
        shutil.rmtree(run.path / "match")
    (small, one), (large, two) = results
    assert (one, two) == (1, 2)
    assert small == large


def test_the_plan_names_the_largest_site(two_sites, caplog):
    caplog.set_level("INFO", "twinlink.memory")
    with ThreadPoolExecutor(2) as executor:
        match(two_sites, Config().override({"langs": ["en", "fr"], "run.memory": "100MB"}), executor=executor)
    assert "match, memory 100 MB: sites take up to 0 bytes at the same time; the largest, town" in caplog.text
    assert "each of 2 sites that take more is matched while no other is" in caplog.text


def test_a_site_that_is_expected_to_take_too_much_is_named_with_what_helps(two_sites):
    said = []
    told = RunDirectory(two_sites.path, said.append)
    match(told, Config().override({"langs": ["en", "fr"], "run.memory": "250MB"}))
    (line,) = (line for line in said if "run.memory" in line)
    assert line.startswith("match: the match of town")
    assert "run.memory allows 0 bytes (1 more of the sites need more, too)" in line
    for setting in re.findall(r"\b(?:crawl|ingest)\.\w+", line):
        Config().override({setting: ["host"] if setting.endswith("s") else "host"})
    (helps,) = re.findall(r"--set run\.memory=(\w+)", line)
    parts = [*iter_parts(two_sites.stage_folder("ingest") / "pages")]
    assert not too_large(parts, Config().override({"run.memory": helps}).memory)


def test_of_sites_that_fit_in_nothing_is_said(two_sites):
    said = []
    match(RunDirectory(two_sites.path, said.append), Config().override({"langs": ["en", "fr"], "run.memory": "1GB"}))
    assert not any("run.memory" in line for line in said)


def test_workers_elsewhere_have_memory_of_their_own(two_sites):
    said = []

    class Elsewhere(ThreadPoolExecutor):
        is_elsewhere, n_workers = True, 2

    with Elsewhere(2) as executor:
        config = Config().override({"langs": ["en", "fr"], "run.memory": "1MB"})
        match(RunDirectory(two_sites.path, said.append), config, executor=executor)
    assert not any("run.memory" in line for line in said)


@pytest.mark.parametrize("has_executor", [False, True])
def test_dictionaries_that_cannot_be_read_are_recorded(two_sites, tmp_path, monkeypatch, has_executor):
    """Wherever a site was matched: those that are found, of the two languages that face each other."""
    index = write_dictd(tmp_path / "share" / "freedict-eng-fra.index", {"town": "ville"})
    index.with_suffix(".dict.dz").write_bytes(b"no gzip")
    monkeypatch.setattr(lexicon_sets, "installed_dictionaries", lambda: installed_dictionaries([tmp_path / "share"]))
    config = Config().override({"langs": ["en", "fr"], "match.lexicons": ["auto"]})
    with Watched(1) as executor:
        match(two_sites, config, executor=executor if has_executor else None)
    record = json.loads((two_sites.path / "match" / RECORD).read_text())
    assert record["used"] == record["missing"] == {}
    assert list(record["unreadable"]) == [str(index)]


@pytest.mark.parametrize(("method", "is_read"), [("urls", True), ("liu2014", False)])
def test_a_library_that_is_not_there_is_refused_where_it_is_used(two_sites, method, is_read):
    config = Config().override({"match.method": method, "match.patterns.libraries": ["none.tsv"]})
    if not is_read:
        match(two_sites, config)
        return
    with pytest.raises(InputError, match=r"none\.tsv"):
        match(two_sites, config)
    assert two_sites.read_signature("match") is None


@pytest.mark.parametrize(("many", "is_there"), [(10, False), (11, True)])
def test_a_large_site_is_matched_without_the_dictionary_of_chinese(tmp_path, monkeypatch, many, is_there):
    monkeypatch.setattr(site, "VERY_MANY_PAGES", many)
    load_dictionary()
    run = matched(tmp_path, write_toy(tmp_path / "toy"))
    assert ("rjieba" in sys.modules, len(run.pairs)) == (is_there, 5)
