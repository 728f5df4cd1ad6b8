"""Method ``weighed``: evidence from links, words and structure, with weights learned on the site without labels.

A round measures every kind of evidence (`twinlink.match.measures`), weighs it, matches, and learns from the pairs
that are probably right: a lexicon for each half of the pages from the other half, and further candidates. The next
round measures again with these. The rounds end when they change nothing. Where look-alikes may have been exchanged,
they start again in other ways (`twinlink.match.methods.restarts`); where few pairs of a small site are sure, in more
parts than halves (`twinlink.match.methods.word_parts`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching, greedy_among
from twinlink.match.copies import find_copies, with_copies, without_copies
from twinlink.match.evidence import Between, FoundPairs, Side, Words, as_scores
from twinlink.match.labels import accepted_pairs, excluded, lessons_of, with_labelled
from twinlink.match.measures import (
    SiteMeasures,
    State,
    link_places,
    mean_of,
    measure,
    pair_matrix,
)
from twinlink.match.methods.consensus import agree_on_enough, consensus_of, is_without_gain
from twinlink.match.methods.restarts import BETTER, are_enough, is_risky, n_restarts, restarts
from twinlink.match.methods.word_parts import MORE_PARTS, MORE_RIGHT, is_unsure, parts_of
from twinlink.match.so_far import pairs_so_far
from twinlink.similarity.candidates import candidate_pattern, candidate_votes, strongest, tag_vectors, with_votes
from twinlink.similarity.clues import CLUES, HERE, OF_ONE_PAGE, clue_states, is_contradicted
from twinlink.similarity.content import combine_translations
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import LIKELY, Weighing, clear_pairs, weigh
from twinlink.sparse import carry_over, kept_matrix, select, union_of, with_values
from twinlink.system.memory import in_words
from twinlink.system.scratch import kept, scratch_at_work
from twinlink.system.side_by_side import at_once, threaded
from twinlink.system.steps import NO_STEPS, Steps

__all__ = ["match_weighed"]

_log = logging.getLogger("twinlink.memory")

MANY = 200_000
"""Number of candidates from which the log says what they hold: some 100 MB with all that is made of them."""

WORK_BYTES = 120
"""Memory of a step for each candidate beside what is kept: 105 to 125 in trials with 30,000 pages per language."""

CANDIDATES_SHARE = 0.2
"""Share of its time before the first round, for progress reports."""
NEAR_SHARE = 0.5
"""Share of that which the near-duplicates take, for progress reports."""
SEARCH_SHARE = 0.75
"""Share of that before the candidates are measured, for progress reports."""

FIRST_MARGIN = 0.1
"""Lead by which a pair of the first round is clear: 10 % over the second, as in first trials."""
NEARLY_AS_GOOD = 0.8
"""Share of the best rival's first evidence at which the pages do not contradict a clue. Our choice, not tuned."""
HARDLY_ANY = 4
"""A clue that gives this many times as many clear pairs as the pages is used even if they contradict it."""
SURE = 0.9
"""Probability at which no further partner is searched for. Trials on seven sites: the same F1 as a search for all."""
OF_SURE = 12
"""Number of candidates that the page of a sure pair keeps. Nothing is searched for around it, either. Trials on eleven
sites: mean F1 is .9981 with this; it is .9972 if each page keeps 20 and is searched around, .9975 if it keeps 10, .9965
if 6. On these and seven degraded versions of each: .9676 (.9661 with `FEW_PAGES`), .9652, .9660 and .9668. On a site of
30,000 pages per language, later rounds have a third of the candidates. Not in rounds with labels: of six draws of 100
labels on a site of look-alikes, three had no pair left beside the labelled ones; without this, F1 is .95 to .98."""
FEW_PAGES = 100
"""Where a language has up to this many pages, all pages keep their candidates and are searched around. Trials without
this: of 120 made sites with 6 to 10 pages, the pages of sure pairs had too few candidates left in five, and no pair was
found; with 20 pages in one language, F1 fell from .963 to .600 on one site."""
MAX_ROUNDS = 12
"""Maximum number of rounds after the first one."""
GROWTH = 1.01
"""Factor by which a round must increase the expected number of right pairs, if another one is to follow beyond those of
the settings. Look-alikes are separated gradually: trials on nine sites made of them, three rounds and as many as
needed: mean F1 .790 and .863, on one of them .441 and .983. Other sites end earlier."""
FIRST_RUN_SHARE = 0.8
"""Share of the rounds' time before they start again, for progress reports: few sites are a risk."""
SETTLED = 0.995
"""Share of pairs unchanged since the previous round at which the rounds end."""
PARTS = 2
"""Number of parts of the pages that learn words from each other. Trials: in two parts the lexicons are good enough, and
on a site of which no page has a partner .6 of the pairs are expected to be right instead of .95; four parts change
nothing. Small sites that few pairs are sure of start again in more (`twinlink.match.methods.word_parts`)."""
UNVOTED_PAGES = 2_000
"""Pages of both sides together, without copies, up to which all pairs of the lists of nearest pages are candidates:
they take little time, and there is little else to learn from. Trials with two votes on smaller sites: on eleven sites
with 20 to 32 degraded versions of each, mean F1 is .951 with votes and without, but on one of them (servicecomb-en-zh,
many short news pages) it falls from .992 to .980 if word counts vary. With wrong clues it falls by .02 and .05 on two
of 19 sites. On twelve degraded versions of lo-en-zhtw (4,862 pages), it is .980 either way."""
TEACHING = 0.6
"""Share of the pairs of a clue whose pages are more alike, by words that other pairs of it teach, than pages of two
pairs; by chance it is a half. Trials: .63 to .73 of 30 true pairs, .82 to .87 of 100, .44 to .55 of 34 to 817 pairs of
pages that have the same number and no more, .59 of 32."""
MIN_DIRECT = 0.2
"""Minimum share of a direct link whose pages become candidates: a page has at most five such links."""


