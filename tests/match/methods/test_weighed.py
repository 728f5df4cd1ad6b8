"""Method `weighed` on made sites: two languages of invented words, a hidden dictionary, links on both sides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace
from numpy.typing import NDArray

from twinlink.config import DEFAULT_EVIDENCE, Config
from twinlink.graph.document_order import link_lists, sublists
from twinlink.graph.links import adjacency
from twinlink.graph.matching import Matching
from twinlink.match.evidence import Between, FoundPairs, Side, as_scores, read_words
from twinlink.match.measures import State
from twinlink.match.methods import restarts, weighed
from twinlink.match.methods.weighed import Round, _clear, _sureness, match_weighed
from twinlink.match.methods.word_parts import MORE_RIGHT
from twinlink.similarity import candidates
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import Weighing
from twinlink.system.side_by_side import on_cores
from twinlink.system.steps import Steps

N_WORDS, N_TAGS = 300, 30
LETTERS = "abcdefghij"


class MadeSite(msgspec.Struct, frozen=True):
    """Page k of side A and page k of side B are versions of one text as long as `page_ids` are equal."""

    a: Side
    b: Side

    def found(self, between: Between | None = None, **overrides: object) -> FoundPairs:
        settings = Config().override({f"match.{name.replace('__', '.')}": v for name, v in overrides.items()}).match
        words = read_words(self.a, self.b, [], settings)
        return match_weighed(self.a, self.b, words, between or no_links(self.a, self.b), settings)

    def pairs(self, found: FoundPairs, keep: NDArray[np.bool_] | None = None) -> set[tuple[int, int]]:
        matching = found.matching
        ids = zip(self.a.page_ids[matching.rows].tolist(), self.b.page_ids[matching.columns].tolist(), strict=True)
        chosen = keep_pairs(found.probabilities) if keep is None else keep
        return {pair for pair, kept in zip(ids, chosen.tolist(), strict=True) if kept}


def no_links(a: Side, b: Side) -> Between:
    none = sp.csr_array((len(a.urls), len(b.urls)), dtype=np.float32)
    return Between(none, none.copy())


def invented(prefix: str, k: int) -> str:
    return prefix + LETTERS[k // 100] + LETTERS[k // 10 % 10] + LETTERS[k % 10]


def opaque_names(lang: str, n: int) -> list[str]:
    """Names that tell nothing."""
    return [blake2b(f"{lang} {k}".encode(), digest_size=8).hexdigest() for k in range(n)]


def with_plain_addresses(site: MadeSite) -> MadeSite:
    """Addresses that are the same but for the language."""
    sides = (
        replace(side, urls=[f"http://made.example/{side.lang}/{k}" for k in side.page_ids]) for side in (site.a, site.b)
    )
    return MadeSite(*sides)


def made_site(n: int, seed: int = 0, noise: float = 0.2, numbers: int = 1, tag_noise: float = 0.1) -> MadeSite:
    """n texts in two languages.

    ``noise`` is the share of words (``tag_noise``: of tags) that are replaced at random on each side; each page has
    ``numbers`` numbers that both languages share; nine of ten links stand on both sides. Side B is in another order.
    """
    rng = np.random.default_rng(seed)
    frequency = np.arange(1, N_WORDS + 1) ** -0.7
    texts = rng.choice(N_WORDS, (n, 40), p=frequency / frequency.sum())
    shared = rng.integers(1000, 1000 + 3 * n, (n, numbers))
    tags = rng.integers(1, 12, (n, N_TAGS))
    links = rng.integers(0, n, (2, 4 * n))
    hidden = rng.permutation(N_WORDS)

    def side(lang: str, vocabulary: list[str]) -> Side:
        words = np.where(rng.random(texts.shape) < noise, rng.integers(0, N_WORDS, texts.shape), texts)
        codes = np.where(rng.random(tags.shape) < tag_noise, rng.integers(1, 12, tags.shape), tags).astype(np.uint8)
        source, target = links[:, rng.random(4 * n) < 0.9]
        blocks = [
            [" ".join(vocabulary[w] for w in page), " ".join(map(str, own))]
            for page, own in zip(words, shared, strict=True)
        ]
        urls = [f"http://made.example/{name}" for name in opaque_names(lang, n)]
        return Side(lang, np.arange(n), urls, blocks, [row.tobytes() for row in codes], adjacency(source, target, n))

    a = side("xa", [invented("q", k) for k in range(N_WORDS)])
    b = side("xb", [invented("z", k) for k in hidden])
    return MadeSite(a, take(b, rng.permutation(n)))


def take(side: Side, rows: NDArray[np.integer]) -> Side:
    """Return some pages of a side, in this order."""
    return replace(
        side,
        page_ids=side.page_ids[rows],
        urls=[side.urls[row] for row in rows],
        blocks=[side.blocks[row] for row in rows],
        tags=[side.tags[row] for row in rows],
        graph=sp.csr_array(side.graph[rows][:, rows]),
    )


def permuted(site: MadeSite) -> MadeSite:
    """Put side B, its lists of links included, in another order: ties are not to be decided by numbers."""
    assert site.b.lists is not None
    order = np.random.default_rng(1).permutation(len(site.b.urls))
    return MadeSite(site.a, replace(take(site.b, order), lists=sublists(site.b.lists, order)))


def with_own_images(side: Side) -> Side:
    """Each page has an image of its own, which tells nothing: so pages of equal words and tags are no copies."""
    return replace(side, names=[(f"{side.lang}{page}.png",) for page in range(len(side.urls))])


def without_words(side: Side) -> Side:
    return replace(side, blocks=[["..."]] * len(side.urls))


def without_tags(side: Side) -> Side:
    return replace(side, tags=[b""] * len(side.urls))


def right(site: MadeSite) -> set[tuple[int, int]]:
    return {(page, page) for page in set(site.a.page_ids.tolist()) & set(site.b.page_ids.tolist())}


def check(found: FoundPairs, site: MadeSite) -> None:
    """What holds of every result."""
    n = found.scores.nnz
    assert found.scores.shape == (len(site.a.urls), len(site.b.urls))
    assert found.scores.has_sorted_indices
    assert ((found.scores.data >= 0) & (found.scores.data <= 1)).all()
    for values in found.evidence.values():
        assert values.shape == (n,)
        assert values.dtype == np.float32
        assert ((values >= 0) & (values <= 1)).all()
    matching = found.matching
    for pages in (matching.rows, matching.columns):
        assert len(set(pages.tolist())) == len(pages)
    assert (np.diff(matching.scores) <= 0).all()
    assert found.n_equal is not None
    assert ((found.probabilities >= 0) & (found.probabilities <= 1 / found.n_equal + 1e-9)).all()
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    assert found.probabilities.shape == found.rivals.shape == matching.rows.shape
    all_rivals = Rivalry(found.scores).rivals(found.scores.data.astype(float))
    entries = found.scores.tocoo()
    place = {pair: k for k, pair in enumerate(zip(entries.row.tolist(), entries.col.tolist(), strict=True))}
    at = [place[pair] for pair in zip(matching.rows.tolist(), matching.columns.tolist(), strict=True)]
    assert found.rivals.tolist() == all_rivals[at].tolist()
    assert found.scores.data[at].tolist() == matching.scores.tolist()
    assert set(found.weights) == set(found.evidence)
    if found.weights:
        assert sum(found.weights.values()) == pytest.approx(1)


def test_scores_keep_the_order_of_log_odds() -> None:
    """As float32, from end to end."""
    scores = as_scores(np.linspace(-20, 20, 40_001)).astype(np.float32)
    assert (np.diff(scores) > 0).all()
    assert 0 < scores[0] < scores[-1] < 1


@pytest.mark.parametrize("seed", [0, 1])
def test_all_pairs_are_found_without_a_lexicon(seed: int) -> None:
    site = made_site(40, seed)
    found = site.found()
    check(found, site)
    assert site.pairs(found) == right(site)
    assert found.probabilities.mean() > 0.95
    assert found.evidence["learned"].max() > found.evidence["content"].max()


@pytest.mark.parametrize("seed", [0, 1])
def test_half_of_a_side_removed_leaves_precision_and_its_estimate(seed: int) -> None:
    whole = made_site(40, seed)
    site = MadeSite(whole.a, take(whole.b, np.arange(20)))
    found = site.found()
    check(found, site)
    pairs = site.pairs(found)
    precision = len(pairs & right(site)) / len(pairs)
    assert precision >= 0.95
    assert len(pairs) >= 19
    assert found.probabilities[keep_pairs(found.probabilities)].mean() == pytest.approx(precision, abs=0.05)


def test_where_no_page_has_a_partner_pairs_are_not_said_to_be_sure() -> None:
    """Pairs taken at random must not vouch for each other with the words that they taught."""
    expected = []
    for n, seed in ((40, 100), (100, 50)):
        a, b = made_site(n).a, made_site(n, seed).b
        site = MadeSite(a, b)
        found = site.found()
        check(found, site)
        expected.append(found.probabilities.mean())
    assert np.mean(expected) < 0.7
    assert max(expected) < 0.8


def f1(site: MadeSite, found: FoundPairs) -> float:
    pairs = site.pairs(found, np.ones(len(found.matching.rows), bool))
    return 2 * len(pairs & right(site)) / (len(pairs) + len(right(site)))


def test_links_help_where_words_are_weak() -> None:
    inside = tuple(kind for kind in DEFAULT_EVIDENCE if kind not in ("ets", "external"))
    with_links, without = [], []
    for seed in range(2):
        site = made_site(40, seed, noise=0.8, tag_noise=0.6)
        with_links.append(f1(site, site.found()))
        without.append(f1(site, site.found(weighing__evidence=inside)))
    assert np.mean(with_links) > np.mean(without) + 0.2


@pytest.mark.parametrize("kind", ["direct", "hreflang"])
def test_links_between_the_sides_are_used(kind: str) -> None:
    """Words, tags and links within the sides say nothing; links between versions stand on nine of ten pages."""
    site = made_site(40, noise=1, numbers=0, tag_noise=1)
    unlinked = sp.csr_array((40, 40), dtype=bool)
    site = MadeSite(replace(site.a, graph=unlinked), replace(site.b, graph=unlinked))
    linked = np.arange(40) % 10 > 0
    links = sp.csr_array(((site.a.page_ids[:, None] == site.b.page_ids) * linked[:, None]).astype(np.float32))
    between = replace(no_links(site.a, site.b), **{kind: links})
    found = site.found(between)
    check(found, site)
    assert len(site.pairs(found) & right(site)) >= 36
    assert max(found.weights, key=found.weights.__getitem__) == kind
    unaware = site.found(between, weighing__evidence=tuple(each for each in DEFAULT_EVIDENCE if each != kind))
    assert kind not in unaware.evidence
    assert len(site.pairs(unaware) & right(site)) < 10


def test_credible_url_patterns_are_evidence_where_nothing_else_is() -> None:
    site = made_site(40, noise=1, numbers=0, tag_noise=1)
    unlinked = sp.csr_array((40, 40), dtype=bool)
    site = MadeSite(replace(site.a, graph=unlinked), replace(site.b, graph=unlinked))
    found = with_plain_addresses(site).found()
    check(found, site)
    assert len(site.pairs(found) & right(site)) >= 36
    assert "pattern" not in site.found().evidence
    assert len(site.pairs(site.found()) & right(site)) < 10


def test_leftovers_whose_addresses_lack_a_partner_are_less_likely() -> None:
    """Each side has lost a page, and half of the tags of the two pages left over are equal."""
    whole = with_plain_addresses(made_site(40, noise=0.5))
    a, b = take(whole.a, np.arange(39)), take(whole.b, np.flatnonzero(whole.b.page_ids != 38))
    half, row = N_TAGS // 2, b.page_ids.tolist().index(39)
    b = replace(b, tags=[*b.tags[:row], whole.a.tags[38][:half] + b.tags[row][half:], *b.tags[row + 1 :]])
    site = MadeSite(a, b)
    chances = []
    for kinds in (DEFAULT_EVIDENCE, tuple(kind for kind in DEFAULT_EVIDENCE if kind != "pattern")):
        found = site.found(weighing__evidence=kinds)
        check(found, site)
        is_it = (a.page_ids[found.matching.rows] == 38) & (b.page_ids[found.matching.columns] == 39)
        chances.append(float(found.probabilities[is_it].sum()))
    assert chances[0] < 0.1
    assert chances[1] > 0.9


def test_the_order_of_links_tells_look_alikes_apart() -> None:
    """Ten pages of their own and three kinds of ten look-alikes each; one page links to all, in one order.

    Look-alikes differ by a number that says nothing: it is another one in the other language.
    """
    texts = made_site(14)
    order = np.random.default_rng(0).permutation(np.arange(1, 41))

    def side(text: Side) -> Side:
        in_order = take(text, np.argsort(text.page_ids))
        pages = take(in_order, np.r_[0, np.arange(1, 11), np.tile([11, 12, 13], 10)])
        links = np.zeros(40, np.int64), order
        first = 5000 if text.lang == "xa" else 6000
        return replace(
            pages,
            page_ids=np.arange(41),
            blocks=[[*blocks, str(first + page)] for page, blocks in enumerate(pages.blocks)],
            urls=[f"http://made.example/{name}" for name in opaque_names(text.lang, 41)],
            graph=adjacency(*links, 41),
            lists=link_lists(*links, 41),
        )

    site = permuted(MadeSite(side(texts.a), side(texts.b)))
    found = site.found()
    check(found, site)
    assert f1(site, found) > 0.95
    unaware = site.found(weighing__evidence=tuple(kind for kind in DEFAULT_EVIDENCE if kind != "order"))
    assert f1(site, unaware) < 0.5
    alike = site.a.page_ids[unaware.matching.rows] > 10
    assert unaware.probabilities[alike].max() < 0.2


N_FORMS, N_PLACES, N_REMARKS, N_RESULTS = 8, 8, 6, 16


def site_of_results(*, by_title: bool) -> MadeSite:
    """Forms with results that differ in the word of a place and in a remark; page 0 lists them, form by form.

    In the list, each language sorts the results of a form by its own word for the place, or both have one order.
    """
    rng = np.random.default_rng(0)
    texts = made_site(1 + N_FORMS, noise=0)
    results = [
        (form, *divmod(choice, N_REMARKS))
        for form in range(1, 1 + N_FORMS)
        for choice in sorted(rng.permutation(N_PLACES * N_REMARKS)[:N_RESULTS].tolist())
    ]
    n = 1 + len(results)

    def side(text: Side, prefix: str, places: list[int]) -> Side:
        forms = take(text, np.argsort(text.page_ids))
        pages = take(forms, np.r_[0, [form for form, _, _ in results]])
        remarks = [[invented(prefix, 100 + 8 * remark + word) for word in range(8)] for remark in range(N_REMARKS)]
        own = [f"{invented(prefix, places[place])} {' '.join(remarks[remark])}" for _, place, remark in results]
        keys = [(form, places[place] if by_title else place) for form, place, _ in results]
        links = np.zeros(n - 1, np.int64), 1 + np.lexsort(np.array(keys).T[::-1])
        return replace(
            pages,
            page_ids=np.arange(n),
            blocks=[pages.blocks[0], *([*blocks, own[page]] for page, blocks in enumerate(pages.blocks[1:]))],
            urls=[f"http://made.example/{name}" for name in opaque_names(text.lang, n)],
            graph=adjacency(*links, n),
            lists=link_lists(*links, n),
        )

    a, b = side(texts.a, "qp", list(range(N_PLACES))), side(texts.b, "zp", rng.permutation(N_PLACES).tolist())
    return permuted(MadeSite(a, b))


@pytest.mark.parametrize("by_title", [False, True])
def test_look_alikes_are_found_in_lists_of_any_order(monkeypatch: pytest.MonkeyPatch, *, by_title: bool) -> None:
    site = site_of_results(by_title=by_title)
    found = site.found()
    check(found, site)
    assert f1(site, found) > 0.97
    monkeypatch.setattr(weighed, "is_risky", lambda *_: False)
    assert (f1(site, site.found()) > 0.97) is not by_title


def test_of_several_starts_the_best_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start with the right pairs displaces one that found others, wherever it comes among the starts."""
    site = site_of_results(by_title=True)
    shares = []
    for starts in (((True, 0),), ((True, 0), (False, 0), (True, 0))):
        monkeypatch.setattr(restarts, "STARTS", starts)
        shares.append(f1(site, site.found()) > 0.97)
    assert shares == [False, True]


