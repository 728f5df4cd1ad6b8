"""Weights of all kinds of evidence, learned on the site without labels.

A logistic model is trained on the pairs that are clearly best for both of their pages, against the rivals of these
pairs. Clues (`twinlink.similarity.clues`) are weighed by their agreement with it. The probability of a pair comes
from two comparisons (`twinlink.similarity.probabilities`): with pairs chosen after the right partners have been
removed, and with the pair's rivals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from twinlink.config import WeighingSettings
from twinlink.errors import ShapeError
from twinlink.odds import mean_by_log_odds
from twinlink.similarity.clues import CLUES, OF_ONE_PAGE, without_elsewhere
from twinlink.similarity.discriminant import SURE, Evidence, Measured, all_of, discriminated
from twinlink.similarity.kinds import with_replaced
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.probabilities import probability_of_being_right, recalibrated, shares_of_rivals
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import spread
from twinlink.similarity.weighing_model import Model, learn
from twinlink.system.side_by_side import threaded

__all__ = ["LIKELY", "Weighing", "are_mostly_sure", "clear_pairs", "n_equal", "weigh"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""
Positions = NDArray[np.intp]


class _Wrong(NamedTuple):
    """Pairs that were chosen where the right partner was missing."""

    places: Positions
    """Among the candidates."""
    measured: Measured


class _Siblings(NamedTuple):
    """Pairs that were chosen where the right partner was missing, but its near-duplicates were not."""

    places: Positions
    odds: Floats
    n_lonely: Positions
    """Number of their pages, 1 or 2, that have lost their partner."""


Marks = NDArray[np.bool_]
Match = Callable[[Floats, Sequence[Marks]], Sequence[Positions]]
"""From a score of each candidate (higher is better) and sets of candidates, of which the first has all others, to the
positions of a one-to-one matching of each set."""
Nearly = Callable[[Positions], NDArray[np.bool_]]
"""From the positions of pairs to the candidates that are, or nearly equal, one of them."""
Remeasure = Callable[[NDArray[np.bool_]], Mapping[str, Values]]
"""From the remaining candidates to the kinds of evidence that have to be measured again."""

MAX_TEACHERS = 1_000
"""Maximum number of clear pairs to train on, spread evenly over all; it bounds time and memory. Trials on 19 versions
of nine sites: with 2,000, F1 .9967 instead of .9974 on one of the two with more pairs, and the same on the other one;
with 500, .001 less on two."""
LEAST_COMPARED = 20
"""Minimum number of pairs, and of wrong pairs, to compare look-alikes separately. Our choice, not tuned."""
EQUAL = 1e-6
"""Log odds that differ by less are equal."""
TRIAL_SECONDS = 3e-7
"""What a trial takes for each candidate."""
WITHHELD = tuple((slice(2 * k, None, 8), slice(2 * k + 1, None, 8)) for k in range(4))
"""Pairs whose column, and pairs whose row, is removed in each of four trials: an eighth of the pairs each."""
LIKELY = 1 / 3
"""Minimum probability of a pair that the next round learns from. Trials with almost no known words: with ½ too
little is learned to continue (F1 .38 instead of .98 after three rounds on one site); elsewhere there is no
difference."""
MOSTLY_SURE = 0.6
"""Where this share of the pairs has a presence above `SURE`, partners that trials remove count as right ones.
Elsewhere many pages have none, and their pairs in trials are the second best (`probability_of_being_right`). Trials on
17 sites with half of either side removed, two draws each, corrected until nothing changes: mean F1 .856 instead of
.842, with 3.8 wrong pairs instead of 13.0; with no pair left, 19 instead of 52. Of 93 whole sites, pairs of five are
corrected in any round: these have 3 to 10 pages in one language."""
CORRECTIONS = 2
"""Times that a reported presence is corrected, each time by the mean presence before. Until nothing changes, the
correction makes itself stronger, and leaves less than the right pairs: on 28 made sites with short pages, of which some
have no partner, mean F1 is .679 instead of .706, with P .919 instead of .903. Rounds that learn from it fare no better
with two corrections: F1 .705, but .661 instead of .716 on a site of look-alikes with half of side A removed."""
NEARLY_ALL = 0.9
"""Share of look-alikes among the pairs above which there is no such correction: their wrong pairs are exchanges, and
what a page chooses without them is not its second best."""
ENOUGH = 0.25
"""Least number of likely pairs by a corrected presence, as a share of those without the correction, for a further round
to learn from them alone. Where little is known yet, hardly any pair is sure, whether pages have partners or not. Trials
on 15 sites: mean F1 .964 instead of .815 where a lexicon of 2,000 words is all that is known of five of them; .955
instead of .899 with half of the pages of one language on nine; the same on six others. With ½, F1 rises on one site
with half of the pages of either language, but half of its pairs are wrong then."""
BEST = 0.5
"""Presence that the most likely pairs get if none is likely, so that a further round learns from those with at least
two thirds of theirs. Trials on lo-en-zhtw, a large site, with 2,000 words of a lexicon and no shared ones: with 40 or
60 candidates for each page no pair is found without this, and F1 is .98 with it. On seven sites where no page has a
partner, a run reports 16.2 instead of 15.9 pairs."""
FEW = 50
"""Up to this many pairs, a further round learns by presences from models that have not learned from the pairs. Trials
on 24 versions of eight sites, with 20 or 40 pages of one side and half of the other one: mean F1 .724 without and .743
with it. With 100 instead of 50, a whole site lost .012 of F1."""


class Weighing(msgspec.Struct, frozen=True, eq=False):
    """Result of weighing the evidence of candidates."""

    log_odds: Floats
    """Log odds of each candidate among its rivals, shape (n_candidates,)."""
    pairs: Positions
    """Positions of the one-to-one matching among the candidates."""
    presence: Floats
    """Probability of each of ``pairs`` that its pages have partners, in [0, 1]. Without labels, it is corrected only
    `CORRECTIONS` times for pages without a partner."""
    held_out: Floats
    """Presence by which a further round learns, in [0, 1]. Up to `FEW` pairs, it comes from models that have not
    learned from the pair. If it leaves too few likely pairs (`ENOUGH`), it is the presence without the correction for
    pages without a partner."""
    probabilities: Floats
    """Probability of each of ``pairs`` to be right, in [0, 1]: its presence times its share among its rivals."""
    n_equal: NDArray[np.int64]
    """Number of equally good candidates of each of ``pairs``, itself included."""
    mistaken: float
    """Share of the pages with near-duplicates that would be paired with another page, as likely as the pairs, if their
    partner were missing and its near-duplicates were there; in [0, 1]."""
    weights: dict[str, float]
    """Share of each kind of evidence in the model, sum 1."""


def weigh(
    kinds: Mapping[str, Values],
    rivalry: Rivalry,
    clear: NDArray[np.bool_],
    match: Match,
    settings: WeighingSettings | None = None,
    nearly: Nearly | None = None,
    remeasure: Remeasure | None = None,
    alike: NDArray[np.bool_] | None = None,
    lessons: Lessons | None = None,
) -> Weighing:
    """Weigh the evidence of a site's candidates.

    Each kind of evidence v of a candidate gives four numbers: v itself, its lead v - r over the best rival r (another
    candidate of either page), the relative lead (v - r) / v, and whether v > r. A logistic model with an L2 penalty
    learns from the ``clear`` pairs (right) and the other candidates of their pages (wrong); candidates of all other
    pages are not used for training, because they are unlabelled. Clues are not part of this model: `learn_clues`
    finds what they add to its log odds. These order the candidates, and ``match`` picks the pairs.

    Then some pages are removed, and the rest is matched again: the new pairs of pages whose partners were removed
    are wrong. `probability_of_being_right` compares the pairs with these, by their log odds and by those of their
    evidence itself (`discriminated`). Where pages have near-duplicates, the pair may still be the wrong one of several:
    the probability is multiplied by its share among its rivals (`shares_of_rivals`).

    A model that learns from twenty pairs fits these better than others, so the wrong pairs of the trials, rivals of
    these, look worse than other wrong pairs. Up to `FEW` pairs, a further round therefore learns by presences from
    models that have not learned from the pair (``held_out``).

    Parameters
    ----------
    kinds : mapping of str to ndarray, shape (n_candidates,), values >= 0, or `AT_NO_PAGE` of a clue
        Every kind of evidence by its name.
    rivalry : Rivalry
        Of the candidate pattern.
    clear : ndarray of bool, shape (n_candidates,)
        Pairs to learn from, no page twice (`clear_pairs`); at most `MAX_TEACHERS` of them are used.
    match : callable
        One-to-one matching.
    settings : WeighingSettings, optional
    nearly : callable, optional
        Finds near-duplicates of pairs; by default there are none.
    remeasure : callable, optional
        Measures again the evidence that depends on other candidates; by default there is none.
    alike : ndarray of bool, shape (n_candidates,), optional
        Whether one of the candidate's pages has near-duplicates; such pairs are compared with each other.
    lessons : Lessons, optional
        Labels of candidates. The model learns from them as from clear pairs, excluded candidates are not chosen,
        and the probabilities of the other pairs are calibrated with them (`recalibrated`). ``clear`` must not
        contain accepted pairs then.

    Raises
    ------
    ShapeError
        If a kind of evidence does not have one value per candidate.
    """
    settings = settings or WeighingSettings()
    for name, values in kinds.items():
        if values.shape != rivalry.rows.shape:
            raise ShapeError(f"evidence {name!r}: expected {rivalry.rows.shape}, got {values.shape}")
    lessons = lessons if lessons is not None and len(lessons.labelled) else None
    seen = kinds if lessons is None else lessons.without_rejected(kinds)
    teachers = _some(clear)
    taught_by = lessons if lessons is not None and lessons.can_teach else None
    model, weights, log_odds, added = learn(kinds, rivalry, teachers, settings.ridge, taught_by)
    if lessons is not None:  # rejected candidates are nobody's rivals
        log_odds, added = model.log_odds_and_clues(seen, rivalry)
    to_choose = log_odds if lessons is None else lessons.without_barred(log_odds)
    (pairs,) = match(to_choose, [np.isfinite(to_choose)])
    given = Measured(log_odds[pairs], _evidence_of(seen, added, model.clues, pairs))
    del added  # it would be in memory beside what trials make
    trial = _Trial(model, seen, rivalry, match, nearly, remeasure, lessons)
    wrong, siblings = trial.chosen_wrongly(pairs)
    equal = n_equal(to_choose, pairs, rivalry)
    shares = np.minimum(shares_of_rivals(to_choose, rivalry)[pairs], 1 / equal)
    if taught_by is None:
        without = partial(_learned_without, kinds, rivalry, teachers, settings.ridge)
        judged = _judged(trial, _Comparison(given, pairs, wrong, alike), shares, without)
    else:
        heldout = _Heldout.of(kinds, rivalry, teachers, settings.ridge, taught_by)
        presence, probabilities = heldout.correct(given, pairs, shares, wrong, alike, taught_by)
        judged = _Judged(presence, presence, probabilities, presence)
    probabilities = judged.probabilities
    if lessons is not None:
        probabilities = np.where(lessons.accepted[pairs], 1 - 0.5 / max(len(pairs), 1), probabilities)
    return Weighing(
        log_odds=log_odds,
        pairs=pairs,
        presence=judged.presence,
        held_out=judged.held_out,
        probabilities=np.minimum(probabilities, 1 / equal),
        n_equal=equal,
        mistaken=_mistaken(log_odds[pairs], judged.corrected, pairs, siblings, alike),
        weights=weights,
    )


class _Judged(NamedTuple):
    """How likely pairs are, see `Weighing`."""

    presence: Floats
    held_out: Floats
    probabilities: Floats
    corrected: Floats
    """Presence, corrected for pages without a partner until nothing changes; with labels as ``presence``."""


def _judged(
    trial: _Trial, comparison: _Comparison, shares: Floats, learned_without: Callable[[Positions], Model]
) -> _Judged:
    """Judge pairs by the wrong pairs of the trials; few pairs in further trials, by models that do not know them."""
    uncorrected = comparison.presence()
    corrected, presence = comparison.corrected(uncorrected), comparison.reported(uncorrected)
    held_out = _enough_to_learn(corrected, uncorrected, uncorrected)
    if len(comparison.places) <= FEW:
        odds, wrong = trial.held_out(comparison.places, learned_without)
        apart = comparison._replace(given=comparison.given._replace(odds=odds), wrong=wrong)
        by_others = apart.presence()
        held_out = _enough_to_learn(apart.corrected(by_others), by_others, uncorrected)
    return _Judged(presence, held_out, presence * shares, corrected)


def _mistaken(
    odds: Floats, presence: Floats, pairs: Positions, siblings: _Siblings, alike: NDArray[np.bool_] | None
) -> float:
    """Return the share of lonely pages with near-duplicates whose pair is as good as a likely one."""
    likely = odds[presence >= 0.5]
    if alike is None or not alike[pairs].any() or not len(likely):
        return 0.0
    is_taken = alike[siblings.places] & (siblings.odds >= likely.min())
    return float(min(1.0, siblings.n_lonely[is_taken].sum() / alike[pairs].sum()))


class _Comparison(NamedTuple):
    """Pairs, and known wrong pairs that they are compared with."""

    given: Measured
    """The pairs."""
    places: Positions
    """Theirs among the candidates."""
    wrong: _Wrong
    alike: Marks | None
    labels: Floats | None = None
    """Of each of ``places``, see `probability_of_being_right`."""

    def presence(self, removed_right: float | None = 1.0) -> Floats:
        """Compare look-alikes with wrong pairs of look-alikes, and others with others, where there are enough."""
        presence = np.empty(len(self.places))
        for given, known in self._groups():
            presence[given] = self._presence_of(given, known, removed_right)
        return presence

    def _groups(self) -> list[tuple[Marks, Marks]]:
        """Return what is compared with what: pairs, and wrong pairs."""
        if self.alike is not None:
            of_given, of_wrong = self.alike[self.places], self.alike[self.wrong.places]
            groups = [(of_given == which, of_wrong == which) for which in (False, True)]
            if all(min(given.sum(), known.sum()) >= LEAST_COMPARED for given, known in groups):
                return groups
        return [(np.ones(len(self.places), np.bool_), np.ones(len(self.wrong.places), np.bool_))]

    def _presence_of(self, given: Marks, known: Marks, removed_right: float | None) -> Floats:
        """Compare by log odds, and by those of the evidence itself where it can be told what sure pairs have.

        The result is the mean of both on the scale of log odds. Trials on 15 sites, whole and with half of side B
        removed: mean F1 .9584 with 82 wrong pairs, .9581 with 81 by the second comparison alone, .9531 with 107 by the
        first alone. On 26 made sites: .903 with 132, .897 with 162, .883 with 152.
        """
        pairs, wrong = self.given.of(given), self.wrong.measured.of(known)
        labels = None if self.labels is None else self.labels[given]
        compared = partial(probability_of_being_right, labels=labels, removed_right=removed_right)
        presence: Floats = compared(pairs.odds, wrong.odds)
        told = discriminated(pairs, wrong, presence)
        return presence if told is None else mean_by_log_odds(presence, compared(*told))

    def corrected(self, presence: Floats) -> Floats:
        """Correct a presence for pages without a partner (`MOSTLY_SURE`); where they are few, return it as it is."""
        return self.presence(None) if self._is_corrected(presence) else presence

    def reported(self, presence: Floats) -> Floats:
        """Correct a presence for the reported probabilities: not until nothing changes, but `CORRECTIONS` times."""
        if self._is_corrected(presence):
            for _ in range(CORRECTIONS):
                presence = self.presence(float(presence.mean()))
        return presence

    def _is_corrected(self, presence: Floats) -> bool:
        if are_mostly_sure(presence):
            return False
        return self.alike is None or self.alike[self.places].sum() <= NEARLY_ALL * len(self.places)


def _enough_to_learn(presence: Floats, uncorrected: Floats, of_all: Floats) -> Floats:
    """Return the presence by which a further round learns: the first of three that leaves it enough likely pairs.

    A round that has none finds nothing. So if none of the three has any, the last is raised until its most likely
    pairs have `BEST`.
    """
    n_likely, n_uncorrected = (np.sum(each > LIKELY) for each in (presence, uncorrected))
    if n_likely < ENOUGH * n_uncorrected:
        return uncorrected
    if n_likely:
        return presence
    most = of_all.max(initial=0.0)
    return of_all * (BEST / most) if 0 < most <= LIKELY else of_all


def _learned_without(
    kinds: Mapping[str, Values], rivalry: Rivalry, teachers: NDArray[np.bool_], ridge: float, places: Positions
) -> Model:
    """Learn from the teachers that share no page with the candidates at ``places``; from all if none is left."""
    of_row, of_column = rivalry.pages(places)
    others = teachers & ~(of_row[rivalry.rows] | of_column[rivalry.columns])
    return learn(kinds, rivalry, others if others.any() else teachers, ridge).model


def _withheld(n_pairs: int) -> Sequence[tuple[slice, slice]]:
    """Return the trials that withhold a pair; one of no pairs."""
    return [trial for k, trial in enumerate(WITHHELD) if not k or 2 * k < n_pairs]


def _evidence_of(
    kinds: Mapping[str, Values], added: Mapping[str, Floats], weights: Mapping[str, Floats], places: Positions
) -> Evidence:
    """Return the evidence of some candidates.

    ``added`` has what each clue adds to the log odds of all candidates, ``weights`` what each state of it adds.
    """
    named = np.zeros(len(places))
    for name in OF_ONE_PAGE:
        if name in added:
            named += without_elsewhere(added[name][places], weights[name])
    values = [kinds[name][places] for name in kinds if name not in CLUES]
    return Evidence(named, np.stack(values, axis=1).astype(np.float64) if values else np.zeros((len(places), 0)))


def _joined(wrong: Sequence[_Wrong]) -> _Wrong:
    """Return the wrong pairs of several trials."""
    return _Wrong(np.concatenate([each.places for each in wrong]), all_of([each.measured for each in wrong]))


class _Trial(msgspec.Struct, frozen=True, eq=False):
    """Matching again after partners have been removed."""

    model: Model
    kinds: Mapping[str, Values]
    rivalry: Rivalry
    match: Match
    nearly: Nearly | None
    remeasure: Remeasure | None
    lessons: Lessons | None

    def chosen_wrongly(self, pairs: Positions) -> tuple[_Wrong, _Siblings]:
        """Return the pairs chosen in all trials (`WITHHELD`), without and with near-duplicates of the lost partners."""
        withheld = [(pairs[columns], pairs[rows]) for columns, rows in _withheld(len(pairs))]
        seconds = TRIAL_SECONDS * len(self.rivalry.rows)
        trials = threaded(lambda lost: self._without(*lost), withheld, seconds=seconds)
        siblings = _Siblings(*(np.concatenate(parts) for parts in zip(*(each for _, each in trials), strict=True)))
        return _joined([wrong for wrong, _ in trials]), siblings

    def held_out(self, pairs: Positions, learned_without: Callable[[Positions], Model]) -> tuple[Floats, _Wrong]:
        """Return the log odds of pairs, and the wrong pairs of all trials, from models that do not know the pairs.

        The weights of clues stay those of all pairs.

        Parameters
        ----------
        pairs : ndarray of int, shape (n_pairs,)
            Every pair is withheld in one trial.
        learned_without : callable
            From the positions of pairs to a model that has learned nothing from their pages.
        """
        odds, wrong = np.zeros(len(pairs)), []
        for columns, rows in _withheld(len(pairs)):
            learned = learned_without(np.concatenate([pairs[columns], pairs[rows]]))
            model = replace(learned, clues=self.model.clues)  # of few pairs too few have one to learn it anew
            of_all = model.log_odds(self.kinds, self.rivalry)
            odds[columns], odds[rows] = of_all[pairs[columns]], of_all[pairs[rows]]
            wrong.append(replace(self, model=model)._without(pairs[columns], pairs[rows])[0])
        return odds, _joined(wrong)

    def _without(self, lose_column: Positions, lose_row: Positions) -> tuple[_Wrong, _Siblings]:
        """Return the pairs chosen for pages whose partner was removed, and their log odds.

        Near-duplicates of a removed partner are removed too: a pair with one of them would be right. The second result
        is that of a matching with them.
        """
        rivalry = self.rivalry
        gone_row, gone_column = rivalry.pages(lose_row)[0], rivalry.pages(lose_column)[1]
        left = ~(gone_row[rivalry.rows] | gone_column[rivalry.columns])
        measured = self.kinds if self.remeasure is None else with_replaced(self.kinds, self.remeasure(left))
        log_odds, added = self.model.log_odds_and_clues(measured, rivalry, left)
        if self.lessons is not None:
            left &= ~self.lessons.barred
        lonely = rivalry.pages(lose_column)[0], rivalry.pages(lose_row)[1]
        among = [left]
        near = None if self.nearly is None else left & self.nearly(np.concatenate([lose_column, lose_row]))
        if near is not None and near.any():
            among.append(left & ~near)
        chosen = [self._of_lonely(pairs, log_odds, *lonely) for pairs in self.match(log_odds, among)]
        places, odds = chosen[-1].places, chosen[-1].odds
        return _Wrong(places, Measured(odds, _evidence_of(measured, added, self.model.clues, places))), chosen[0]

    def _of_lonely(self, pairs: Positions, log_odds: Floats, lonely_row: Marks, lonely_column: Marks) -> _Siblings:
        """Return those of some pairs that have lonely pages."""
        n_lonely = lonely_row[self.rivalry.rows[pairs]].astype(np.intp) + lonely_column[self.rivalry.columns[pairs]]
        wrong = n_lonely > 0
        return _Siblings(pairs[wrong], log_odds[pairs[wrong]], n_lonely[wrong])


class _Heldout(msgspec.Struct, frozen=True, eq=False):
    """Held-out estimates of labelled pairs, for calibration: each without its own label."""

    places: Positions
    measured: Measured
    shares: Floats
    """Among rivals."""
    right: Floats
    """1 accepted, 0 rejected."""

    @classmethod
    def of(
        cls,
        kinds: Mapping[str, Values],
        rivalry: Rivalry,
        clear: NDArray[np.bool_],
        ridge: float,
        lessons: Lessons,
    ) -> _Heldout:
        """Score each fold of the labelled pairs with a model trained on the labels of the others."""
        places, measured, shares = [], [], []
        for part, others in lessons.folds():
            learned = learn(kinds, rivalry, clear, ridge, others)
            places.append(part)
            measured.append(
                Measured(learned.log_odds[part], _evidence_of(kinds, learned.added, learned.model.clues, part))
            )
            shares.append(shares_of_rivals(learned.log_odds, rivalry)[part])
        at = np.concatenate(places)
        return cls(at, all_of(measured), np.concatenate(shares), lessons.accepted[at].astype(np.float64))

    def correct(
        self,
        given: Measured,
        pairs: Positions,
        shares: Floats,
        wrong: _Wrong,
        alike: NDArray[np.bool_] | None,
        lessons: Lessons,
    ) -> tuple[Floats, Floats]:
        """Return presence and probability of pairs, calibrated with the labelled ones.

        Accepted pairs get the highest probability that n pairs support.
        """
        is_open = ~lessons.accepted[pairs]
        both, places = all_of([given.of(is_open), self.measured]), np.append(pairs[is_open], self.places)
        n_open, most = int(is_open.sum()), 1 - 0.5 / max(len(pairs), 1)
        labels = np.append(np.full(n_open, np.nan), self.right)
        comparison = _Comparison(both, places, wrong, alike, labels)
        told = comparison.corrected(comparison.presence())
        presence, probabilities = np.full((2, len(pairs)), most)
        presence[is_open] = told[:n_open]
        known = told[n_open:] * self.shares
        corrected = recalibrated(told[:n_open] * shares[is_open], known, self.right)
        probabilities[is_open] = np.minimum(corrected, most)
        return presence, probabilities


def n_equal(log_odds: Floats, pairs: Positions, rivalry: Rivalry) -> NDArray[np.int64]:
    """Count the equally good candidates of each pair, itself included.

    A candidate is as good as the pair if it has one page in common with it and equal log odds, and its other page is in
    no better pair.

    Parameters
    ----------
    log_odds : ndarray, shape (n_candidates,)
    pairs : ndarray of int, shape (n_pairs,)
        Positions of a one-to-one matching among the candidates.
    rivalry : Rivalry

    Returns
    -------
    ndarray of int64, shape (n_pairs,), values >= 1

    Examples
    --------
    Two indistinguishable pages, and a third:

    >>> from scipy.sparse import csr_array
    >>> odds = np.array([2.0, 2.0, -9.0, 2.0, 2.0, -9.0, -9.0, -9.0, 5.0])
    >>> n_equal(odds, np.array([0, 4, 8]), Rivalry(csr_array(np.ones((3, 3))))).tolist()
    [2, 2, 1]
    """
    of_row, of_column = (np.full(n, -np.inf) for n in rivalry.shape)
    of_row[rivalry.rows[pairs]] = of_column[rivalry.columns[pairs]] = log_odds[pairs]
    best = np.maximum(of_row[rivalry.rows], of_column[rivalry.columns])
    equal = np.isfinite(best) & (log_odds >= best - EQUAL)
    n_row = np.bincount(rivalry.rows[equal], minlength=rivalry.shape[0])[rivalry.rows[pairs]]
    n_column = np.bincount(rivalry.columns[equal], minlength=rivalry.shape[1])[rivalry.columns[pairs]]
    return np.maximum(np.maximum(n_row, n_column), 1)


def are_mostly_sure(presence: Floats) -> bool:
    """Return whether the pages of most of some pairs surely have partners (`MOSTLY_SURE`, `SURE`)."""
    return bool(np.sum(presence > SURE) >= MOSTLY_SURE * len(presence))


def clear_pairs(scores: Values, rivalry: Rivalry, margin: float) -> NDArray[np.bool_]:
    """Mark the candidates that are best for both their pages, by a factor of 1 + ``margin`` over the next.

    Parameters
    ----------
    scores : ndarray, shape (n_candidates,), values >= 0
    rivalry : Rivalry
    margin : float
    """
    bounds = rivalry.rivals(scores).astype(np.float64) * (1 + margin)
    return (scores > bounds) & (scores > 0)


def _some(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep `MAX_TEACHERS` of the marked candidates, spread evenly over all."""
    marked, kept = np.flatnonzero(clear), np.zeros(len(clear), np.bool_)
    kept[marked[spread(len(marked), MAX_TEACHERS)]] = True
    return kept