def match_weighed(
    side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings, steps: Steps = NO_STEPS
) -> FoundPairs:
    """Match two sides by evidence with learned weights.

    Kinds of evidence (``settings.weighing.evidence`` chooses): ``content`` (S_cb with lexicons and shared tokens),
    ``learned`` (S_cb with the learned lexicon as well), ``contrast`` (the same for the words that distinguish a page
    from its near-duplicates), ``structure`` (S_struct), ``ets`` (ETS of the mean of these), ``external`` (S_ext of the
    last round's probabilities), ``order`` (the same place among the links of paired pages), ``length``, ``direct`` and
    ``hreflang`` (links between the two pages), and ``pattern`` (URL patterns, by their credibility).

    Of pages with the same content at several addresses, one is compared (`twinlink.match.copies`).
    """
    copies = find_copies(side_a, side_b, words, between, settings)
    if copies is None:
        return _matched(side_a, side_b, words, between, settings, steps)
    found = _matched(*without_copies(side_a, side_b, words, between, copies), settings, steps)
    return with_copies(found, side_a, side_b, copies)


def _matched(
    side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings, steps: Steps
) -> FoundPairs:
    langs = f"{side_a.lang}-{side_b.lang}"
    steps(0.0, f"{langs}: near-duplicates")
    site = SiteMeasures(side_a, side_b, words, between, settings)
    until, rest = (1.0 if between.labels is None else 0.5), steps.part(CANDIDATES_SHARE, 1.0)
    searching = steps.part(0.0, CANDIDATES_SHARE)
    last = _rounds(site, _first_state(site, langs, searching), None, langs, rest.part(0.0, FIRST_RUN_SHARE * until))
    if again := _again(site, last):
        last = _best_of_restarts(site, last, again, langs, rest.part(FIRST_RUN_SHARE * until, until))
    if between.labels is not None:
        with_labels = f"{langs} with labels"
        last = _rounds(site, _next_state(site, last, between.labels), between.labels, with_labels, rest.part(0.5, 1.0))
    return _found(site, last)


