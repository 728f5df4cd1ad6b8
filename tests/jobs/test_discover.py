"""The loop of site discovery: through real HTTP on a small simulated web, killed and resumed, and its parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest

from experiments.simweb.server import proxied, serving
from experiments.simweb.world import DEAD, ERRORS, OK, REFUSED, WorldSettings, make_world
from tests.baselines.test_methods import made_page
from tests.loopback import Answer, links
from tests.loopback import serving as serving_pages
from tests.made_sites import page, write_pages
from twinlink.cli.lines import lines as lines_of_result
from twinlink.cli.results.discovery import DiscoveryResult, RoundResult
from twinlink.config import Config
from twinlink.config.sites import DiscoverySettings
from twinlink.errors import CrawlError, InputError, RunError
from twinlink.ingest.stage import ingest
from twinlink.jobs import probing
from twinlink.jobs.discover import discover
from twinlink.jobs.probing import (
    BILINGUAL,
    ONE_LANGUAGE,
    TWO_LANGUAGES,
    failure,
    is_added,
    look,
    probe,
    sites_to_retry,
)
from twinlink.jobs.start_pages import is_open, start_pages
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import Rounds, paired_by_probe, site_rounds, turned_down
from twinlink.rundir.signature import Signature
from twinlink.tables import PAGES, PROBES, ROUNDS, read_table
from twinlink.wording import ROUND_OUTCOMES

WEB = WorldSettings(
    hosts=14,
    seeds=4,
    seed=101,
    topics=2,
    bilingual=0.6,
    articles=6,
    articles_spread=0.4,
    max_articles=12,
    weak=0.0,
    deep=0.0,
    spam=0.0,
    copies=0.0,
    dead=0.12,
    refused=0.12,
    errors=0.12,
    links=4.0,
    links_spread=0.3,
)
OPTIONS = {
    "langs": ["en", "zh"],
    "crawl.delay": 0.0,
    "crawl.retries": 0,
    "crawl.autothrottle": False,
    "crawl.sitemaps": False,
    "discover.rounds": 1,
    "discover.top": 8,
    "discover.probe_pages": 100,
}
EN = "Opening hours of the public library and its branches"
ZH = "公共圖書館及其分館的開放時間"


def lines(path):
    return sorted(path.read_text(encoding="utf-8").splitlines())


def kill_at(moment, command, environment, limit=60.0):
    """Start a command and kill it once a file is there."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + limit
    while not moment.exists():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end, f"{moment} did not come"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_the_loop_killed_and_resumed_ends_as_one_that_was_not(tmp_path):
    world = make_world(WEB)
    seeds = [f"http://{world.host(int(number))}/" for number in world.seeds]
    config = Config().override(OPTIONS)
    whole, killed = RunDirectory.create(tmp_path / "whole"), tmp_path / "killed"
    with serving(WEB, tmp_path / "asked.tsv") as proxy, proxied(proxy):
        told = []
        table = discover(seeds, whole, config, on_round=told.append)
        options = [f"{name}={json.dumps(value)}" for name, value in OPTIONS.items()]
        command = [sys.executable, "-m", "twinlink", "discover", *seeds, "-o", str(killed), "--quiet"]
        command += [word for option in options for word in ("--set", option)]
        for moment in ("warc", "discover/round-01/probe/ledger.sqlite"):
            kill_at(killed / moment, command, dict(os.environ))
            assert not Rounds(RunDirectory(killed)).is_done(1)
        again = discover(seeds, RunDirectory(killed), config)
        assert discover(seeds, RunDirectory(killed), config).equals(again), "a loop that is done does nothing"
        dead = [f"http://{world.host(int(number))}/" for number in np.flatnonzero(world.state == DEAD)]
        with pytest.raises(CrawlError, match="no page could be fetched"):
            discover(dead, RunDirectory.create(tmp_path / "dead"), config)
    assert table.equals(again)
    assert told == table.to_pylist()
    for name in ("discover/verdicts.tsv", "discover/rounds.tsv", "discover/discover.svg", "patterns/pairs.tsv"):
        assert lines(whole.path / name) == lines(killed / name)
    assert [path.name for path in killed.iterdir() if path.name.endswith(".tmp")] == []
    check_verdicts(world, whole)
    check_pages(world, whole)


