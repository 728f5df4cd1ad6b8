"""Rounds, until they change nothing."""

from __future__ import annotations

import logging

import numpy as np
import scipy.sparse as sp

from twinlink.match.measures import SiteMeasures, State
from twinlink.match.methods.weighed.next_state import next_state
from twinlink.match.methods.weighed.round import Round, run_round, sureness
from twinlink.match.so_far import pairs_so_far
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.weighing import LIKELY
from twinlink.system.memory import in_words
from twinlink.system.scratch import scratch_at_work
from twinlink.system.steps import Steps

__all__ = ["run_rounds"]

_log = logging.getLogger("twinlink.memory")

MANY = 200_000
"""Number of candidates from which the log says what they hold: some 100 MB with all that is made of them."""
WORK_BYTES = 120
"""Memory of a step for each candidate beside what is kept: 105 to 125 in trials with 30,000 pages per language."""
MAX_ROUNDS = 12
"""Maximum number of rounds after the first one."""
GROWTH = 1.01
"""Factor by which a round must increase the expected number of right pairs, if another one is to follow beyond those of
the settings. Look-alikes are separated gradually: trials on nine sites made of them, three rounds and as many as
needed: mean F1 .790 and .863, on one of them .441 and .983. Other sites end earlier."""
SETTLED = 0.995
"""Share of pairs unchanged since the previous round at which the rounds end."""


def run_rounds(site: SiteMeasures, state: State, labels: sp.csr_array | None, name: str, steps: Steps) -> Round:
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
        done = run_round(site, state, labels)
        n_pairs = _keep_so_far(site, done, steps)
        before, n_right = n_right, done.n_right
        has_grown = 0 < round_ < MAX_ROUNDS and n_right > GROWTH * before
        if not (round_ < site.settings.weighing.rounds or has_grown) or _is_settled(done):
            return done
        done = done._replace(evidence={})  # the search for candidates does not need it, and it is large
        state, round_ = next_state(site, done, labels), round_ + 1
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


def _is_settled(done: Round) -> bool:
    """Return whether a round found nearly the same pairs as the one before."""
    if done.state.probabilities is None:
        return False
    before, now = np.flatnonzero(done.state.probabilities > LIKELY), done.result.pairs[sureness(done) > LIKELY]
    return len(np.intersect1d(before, now)) >= SETTLED * len(np.union1d(before, now))
