"""PageRank, the paper's sums, features and the model that learns from crawled sites."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from twinlink.config.sites import RankingSettings
from twinlink.errors import ConfigError, ShapeError
from twinlink.graph.ranking import pagerank, seed_scores, seed_sums
from twinlink.sites.features import FEATURES, site_features, suffix_odds
from twinlink.sites.host_graph import HostGraph
from twinlink.sites.model import contributions, learn_site_model, prior_model, site_probability
from twinlink.sites.ranking import rank_sites
from twinlink.sites.web_graph import WebFiles, no_evidence, read_web_graph

TIGHT = 1e-13


def matrix(edges, n: int) -> csr_array:
    """Weights of (source, target[, weight]); edges that come twice add up."""
    rows = [edge[0] for edge in edges]
    columns = [edge[1] for edge in edges]
    weights = [float(edge[2]) if len(edge) > 2 else 1.0 for edge in edges]
    return csr_array((weights, (rows, columns)), shape=(n, n))


def solved(links: csr_array, damping: float = 0.85, personalisation=None) -> np.ndarray:
    """PageRank by solving its equations, dense: the slow plain twin."""
    dense = links.toarray()
    n = len(dense)
    v = np.full(n, 1 / n) if personalisation is None else np.asarray(personalisation, float) / sum(personalisation)
    step = np.zeros((n, n))
    for row in range(n):
        total = dense[row].sum()
        for column in range(n):
            step[column, row] = dense[row, column] / total if total else v[column]
    return np.linalg.solve(np.eye(n) - damping * step, (1 - damping) * v)


def by_networkx(links: csr_array, **options) -> np.ndarray:
    graph = nx.from_scipy_sparse_array(links, create_using=nx.DiGraph)
    n = links.shape[0]
    found = nx.pagerank(graph, tol=TIGHT / n, max_iter=5_000, **options)
    return np.array([found[node] for node in range(n)])


def host_graph(edges, sites, n_pages=None) -> HostGraph:
    """A host graph whose addresses name no languages."""
    links = matrix(edges, len(sites))
    links.sum_duplicates()
    zero = np.zeros(len(sites), dtype=np.int64)
    n_sources = np.bincount(links.indices, minlength=len(sites))
    pages = zero if n_pages is None else np.asarray(n_pages)
    return HostGraph(list(sites), links, pages, n_sources, zero, zero, zero, zero)


GRAPHS = {
    "two that link to each other": ([(0, 1), (1, 0)], 2),
    "a chain with a dangling end": ([(0, 1), (1, 2)], 3),
    "all dangling": ([], 4),
    "a node alone": ([], 1),
    "disconnected": ([(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)], 6),
    "links to itself": ([(0, 0), (0, 1), (1, 1), (2, 0)], 3),
    "only to itself": ([(0, 0), (1, 0)], 2),
    "edges twice": ([(0, 1), (0, 1), (0, 2), (1, 2), (2, 0)], 3),
    "weights": ([(0, 1, 5), (0, 2, 0.5), (1, 2, 2), (2, 0, 1e6), (2, 3, 1e-6)], 4),
}


@pytest.mark.parametrize(("edges", "n"), GRAPHS.values(), ids=GRAPHS)
def test_pagerank_is_that_of_networkx_and_of_the_equations(edges, n):
    links = matrix(edges, n)
    found = pagerank(links, tolerance=TIGHT, max_iterations=5_000)
    assert found.converged
    assert np.abs(found.scores - by_networkx(links)).max() < 1e-9
    assert np.abs(found.scores - solved(links)).max() < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs_with_personalisation_against_networkx(seed):
    rng = np.random.default_rng(seed)
    n = 60
    edges = [(*pair, weight) for pair, weight in zip(rng.integers(0, n, (150, 2)), rng.random(150), strict=True)]
    links = matrix(edges, n)
    links.sum_duplicates()
    wanted = rng.random(n) * (rng.random(n) < 0.2)
    found = pagerank(links, 0.7, wanted, TIGHT, 5_000)
    reference = by_networkx(links, alpha=0.7, personalization=dict(enumerate(wanted)))
    assert np.abs(found.scores - reference).max() < 1e-9
    assert np.abs(found.scores - solved(links, 0.7, wanted)).max() < 1e-12


def by_power_iteration(links: csr_array, damping: float, v: np.ndarray) -> np.ndarray:
    """PageRank as its equation says, step by step: the slow plain twin for many nodes."""
    sums = np.asarray(links.sum(axis=1))
    inverse = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
    x = v
    for _ in range(400):
        x = damping * (links.T @ (x * inverse) + x[sums == 0].sum() * v) + (1 - damping) * v
    return x


@pytest.mark.parametrize("same_weights", [True, False])
@pytest.mark.parametrize("places", [np.int32, np.int64])
def test_many_nodes_in_machine_code_against_the_power_iteration(same_weights, places):
    rng = np.random.default_rng(0)
    n, m = 2_000, 12_000
    starts = np.concatenate([[0], np.cumsum(np.bincount(rng.integers(0, n // 2, m), minlength=n))])
    weights = np.full(m, 3.0) if same_weights else rng.random(m)
    links = csr_array((weights, rng.integers(0, n, m).astype(places), starts.astype(places)), shape=(n, n))
    v = rng.random(n) * (rng.random(n) < 0.5)
    found = pagerank(links, 0.85, v, TIGHT)
    x = by_power_iteration(links, 0.85, v / v.sum())
    assert found.converged
    assert np.abs(found.scores - x).sum() < 1e-12
    assert found.flow == pytest.approx(0.85 * (links.T @ (x / np.maximum(links.sum(axis=1), 1e-300))), abs=1e-13)


def test_passes_are_fewer_than_steps_of_the_power_iteration():
    """Two sites that link to one, and it to them: there the residual falls by 1 - damping in each step only."""
    found = pagerank(matrix([(0, 1), (0, 2), (1, 0), (2, 0)], 3), 0.9999)
    assert found.converged
    assert found.n_iterations < 10


def test_a_star_by_hand():
    # hub: h = r/3 + d(l1 + l2) + d·h/3, leaf: l = r/3 + d·h/3, with r = .15, d = .85
    scores = pagerank(matrix([(1, 0), (2, 0)], 3), tolerance=TIGHT).scores
    leaf = 1 / (3 + 2 * 0.85)
    assert scores == pytest.approx([leaf * (1 + 2 * 0.85), leaf, leaf], abs=1e-12)


def test_the_papers_formula_differs_by_one_factor_where_nodes_dangle():
    edges, n = [(0, 1), (1, 2), (3, 2), (0, 3), (3, 0)], 5
    links = matrix(edges, n)
    x = np.ones(n)  # "Initially, the PageRank value of w is 1"
    dense = links.toarray()
    for _ in range(500):
        x = 0.15 / n + 0.85 * dense.T @ np.divide(x, dense.sum(axis=1), out=np.zeros(n), where=dense.sum(axis=1) > 0)
    assert pagerank(links, tolerance=TIGHT).scores == pytest.approx(x / x.sum(), abs=1e-12)


def test_convergence_is_reported_and_means_the_same_for_any_size():
    small = matrix([(k, (k * k + 1) % 10) for k in range(10)], 10)
    copies = 200
    blocks = [(10 * c + a, 10 * c + b) for c in range(copies) for a, b in zip(*small.nonzero(), strict=True)]
    large = matrix(blocks, 10 * copies)
    one, many = pagerank(small, tolerance=1e-9), pagerank(large, tolerance=1e-9)
    assert one.n_iterations == many.n_iterations
    assert np.tile(one.scores, copies) / copies == pytest.approx(many.scores, abs=1e-12)
    assert one.residual <= 1e-9
    stopped = pagerank(small, tolerance=1e-9, max_iterations=2)
    assert (stopped.n_iterations, stopped.converged) == (2, False)
    assert stopped.residual > 1e-9
    bound = 0.85 / 0.15 * one.residual
    assert np.abs(one.scores - solved(small)).sum() <= bound


def test_a_residual_that_equals_the_tolerance_is_small_enough():
    links = matrix([(k, (k * k + 1) % 10) for k in range(10)], 10)
    stopped = pagerank(links, tolerance=TIGHT, max_iterations=3)
    assert not stopped.converged
    again = pagerank(links, tolerance=stopped.residual)
    assert (again.n_iterations, again.residual, again.converged) == (3, stopped.residual, True)


def test_a_link_that_is_stored_twice_counts_once_for_the_paper():
    """Rows of two stored entries for one link, as a matrix has them that was put together by hand."""
    twice = csr_array((np.ones(3), np.array([2, 2, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    assert twice.nnz == 3
    assert seed_scores(twice, np.ones(3), np.ones(3, bool)).linkout.tolist() == [1, 1, 0]
    assert seed_sums(twice, [0.5, 0.25, 9.0], [True, True, False]).tolist() == [0, 0, 0.75]


def test_flow_is_what_comes_over_links():
    links = matrix([(0, 1), (0, 2), (2, 1)], 4)
    found = pagerank(links, personalisation=[1, 0, 0, 0], tolerance=TIGHT)
    assert found.flow[[0, 3]].tolist() == [0, 0]
    assert found.flow[1] == pytest.approx(0.85 * (found.scores[0] / 2 + found.scores[2]))
    assert found.scores[3] == 0


def test_an_empty_graph():
    found = pagerank(csr_array((0, 0)))
    assert (found.scores.shape, found.n_iterations, found.residual, found.converged) == ((0,), 0, 0.0, True)


def test_a_stored_zero_is_no_link():
    links = matrix([(0, 1, 0), (1, 2), (2, 0)], 3)
    assert links.nnz == 3
    assert pagerank(links).scores.tolist() == pagerank(matrix([(1, 2), (2, 0)], 3)).scores.tolist()


def test_the_score_of_seeds_stops_where_pagerank_does():
    links = matrix([(0, 1), (0, 2), (1, 0), (2, 0), (2, 1)], 3)
    alone = pagerank(links, 0.9999, max_iterations=3)
    assert not alone.converged
    of_seeds = seed_scores(links, [1.0] * 3, [True] * 3, 0.9999, max_iterations=3).pagerank
    assert (of_seeds.n_iterations, of_seeds.residual) == (alone.n_iterations, alone.residual)


@pytest.mark.parametrize(
    ("links", "options", "error"),
    [
        (csr_array((2, 3)), {}, ShapeError),
        (matrix([(0, 1, -1)], 2), {}, ShapeError),
        (matrix([(0, 1, np.nan)], 2), {}, ShapeError),
        (matrix([(0, 1, np.inf)], 2), {}, ShapeError),
        (matrix([(0, 1)], 2), {"personalisation": [1, 1, 1]}, ShapeError),
        (matrix([(0, 1)], 2), {"personalisation": [0, 0]}, ShapeError),
        (matrix([(0, 1)], 2), {"personalisation": [-1, 2]}, ShapeError),
        (matrix([(0, 1)], 2), {"damping": 1.0}, ConfigError),
        (matrix([(0, 1)], 2), {"tolerance": 0.0}, ConfigError),
        (matrix([(0, 1)], 2), {"tolerance": np.nan}, ConfigError),
        (matrix([(0, 1)], 2), {"max_iterations": np.nan}, ConfigError),
        (csr_array(np.eye(2) * 1j), {}, ShapeError),
        (csr_array((np.ones(2), [1, 2], [0, 1, 2]), shape=(2, 2)), {}, ShapeError),
        (np.eye(2), {}, ShapeError),
    ],
)
def test_what_cannot_be_ranked_is_refused(links, options, error):
    with pytest.raises(error):
        pagerank(links, **options)


@pytest.mark.parametrize("factor", [1e-310, 1e-300, 8e307, 2**61, np.float32(1e38)])
def test_the_size_of_weights_does_not_matter(factor):
    weights = np.array([[0, 1, 2], [2, 0, 1], [1, 1, 0]])
    scores = pagerank(csr_array(weights.astype(np.float64))).scores
    assert pagerank(csr_array(weights * factor)).scores.tolist() == pytest.approx(scores.tolist(), abs=1e-8)


@pytest.mark.parametrize("kind", [csc_array, coo_array, csr_matrix])
def test_all_sparse_formats_are_ranked_alike(kind):
    links = matrix([(0, 1), (0, 2), (1, 2), (3, 0)], 4)
    assert pagerank(kind(links)).scores.tolist() == pagerank(links).scores.tolist()
    assert seed_sums(kind(links), np.ones(4), [True] * 4).tolist() == [1, 1, 2, 0]


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@given(EDGES, st.permutations(range(8)))
def test_names_do_not_matter(edges, order):
    renamed = [(order[a], order[b]) for a, b in edges]
    seeds = np.arange(8) < 5
    worth = np.arange(8) / 8
    moved_seeds, moved_worth = np.empty(8, bool), np.empty(8)
    moved_seeds[list(order)], moved_worth[list(order)] = seeds, worth
    before = seed_scores(matrix(edges, 8), worth, seeds, tolerance=TIGHT)
    after = seed_scores(matrix(renamed, 8), moved_worth, moved_seeds, tolerance=TIGHT)
    for name in ("linkout", "weighted", "linkout_sum", "pagerank_sum", "weighted_sum"):
        assert getattr(after, name)[list(order)] == pytest.approx(getattr(before, name), abs=1e-10)


@given(EDGES)
def test_an_edge_twice_is_one_link_for_the_paper(edges):
    seeds, worth = np.arange(8) < 5, np.full(8, 0.5)
    once, twice = matrix(sorted(set(edges)), 8), matrix(edges + edges, 8)
    for a, b in ((seed_scores(each, worth, seeds) for each in (once, twice)),):
        assert np.array_equal(a.linkout, b.linkout)
        assert np.array_equal(a.linkout_sum, b.linkout_sum)
        assert np.array_equal(a.weighted_sum, b.weighted_sum)
    # doubling every edge doubles every row: the shares stay
    assert pagerank(twice, tolerance=TIGHT).scores == pytest.approx(
        pagerank(matrix(edges, 8), tolerance=TIGHT).scores, abs=1e-10
    )


@given(EDGES)
def test_scores_are_shares(edges):
    found = pagerank(matrix(edges, 8))
    assert found.scores.sum() == pytest.approx(1)
    assert found.scores.min() > 0
    assert found.scores == pytest.approx(solved(matrix(edges, 8)), abs=1e-8)


def test_the_papers_scores_by_hand():
    # seeds 0, 1, 2; outside 3, 4. 0 → 1, 0 → 3, 1 → 0, 1 → 2, 1 → 3, 2 → 4, 3 → 0
    links = matrix([(0, 1), (0, 3), (1, 0), (1, 2), (1, 3), (2, 4), (3, 0), (0, 0)], 5)
    seeds = [True, True, True, False, False]
    found = seed_scores(links, [0.5, 1.0, 0.0, 9.0, 9.0], seeds, tolerance=TIGHT)
    assert found.linkout.tolist() == [1, 2, 0, 0, 0]
    assert found.linkout_sum.tolist() == [2, 1, 2, 3, 0]
    # among the seeds: 0 → 1, 1 → 0, 1 → 2, and 2 dangles: with c = .05 + .85·p2/3,
    # p0 = c + .425·p1, p1 = c + .85·p0, p2 = p0, so p0 = c·1.425/(1 - .36125), p1 = c + .85·p0
    share = np.array([1.425, 0.63875 + 0.85 * 1.425, 1.425])
    p0, p1, p2 = share / share.sum()
    assert found.pagerank.scores == pytest.approx([p0, p1, p2, 0, 0], abs=1e-12)
    assert found.pagerank_sum == pytest.approx([p1, p0, p1, p0 + p1, p2], abs=1e-12)
    assert found.weighted == pytest.approx([p0 / 2, p1, 0, 0, 0], abs=1e-12)
    assert found.weighted_sum == pytest.approx([p1, p0 / 2, p1, p0 / 2 + p1, 0], abs=1e-12)


def test_sums_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    n = 30
    edges = [tuple(pair) for pair in rng.integers(0, n, (200, 2)).tolist()]
    values, seeds = rng.random(n), rng.random(n) < 0.5
    expected = [sum(values[w] for w in range(n) if seeds[w] and w != s and (w, s) in set(edges)) for s in range(n)]
    assert seed_sums(matrix(edges, n), values, seeds) == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [[True], [1, 0], ["a", "b"]])
def test_seeds_are_true_or_false_for_each_node(seeds):
    with pytest.raises(ShapeError, match="seeds"):
        seed_sums(matrix([(0, 1)], 2), [1, 1], seeds)


def column(values: np.ndarray, name: str) -> np.ndarray:
    return values[:, FEATURES.index(name)]


def test_features_by_hand():
    # crawled 0 (C = .8), 1 (C = 0), 2 (C = .4); 3 has links from 0 and 2, 4 from 1 alone, 5 from nobody
    sites = ["a.hk", "b.com", "c.hk", "d.hk", "e.com", "f.org"]
    graph = host_graph([(0, 3), (2, 3), (1, 4)], sites)
    worth, known = np.array([0.8, 0, 0.4, 0, 0, 0]), np.array([True] * 3 + [False] * 3)
    found = site_features(graph, worth, known)
    assert column(found.values, "vouched") == pytest.approx([0, 0, 0, 1.2 / 3, 0, 0])
    assert column(found.values, "in_links") == pytest.approx([0, 0, 0, np.log2(3), 1, 0])
    assert column(found.values, "credit")[[4, 5]].tolist() == [-3, -3]
    assert column(found.values, "credit")[3] > 0
    suffix = column(found.values, "suffix")
    assert suffix[3] > 0 > suffix[4]
    assert suffix[5] == 0


@pytest.mark.parametrize(("n_values", "n_known", "n_web", "named"), [(2, 3, 3, "credibility"), (3, 3, 2, "web.hosts")])
def test_an_array_of_another_length_is_named(n_values, n_known, n_web, named):
    graph = host_graph([(0, 1)], ["a.hk", "b.hk", "c.hk"])
    with pytest.raises(ShapeError, match=rf"^{named}: expected a value for each of 3 sites, got shape \(2,\)$"):
        site_features(graph, np.ones(n_values), np.ones(n_known, bool), web=no_evidence(n_web))


@pytest.mark.parametrize("crawled", [[True, False], [0.5, 0.0, 1.0], [1, 0, 1], ["True", "", ""]])
def test_crawled_is_true_or_false_for_each_site(crawled, tmp_path):
    """Numbers may be the credibility, in the wrong place."""
    graph = host_graph([(0, 1)], ["a.hk", "b.hk", "c.hk"])
    for ask in (
        lambda: site_features(graph, np.ones(3), crawled),
        lambda: rank_sites(graph, np.ones(3), crawled),
        lambda: read_web_graph(WebFiles([], []), graph.sites, np.ones(3), crawled, tmp_path),
    ):
        with pytest.raises(ShapeError, match=r"^crawled: expected true or false for each of 3 sites, got "):
            ask()


def test_features_of_a_site_exclude_its_own_verdict():
    sites = [f"s{k}.{'hk' if k % 3 else 'com'}" for k in range(9)]
    rng = np.random.default_rng(3)
    graph = host_graph([tuple(pair) for pair in rng.integers(0, 9, (30, 2)).tolist()], sites)
    graph.links.setdiag(0)
    graph.links.eliminate_zeros()
    known, worth = np.ones(9, bool), rng.random(9)
    changed = worth.copy()
    changed[4] = 0.0
    a, b = (site_features(graph, each, known).values[4] for each in (worth, changed))
    for name in FEATURES:
        if name != "credit":  # a little of it returns over others' links
            assert a[FEATURES.index(name)] == b[FEATURES.index(name)], name


def test_suffixes_lean_on_wider_ones():
    sites = [f"{k}.gov.hk" for k in "abcdef"] + [f"{k}.com.hk" for k in "abcdef"] + ["x.gov.hk", "x.com.hk", "x.edu.hk"]
    yes = [True] * 6 + [False] * 9
    known = [True] * 12 + [False] * 3
    gov, com, edu = suffix_odds(sites, yes, known)[-3:]
    assert gov > edu == pytest.approx(0, abs=1e-12)
    assert com == pytest.approx(-gov)


def test_nothing_to_learn_from_leaves_the_weights():
    model, prior = learn_site_model(np.empty((0, len(FEATURES))), np.empty(0, bool)), prior_model()
    assert np.array_equal(model.weights, prior.weights)
    assert (model.intercept, model.n_learned) == (prior.intercept, 0)


def test_misleading_feature_loses_weight():
    rng = np.random.default_rng(0)
    x = rng.random((400, len(FEATURES)))
    names = list(FEATURES)
    yes = x[:, names.index("hreflang")] > 0.5
    model, prior = learn_site_model(x, yes), prior_model()
    gained = model.weights - prior.weights
    assert names[int(np.argmax(gained))] == "hreflang"
    opposite = learn_site_model(x, x[:, names.index("vouched")] < 0.5)
    assert opposite.weights[names.index("vouched")] < 0 < prior.weights[names.index("vouched")]
    chance = site_probability(model, x)
    assert chance[yes].mean() > 0.8
    assert chance[~yes].mean() < 0.2


def test_the_model_is_where_its_loss_has_no_slope():
    rng = np.random.default_rng(5)
    x, yes = rng.normal(size=(50, len(FEATURES))), rng.random(50) < 0.4
    model, prior = learn_site_model(x, yes, 2.0), prior_model()
    wrong = site_probability(model, x) - yes
    assert x.T @ wrong + 2.0 * (model.weights - prior.weights) == pytest.approx(0, abs=1e-7)
    assert wrong.sum() + 0.02 * (model.intercept - prior.intercept) == pytest.approx(0, abs=1e-7)


def test_contributions_are_the_whole_score():
    x = np.random.default_rng(2).normal(size=(5, len(FEATURES)))
    model = prior_model()
    odds = contributions(model, x).sum(axis=1) + model.intercept
    assert site_probability(model, x) == pytest.approx(1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize("values", [np.zeros((2, 3)), np.full((2, len(FEATURES)), np.nan)])
def test_features_that_do_not_fit_are_refused(values):
    with pytest.raises(ShapeError):
        learn_site_model(values, np.zeros(2, bool))


def farm() -> tuple[HostGraph, np.ndarray, np.ndarray]:
    """Good seeds link to good candidates; a farm of crawled sites without credibility links to its own target."""
    sites = sorted(
        [f"good{k}.hk" for k in range(6)] + [f"spam{k}.com" for k in range(12)] + ["target.com", "wanted.hk"]
    )
    row = {site: k for k, site in enumerate(sites)}
    edges = [(row[f"good{k}.hk"], row[f"good{(k + 1) % 6}.hk"]) for k in range(6)]
    edges += [(row[f"good{k}.hk"], row["wanted.hk"]) for k in range(4)]
    edges += [(row[f"spam{a}.com"], row[f"spam{b}.com"]) for a in range(12) for b in range(12) if a != b]
    edges += [(row[f"spam{a}.com"], row["target.com"]) for a in range(12)]
    known = np.array([site not in ("target.com", "wanted.hk") for site in sites])
    worth = np.array([0.6 if site.startswith("good") else 0.0 for site in sites])
    return host_graph(edges, sites, np.where(known, 20, 0)), worth, known


def test_spam_that_many_links_praise_does_not_win():
    graph, worth, known = farm()
    target, wanted = graph.sites.index("target.com"), graph.sites.index("wanted.hk")
    for learn in ("all", "nothing"):
        found = rank_sites(graph, worth, known, settings=RankingSettings(learn=learn))
        assert found.paper.linkout_sum[target] > found.paper.linkout_sum[wanted]
        assert found.ours[wanted] > 0.5 > found.ours[target]
    assert rank_sites(graph, worth, known).model.n_learned == 18
    later = rank_sites(graph, worth, known, np.where(worth > 0, 1, 0), RankingSettings(learn="rounds"))
    assert (later.model.n_learned, later.model.n_bilingual) == (6, 6)


def test_sites_that_were_looked_at_in_vain_teach_too():
    graph, worth, known = farm()
    wanted = np.array([site == "wanted.hk" for site in graph.sites])
    before, after = rank_sites(graph, worth, known), rank_sites(graph, worth, known, disproved=wanted)
    assert (after.model.n_learned, after.model.n_bilingual) == (19, before.model.n_bilingual)
    assert after.ours[wanted] < before.ours[wanted]
    with pytest.raises(ShapeError, match="disproved"):
        rank_sites(graph, worth, known, disproved=[True])


def test_rounds_have_to_fit():
    graph, worth, known = farm()
    with pytest.raises(ShapeError, match="rounds"):
        rank_sites(graph, worth, known, [0, 1])


def test_a_graph_without_crawled_sites_or_without_any():
    graph = host_graph([(0, 1)], ["a.hk", "b.hk"])
    found = rank_sites(graph, np.zeros(2), np.zeros(2, bool))
    assert found.paper.weighted_sum.tolist() == [0, 0]
    assert np.isfinite(found.ours).all()
    assert rank_sites(host_graph([], []), np.zeros(0), np.zeros(0, bool)).ours.shape == (0,)


def test_without_an_end_there_are_no_scores():
    with pytest.raises(ConfigError, match="a finite tolerance"):
        pagerank(matrix([(0, 1)], 2), tolerance=np.inf)


@pytest.mark.parametrize("value", [np.nan, -1.0, 1.5])
def test_the_credibility_of_seeds_is_in_0_to_1(value):
    links, seeds = matrix([(0, 1)], 2), np.array([True, False])
    with pytest.raises(ShapeError, match=r"credibility of seeds: expected values in \[0, 1\]"):
        seed_scores(links, [value, 0.5], seeds)
    assert seed_scores(links, [0.5, value], seeds).weighted_sum.tolist() == [0, 0.5], "it is no seed"


def test_links_of_one_dimension_are_refused_by_their_shape():
    with pytest.raises(ShapeError, match=r"expected a csr_array of two dimensions, got one of shape \(3,\)$"):
        pagerank(csr_array(np.ones(3)))