def check_verdicts(world, run):
    """Every host was judged as what it is."""
    verdicts = {row["site"]: row for row in Rounds(run).verdicts(1).to_pylist()}
    said = {DEAD: "dead", REFUSED: "refused", ERRORS: "errors"}
    states = set()
    for site, row in verdicts.items():
        number = world.index(site)
        state = int(world.state[number])
        states.add(state)
        if state != OK:
            assert (row["verdict"], row["added"], row["pages"]) == (said[state], False, 0)
            assert row["reason"]
        else:
            assert row["added"] == (row["verdict"] == BILINGUAL) == bool(world.bilingual[number])
            assert row["pages"] > 0
    assert states == {OK, DEAD, REFUSED, ERRORS}, "the web of this test has hosts of every kind"
    reached = {world.host(int(k)) for k in np.unique(world.links[world.seeds].indices)}
    assert set(verdicts) == reached - {world.host(int(k)) for k in world.seeds}


def check_pages(world, run):
    """All pages of all added hosts are there, each with its round."""
    rows = read_table(run.stage_folder("ingest") / "pages", PAGES, ("site", "url", "round")).to_pylist()
    rounds = {row["site"]: row["round"] for row in rows}
    added = {row["site"] for row in Rounds(run).verdicts(1).to_pylist() if row["added"]}
    assert rounds == {**{world.host(int(k)): 0 for k in world.seeds}, **dict.fromkeys(added, 1)}
    urls = {row["url"] for row in rows}
    assert all(set(world.pages(world.index(site)).urls) <= urls for site in rounds)
    row = Rounds(run).table().to_pylist()[1]
    assert row["all_pages"] == len(rows)
    assert row["all_pairs"] == len(lines(run.path / "patterns" / "pairs.tsv"))
    assert row["added"] == row["with_pairs"] == len(added)
    assert row["tried"] == row["added"] + sum(row[name] for name in ROUND_OUTCOMES if name != "added")


def test_a_site_that_was_down_is_tried_again_by_a_later_call(tmp_path):
    """Two sites are linked to: one answers 500 until the second call, the other forbids all by its robots.txt."""
    broken = Answer(b"", 500)
    with serving_pages(lambda path: broken) as down, serving_pages(lambda path: None) as shut:
        shut.robots = Answer(b"User-agent: *\nDisallow: /\n", type="text/plain")
        with serving_pages(lambda path: links(down.url, shut.url) if path == "/" else None) as seed:
            config = Config().override({**OPTIONS, "crawl.allow_private": True, "discover.rounds": 3})
            run = RunDirectory.create(tmp_path)
            discover([seed.url], run, config)
            tried = [(row["round"], row["site"]) for row in Rounds(run).all_verdicts().to_pylist()]
            sites = {name: site.url.split("/")[2] for name, site in (("down", down), ("shut", shut))}
            assert sorted(tried[1:]) == sorted((1, site) for site in sites.values()), "a call tries each site once"
            down.answer = bilingual_answer
            discover([seed.url], run, config)
    (row,) = Rounds(run).verdicts(2).to_pylist()
    assert (row["site"], row["verdict"], row["added"]) == (sites["down"], BILINGUAL, True)
    assert row["reason"].endswith("; tried 2 times")
    assert turned_down(run) == {sites["shut"]: "refused"}
    assert [row["all_pages"] for row in Rounds(run).table().to_pylist()] == [1, 1, 8]


def bilingual_answer(path):
    """Return a page of a small site in two languages; None for another path."""
    names = [f"/{lang}/{name}.htm" for lang in ("en", "tc") for name in ("home", "news", "laws")]
    if path == "/":
        return links(*names)
    return Answer(f"<p>{EN if '/en/' in path else ZH} {path[4:]}".encode()) if path in names else None


