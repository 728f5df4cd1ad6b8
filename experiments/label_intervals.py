"""Coverage of the 95 % interval of a precision that labels estimate: how often the true precision is inside.

::

    python -m experiments.label_intervals [--trials 100] [--seed 0]

Runs of 100 and of 1,000 pairs are simulated, with 10 to 200 labels in random order, of the most doubtful pairs, or half
of each. The pairs are right as their probabilities say, or otherwise in one of six ways (`WAYS`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.tables import number, print_grid
from twinlink.labels.precision import estimate

__all__ = ["ORDERS", "WAYS", "Trial", "Way", "coverage", "labelled_pairs", "main", "simulate"]

Floats = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.intp]
Way = Callable[[Floats], Floats]
"""Function from the probabilities of pairs to how often such pairs are right."""

WAYS: Mapping[str, Way] = {
    "as claimed": lambda p: p,
    "too sure": lambda p: 1 - np.minimum(1, (1 - p) * 3 + 0.03),
    "too careful": lambda p: 1 - (1 - p) / 3,
    "regardless": lambda p: np.full(len(p), 0.7),
    "reversed": lambda p: 1.5 - np.maximum(p, 0.5),
    "sure ones wrong": lambda p: np.where(p > 0.99, 0.9, p),
    "doubtful ones wrong": lambda p: np.where(p < 0.8, 0.2, p),
}
"""What the probabilities of a simulated run mean."""
ORDERS = ("random", "doubtful first", "half of each")
SIZES = ((100, 10), (100, 40), (1_000, 10), (1_000, 60), (1_000, 200))
"""Pairs of a run, and how many of them have a label."""


class Trial(NamedTuple):
    """Interval of one simulated run."""

    is_inside: bool
    """Whether it contains the true precision."""
    width: float


def main() -> None:
    """Print a row for each way, and the mean of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=100, help="simulated runs of each size, way and order")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    shares = {name: [coverage(way, order, given.trials, given.seed) for order in ORDERS] for name, way in WAYS.items()}
    shares["mean"] = np.mean([*shares.values()], axis=0).tolist()
    rows = ([name, *map(number, row)] for name, row in shares.items())
    print_grid("Share of 95 % intervals that contain the true precision", [["probabilities", *ORDERS], *rows])


def coverage(way: Way, order: str, n_trials: int, seed: int) -> float:
    """Return the share of simulated runs of all sizes whose interval contains the true precision."""
    rng = np.random.default_rng(seed)
    trials = [simulate(*size, way, order, rng) for size in SIZES for _ in range(n_trials)]
    return sum(trial.is_inside for trial in trials) / len(trials)


def simulate(n_pairs: int, n_labels: int, way: Way, order: str, rng: np.random.Generator) -> Trial:
    """Label some pairs of a simulated run, most of whose pairs are sure, and estimate its precision."""
    probabilities = 1 - np.minimum(0.5, rng.gamma(0.4, 0.12, n_pairs))
    is_right = rng.random(n_pairs) < way(probabilities)
    verdicts = np.full(n_pairs, -1)
    chosen = labelled_pairs(order, probabilities, n_labels, rng)
    verdicts[chosen] = is_right[chosen]
    found = estimate(probabilities, verdicts)
    return Trial(bool(found.low - 1e-9 <= is_right.mean() <= found.high + 1e-9), found.high - found.low)


def labelled_pairs(order: str, probabilities: Floats, n: int, rng: np.random.Generator) -> Pairs:
    """Return the pairs that have a label, in one of the `ORDERS`."""
    doubtful, mixed = np.argsort(probabilities), rng.permutation(len(probabilities))
    if order == "random":
        return mixed[:n]
    if order == "doubtful first":
        return doubtful[:n]
    return np.union1d(doubtful[: n // 2], mixed[: n - n // 2])


if __name__ == "__main__":
    main()
