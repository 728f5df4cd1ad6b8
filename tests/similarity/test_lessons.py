"""Labels teach: made sites on which it is known by argument what labels must change, and which way."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.similarity.measured_pairs import bare
from tests.similarity.test_weighing import Greedy, full
from twinlink.similarity.lessons import FOLDS, LEAST_LABELS, WEIGHT, Lessons, taught_rows
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import LIKELY, Weighing, _Heldout, _Wrong, clear_pairs, weigh

Floats = NDArray[np.float64]


class Misled(msgspec.Struct, frozen=True):
    """n pages a side; evidence ``loud`` is clearly highest for wrong partners of a share of the pages, ``quiet`` is a
    little higher for all right ones."""

    kinds: dict[str, Floats]
    rivalry: Rivalry
    right: NDArray[np.bool_]

    def weighed(self, lessons: Lessons | None = None, rounds: int = 1) -> Weighing:
        """Learn from the loud pairs, and then in each round from the likely pairs of the one before."""
        clear = clear_pairs(self.kinds["loud"], self.rivalry, 0.1)
        for _ in range(rounds):
            clear = clear if lessons is None else clear & ~lessons.accepted & ~lessons.barred
            result = weigh(self.kinds, self.rivalry, clear, Greedy(self.rivalry), lessons=lessons)
            clear = np.zeros(len(clear), np.bool_)
            clear[result.pairs[result.probabilities > LIKELY]] = True
        return result

    def lessons(self, asked: NDArray[np.intp]) -> Lessons:
        """Answer for candidates that were asked for."""
        accepted, rejected = np.zeros((2, len(self.right)), np.bool_)
        accepted[asked[self.right[asked]]] = rejected[asked[~self.right[asked]]] = True
        of_row, of_column = self.rivalry.pages(np.flatnonzero(accepted))
        others = (of_row[self.rivalry.rows] | of_column[self.rivalry.columns]) & ~accepted
        return Lessons(accepted, rejected, rejected | others)

    def share_right(self, result: Weighing, without: Lessons) -> float:
        """Return which share of the pages without a label is paired rightly."""
        pairs = result.pairs[~without.accepted[result.pairs]]
        n_pages = self.rivalry.shape[0] - int(without.accepted.sum())
        return float(self.right[pairs].sum() / n_pages)


def misled(n: int, share: float, seed: int = 0) -> Misled:
    rng = np.random.default_rng(seed)
    right = np.eye(n)
    loud = 0.3 * rng.random((n, n)) + 0.4 * right
    wrong = rng.permutation(n)[: int(share * n)]
    loud[wrong, wrong] -= 0.4
    loud[wrong, np.roll(wrong, 1)] += 0.6
    quiet = 0.3 * rng.random((n, n)) + 0.25 * right
    return Misled({"loud": loud.ravel(), "quiet": quiet.ravel()}, full(n), right.ravel() > 0)


def drawn(site: Misled, n: int, seed: int = 0) -> Lessons:
    """Label n of the pairs that are chosen without labels."""
    return site.lessons(np.random.default_rng(seed).permutation(site.weighed().pairs)[:n])


def test_labels_move_the_weights_to_the_evidence_that_they_agree_with() -> None:
    site = misled(40, 0.4)
    lessons = drawn(site, 20)
    before, after = site.weighed(), site.weighed(lessons)
    assert after.weights["quiet"] > 1.3 * before.weights["quiet"]
    assert site.share_right(after, lessons) > site.share_right(before, lessons) + 0.1


def test_fifty_labels_overcome_a_prior_that_points_the_wrong_way() -> None:
    """For three quarters of the pages the loudest evidence, from which the site learns, is for a wrong partner."""
    site = misled(100, 0.75)
    lessons = drawn(site, 50)
    assert site.share_right(site.weighed(rounds=3), lessons) < 0.3
    assert site.share_right(site.weighed(lessons, rounds=3), lessons) > 0.8


@pytest.mark.parametrize("seed", range(6))
def test_five_labels_do_no_harm(seed: int) -> None:
    site = misled(60, 0.1, seed)
    lessons = drawn(site, 5, seed)
    before, after = site.weighed(), site.weighed(lessons)
    assert site.share_right(after, lessons) >= site.share_right(before, lessons) - 0.02


def test_no_labels_change_nothing() -> None:
    site = misled(30, 0.3)
    nothing = np.zeros(len(site.right), np.bool_)
    without, with_none = site.weighed(), site.weighed(Lessons(nothing, nothing, nothing))
    for name in ("log_odds", "pairs", "presence", "probabilities", "n_equal"):
        assert getattr(without, name).tolist() == getattr(with_none, name).tolist()
    assert without.weights == with_none.weights


def test_rejected_pairs_lower_the_chances_of_pairs_like_them() -> None:
    """Ten pages have a loud wrong partner; five of these pairs are rejected."""
    site = misled(60, 1 / 6)
    before = site.weighed()
    wrong = before.pairs[~site.right[before.pairs] & (site.kinds["loud"][before.pairs] > 0.55)]
    assert len(wrong) >= 8
    lessons = site.lessons(wrong[:5])
    after = site.weighed(lessons)
    probabilities = [dict(zip(each.pairs.tolist(), each.probabilities, strict=True)) for each in (before, after)]
    like_them = wrong[5:].tolist()
    told = np.array([[of.get(pair, 0.0) for pair in like_them] for of in probabilities])
    assert told[1].mean() < told[0].mean() - 0.1
    assert not set(wrong[:5].tolist()) & set(after.pairs.tolist())


def test_accepted_pairs_raise_the_chances_of_pairs_like_them() -> None:
    """All pairs are right, but they look much like what is left where partners are missing."""
    site = misled(60, 0.0)
    site.kinds["loud"][site.right] -= 0.25
    before = site.weighed()
    right = before.pairs[site.right[before.pairs]]
    lessons = site.lessons(right[::2])
    after = site.weighed(lessons)
    probabilities = [dict(zip(each.pairs.tolist(), each.probabilities, strict=True)) for each in (before, after)]
    told = np.array([[of.get(pair, 0.0) for pair in right[1::2].tolist()] for of in probabilities])
    assert told[1].mean() > told[0].mean()


def test_an_accepted_pair_teaches_beside_the_rivals_that_it_excludes() -> None:
    """Rows of two pages a side, the first two accepted: their lead is that over the other candidate."""
    rivalry = full(2)
    marks = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]], np.bool_)
    x, y, known = taught_rows({"one": np.array([0.5, 0.4, 0.2, 0.9])}, rivalry, Lessons(*marks))
    assert known.tolist() == [0, 1, 2] * WEIGHT
    assert y.tolist() == [1, 0, 0] * WEIGHT
    assert x[:3, 1].tolist() == pytest.approx([0.1, -0.5, -0.7])


def test_labels_change_only_the_evidence_and_the_log_odds_of_labelled_candidates() -> None:
    lessons = Lessons(*np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]], np.bool_))
    values = np.array([0.25, 0.5, 0.75])
    assert lessons.without_rejected({"one": values})["one"].tolist() == [0.25, 0, 0.75]
    assert lessons.with_labels(values, 20).tolist() == [20, -20, 0.75]
    assert lessons.without_barred(values).tolist() == [0.25, -np.inf, 0.75]


@pytest.mark.parametrize("n", [4, 5])
def test_five_labels_teach_and_fewer_only_exclude(n: int) -> None:
    marks = np.arange(9) < n
    assert Lessons(marks, np.zeros(9, np.bool_), np.zeros(9, np.bool_)).can_teach == (n == 5)


def test_trials_without_partners_exclude_what_labels_exclude() -> None:
    """Each trial removes some rows and some columns, and the candidates that labels exclude."""
    site = misled(24, 0.0)
    lessons = drawn(site, 10)
    greedy = Greedy(site.rivalry)
    weigh(site.kinds, site.rivalry, clear_pairs(site.kinds["loud"], site.rivalry, 0.1), greedy, lessons=lessons)
    first, *trials = (np.isfinite(scores).reshape(24, 24) for scores in greedy.asked)
    assert first.any(axis=0).all()
    assert len(trials) == 4
    for open_ in trials:
        assert not (open_ & ~first).any()
        assert not open_.any(axis=0).all()
        assert not open_.any(axis=1).all()


@pytest.mark.parametrize("n_rejected", [0, LEAST_LABELS])
def test_a_single_pair_is_never_surer_than_a_half_by_labels(n_rejected: int) -> None:
    """n pairs support probabilities up to 1 - 1/2n, whether the pair itself is labelled or only its rivals are."""
    n = 1 + n_rejected
    values = np.linspace(0.9, 0.1, n)
    rejected = np.arange(n) > 0
    accepted = ~rejected if not n_rejected else np.zeros(n, np.bool_)
    lessons = Lessons(accepted, rejected, rejected)
    rivalry = full(1, n)
    result = weigh({"one": values}, rivalry, np.zeros(n, np.bool_), Greedy(rivalry), lessons=lessons)
    assert result.pairs.tolist() == [0]
    assert result.probabilities[0] <= 0.5
    assert n_rejected or result.probabilities[0] == 0.5


def test_labels_never_make_a_pair_surer_than_its_equals_allow() -> None:
    """Pages 2k and 2k + 1 have the same evidence. Labels accept what is chosen of half of them, so that a share of a
    half looks like certainty: of the others, each pair has an equal one all the same."""
    n = 40
    site = misled(n, 0.0)
    for values in site.kinds.values():
        table = values.reshape(n, n)
        table[1::2] = table[::2]
        table[:, 1::2] = table[:, ::2]
        table[np.arange(n), np.arange(n) ^ 1] = table[np.arange(n), np.arange(n)]
    lessons = site.lessons(np.arange(20) * (n + 1))
    result = site.weighed(lessons)
    others = site.rivalry.rows[result.pairs] >= 20
    assert result.n_equal[others].tolist() == [2] * 20
    assert result.probabilities[others].tolist() == pytest.approx([0.5] * 20, abs=0.1)
    assert (result.probabilities[others] <= 0.5).all()


def test_a_pair_with_a_likely_rival_has_a_smaller_probability_than_one_without() -> None:
    """Labels of both kinds of pairs: those of a quarter are seldom right, the others always."""
    n = 40
    rivalled = np.arange(n) % 2 == 1
    shares = np.where(rivalled, 0.25, 1.0)
    right = np.where(rivalled, np.arange(n) % 4 == 1, 1.0) * 1.0
    heldout = _Heldout(np.arange(n), bare(np.full(n, 5.0)), shares, right)
    nothing = Lessons(*np.zeros((3, n), np.bool_))
    wrong = _Wrong(np.arange(n), bare(np.full(n, -5.0)))
    _, found = heldout.correct(bare(np.full(n, 5.0)), np.arange(n), shares, wrong, None, nothing)
    assert found[rivalled].max() < found[~rivalled].min() - 0.1
    _, single = heldout.correct(bare(np.full(1, 5.0)), np.array([0]), shares[:1], wrong, None, nothing)
    assert single.tolist() == [0.5]


@settings(max_examples=25)
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=30))
def test_each_label_is_left_out_once(said: list[int]) -> None:
    labels = np.array(said)
    lessons = Lessons(labels > 0, labels < 0, labels < 0)
    parts = list(lessons.folds())
    assert len(parts) == min(FOLDS, int((labels != 0).sum()))
    assert sorted(place for part, _ in parts for place in part.tolist()) == np.flatnonzero(labels).tolist()
    for part, others in parts:
        assert sorted([*part.tolist(), *others.labelled.tolist()]) == np.flatnonzero(labels).tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_labels_are_kept_and_probabilities_stay_in_range(seed: int, n_labels: int) -> None:
    """Answers may be wrong, and of any candidates: an accepted pair comes out, a rejected one never does."""
    rng = np.random.default_rng(seed)
    site = misled(8, 0.4, seed)
    rows = rng.permutation(8)
    accepted, rejected = np.zeros((2, 64), np.bool_)
    accepted[rows[: n_labels // 2] * 8 + rng.permutation(8)[: n_labels // 2]] = True
    rejected[rng.integers(0, 64, n_labels)] = True
    rejected &= ~accepted
    of_row, of_column = site.rivalry.pages(np.flatnonzero(accepted))
    others = (of_row[site.rivalry.rows] | of_column[site.rivalry.columns]) & ~accepted
    result = site.weighed(Lessons(accepted, rejected, rejected | others))
    assert set(np.flatnonzero(accepted)) <= set(result.pairs.tolist())
    assert not (rejected | others)[result.pairs].any()
    assert ((result.probabilities >= 0) & (result.probabilities < 1)).all()
    assert (result.probabilities <= 1 / result.n_equal + 1e-12).all()
    assert np.isfinite(result.log_odds).all()


def test_chances_are_held_against_the_labels_where_nothing_tells_pairs_apart() -> None:
    """Half of the pairs are wrong, whatever the evidence says: without labels all are as sure as can be."""
    site = misled(120, 0.0)
    pairs = site.weighed().pairs
    wrong = np.random.default_rng(1).permutation(pairs)[:60]
    deceptive = Misled(site.kinds, site.rivalry, site.right & ~np.isin(np.arange(len(site.right)), wrong))
    lessons = drawn(deceptive, 40)
    before, after = deceptive.weighed(), deceptive.weighed(lessons)
    others = ~lessons.accepted[after.pairs]
    stated, true = after.probabilities[others].mean(), deceptive.right[after.pairs[others]].mean()
    assert before.probabilities.mean() > 0.9
    assert stated == pytest.approx(true, abs=0.1)


def test_accepted_pairs_are_as_sure_as_their_number_allows() -> None:
    site = misled(30, 0.2)
    lessons = drawn(site, 10)
    result = site.weighed(lessons)
    accepted = lessons.accepted[result.pairs]
    assert accepted.any()
    assert result.presence[accepted].tolist() == pytest.approx([1 - 0.5 / 30] * int(accepted.sum()))
    assert result.probabilities[accepted].tolist() == pytest.approx([1 - 0.5 / 30] * int(accepted.sum()))