def test_sites_are_retried_a_limited_number_of_times_and_for_passing_reasons():
    said = [
        ("up", 3, "en 3"),
        ("dead", 0, "dns 1"),
        ("busy", 0, "http-404 1, busy 1"),
        ("shut", 0, "robots 1, timeout 1"),
    ]
    rows = [{"round": 1, "site": site, "pages": n_pages, "reason": reason} for site, n_pages, reason in said]
    seed = {"round": 0, "site": "seed", "pages": 0, "reason": "dns 1"}
    assert sites_to_retry([seed, *rows], 1) == set()
    assert sites_to_retry([seed, *rows], 2) == {"dead", "busy"}
    second = {"round": 2, "site": "dead", "pages": 0, "reason": "dns 1; tried 2 times"}
    assert sites_to_retry([*rows, second], 2) == {"busy"}
    assert sites_to_retry([*rows, second], 3) == {"dead", "busy"}
    assert sites_to_retry([*rows, second, {**second, "round": 3}], 4) == {"busy"}
    assert sites_to_retry([*rows, {**second, "pages": 9, "reason": "en 9; tried 2 times"}], 3) == {"busy"}


def test_the_same_seeds_may_come_in_another_order(tmp_path):
    rounds = Rounds(RunDirectory.create(tmp_path))
    assert rounds.seeds() == []
    rounds.begin({"seeds": ["http://a.hk/", "http://b.hk/"]})
    rounds.begin({"seeds": ["http://b.hk/", "http://a.hk/"]})
    assert rounds.seeds() == ["http://a.hk/", "http://b.hk/"], "the order of the first call stays"
    with pytest.raises(RunError, match=r"started with other seeds \(new: http://c\.hk/\);"):
        rounds.begin({"seeds": ["http://a.hk/", "http://b.hk/", "http://c.hk/"]})


def test_a_loop_knows_its_seeds(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[discover.__module__], "_play_rounds", lambda loop, *_: played.append(loop._seeds))
    run, played = RunDirectory.create(tmp_path), list[list[str]]()
    for seeds in (["http://b.hk/", "http://a.hk/"], ["http://a.hk/", "http://b.hk/"], []):
        discover(seeds, run, Config())
    assert played == [["http://b.hk/", "http://a.hk/"]] * 3


def test_other_seeds_or_settings_do_not_mix(tmp_path):
    rounds = Rounds(RunDirectory.create(tmp_path))
    rounds.begin({"seeds": ["http://a.hk/"], "discover.top": 5})
    rounds.begin({"discover.top": 5, "seeds": ["http://a.hk/"]})
    with pytest.raises(
        RunError, match=r"other discover\.top \(5\), seeds \(new: http://b\.hk/; missing: http://a\.hk/\);"
    ):
        rounds.begin({"seeds": ["http://b.hk/"], "discover.top": 6})


def test_no_seed_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no seeds"):
        discover([], RunDirectory.create(tmp_path), Config())


def test_a_run_that_was_read_from_files_is_left_alone(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_pages(tmp_path / "a.hk", {"index.html": page("start")})], Config().ingest)
    with pytest.raises(RunError, match="read from files"):
        discover(["http://a.hk/"], run, Config())
    assert read_table(run.stage_folder("ingest") / "pages", PAGES).num_rows == 1
    assert not (run.path / "discover").exists()


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({"rejects": {"robots": 1, "http-404": 1}}, "refused"),
        ({"rejects": {"robots-unreachable": 1}}, "refused"),
        ({"rejects": {"http-403": 2}}, "errors"),
        ({"rejects": {"not-html": 1}}, "errors"),
        ({"rejects": {"dns": 1, "timeout": 1}}, "dead"),
        ({"rejects": {}, "redirects": 1}, "moved"),
        ({}, "empty"),
    ],
)
def test_reason_for_a_site_without_pages(told, verdict):
    found = failure(told)
    assert found.verdict == verdict
    assert found.pages == 0
    assert all(name in found.reason for name in told.get("rejects", {}))


def seen(n_en, n_zh, form="http://x.hk/{lang}/p{k}.htm"):
    """Return addresses and texts of a site."""
    urls = [form.format(lang="en", k=k) for k in range(n_en)] + [form.format(lang="tc", k=k) for k in range(n_zh)]
    return urls, [f"{EN} {k}" for k in range(n_en)] + [f"{ZH}{k}" for k in range(n_zh)]