def test_chance_may_turn_a_choice_round() -> None:
    rivalry = Rivalry(sp.csr_array(np.ones((2, 2), np.float32)))
    odds, everywhere = np.array([1.0, 0.5, 0.5, 1.0]), [np.ones(4, np.bool_)]
    assert [pairs.tolist() for pairs in weighed._match(rivalry, odds, everywhere)] == [[0, 3]]
    chance = np.array([-1.0, 0.0, 0.0, 0.0])
    (pairs,) = weighed._match(rivalry, odds, everywhere, chance)
    assert pairs.tolist() == [3, 0]
    (pairs,) = weighed._match(rivalry, odds, everywhere, chance - np.array([0.0, 0.0, 0.0, 1.0]))
    assert sorted(pairs.tolist()) == [1, 2]


@pytest.mark.parametrize("n_cores", [1, 2, 4])
@pytest.mark.parametrize(
    ("objectives", "best", "n_needed"),
    [
        ([100.5, 100.9, 90, 91], 0, 9),
        ([102, 104, 103], 2, 9),
        ([100, 100.5, 100, 200], 0, 3),
    ],
    ids=["hardly better is not better", "the best of all", "four equal ones are enough"],
)
def test_the_start_with_clearly_the_largest_objective_wins(
    monkeypatch: pytest.MonkeyPatch, objectives: list[float], best: int, n_needed: int, n_cores: int
) -> None:
    """The first result, number 0, has 100; those that are not given have 1. What further cores did is dropped."""
    given = dict(enumerate([100.0, *objectives]))
    runs = []

    def rounds(_site: object, _state: State, _labels: None, name: str, _steps: Steps) -> int:
        number = int(name.split()[-3]) - 1
        runs.append(number)
        return number

    monkeypatch.setattr(weighed, "_first_state", lambda *_: State(sp.csr_array((1, 1)), {}, (), np.zeros(1, np.int64)))
    monkeypatch.setattr(weighed, "_rounds", rounds)
    monkeypatch.setattr(weighed, "restarts", lambda *_: [None] * 9)
    monkeypatch.setattr(weighed, "_matrix_of", lambda done: done)
    how = weighed._BY_CHANCE._replace(
        most=lambda _: 9,
        objective=lambda _site, done: given.get(done, 1.0),  # type: ignore[call-overload]
    )
    with on_cores(n_cores):
        found = weighed._best_of_restarts(None, 0, how, "xa-xb", Steps(lambda *_: None))  # type: ignore[arg-type]
    assert found == best  # type: ignore[comparison-overlap]
    assert sorted(runs) == list(range(1, min(9, -(-n_needed // n_cores) * n_cores) + 1))


def test_starts_in_more_parts_end_as_soon_as_the_best_result_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first result has 10 pairs, the second 12, which are not enough more, the third 13 and is sure."""
    runs = iter(SimpleNamespace(n_right=n) for n in (10, 12, 13, 20))
    for run in (seen := [*runs]):
        run.result = run
        run.rivalry = run
    made, parts = iter(seen), []

    def rounds(_site: object, state: State, *_: object) -> object:
        parts.append(len(np.unique(state.parts)))
        return next(made)

    monkeypatch.setattr(weighed, "_rounds", rounds)
    monkeypatch.setattr(weighed, "is_risky", lambda *_: False)
    monkeypatch.setattr(weighed, "is_unsure", lambda _site, result: result.n_right < 13)
    monkeypatch.setattr(weighed, "_matrix_of", lambda _: sp.csr_array((20, 20), dtype=np.float32))
    monkeypatch.setattr(weighed, "_found", lambda _site, last: last)
    site, settings = made_site(20), Config().match
    words = read_words(site.a, site.b, [], settings)
    found = match_weighed(site.a, site.b, words, no_links(site.a, site.b), settings)
    assert found.n_right == 13  # type: ignore[attr-defined]
    assert parts == [2, 8, 16]


@pytest.mark.parametrize(("n_enough", "parts"), [(99, [8, 16, 12]), (2, [8, 16, 12, 8, 16])])
def test_starts_are_from_the_consensus_once_the_results_agree(
    monkeypatch: pytest.MonkeyPatch, n_enough: int, parts: list[int]
) -> None:
    """The results never agree, or two of them do; the last three of five starts bring nothing more."""
    site = SimpleNamespace(alike_a=sp.csr_array((40, 40), dtype=np.bool_))
    first = State(sp.csr_array((40, 40)), {}, (), np.zeros(40, np.int64))
    results = iter([30.0, 40.0, 39.0, 38.0, 37.0])

    def done(n_right: float) -> SimpleNamespace:
        return SimpleNamespace(n_right=n_right, result=None, state=first, _replace=SimpleNamespace)

    def state_after(_site: object, done: Round, pairs: object, _labels: None) -> State:
        learned_from.append(pairs)
        return done.state

    learned_from: list[object] = []
    monkeypatch.setattr(weighed, "is_unsure", lambda *_: True)
    monkeypatch.setattr(weighed, "_matrix_of", lambda done: sp.csr_array(np.diag([done.n_right / 100])))
    monkeypatch.setattr(weighed, "consensus_of", lambda found: Matching(*(np.array([len(found)]) for _ in range(3))))
    monkeypatch.setattr(weighed, "agree_on_enough", lambda agreed: agreed.rows[0] >= n_enough)
    monkeypatch.setattr(weighed, "_state_after", state_after)
    tried = weighed._Tried(site, lambda _, result: result.n_right, done(20.0))  # type: ignore[arg-type]
    made = []
    for start in weighed._starts_of_unsure(site, first, tried):  # type: ignore[arg-type]
        made.append((len(np.unique(start.state.parts)), start.better))
        tried.add(done(next(results)), start.better)  # type: ignore[arg-type]
        if weighed._are_sure_enough(site, tried):  # type: ignore[arg-type]
            break
    n_consensus = len(parts) - 1 if n_enough == 2 else 0
    assert [n for n, _ in made] == parts
    assert [better for _, better in made] == [MORE_RIGHT] * (len(parts) - n_consensus) + [1.0] * n_consensus
    assert [pairs[0].tolist() for pairs in learned_from] == [[n] for n in range(2, 2 + n_consensus)]  # type: ignore[index]
    assert tried.best.n_right == 40.0


def test_the_objective_is_the_contrast_of_look_alikes_times_the_expected_right_pairs() -> None:
    site = SimpleNamespace(has_alike=lambda _: np.array([True, False, True, True]))
    evidence = {"contrast": np.array([0.5, 0.9, 0.25, 0.8])}
    result = SimpleNamespace(pairs=np.array([0, 1, 2]), probabilities=np.array([1.0, 0.5, 0.5]))
    done = Round(None, None, evidence, result, None)  # type: ignore[arg-type]
    assert weighed._objective(site, done) == (0.5 + 0.25) * 2  # type: ignore[arg-type]


@pytest.mark.parametrize("labelled", [False, True])
def test_progress_goes_on_while_the_rounds_start_again(monkeypatch: pytest.MonkeyPatch, *, labelled: bool) -> None:
    monkeypatch.setattr(weighed, "is_risky", lambda *_: True)
    monkeypatch.setattr(weighed, "are_enough", lambda _: False)
    site, settings = made_site(12), Config().match
    words = read_words(site.a, site.b, [], settings)
    between = no_links(site.a, site.b)
    if labelled:
        between = replace(between, labels=sp.csr_array(([1.0], ([0], [0])), shape=(12, 12)))
    seen: list[tuple[float, str]] = []
    kept: list[str] = []
    steps = Steps(lambda share, step: seen.append((share, step)), keep=lambda name, _make: kept.append(name))
    match_weighed(site.a, site.b, words, between, settings, steps)
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] < 1
    n_again = sum("start" in step for _, step in seen)
    assert n_again >= 9
    assert len(kept) == sum("round" in step for _, step in seen) - n_again


def test_look_alikes_with_copies_start_again_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pages without their copies only the words are left."""
    monkeypatch.setattr(weighed, "is_risky", lambda *_: True)
    site = site_of_results(by_title=False)
    rows = np.r_[np.arange(len(site.a.urls)), 5]
    a, b = (replace(take(side, rows), lists=None) for side in (site.a, site.b))
    copied = MadeSite(*(replace(side, urls=[*side.urls[:-1], f"{side.urls[-1]}-copy"]) for side in (a, b)))
    check(copied.found(), copied)


def test_a_link_to_every_page_makes_no_candidate() -> None:
    site = MadeSite(*(without_tags(without_words(side)) for side in (made_site(10).a, made_site(10).b)))
    links = sp.csr_array(np.full((10, 10), 0.1, np.float32))
    assert site.found(replace(no_links(site.a, site.b), direct=links)).scores.nnz == 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_sites(n: int) -> None:
    site = made_site(n)
    found = site.found()
    check(found, site)
    assert site.pairs(found, np.ones(len(found.matching.rows), bool)) == right(site)


def weighed_pairs(held_out: list[float]) -> Weighing:
    """Two pairs whose presence by all pairs is .9 and .8, and whose probability is .5 and .1."""
    given = [np.array(x) for x in ([0.0, 0.0], [0, 1], [0.9, 0.8], held_out, [0.5, 0.1], [0, 0])]
    return Weighing(*given, mistaken=0.0, weights={})


def test_the_next_round_learns_by_models_that_have_not_learned_from_the_pairs() -> None:
    done = Round(None, None, {}, weighed_pairs([0.7, 0.2]), None)  # type: ignore[arg-type]  # state, rivalry: not used
    np.testing.assert_array_equal(_sureness(done), [0.7, 0.2])


def test_with_labels_the_next_round_learns_by_the_calibrated_probabilities() -> None:
    lessons = Lessons(*(np.zeros(2, dtype=np.bool_) for _ in range(3)))
    done = Round(None, None, {}, weighed_pairs([0.7, 0.2]), lessons)  # type: ignore[arg-type]
    np.testing.assert_array_equal(_sureness(done), [0.5, 0.1])


def test_a_single_pair_is_as_likely_as_not() -> None:
    assert made_site(1).found().probabilities.tolist() == [0.5]


@pytest.mark.parametrize(("n_a", "n_b"), [(0, 0), (0, 3), (3, 0)])
def test_a_side_without_pages(n_a: int, n_b: int) -> None:
    whole = made_site(3)
    site = MadeSite(take(whole.a, np.arange(n_a)), take(whole.b, np.arange(n_b)))
    found = site.found()
    check(found, site)
    assert len(found.matching.rows) == 0


@pytest.mark.parametrize("rounds", [0, 3])
def test_pages_without_words_and_tags_have_no_candidates(rounds: int) -> None:
    whole = made_site(6)
    site = MadeSite(without_tags(without_words(whole.a)), without_tags(without_words(whole.b)))
    found = site.found(weighing__rounds=rounds)
    check(found, site)
    assert found.scores.nnz == 0


def test_structure_alone_is_enough() -> None:
    whole = made_site(20)
    site = MadeSite(without_words(whole.a), without_words(whole.b))
    assert site.pairs(site.found()) == right(site)


def test_identical_pages_are_not_likely() -> None:
    """They differ in their images; any pair is as good as any other."""
    whole, unlinked = made_site(12), sp.csr_array((12, 12), dtype=bool)
    copies = (take(side, np.repeat(np.flatnonzero(side.page_ids == 0), 12)) for side in (whole.a, whole.b))
    site = MadeSite(*(replace(with_own_images(side), graph=unlinked) for side in copies))
    found = site.found()
    check(found, site)
    assert len(found.matching.rows) == 12
    assert found.probabilities.max() < 0.5


def test_where_each_page_has_a_near_copy_pairs_are_found() -> None:
    """Each page has a version for printing, with a word more: nothing is clear, but for near-duplicates."""
    whole = made_site(30)

    def printed(side: Side) -> Side:
        pages = take(side, np.r_[np.arange(30), np.arange(30)])
        blocks = [[*blocks, *["print"] * (page >= 30)] for page, blocks in enumerate(pages.blocks)]
        urls = [f"http://made.example/{name}" for name in opaque_names(side.lang, 60)]
        return replace(pages, page_ids=pages.page_ids + 30 * (np.arange(60) // 30), blocks=blocks, urls=urls)

    site = MadeSite(*map(printed, (whole.a, whole.b)))
    assert len(site.pairs(site.found()) & right(site)) >= 54


def test_a_tie_is_counted_and_not_guessed() -> None:
    """Two equal pages on each side without links: as many ways to pair them; the other pairs do not suffer."""
    whole = made_site(40)
    copied = (take(side, np.r_[np.arange(40), np.flatnonzero(side.page_ids == 0)]) for side in (whole.a, whole.b))
    site = MadeSite(*(replace(with_own_images(side), graph=sp.csr_array((41, 41), dtype=bool)) for side in copied))
    found = site.found()
    tied = site.a.page_ids[found.matching.rows] == 0
    assert found.n_equal is not None
    assert found.n_equal[tied].tolist() == [2, 2]
    assert (found.n_equal[~tied] == 1).all()
    assert (found.probabilities[tied] <= 0.5).all()
    assert site.pairs(found, found.probabilities > 0.5) == {pair for pair in right(site) if pair != (0, 0)}
    assert found.alike is not None
    pages = found.matching.rows[tied], found.matching.columns[tied]
    counts = [np.diff(alike.indptr)[of].tolist() for alike, of in zip(found.alike, pages, strict=True)]
    assert counts == [[1, 1], [1, 1]]


@pytest.mark.parametrize("kinds", [*((kind,) for kind in DEFAULT_EVIDENCE), ("learned", "external"), ()])
def test_any_choice_of_evidence_works(kinds: tuple[str, ...]) -> None:
    site = made_site(8)
    linked = sp.csr_array(np.eye(8, dtype=np.float32))
    found = site.found(Between(linked, linked), weighing__evidence=kinds)
    check(found, site)
    assert set(found.evidence) <= set(kinds)


def test_exchanging_the_sides_gives_the_same_pairs() -> None:
    site = made_site(40, noise=0.5)
    turned = MadeSite(site.b, site.a)
    assert turned.pairs(turned.found()) == {(b, a) for a, b in site.pairs(site.found())}


def test_the_order_of_the_pages_does_not_matter() -> None:
    site = made_site(40, noise=0.5)
    rng = np.random.default_rng(0)
    moved = MadeSite(take(site.a, rng.permutation(40)), take(site.b, rng.permutation(40)))
    assert moved.pairs(moved.found()) == site.pairs(site.found())


def test_names_of_pages_do_not_matter_and_the_same_input_gives_the_same_numbers() -> None:
    site = made_site(20)
    urls = [f"http://made.example/{k * 7919 % 1000}" for k in range(20)]
    first, second = site.found(), MadeSite(replace(site.a, urls=urls), replace(site.b, urls=urls[::-1])).found()
    assert first.scores.data.tolist() == second.scores.data.tolist()
    assert first.matching.rows.tolist() == second.matching.rows.tolist()
    assert first.probabilities.tolist() == second.probabilities.tolist()


def test_more_rounds_learn_more() -> None:
    """Without rounds no word is learned. Where structure says little, learned words find what was missed."""
    sites = [made_site(40, seed, noise=0.5, tag_noise=0.8) for seed in range(8)]
    none, some = ([site.found(weighing__rounds=rounds) for site in sites] for rounds in (0, 3))
    assert all("learned" not in found.evidence for found in none)
    assert all("learned" in found.evidence for found in some)
    gains = [f1(site, more) - f1(site, less) for site, more, less in zip(sites, some, none, strict=True)]
    assert min(gains) >= 0
    assert np.mean(gains) > 0.1


def test_candidates_of_a_large_site_need_votes_where_words_and_structure_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []

    def with_votes(votes: Sequence[sp.csr_array], least: int) -> sp.csr_array:
        asked.append((len(votes), least))
        return candidates.with_votes(votes, least)

    def n_pairs(votes: int, kinds: Sequence[str] = DEFAULT_EVIDENCE) -> int:
        overrides = {"candidates__votes": votes, "weighing__rounds": 0, "weighing__evidence": list(kinds)}
        return site.found(**overrides).scores.nnz

    monkeypatch.setattr(weighed, "with_votes", with_votes)
    whole = made_site(40)
    site = MadeSite(whole.a, take(whole.b, np.arange(30)))
    monkeypatch.setattr(weighed, "UNVOTED_PAGES", 70)
    small = [n_pairs(votes) for votes in (1, 3)]
    monkeypatch.setattr(weighed, "UNVOTED_PAGES", 69)
    large = [n_pairs(votes) for votes in (1, 2, 3)]
    n_pairs(3, ["content", "learned"])
    assert asked == [(2, 1), (2, 1), (2, 1), (2, 2), (2, 3), (1, 1)]
    assert small[0] == small[1] == large[0] > large[1] > large[2]


@pytest.mark.parametrize(("n", "seeds"), [(6, (1, 5)), (8, (9, 27)), (10, (5,))])
def test_tiny_sites_keep_their_candidates(n: int, seeds: tuple[int, ...]) -> None:
    """All pairs are sure after the first round: with few candidates left, the second one would find nothing."""
    for seed in seeds:
        site = made_site(n, seed)
        assert len(site.found().matching.rows) >= n
        assert f1(site, site.found()) == 1.0


def test_pages_of_sure_pairs_keep_fewer_candidates_but_not_with_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """With labels and few candidates, a look-alike lost its pair in every other round."""
    asked: list[tuple[int, int]] = []

    def strongest(*args: object) -> sp.csr_array:
        asked.append(tuple(int(np.min(most)) for most in args[2:]))  # type: ignore[arg-type]
        return kept_by(*args)  # type: ignore[arg-type]

    kept_by = weighed.strongest
    monkeypatch.setattr(weighed, "strongest", strongest)
    site = made_site(120)
    labels = sp.csr_array((np.ones(10, np.int8), (np.arange(10), np.arange(10))), shape=(120, 120))
    between = replace(no_links(site.a, site.b), labels=labels)
    site.found(between)
    assert asked[0] == (weighed.OF_SURE, weighed.OF_SURE)
    assert asked[-1] == (20, 20)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_numbers_that_each_language_counts_by_itself_say_nothing(seed: int) -> None:
    """News of which a third is missing in either language, each linked to the next and the previous one.

    With these numbers as evidence, 2 of 68 pairs are right.
    """
    site = as_news(made_site(120, seed, noise=0.5, tag_noise=0.5))
    found = site.found()
    check(found, site)
    pairs = site.pairs(found)
    assert "pattern" not in found.evidence
    assert len(pairs & right(site)) >= 0.6 * len(right(site))
    assert len(pairs & right(site)) >= 0.6 * len(pairs)


@pytest.mark.parametrize(("n", "seed"), [(30, 2), (30, 3), (100, 0), (100, 1)])
def test_a_pattern_whose_pairs_teach_words_is_used_even_if_the_pages_contradict_it(n: int, seed: int) -> None:
    """Each page of one side has the numbers of the page behind its partner, as if translations came an issue later."""
    site = with_plain_addresses(made_site(n, seed, numbers=6, tag_noise=0.5))
    numbers = {page: blocks[1] for page, blocks in zip(site.a.page_ids.tolist(), site.a.blocks, strict=True)}
    pages = zip(site.b.page_ids.tolist(), site.b.blocks, strict=True)
    late = MadeSite(site.a, replace(site.b, blocks=[[own[0], numbers[(page + 1) % n]] for page, own in pages]))
    found = late.found()
    assert found.evidence["pattern"].max() > 0
    assert len(late.pairs(found) & right(late)) >= 0.9 * n


def test_numbers_of_pairs_are_evidence_that_the_pages_confirm() -> None:
    site = as_news(with_plain_addresses(made_site(90, numbers=2)), renumbered=False)
    found = site.found()
    assert found.evidence["pattern"].max() > 0
    assert site.pairs(found) >= right(site)


def as_news(site: MadeSite, *, renumbered: bool = True) -> MadeSite:
    """Remove a third of either side, put the rest in the order of their texts, and link each page to its neighbours."""

    def side(pages: Side, seed: int) -> Side:
        there = np.random.default_rng(seed).random(len(pages.urls)) < 2 / 3
        left = take(pages, np.argsort(pages.page_ids)[there])
        n = len(left.urls)
        graph = adjacency(np.r_[0 : n - 1, 1:n], np.r_[1:n, 0 : n - 1], n)
        urls = [f"http://made.example/{left.lang}/{number}" for number in range(n)] if renumbered else left.urls
        return replace(left, urls=urls, graph=graph)

    return MadeSite(side(site.a, 11), side(site.b, 12))


def test_pages_that_only_url_patterns_join_are_candidates() -> None:
    """No word, tag or link says anything; their addresses differ in the language alone."""
    whole = made_site(10)
    site = with_plain_addresses(MadeSite(*(without_tags(without_words(side)) for side in (whole.a, whole.b))))
    found = site.found(weighing__rounds=0)
    assert found.scores.nnz == 10
    assert site.pairs(found, np.ones(len(found.matching.rows), bool)) == right(site)


def test_each_round_is_reported_further_on_than_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planned rounds share the way equally; each round beyond them takes half of what is left."""
    monkeypatch.setattr(weighed, "GROWTH", 0.0)
    monkeypatch.setattr(weighed, "SETTLED", 2.0)
    monkeypatch.setattr(weighed, "MAX_ROUNDS", 4)
    site, settings = made_site(8), Config().override({"match.weighing.rounds": 1}).match
    words = read_words(site.a, site.b, [], settings)
    seen: list[tuple[float, str]] = []
    steps = Steps(lambda share, step: seen.append((share, step)))
    match_weighed(site.a, site.b, words, no_links(site.a, site.b), settings, steps)
    shares = np.array([share for share, step in seen if "round" in step])
    done = (shares - shares[0]) / (1 - shares[0]) / weighed.FIRST_RUN_SHARE
    assert done == pytest.approx([0.0, 0.5, 0.75, 0.875, 0.9375])


@pytest.mark.parametrize(("n_agreed", "is_used"), [(2, False), (3, True)])
def test_a_clue_is_used_at_first_if_the_pages_agree_with_most_of_it(n_agreed: int, is_used: bool) -> None:
    """Five pairs of pages have one address pattern. Where the pages disagree, two others are equally good, so that
    nothing is clear by the pages alone; where they agree, the pair has nothing else."""
    rows, columns, content, pattern = [], [], [], []
    for k in range(5):
        others = () if k < n_agreed else (5 + 2 * k, 6 + 2 * k)
        rows += [k] * (1 + len(others))
        columns += [k, *others]
        content += [0.1 if others else 0.9, *[0.9] * len(others)]
        pattern += [1.0, *[0.0] * len(others)]
    candidates = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(5, 16))
    evidence = {"content": np.array(content), "pattern": np.array(pattern)}
    rivalry = Rivalry(candidates)
    clear = _clear(
        State(candidates, {}, (), np.zeros(candidates.shape[0], np.int64)),
        evidence,
        rivalry,
        None,
        lambda pairs: np.zeros(len(rows), np.bool_),
    )
    wanted = 5 if is_used else n_agreed
    assert [columns[k] for k in np.flatnonzero(clear)] == list(range(wanted))


def test_the_log_says_what_the_candidates_of_a_large_site_hold(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "twinlink.memory")
    site = made_site(20)
    site.found()
    assert not caplog.messages
    monkeypatch.setattr(weighed, "MANY", 1)
    site.found()
    lang_a, lang_b = site.a.lang, site.b.lang
    assert caplog.messages[0].startswith(f"match, {lang_a}-{lang_b}: round 1: ")
    assert all(re.search(r": \d+ candidates hold [\d.]+ kB, words [\d.]+ kB$", line) for line in caplog.messages)