class _Start(NamedTuple):
    """A state from which the rounds start again."""

    state: State
    better: float
    """Factor by which the objective must be larger than that of the first result."""


class _Tried:
    """Results of the rounds from several starts, of which one counts."""

    def __init__(self, site: SiteMeasures, objective: Callable[[SiteMeasures, Round], float], first: Round) -> None:
        self._objective = objective
        self._site = site
        self.best = first
        self.objectives = [objective(site, first)]
        self.probabilities = [_matrix_of(first)]
        """Probabilities of the pairs of each result."""

    def add(self, done: Round, better: float) -> None:
        """Add a result; it counts if it has the largest objective, by a factor over that of the first one."""
        objective = self._objective(self._site, done)
        if objective > max(better * self.objectives[0], *self.objectives):
            self.best = done
        self.objectives.append(objective)
        self.probabilities.append(_matrix_of(done))


class _Restarts(NamedTuple):
    """Other starts of the rounds, and how their results are compared."""

    most: Callable[[State], int]
    """From the first state to the maximum number of starts."""
    starts: Callable[[SiteMeasures, State, _Tried], Iterator[_Start]]
    """From the first state, and the results so far, to others."""
    objective: Callable[[SiteMeasures, Round], float]
    are_enough: Callable[[SiteMeasures, _Tried], bool]
    """Whether no more results are needed."""
    is_free: bool
    """Whether a start does not depend on the results of those before."""


def _again(site: SiteMeasures, done: Round) -> _Restarts | None:
    """Return how the rounds start again after a result; None: they do not."""
    if is_risky(site, done.rivalry, done.result):
        return _BY_CHANCE
    return _OF_UNSURE if is_unsure(site, done.result) else None


def _starts_by_chance(site: SiteMeasures, first: State, tried: _Tried) -> Iterator[_Start]:  # noqa: ARG001
    """Yield starts that do not depend on the results so far."""
    for state in restarts(site, first):
        yield _Start(state, BETTER)


def _starts_of_unsure(site: SiteMeasures, first: State, tried: _Tried) -> Iterator[_Start]:
    """Yield starts from the consensus of the results so far, or else from the first state.

    From the first state, each number of parts is tried once: the result would be the same.
    """
    for n, n_parts in enumerate(MORE_PARTS):
        parts, consensus = parts_of(site.alike_a, n_parts), consensus_of(tried.probabilities)
        if n and agree_on_enough(consensus):
            pairs = consensus.rows, consensus.columns, consensus.scores.astype(np.float64)
            best = tried.best._replace(state=replace(tried.best.state, parts=parts))
            yield _Start(_state_after(site, best, pairs, None), 1.0)
        elif n_parts not in MORE_PARTS[:n]:
            yield _Start(replace(first, parts=parts), MORE_RIGHT)


def _are_sure_enough(site: SiteMeasures, tried: _Tried) -> bool:
    """Return whether enough pairs of the best result are sure, or the last starts brought nothing more."""
    return not is_unsure(site, tried.best.result) or is_without_gain(tried.objectives)


def _best_of_restarts(site: SiteMeasures, done: Round, how: _Restarts, name: str, steps: Steps) -> Round:
    """Run the rounds again from other starts; return the result with the largest objective, ``done`` if it has it.

    Each core runs the rounds from one start at a time, if it does not depend on others; what is done when there are
    enough results is dropped, so that the number of cores changes nothing.
    """
    tried = _Tried(site, how.objective, done)
    first = _first_state(site, f"{name} again", steps.part(0.0, CANDIDATES_SHARE))
    most, rest = how.most(first), steps.part(CANDIDATES_SHARE, 1.0).without_results()
    starts = enumerate(how.starts(site, first, tried))

    def run(numbered: tuple[int, _Start]) -> Round:
        n, start = numbered
        shown = rest.part(n / most, (n + 1) / most) if n == batch[0][0] else NO_STEPS
        return _rounds(site, start.state, None, f"{name}, start {n + 2} of {most + 1}", shown)

    while batch := [*islice(starts, at_once() if how.is_free else 1)]:
        for (_, start), again in zip(batch, threaded(run, batch, seconds=math.inf), strict=True):
            tried.add(again, start.better)
            if how.are_enough(site, tried):
                return tried.best
    return tried.best