def test_judged_by_languages_and_addresses():
    config = Config().override({"langs": ["en", "zh"]})
    assert look(*seen(5, 5), config, {}).verdict == BILINGUAL
    assert look(*seen(5, 0), config, {}).verdict == ONE_LANGUAGE
    urls, texts = seen(5, 5)
    opaque = [f"http://x.hk/{hash_}.htm" for hash_ in ("ax", "bq", "cw", "dk", "ej", "fu", "gt", "hr", "io", "jp")]
    assert look(opaque, texts, config, {}).verdict == TWO_LANGUAGES
    assert look(urls, texts, Config().override({"langs": ["fr", "de"]}), {}).verdict == ONE_LANGUAGE
    assert look(urls, [EN] * 10, config, {}).verdict == ONE_LANGUAGE, "addresses alone may lie"
    for langs in (["eng", "zh-TW"], ["en-US", "zh-CN"], ["English", "zho"]):  # the closest that the site has
        assert look(urls, texts, Config().override({"langs": langs}), {}).verdict == BILINGUAL
    strict = Config().override({"discover.min_share": 0.2})
    assert look(*seen(9, 1), strict, {}).verdict == ONE_LANGUAGE
    assert look([], [], config, {}).verdict == ONE_LANGUAGE


def probed(tmp_path, monkeypatch, **settings):
    """Probe three sites whose pages are there: opaque names; the same, not translated; and one in English."""
    words = ("home", "news", "jobs", "maps", "laws", "kids", "arts", "food")
    a = {f"{word}.html": made_page("en", n) for n, word in enumerate(words, 1)}
    a |= {f"{word[::-1]}.html": made_page("zh", n) for n, word in enumerate(words, 1)}
    b = {f"{word}.html": made_page("en" if n < 5 else "zh", n) for n, word in enumerate(words, 1)}
    for host, pages in {"a.hk": a, "b.hk": b, "c.hk": {name: a[name] for name in list(a)[:4]}}.items():
        write_pages(tmp_path / "mirror" / host, pages)
    config = Config().override({"langs": ["en", "zh"], **settings})
    run = RunDirectory.create(tmp_path / "probe")
    ingest(run, [tmp_path / "mirror"], config.ingest)
    monkeypatch.setattr(probing, "fetch", lambda *_: None)
    return probe({f"{name}.hk": [f"http://{name}.hk/"] for name in "abc"}, run.path, config, {}), run


def test_pairs_among_the_probed_pages_count_where_addresses_say_nothing(tmp_path, monkeypatch):
    found, run = probed(tmp_path, monkeypatch)
    assert (found["a.hk"].verdict, found["a.hk"].rule) == (BILINGUAL, "")
    assert found["a.hk"].pairs >= 6
    assert found["a.hk"].credibility == 2 * found["a.hk"].pairs / 16
    assert f"{found['a.hk'].pairs} pairs by a match of 16 pages, such as http://a.hk/" in found["a.hk"].reason
    assert is_added(found["a.hk"], DiscoverySettings())
    assert found["b.hk"].verdict == TWO_LANGUAGES
    assert found["b.hk"].pairs < 2, "its pages are not translated"
    assert f"no credible URL pattern; pairs by a match: {found['b.hk'].pairs}" in found["b.hk"].reason
    assert found["c.hk"].verdict == ONE_LANGUAGE
    assert (run.path / "match").is_dir()
    wanted = found["a.hk"].pairs + 1
    strict, _ = probed(tmp_path / "strict", monkeypatch, **{"discover.min_pairs": wanted})
    assert (strict["a.hk"].verdict, strict["a.hk"].pairs) == (TWO_LANGUAGES, wanted - 1)


@pytest.mark.parametrize("accept", ["patterns", "languages", "all"])
def test_pages_are_matched_only_where_pairs_decide(tmp_path, monkeypatch, accept):
    found, run = probed(tmp_path, monkeypatch, **{"discover.accept": accept})
    assert (found["a.hk"].verdict, found["a.hk"].pairs) == (TWO_LANGUAGES, 0)
    assert is_added(found["a.hk"], DiscoverySettings(accept=accept)) == (accept != "patterns")
    assert not (run.path / "match").exists()


