"""Learning from labels: F1 and expected precision after 0, 5, 20, 50 and 100 labels in the order of the review queue.

::

    python -m experiments.labels_curve SITES... [--sites NAME,NAME] [--steps 0,5,20,50,100] [--draws 3]

A simulated reviewer answers the questions of the queue of `twinlink review` by the gold list. After each step the site
is matched with all labels so far, and the queue is updated. *Others* are the unlabelled pairs, without the gold pairs
that were accepted: their F1 in the match without labels, and with the labels. *Random* is the mean of ``--draws``
reviewers who label reported pairs in random order.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
from msgspec.structs import replace

from experiments.cases import find_cases, ingested
from experiments.tables import Column, number, print_tables
from twinlink.config import Config
from twinlink.evaluation.gold import Gold, evaluate, precision_coverage, read_gold
from twinlink.labels.book import Label, LabelBook
from twinlink.match.stage import match
from twinlink.review.reading.orders import ordered
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.decision import EVEN

__all__ = ["Point", "Quality", "curve", "main", "quality"]

STEPS = (0, 5, 20, 50, 100)
Pair = tuple[str, str]
Answers = dict[Pair, bool | None]
"""Answers to the questions: right, wrong, or not scored by the gold list."""
Asking = Callable[[pd.DataFrame], npt.NDArray[np.intp]]
"""Function from the reported pairs to their rows in the order of the questions."""


class Quality(msgspec.Struct, frozen=True):
    """Scores of a list of pairs, and its expected precision."""

    f1: float
    best: float
    """F1 at the best cut of the same probabilities."""
    stated: float
    """Mean probability of the reported pairs."""
    true: float
    """Precision of the reported pairs."""


class Point(msgspec.Struct, frozen=True):
    """Scores of a site after a number of labels."""

    n_labels: int
    n_rejected: int
    all_pairs: Quality
    others: Quality
    """Scores of the unlabelled pairs."""
    before: Quality
    """Scores of the match without labels on the same pairs."""


class _Site(msgspec.Struct, frozen=True):
    run: RunDirectory
    config: Config
    gold: Gold

    def pairs(self) -> pd.DataFrame:
        """Match with the labels so far; return all pairs of the matching, reported or not."""
        match(self.run, self.config)
        return Run(self.run.path).pairs


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="SITES", help="site folders, or folders of them")
    parser.add_argument(
        "--sites", default="", help="names of the sites to take, with commas between them; default: all"
    )
    parser.add_argument("--steps", default=",".join(map(str, STEPS)), help="numbers of labels")
    parser.add_argument("--draws", type=int, default=3, help="reviewers who take pairs at random")
    given = parser.parse_args(arguments)
    wanted = given.sites.split(",") if given.sites else []
    steps = [int(step) for step in given.steps.split(",")]
    rows: dict[str, Column] = {f"{step} labels": {} for step in steps}
    for folder in find_cases(given.places):
        if not wanted or folder.name in wanted:
            asked = curve(folder, lambda pairs: ordered(pairs, {}, "teach"), steps)
            drawn = [curve(folder, _at_random(seed), steps) for seed in range(given.draws)]
            for place, step in enumerate(steps):
                rows[f"{step} labels"][folder.name] = _cells(asked[place], [points[place] for points in drawn])
    print_tables(rows, sites_down=True)


def _at_random(seed: int) -> Asking:
    rng = np.random.default_rng(seed)
    return lambda pairs: rng.permutation(len(pairs))


def curve(folder: Path, asking: Asking, steps: Sequence[int] = STEPS) -> list[Point]:
    """Simulate a reviewer who answers questions by the gold list, and match after each step; return the scores.

    If fewer pairs are reported than a step has labels, all of them are labelled.
    """
    with _open_site(folder) as site:
        book, said = LabelBook(site.run.path), dict[Pair, bool | None]()
        first = now = site.pairs()
        points = []
        for step in steps:
            answered = _answer(now, asking, site.gold, said, step)
            if answered:
                book.add(*(_label(pair, right) for pair, right in answered))
                now = site.pairs()
            points.append(_point(first, now, site.gold, said))
    return points


@contextmanager
def _open_site(folder: Path) -> Iterator[_Site]:
    with ingested(folder) as (run, config):
        labelled = config.override({"match.labels": True, "match.min_probability": 0.0})
        yield _Site(run, labelled, read_gold(folder / "gold.tsv"))


def _answer(pairs: pd.DataFrame, asking: Asking, gold: Gold, said: Answers, n_wanted: int) -> list[tuple[Pair, bool]]:
    """Label pairs until there are ``n_wanted`` labels or no pairs left; record the answers; return the new labels."""
    handed_out = pairs[pairs["probability"] >= EVEN].reset_index(drop=True)
    left = n_wanted - sum(answer is not None for answer in said.values())
    new: list[tuple[Pair, bool]] = []
    for row in asking(handed_out).tolist() if left > 0 else []:
        pair = handed_out["url_a"][row], handed_out["url_b"][row]
        if len(new) == left:
            break
        if pair not in said:
            said[pair] = answer = _is_right(pair, gold)
            new += [] if answer is None else [(pair, answer)]
    return new


def _is_right(pair: Pair, gold: Gold) -> bool | None:
    """Return whether a pair is right; None if the gold list does not score it."""
    found = evaluate([pair], gold)
    return bool(found.n_right) if found.n_right or found.n_wrong else None


def _label(pair: Pair, right: bool) -> Label:
    return Label(*pair, "accept" if right else "reject", "gold", datetime.now(UTC))


def _point(first: pd.DataFrame, now: pd.DataFrame, gold: Gold, said: Mapping[Pair, bool | None]) -> Point:
    labelled = {pair for pair, right in said.items() if right is not None}
    accepted = {_grouped(pair, gold) for pair, right in said.items() if right}
    left = tuple(pair for pair in gold.pairs if _grouped(pair, gold) not in accepted)
    others = replace(gold, pairs=left)
    n_rejected = sum(right is False for right in said.values())
    of_others = (quality(pairs, others, without=labelled) for pairs in (now, first))
    return Point(len(labelled), n_rejected, quality(now, gold), *of_others)


def _grouped(pair: Pair, gold: Gold) -> Pair:
    first, second = (gold.group(gold.key(url)) for url in pair)
    return first, second


def quality(pairs: pd.DataFrame, gold: Gold, without: set[Pair] | frozenset[Pair] = frozenset()) -> Quality:
    """Score the pairs of a matching, except some, at the default cut and at the best one."""
    urls = list(zip(pairs["url_a"], pairs["url_b"], strict=True))
    probabilities = pairs["probability"].to_numpy(np.float64)
    kept = [place for place, pair in enumerate(urls) if pair not in without]
    handed_out = [place for place in kept if probabilities[place] >= EVEN]
    found = evaluate([urls[place] for place in handed_out], gold)
    points = precision_coverage([urls[place] for place in kept], probabilities[kept].tolist(), gold)
    best = max((2 * p * r / (p + r) for _, p, r in points if p + r), default=0.0)
    stated = float(probabilities[handed_out].mean()) if handed_out else float("nan")
    return Quality(found.f1, best, stated, found.precision if handed_out else float("nan"))


def _cells(asked: Point, drawn: Sequence[Point]) -> dict[str, str]:
    """Return the cells of a row."""
    cells = {
        "rejected": str(asked.n_rejected),
        "F1": number(asked.all_pairs.f1),
        "best cut": number(asked.all_pairs.best),
        "stated / true P": _two(asked.all_pairs),
        "others: F1 before": number(asked.before.f1),
        "F1 now": number(asked.others.f1),
        "best cut now": number(asked.others.best),
        "stated / true P now": _two(asked.others),
    }
    if drawn:
        mean = _mean([point.others for point in drawn])
        cells["random: F1"] = number(_mean([point.all_pairs for point in drawn]).f1)
        cells["others before"] = number(_mean([point.before for point in drawn]).f1)
        cells["now"] = number(mean.f1)
        cells["stated / true P of others"] = _two(mean)
    return cells


def _two(quality_: Quality) -> str:
    return f"{number(quality_.stated)} / {number(quality_.true)}"


def _mean(of: Sequence[Quality]) -> Quality:
    return Quality(*(float(np.mean([getattr(each, name) for each in of])) for name in Quality.__struct_fields__))


if __name__ == "__main__":
    main()