def _matrix_of(done: Round) -> sp.csr_array:
    """Return the probabilities of the pairs of a result."""
    pairs = done.result.pairs
    places = done.rivalry.rows[pairs], done.rivalry.columns[pairs]
    return sp.csr_array((done.result.probabilities.astype(np.float32), places), shape=done.state.pattern.shape)


def _objective(site: SiteMeasures, done: Round) -> float:
    """Return the sum of the contrast of a result's pairs of look-alikes, times the expected number of right pairs."""
    pairs = done.result.pairs[site.has_alike(done.rivalry)[done.result.pairs]]
    contrast = done.evidence["contrast"][pairs].sum(dtype=np.float64)
    return float(contrast * done.n_right)


_BY_CHANCE = _Restarts(
    n_restarts, _starts_by_chance, _objective, lambda _, tried: are_enough(tried.objectives), is_free=True
)
_OF_UNSURE = _Restarts(
    lambda _: len(MORE_PARTS), _starts_of_unsure, lambda _, result: result.n_right, _are_sure_enough, is_free=False
)

_WeightedPairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Rows and columns of pairs, and the weight of each in [0, 1], by which words are learned."""


class Round(NamedTuple):
    """Measures and results of a round."""

    state: State
    rivalry: Rivalry
    evidence: Mapping[str, npt.NDArray[np.floating]]
    result: Weighing
    lessons: Lessons | None

    @property
    def n_right(self) -> float:
        """Expected number of right pairs."""
        return float(self.result.probabilities.sum())


def _rounds(site: SiteMeasures, state: State, labels: sp.csr_array | None, name: str, steps: Steps) -> Round:
    """Run rounds until they change nothing, and return the last one.

    Rounds with labels start from the result of the rounds without: before that, a few labels would have too much
    influence.
    """
    round_, n_right, n_pairs = 0, 0.0, 0
    expected = site.settings.weighing.rounds + 1
    while True:
        # There may be fewer rounds, or more: each one further takes half of what is left.
        share = round_ / expected if round_ < expected else 1 - 0.5 ** (round_ - expected + 1) / expected
        found = f", {n_pairs} pairs so far" if round_ else ""
        steps(share, f"{name}: round {round_ + 1}" + (f" of {expected}" if round_ < expected else "") + found)
        _log_held(f"{name}: round {round_ + 1}", site, state)
        done = _round(site, state, labels)
        n_pairs = _keep_so_far(site, done, steps)
        before, n_right = n_right, done.n_right
        has_grown = 0 < round_ < MAX_ROUNDS and n_right > GROWTH * before
        if not (round_ < site.settings.weighing.rounds or has_grown) or _is_settled(done):
            return done
        done = done._replace(evidence={})  # the search for candidates does not need it, and it is large
        state, round_ = _next_state(site, done, labels), round_ + 1
        del done  # its candidates would be in memory beside those of the next round


def _keep_so_far(site: SiteMeasures, done: Round, steps: Steps) -> int:
    """Make the pairs known that would be kept if this round were the last; return their number."""
    side_a, side_b, result = site.side_a, site.side_b, done.result
    is_kept = keep_pairs(result.probabilities, site.settings.min_probability, site.settings.min_precision)
    pairs, probabilities = result.pairs[is_kept], result.probabilities[is_kept]
    rows, columns = done.rivalry.rows[pairs], done.rivalry.columns[pairs]
    steps.keep(f"{side_a.lang}-{side_b.lang}", lambda: pairs_so_far(side_a, side_b, rows, columns, probabilities))
    return len(pairs)


def _log_held(name: str, site: SiteMeasures, state: State) -> None:
    """Log what a round on a large site holds from the one before."""
    if state.pattern.nnz < MANY or not _log.isEnabledFor(logging.INFO):
        return
    of_candidates = [state.pattern.indices, state.pattern.indptr, state.pattern.data, *state.fixed.values()]
    vectors = (site.words.a.counts, site.words.b.counts, site.own_a, site.own_b, *state.translations)
    of_words = [array for matrix in vectors for array in (matrix.data, matrix.indices, matrix.indptr)]
    held = (in_words(sum(int(array.nbytes) for array in arrays)) for arrays in (of_candidates, of_words))
    _log.info("match, %s: %d candidates hold %s, words %s", name, state.pattern.nnz, *held)
    if scratch := scratch_at_work():
        places = in_words(scratch.in_memory), in_words(scratch.on_disk)
        at_work = in_words(WORK_BYTES * state.pattern.nnz)
        _log.info("match, %s: %s of that in memory, %s on disk; the steps take up to %s more", name, *places, at_work)


def _round(site: SiteMeasures, state: State, labels: sp.csr_array | None) -> Round:
    """Measure, weigh and match."""
    rivalry, lessons = Rivalry(state.pattern), lessons_of(state.pattern, labels)
    evidence = measure(site, state, rivalry)
    nearly = partial(site.nearly, rivalry)
    result = weigh(
        evidence,
        rivalry,
        _clear(state, evidence, rivalry, lessons, nearly),
        partial(_match, rivalry, chance=state.chance),
        site.settings.weighing,
        nearly,
        partial(link_places, site, state, rivalry, evidence),
        site.has_alike(rivalry),
        lessons,
    )
    return Round(state, rivalry, evidence, result, lessons)


def _first_state(site: SiteMeasures, name: str, steps: Steps) -> State:
    steps(NEAR_SHARE, f"{name}: candidates")
    searches = [partial(site.candidates, site.words.translation)]
    if site.uses("structure"):
        searches.append(partial(_alike_in_structure, site))
    is_large = len(site.side_a.urls) + len(site.side_b.urls) > UNVOTED_PAGES
    least = site.settings.candidates.votes if is_large and len(searches) > 1 else 1
    found, named = with_votes([*site.results_of(searches)], least), _pairs_of_clues(site)

    def measured(clues: Mapping[str, sp.csr_array]) -> State:
        pattern = kept_matrix(union_of(found, *clues.values()))
        steps(SEARCH_SHARE, f"{name}: evidence of {pattern.nnz} candidates")
        kinds = [*(kind for kind in ("content", "structure") if site.uses(kind)), *clues]
        values = site.results_of([partial(site.fixed_evidence, kind, pattern) for kind in kinds])
        fixed = {kind: kept(each) for kind, each in zip(kinds, values, strict=True)}
        has = {kind: each for kind, each in fixed.items() if each.any()}
        return State(pattern, has, (site.words.translation,), np.arange(pattern.shape[0]) % PARTS)

    state = measured(named)
    wrong = _contradicted(site, state)
    if not wrong:
        return state
    del state  # its candidates would be in memory beside the others
    return measured({clue: pairs for clue, pairs in named.items() if clue not in wrong})


def _pairs_of_clues(site: SiteMeasures) -> dict[str, sp.csr_array]:
    """Return the pairs that each clue joins, which are candidates."""
    pairs = {"direct": select(site.between.direct, site.between.direct.data >= MIN_DIRECT)}
    pairs["hreflang"] = site.between.hreflang
    if site.by_url is not None:
        pairs["pattern"] = site.by_url
    return {clue: each for clue, each in pairs.items() if site.uses(clue)}


def _contradicted(site: SiteMeasures, state: State) -> list[str]:
    """Return the clues that contradict the pages, and teach no words: neither they nor their pairs are used.

    Links do not count here, since they follow the candidates: where a wrong clue joins each page of a chain with one of
    another, the neighbours of these are candidates, too, and confirm it.
    """
    known = [clue for clue in OF_ONE_PAGE if clue in state.fixed]
    if not known:
        return []
    rivalry = Rivalry(state.pattern)
    clear = clear_pairs(mean_of(state.fixed, ("content", "structure"), state.pattern.nnz), rivalry, FIRST_MARGIN)
    wrong = [clue for clue in known if is_contradicted(state.fixed[clue], clear, rivalry)]
    return [clue for clue in wrong if not _teach_words(site, *_joined_alone(state.fixed[clue], rivalry))]


def _joined_alone(values: npt.NDArray[np.floating], rivalry: Rivalry) -> tuple[npt.NDArray[np.int64], ...]:
    """Return rows and columns of the pairs that a clue joins with no other page."""
    places = clue_states(values, rivalry) == HERE
    return rivalry.rows[places], rivalry.columns[places]


def _teach_words(site: SiteMeasures, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> bool:
    """Return whether the words that half of some pairs teach stand on both pages of the others.

    The pages of each of the others are compared by these words, and the first one with the second page of the next.
    """
    shape, n_more, n_equal = (len(site.side_a.urls), len(site.side_b.urls)), 0, 0
    for part in range(PARTS):
        taught = np.arange(len(rows)) % PARTS != part
        words = learn_translations(site.words.a.counts, site.words.b.counts, rows[taught], columns[taught])
        others, partners = rows[~taught], columns[~taught]  # by rows, which are sorted: so values keep their order
        own, of_next = (
            site.content(words, pair_matrix(others, each, shape)) for each in (partners, np.roll(partners, -1))
        )
        n_more, n_equal = n_more + int(np.sum(own > of_next)), n_equal + int(np.sum(own == of_next))
    return n_more + n_equal / 2 >= TEACHING * len(rows)


def _alike_in_structure(site: SiteMeasures) -> sp.csr_array:
    """Return the pairs most similar in structure, with their votes."""
    return candidate_votes(*tag_vectors(site.side_a.tags, site.side_b.tags), site.settings.candidates)


def _clear(
    state: State,
    evidence: Mapping[str, npt.NDArray[np.floating]],
    rivalry: Rivalry,
    lessons: Lessons | None,
    nearly: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.bool_]:
    """Mark the pairs to learn from: at first the clear ones, later those that are probably right.

    At first, pairs that a clue makes clear come before those that the pages themselves make clear, but for pages that
    these pair with others. A clue is used here if most of its pairs are nearly the best by the pages' own evidence,
    or if this gives hardly any clear pairs. Near-duplicates are no rivals of each other if no pair is clear otherwise.
    """
    if lessons is not None:
        evidence = lessons.without_rejected(evidence)
    if state.probabilities is not None and (state.probabilities > LIKELY).any():
        return _unlabelled(state.probabilities > LIKELY, lessons)
    own = {kind: evidence[kind].astype(np.float64) for kind in ("ets", "content", "structure") if kind in evidence}
    first = own["ets"] if "ets" in own else mean_of(own, ("content", "structure"), state.pattern.nnz)
    by_pages = clear_pairs(first, rivalry, FIRST_MARGIN)
    if not by_pages.any():
        by_pages = _clear_but_for_alike(first, rivalry, nearly)
    agreed = (first >= NEARLY_AS_GOOD * rivalry.rivals(first)) & (by_pages | ~_with_page_of(by_pages, rivalry))
    clear = np.zeros(state.pattern.nnz, dtype=np.bool_)
    for clue in CLUES:
        pointed = clear_pairs(evidence[clue], rivalry, FIRST_MARGIN) if clue in evidence else clear
        if 2 * np.sum(pointed & agreed) > np.sum(pointed) or HARDLY_ANY * np.sum(by_pages) < np.sum(pointed):
            clear |= pointed & (by_pages | ~_with_page_of(by_pages | clear, rivalry))
    return _unlabelled(clear | (by_pages & ~_with_page_of(clear, rivalry)), lessons)


def _clear_but_for_alike(
    first: npt.NDArray[np.float64],
    rivalry: Rivalry,
    nearly: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.bool_]:
    """Mark the pairs that are clear if their pages' near-duplicates are no rivals: the best of two sets of them.

    Where each page has a version for printing that differs by a word, none would be clear otherwise, and none be found.
    Trials: where as few as 1 to 9 pairs are clear, these alone teach better.
    """
    everywhere = np.ones(len(first), np.bool_)
    pairs = greedy_among(first.astype(np.float32), rivalry.rows, rivalry.columns, everywhere, *rivalry.shape)
    alike = nearly(pairs)
    alike[pairs] = False
    return clear_pairs(np.where(alike, 0, first), rivalry, FIRST_MARGIN)


def _unlabelled(clear: npt.NDArray[np.bool_], lessons: Lessons | None) -> npt.NDArray[np.bool_]:
    """Leave out labelled candidates."""
    return clear if lessons is None else clear & ~lessons.accepted & ~lessons.barred


def _with_page_of(pairs: npt.NDArray[np.bool_], rivalry: Rivalry) -> npt.NDArray[np.bool_]:
    """Mark the candidates that have a page in common with one of some pairs."""
    of_row, of_column = rivalry.pages(np.flatnonzero(pairs))
    return of_row[rivalry.rows] | of_column[rivalry.columns]


def _match(
    rivalry: Rivalry,
    log_odds: npt.NDArray[np.float64],
    among: Sequence[npt.NDArray[np.bool_]],
    chance: npt.NDArray[np.float64] | None = None,
) -> list[npt.NDArray[np.intp]]:
    """Return the positions of the greedy one-to-one matching of each set by log odds, and by ``chance`` where given."""
    scores = as_scores(log_odds if chance is None else log_odds + chance).astype(np.float32)
    return [greedy_among(scores, rivalry.rows, rivalry.columns, each, *rivalry.shape) for each in among]


def _sureness(done: Round) -> npt.NDArray[np.float64]:
    """Return the weights of a round's pairs for learning: the probability that their pages have partners.

    With labels it is the calibrated probability, so that pairs like the rejected ones are no longer learned from.
    """
    return done.result.held_out if done.lessons is None else done.result.probabilities


def _is_settled(done: Round) -> bool:
    """Return whether a round found nearly the same pairs as the one before."""
    if done.state.probabilities is None:
        return False
    before, now = np.flatnonzero(done.state.probabilities > LIKELY), done.result.pairs[_sureness(done) > LIKELY]
    return len(np.intersect1d(before, now)) >= SETTLED * len(np.union1d(before, now))


def _next_state(site: SiteMeasures, done: Round, labels: sp.csr_array | None) -> State:
    """Learn words from the likely pairs, and find candidates by these words and around these pairs."""
    return _state_after(site, done, _settled_pairs(done, labels), labels)


def _state_after(site: SiteMeasures, done: Round, pairs: _WeightedPairs, labels: sp.csr_array | None) -> State:
    """Return the state after a round, as `_next_state`, but learn from given pairs instead of those of the round."""
    state, result, shape = done.state, done.result, done.state.pattern.shape
    rows, columns, presence = pairs
    likely, sure = presence > LIKELY, presence > SURE
    open_a, open_b = (np.ones(n, dtype=np.bool_) for n in shape)
    open_a[rows[sure]] = open_b[columns[sure]] = False
    translations = _translations(site, rows[likely], columns[likely], state.parts)
    all_keep = min(shape) <= FEW_PAGES or labels is not None
    around_a, around_b = (each | all_keep for each in (open_a, open_b))
    searches = [
        lambda: site.candidates(combine_translations(*translations), open_a, open_b),
        lambda: strongest(
            with_values(state.pattern, as_scores(result.log_odds)),
            site.settings.candidates,
            *(np.where(each, site.settings.candidates.per_page, OF_SURE) for each in (around_a, around_b)),
        ),
        lambda: _around(site, pair_matrix(rows[likely], columns[likely], shape), around_a, around_b),
    ]
    around = union_of(pair_matrix(rows, columns, shape), *site.results_of(searches))
    pattern = kept_matrix(with_labelled(around, labels))
    probabilities = sp.csr_array((presence.astype(np.float32), (rows, columns)), shape=shape)
    carried = site.results_of(
        [
            partial(carry_over, state.pattern, values, pattern, partial(site.fixed_evidence, kind))
            for kind, values in state.fixed.items()
        ]
    )
    return State(
        pattern=pattern,
        fixed={kind: kept(values) for kind, values in zip(state.fixed, carried, strict=True)},
        translations=translations,
        probabilities=carry_over(probabilities, probabilities.data, pattern, lambda rest: np.zeros(rest.nnz)),
        parts=state.parts,
    )


def _settled_pairs(done: Round, labels: sp.csr_array | None) -> _WeightedPairs:
    """Return a round's pairs, with the weights to learn by, corrected by labels."""
    pairs, presence = done.result.pairs, _sureness(done)
    rows, columns = done.rivalry.rows[pairs], done.rivalry.columns[pairs]
    if labels is None:
        return rows, columns, presence
    accepted_rows, accepted_columns = accepted_pairs(labels)
    keep = ~(excluded(rows, columns, labels) | np.isin(rows, accepted_rows))
    return (
        np.append(rows[keep], accepted_rows),
        np.append(columns[keep], accepted_columns),
        np.append(presence[keep], np.ones(len(accepted_rows))),
    )


