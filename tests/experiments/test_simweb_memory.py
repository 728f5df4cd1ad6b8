"""The simulated web in memory: counts by hand, what must hold of any web, the whole in its small form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from experiments import simweb_memory
from experiments.simweb.asking import recovered
from experiments.simweb.exploring import CRITERIA, OURS, best, crawl_of, explore, host_graph, is_true, rank
from experiments.simweb.listing import LANGS, MiningSettings, Tally, list_site, right_pairs, true_pairs
from experiments.simweb.mining import Learned, learn_hosts, mine_hosts
from experiments.simweb.world import DEAD, OK, SitePages, World, WorldSettings, make_world
from twinlink.config.patterns import PatternSettings
from twinlink.config.recover import RecoverSettings
from twinlink.config.sites import RankingSettings

SMALL = WorldSettings(hosts=15_000, seeds=200, seed=3)
CERTAIN = MiningSettings(wrong=0.0, unknown=0.0, soft=0.0)
SETTINGS = MiningSettings(), PatternSettings(), RankingSettings()


@cache
def small() -> tuple[World, Learned]:
    """Return a small web and what its seeds tell."""
    world = make_world(SMALL)
    return world, learn_hosts(world, world.seeds.tolist(), *SETTINGS[:2])


def test_true_pairs_are_counted_by_article_and_language() -> None:
    # Articles 0 (en, tc, sc), 1 (en, tc: untrue), 2 (en; tc: deep), 3 (en twice).
    pages = SitePages(
        urls=[str(k) for k in range(9)],
        side=np.array([0, 1, 2, 0, 1, 0, 1, 0, 0], np.int8),
        article=np.array([0, 0, 0, 1, 1, 2, 2, 3, 3], np.int32),
        visible=np.array([True] * 6 + [False] + [True] * 2),
        untrue=np.array([False] * 4 + [True] + [False] * 4),
    )
    assert (true_pairs(pages, linked=True), true_pairs(pages, linked=False)) == (3, 4)
    pairs = np.array([0, 3, 5, 7, 0]), np.array([1, 4, 6, 8, 3])
    assert right_pairs(pages, pairs).tolist() == [True, False, True, False, False]


def test_a_perfect_language_finder_says_what_is_true() -> None:
    world, _ = small()
    number = int(world.seeds[np.flatnonzero(world.bilingual[world.seeds])[0]])
    site = list_site(world, number, CERTAIN)
    assert site.heard == [LANGS[side] for side in site.pages.side.tolist()]
    assert list_site(world, number, replace(CERTAIN, unknown=1.0)).heard == ["und"] * len(site.pages.urls)
    never = list_site(world, number, replace(CERTAIN, wrong=1.0)).heard
    assert never is not None
    assert not any(a == b for a, b in zip(never, site.heard, strict=True))


def test_deep_pages_are_all_found_where_the_key_is_credible_and_languages_are_certain() -> None:
    world, _ = small()
    checked = 0
    for number in world.seeds[world.bilingual[world.seeds] & ~world.weak[world.seeds]][:40].tolist():
        site = list_site(world, number, CERTAIN)
        found = site.learned(PatternSettings())
        if found.credibility < 0.5 or len(world.forms(number)) > 2:
            continue
        (a, b), asked = recovered(world, site, found, {}, CERTAIN, RecoverSettings(max_site_addresses=100_000))
        deep = np.flatnonzero(~site.pages.visible)
        assert set(deep.tolist()) <= {*a.tolist(), *b.tolist()}
        assert asked >= len(a)
        checked += len(deep)
    assert checked > 20


def test_apologies_that_pass_for_pages_are_wrong_pairs() -> None:
    world, learned = small()
    mute = MiningSettings(languages=False, soft=1.0, soft_missed=1.0)
    strong = world.seeds[world.bilingual[world.seeds] & ~world.weak[world.seeds]].tolist()
    number = max(strong, key=lambda host: learned.patterns[host].n_pages * learned.patterns[host].credibility)
    site = list_site(world, number, mute)
    found = site.learned(PatternSettings())
    fooled, _ = recovered(world, site, found, {}, mute, RecoverSettings())
    never, _ = recovered(world, site, found, {}, replace(mute, soft_missed=0.0), RecoverSettings())
    assert len(fooled[0]) > len(never[0])
    assert right_pairs(site.pages, fooled).sum() == right_pairs(site.pages, never).sum()


def test_what_is_found_adds_up() -> None:
    world, learned = small()
    mining, patterns, _ = SETTINGS
    mine, credibility = mine_hosts(world, learned, mining, patterns, RecoverSettings(), again=True)
    assert mine.linked_pairs < mine.all_pairs
    assert mine.total.pairs == mine.baseline.pairs + mine.rescued.pairs - mine.lost.pairs + mine.deep.pairs
    assert 0.8 * mine.all_pairs < mine.total.right <= mine.all_pairs
    assert mine.baseline.right <= mine.linked_pairs
    assert mine.deep.right <= mine.all_pairs - mine.linked_pairs
    assert mine.deep.precision > 0.9
    assert mine.asked >= mine.deep.pairs > 0
    assert credibility.keys() == set(world.seeds.tolist())


def test_rescue_brings_weak_sites() -> None:
    world = make_world(replace(SMALL, weak=0.6))
    learned = learn_hosts(world, world.seeds.tolist(), *SETTINGS[:2])
    recover = RecoverSettings(max_site_addresses=1)
    rescued = {
        way: mine_hosts(world, learned, MiningSettings(), PatternSettings(rescue=way), recover, again=False)[0].rescued
        for way in ("none", "mean")
    }
    assert rescued["none"] == Tally()
    assert rescued["mean"].right > 20


def test_the_graph_has_the_links_of_the_crawled_hosts_alone() -> None:
    world, learned = small()
    known = crawl_of(world, learned, dict.fromkeys(world.seeds.tolist(), 0.5))
    graph, hosts = host_graph(world, known)
    assert graph.sites == sorted(graph.sites) == [world.host(number) for number in hosts.tolist()]
    assert graph.links.nnz == np.diff(world.links.indptr)[world.seeds].sum() == graph.n_sources.sum()
    node = {host: k for k, host in enumerate(hosts.tolist())}
    for seed in world.seeds[:20].tolist():
        row = graph.links.indices[slice(*graph.links.indptr[node[seed] : node[seed] + 2])]
        assert set(hosts[row].tolist()) == {host for host, *_ in world.targets(seed)}
        assert graph.n_pages[node[seed]] == learned.patterns[seed].n_pages
    assert not graph.n_pages[~np.isin(hosts, world.seeds)].any()
    assert (graph.n_named <= graph.n_sources).all()
    assert graph.n_named.any()


def test_only_hosts_that_were_not_asked_are_ranked() -> None:
    world, learned = small()
    known = crawl_of(world, learned, {host: found.credibility for host, found in learned.patterns.items()})
    graph, hosts = host_graph(world, known)
    known.silent[hosts[~known.crawled[hosts]][0]] = True
    _, ranked = rank(world, known, RankingSettings())
    assert tuple(ranked) == CRITERIA
    for order in ranked.values():
        assert len(np.unique(order)) == len(order) == len(graph.sites) - len(world.seeds) - 1
        assert not (known.crawled | known.silent)[order].any()


def test_our_ranking_finds_more_than_chance_and_than_links_alone() -> None:
    world, learned = small()
    known = crawl_of(world, learned, {host: found.credibility for host, found in learned.patterns.items()})
    _, curves = best(world, known, RankingSettings(), 100)
    _, hosts = host_graph(world, known)
    chance = 100 * is_true(world, hosts[~known.crawled[hosts]]).mean()
    assert curves[OURS][-1] > curves["Σ Linkout"][-1] > chance
    assert all((np.diff(curve, prepend=0) <= 1).all() for curve in curves.values())


def test_rounds_add_each_host_once_and_leave_the_start_alone() -> None:
    world, learned = small()
    start = crawl_of(world, learned, {host: found.credibility for host, found in learned.patterns.items()})
    size = len(start.library)
    rounds = explore(world, start, OURS, 3, 50, SETTINGS)
    assert [each.number for each in rounds] == [1, 2, 3]
    assert all(each.asked == 50 and each.pairs.pairs > 0 and each.silent < 25 for each in rounds)
    assert np.array_equal(np.flatnonzero(start.crawled), world.seeds)
    assert len(start.library) == size
    assert rounds == explore(world, start, OURS, 3, 50, SETTINGS)


def test_dead_hosts_are_no_bilingual_ones() -> None:
    world, _ = small()
    state = np.where(np.arange(SMALL.hosts) % 2, OK, DEAD).astype(np.uint8)
    true = is_true(replace(world, state=state), np.arange(SMALL.hosts))
    assert not true[::2].any()
    assert np.array_equal(true[1::2], world.bilingual[1::2])


def test_the_whole_is_the_same_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        given = ["--hosts", "1500", "--seeds", "20", "--top", "20", "--rounds", "1", "--out", str(folder)]
        simweb_memory.main(given)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    pictures = [(tmp_path / name / "simulated-web.svg").read_bytes() for name in "ab"]
    assert pictures[0] == pictures[1]
    assert all(web in printed[0] for web in simweb_memory.WEBS)
    assert "| baseline | 290,247 (.941) |" in printed[0]