def test_a_match_without_a_pair_leaves_the_verdicts_by_patterns(tmp_path, monkeypatch):
    found, _ = probed(tmp_path, monkeypatch, **{"match.min_score": 1.0, "match.max_pairs": 0})
    assert [found[f"{name}.hk"].verdict for name in "abc"] == [TWO_LANGUAGES, TWO_LANGUAGES, ONE_LANGUAGE]


@pytest.mark.parametrize(
    ("accept", "rejects", "verdict"),
    [
        ("pairs", {"busy": 3, "robots-unreachable": 2}, "refused"),
        ("pairs", {"busy": 4, "http-404": 9}, ONE_LANGUAGE),
        ("all", {"busy": 9}, ONE_LANGUAGE),  # its pages are wanted in any case
    ],
)
def test_a_site_that_turned_busy_after_a_few_pages_is_refused(tmp_path, monkeypatch, accept, rejects, verdict):
    counts = {f"{name}.hk": {"rejects": rejects} for name in "abc"}
    monkeypatch.setattr(probing, "fetched_sites", lambda _: counts)
    found, _ = probed(tmp_path, monkeypatch, **{"discover.accept": accept})
    assert found["c.hk"].verdict == verdict
    assert found["c.hk"].has_pages == (verdict == ONE_LANGUAGE)
    assert found["a.hk"].verdict in (BILINGUAL, TWO_LANGUAGES)


def test_sites_added_for_their_pairs_are_bilingual_for_the_ranking(tmp_path):
    run = RunDirectory.create(tmp_path)
    base = {"round": 1, "reason": "", "place": 1, "score": 0.0, "start": "", "pages": 10, "langs": "", "rule": ""}
    base |= {"copy_of": ""}
    told = [("a.hk", True, 0.8, 4), ("b.hk", True, 0.9, 0), ("c.hk", False, 0.2, 1)]
    rows = [
        {**base, "site": site, "verdict": "", "added": added, "credibility": share, "pairs": pairs}
        for site, added, share, pairs in told
    ]
    assert paired_by_probe(run) == {}
    Rounds(run).judge(1, pa.Table.from_pylist(rows, schema=PROBES))
    assert paired_by_probe(run) == {"a.hk": 0.8}


def test_begun_where_most_sites_link_to(tmp_path):
    links = {
        "www.a.hk": ["https://www.c.hk/en/", "https://www.c.hk/en/", "http://c.hk/x"],
        "www.b.hk": ["https://www.c.hk/en/", "https://www.c.hk/news/long"],
    }
    for host, urls in links.items():
        write_pages(tmp_path / "mirror" / host, {"index.html": page("start", *urls), "other.html": page("2", *urls)})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "mirror"], Config().ingest)
    found = start_pages(run.stage_folder("ingest") / "links", ["c.hk", "nobody.org"], 2)
    assert found == {
        "c.hk": ("https://www.c.hk/", "https://www.c.hk/en/", "http://c.hk/x"),
        "nobody.org": ("http://nobody.org/",),
    }


def test_rounds_of_sites_come_from_the_verdicts(tmp_path):
    run = RunDirectory.create(tmp_path)
    assert site_rounds(run) == {}
    empty = {"reason": "", "place": 0, "score": 0.0, "start": "", "pages": 1, "langs": "", "credibility": 0, "rule": ""}
    empty |= {"pairs": 0, "copy_of": ""}
    rows = [(0, "seed.hk", True), (1, "new.hk", True), (1, "not.hk", False), (12, "late.hk", True)]
    for number in {number for number, *_ in rows}:
        own = [
            {"round": each, "site": site, "verdict": "" if added else "dead", "added": added, **empty}
            for each, site, added in rows
            if each == number
        ]
        Rounds(run).judge(number, pa.Table.from_pylist(own, schema=PROBES))
    assert site_rounds(run) == {"new.hk": 1, "late.hk": 12}
    assert turned_down(run) == {"not.hk": "dead"}