def _translations(
    site: SiteMeasures,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    parts: npt.NDArray[np.int64],
) -> tuple[sp.csr_array, ...]:
    """Return the translations for each part of the pages: given, and learned from the pairs of the others."""
    given = site.words.translation
    if not site.uses("learned"):
        return (given,)
    counts = site.words.a.counts, site.words.b.counts
    taught_by = (parts[rows] != part for part in range(int(parts.max(initial=0)) + 1))
    learned = site.results_of([partial(learn_translations, *counts, rows[by], columns[by]) for by in taught_by])
    return tuple(combine_translations(given, each) for each in learned)


def _around(
    site: SiteMeasures, pairs: sp.csr_array, open_a: npt.NDArray[np.bool_], open_b: npt.NDArray[np.bool_]
) -> sp.csr_array:
    """Return the candidates of the open pages with the most likely pairs among their neighbours.

    Without evidence of neighbours, these are the pairs themselves.
    """
    if not site.uses("external"):
        return pairs
    reached = sp.csr_array(site.around_a.astype(np.float32) @ pairs)
    around_b = sp.csr_array(site.around_b.astype(np.float32))
    return candidate_pattern(reached, around_b, site.settings.candidates, open_a, open_b)


def _found(site: SiteMeasures, last: Round) -> FoundPairs:
    pattern, rivalry, evidence, result = last.state.pattern, last.rivalry, last.evidence, last.result
    scores, pairs = with_values(pattern, as_scores(result.log_odds)), result.pairs
    if last.lessons is not None:
        is_open = ~last.lessons.barred
        scores, pairs = select(scores, is_open), (np.cumsum(is_open) - 1)[pairs]
        evidence = {kind: values[is_open] for kind, values in evidence.items()}
        rivalry = Rivalry(scores)
    rows, columns = rivalry.rows[pairs], rivalry.columns[pairs]
    return FoundPairs(
        scores=scores,
        evidence={kind: np.maximum(values, 0).astype(np.float32) for kind, values in evidence.items()},
        matching=Matching(rows, columns, scores.data[pairs]),
        rivals=rivalry.rivals(scores.data.astype(np.float64))[pairs],
        probabilities=result.probabilities,
        weights=result.weights,
        n_equal=result.n_equal,
        alike=(site.alike_a, site.alike_b),
        mistaken=result.mistaken,
    )
