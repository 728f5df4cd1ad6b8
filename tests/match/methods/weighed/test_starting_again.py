"""Starting again: which of several results counts, and when there are enough."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from experiments.robustness import some_pages
from tests.match.methods.weighed.made_sites import MadeSite, check, f1, made_site, no_links, site_of_results
from twinlink.config import Config
from twinlink.graph.matching import Matching
from twinlink.match.evidence import read_words
from twinlink.match.measures import State
from twinlink.match.methods.weighed import match_weighed, method, restarts, starting_again
from twinlink.match.methods.weighed.round import Round
from twinlink.match.methods.weighed.word_parts import MORE_RIGHT
from twinlink.system.steps import Steps


@pytest.mark.parametrize("by_title", [False, True])
def test_look_alikes_are_found_in_lists_of_any_order(monkeypatch: pytest.MonkeyPatch, *, by_title: bool) -> None:
    site = site_of_results(by_title=by_title)
    found = site.found()
    check(found, site)
    assert f1(site, found) > 0.97
    monkeypatch.setattr(starting_again, "is_risky", lambda *_: False)
    assert (f1(site, site.found()) > 0.97) is not by_title


def test_of_several_starts_the_best_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start with the right pairs displaces one that found others, wherever it comes among the starts."""
    site = site_of_results(by_title=True)
    shares = []
    for starts in (((True, 0),), ((True, 0), (False, 0), (True, 0))):
        monkeypatch.setattr(restarts, "STARTS", starts)
        shares.append(f1(site, site.found()) > 0.97)
    assert shares == [False, True]


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
    monkeypatch: pytest.MonkeyPatch, objectives: list[float], best: int, n_needed: int
) -> None:
    """The first result, number 0, has 100; those that are not given have 1."""
    given = dict(enumerate([100.0, *objectives]))
    runs = []

    def rounds(_site: object, _state: State, _labels: None, name: str, _steps: Steps) -> int:
        number = int(name.split()[-3]) - 1
        runs.append(number)
        return number

    first = State(sp.csr_array((1, 1)), {}, (), np.zeros(1, np.int64))
    monkeypatch.setattr(starting_again, "first_state", lambda *_: first)
    monkeypatch.setattr(starting_again, "run_rounds", rounds)
    monkeypatch.setattr(starting_again, "restarts", lambda *_: [None] * 9)
    monkeypatch.setattr(starting_again, "_matrix_of", lambda done: done)
    how = starting_again._BY_CHANCE._replace(
        most=lambda _: 9,
        objective=lambda _site, done: given.get(done, 1.0),  # type: ignore[call-overload]
    )
    found = starting_again.best_of_restarts(None, 0, how, "xa-xb", Steps(lambda *_: None))  # type: ignore[arg-type]
    assert found == best  # type: ignore[comparison-overlap]
    assert runs == list(range(1, n_needed + 1))


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

    for module in (method, starting_again):
        monkeypatch.setattr(module, "run_rounds", rounds)
    monkeypatch.setattr(starting_again, "is_risky", lambda *_: False)
    monkeypatch.setattr(starting_again, "is_unsure", lambda _site, result: result.n_right < 13)
    monkeypatch.setattr(starting_again, "_matrix_of", lambda _: sp.csr_array((20, 20), dtype=np.float32))
    monkeypatch.setattr(method, "_found", lambda _site, last: last)
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
    monkeypatch.setattr(starting_again, "is_unsure", lambda *_: True)
    monkeypatch.setattr(starting_again, "_matrix_of", lambda done: sp.csr_array(np.diag([done.n_right / 100])))
    found_by = [np.array([n]) for n in range(10)]
    monkeypatch.setattr(starting_again, "consensus_of", lambda found: Matching(*3 * [found_by[len(found)]]))
    monkeypatch.setattr(starting_again, "agree_on_enough", lambda agreed: agreed.rows[0] >= n_enough)
    monkeypatch.setattr(starting_again, "state_after", state_after)
    tried = starting_again._Tried(site, lambda _, result: result.n_right, done(20.0))  # type: ignore[arg-type]
    made = []
    for start in starting_again._starts_of_unsure(site, first, tried):  # type: ignore[arg-type]
        made.append((len(np.unique(start.state.parts)), start.better))
        tried.add(done(next(results)), start.better)  # type: ignore[arg-type]
        if starting_again._are_sure_enough(site, tried):  # type: ignore[arg-type]
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
    assert starting_again._objective(site, done) == (0.5 + 0.25) * 2  # type: ignore[arg-type]


@pytest.mark.parametrize("labelled", [False, True])
def test_progress_goes_on_while_the_rounds_start_again(monkeypatch: pytest.MonkeyPatch, *, labelled: bool) -> None:
    monkeypatch.setattr(starting_again, "is_risky", lambda *_: True)
    monkeypatch.setattr(starting_again, "are_enough", lambda _: False)
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
    monkeypatch.setattr(starting_again, "is_risky", lambda *_: True)
    site = site_of_results(by_title=False)
    rows = np.r_[np.arange(len(site.a.urls)), 5]
    a, b = (replace(some_pages(side, rows), lists=None) for side in (site.a, site.b))
    copied = MadeSite(*(replace(side, urls=[*side.urls[:-1], f"{side.urls[-1]}-copy"]) for side in (a, b)))
    check(copied.found(), copied)