@pytest.mark.parametrize(
    ("site", "is_tried"),
    [("a.hk", True), ("b.com.hk", True), ("com.hk", False), ("10.0.0.5", False), ("[::1]", False), ("intranet", False)],
)
def test_links_of_other_sites_cannot_reach_the_local_network(site, is_tried):
    assert is_open(site, DiscoverySettings()) == is_tried
    assert is_open(site, DiscoverySettings(), allow_private=True)


def test_sites_can_be_left_out_by_their_names():
    wanted = DiscoverySettings(only=("hk", "GOV.mo"), skip=(".blog.hk",))
    names = ("a.hk", "x.gov.mo", "a.mo", "me.blog.hk", "blog.hk", "notblog.hk", "b.hk:8080")
    assert [name for name in names if is_open(name, wanted)] == ["a.hk", "x.gov.mo", "notblog.hk", "b.hk:8080"]


def test_report_of_a_round_has_sites_and_reasons(tmp_path):
    rounds = Rounds(RunDirectory.create(tmp_path))
    base = {"score": 0.5, "start": "http://x/", "langs": "", "credibility": 0.0, "rule": "", "round": 1, "place": 1}
    base |= {"pairs": 0, "copy_of": ""}
    told = [
        ("gone.hk", "dead", "dns 1", 0),
        ("shut.hk", "refused", "robots 2", 0),
        ("mono.hk", "one-language", "en 4", 4),
    ]
    rows = [
        {**base, "site": site, "verdict": verdict, "reason": reason, "pages": pages, "added": False}
        for site, verdict, reason, pages in told
    ]
    rounds.judge(1, pa.Table.from_pylist(rows, schema=PROBES))
    row = {**dict.fromkeys(ROUNDS.names, 0), "round": 1, "tried": 3, "dead": 1, "refused": 1, "one_language": 1}
    rounds.count(1, row)
    said = "\n".join(lines_of_result(RoundResult.of(row, tmp_path)))
    assert "gone.hk: dead (dns 1)" in said
    assert "shut.hk: refused (robots 2)" in said
    assert "mono.hk" not in said
    assert "round 1: 3 sites tried, 0 added, 1 not bilingual, 0 copies of other sites, 1 refused, 1 dead" in said
    result = DiscoveryResult.of(tmp_path, 2)
    said = list(lines_of_result(result))
    assert said[0].split() == ROUNDS.names
    assert "no site is left to try" in said
    assert (result.n_unpaired, result.pairs) == (0, str(tmp_path / "patterns" / "pairs.tsv"))
    assert "without a URL pattern" not in "\n".join(said)
    rounds.count(1, {**row, "candidates": 3})
    said = "\n".join(lines_of_result(DiscoveryResult.of(tmp_path, 2)))
    assert "no site is left to try; candidates left out by discover.only" in said
    assert "(crawl.allow_private): 3" in said


def test_sites_without_a_pattern_are_left_to_a_match(tmp_path):
    """Two of four sites were added for pairs by a match of their pages, or for two languages; no pattern pairs them."""
    run = RunDirectory.create(tmp_path)
    rounds = Rounds(run)
    told = [("a", "bilingual", 3, True), ("b", "two-languages", 0, True), ("c", "bilingual", 0, True)]
    told.append(("d", "two-languages", 1, False))
    base = dict.fromkeys(PROBES.names, 0) | dict.fromkeys(("reason", "start", "langs", "rule", "copy_of"), "")
    base |= {"round": 1, "pages": 9}
    rows = [{**base, "site": site, "verdict": verdict, "pairs": n, "added": added} for site, verdict, n, added in told]
    rounds.judge(1, pa.Table.from_pylist(rows, schema=PROBES))
    rounds.count(1, {**dict.fromkeys(ROUNDS.names, 0), "round": 1, "tried": 4, "added": 3})
    before = DiscoveryResult.of(tmp_path, 1)
    assert before.n_unpaired == 2
    assert f"2 sites were added without a URL pattern; twinlink match {tmp_path} pairs" in "\n".join(
        lines_of_result(before)
    )
    with run.writing(Signature.of("match", {}, [])):
        pass
    after = DiscoveryResult.of(tmp_path, 1)
    assert (after.n_unpaired, after.pairs) == (0, str(tmp_path / "pairs.tsv"))
