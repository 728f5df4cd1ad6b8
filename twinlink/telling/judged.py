"""What is said of pairs: how many are right, why one is a pair, what methods make of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from twinlink.errors import NothingFoundError, TwinlinkError
from twinlink.telling.record import Record
from twinlink.wanted import meaning_lines

if TYPE_CHECKING:
    import pandas as pd

    from twinlink.evaluate import Evaluation
    from twinlink.explain import Explanation
    from twinlink.pipeline.verify import Verified
    from twinlink.review.precision import Estimate

__all__ = [
    "CurvePoint",
    "Estimated",
    "ExplanationTold",
    "MethodTold",
    "Scores",
    "ScoresTold",
    "VerdictsTold",
]


class Scores(Record, frozen=True, kw_only=True):
    """Counts of a scored list of pairs, and the three measures."""

    gold: int
    """Known pairs."""
    predicted: int
    """Pairs of the run that were looked at."""
    right: int
    """Of these, known ones."""
    wrong: int
    """Of these, ones that are not known."""
    not_scored: int
    """Of these, ones that the rules leave out."""
    alike: int
    """Further pairs of the run, which differ from these only in what the gold list's addresses have not."""
    precision: float
    """Right / (right + wrong)."""
    recall: float
    """Right / gold."""
    f1: float
    """Harmonic mean of both."""

    @classmethod
    def of(cls, result: Evaluation) -> Scores:
        """Take what is told from a scored list."""
        return cls(
            gold=result.n_gold,
            predicted=result.n_predicted,
            right=result.n_right,
            wrong=result.n_wrong,
            not_scored=result.n_unscored,
            alike=result.n_alike,
            precision=result.precision,
            recall=result.recall,
            f1=result.f1,
        )

    def lines(self) -> Iterator[str]:
        """Yield the counts, and the measures."""
        yield (
            f"gold {self.gold}, predicted {self.predicted}, right {self.right}, wrong {self.wrong}, "
            f"not scored {self.not_scored}"
        )
        if self.alike:
            yield (
                f"note: {self.alike} further pairs are not counted: they differ from these only in what the gold list's"
                " addresses have not (host or query)"
            )
        yield f"precision {self.precision:.4f}  recall {self.recall:.4f}  F1 {self.f1:.4f}"


class Estimated(msgspec.Struct, frozen=True):
    """The precision of all pairs, as far as labels of some of them tell."""

    precision: float
    """What is to be expected."""
    low: float
    """Lower bound of the 95 % interval."""
    high: float
    """Upper bound."""
    labelled: int
    """Pairs with a label."""
    pairs: int
    """All pairs."""


class CurvePoint(msgspec.Struct, frozen=True):
    """The list of pairs cut after one of them."""

    cut: float
    """Probability (or score) of that pair."""
    precision: float
    """Precision of the pairs down to it."""
    recall: float
    """Recall of the pairs down to it."""


class ScoresTold(Scores, frozen=True, kw_only=True):
    """`twinlink evaluate`: the measures against known pairs."""

    run: str
    """The run directory."""
    not_in_run: list[str]
    """Addresses of known pairs that the run has not."""
    n_known: int
    """All addresses of known pairs."""
    matched_with_labels: bool
    """The labels that are counted have shaped the pairs, too (``match.labels``): they tell little of them."""
    meant: dict[str, dict[str, int]]
    """With ``--langs``: languages that mean others than are written, as of `twinlink mine`."""
    estimated: Estimated | None = None
    """With ``--labels``: the precision of all pairs, with an interval."""
    curve_by: str | None = None
    """With ``--curve``: what the pairs are ranked by, ``probability`` or ``score``."""
    curve: list[CurvePoint] | None = None
    """With ``--curve``: the measures after each scored pair, the best first."""

    @classmethod
    def made_of(
        cls,
        result: Evaluation,
        run: Path,
        addresses: tuple[Sequence[str], int],
        estimated: Estimate | None = None,
        curve: tuple[str, Sequence[tuple[float, float, float]]] | None = None,
        *,
        matched_with_labels: bool = False,
        meant: dict[str, dict[str, int]] | None = None,
    ) -> ScoresTold:
        """Put together the measures, the addresses that are missing of how many, and what else was asked for."""
        counts = {name: getattr(Scores.of(result), name) for name in Scores.__struct_fields__}
        e = estimated
        return cls(
            run=str(run),
            not_in_run=list(addresses[0]),
            n_known=addresses[1],
            matched_with_labels=matched_with_labels,
            meant=meant or {},
            estimated=None if e is None else Estimated(float(e.precision), float(e.low), float(e.high), e.n, e.of),
            curve_by=None if curve is None else curve[0],
            curve=None if curve is None else [CurvePoint(*map(float, point)) for point in curve[1]],
            **counts,
        )

    def lines(self) -> Iterator[str]:
        """Yield the counts, the measures, and a line for each point of the curve."""
        yield from meaning_lines(self.meant)
        if self.not_in_run:
            missing = f"{len(self.not_in_run)} of {self.n_known} gold addresses"
            yield f"note: {missing} are not in the run, e.g. {self.not_in_run[0]}"
        yield from super().lines()
        if self.estimated is not None:
            e = self.estimated
            yield (
                f"by labels of {e.labelled} of {e.pairs} pairs: precision {e.precision:.3f},"
                f" 95 % interval {e.low:.3f} to {e.high:.3f}"
            )
        if self.matched_with_labels:
            yield "note: the pairs were matched with these labels; labels of other pairs tell more"
        if self.curve is not None:
            yield f"{self.curve_by:11}  precision  recall"
            for point in self.curve:
                yield f"{point.cut:11.4f}  {point.precision:9.4f}  {point.recall:6.4f}"


class ExplanationTold(Record, frozen=True, kw_only=True):
    """`twinlink explain`: why two pages are a pair or not, or what became of one page."""

    url: str
    """The page."""
    verdict: str
    """What became of it, in words."""
    state: str
    """``pair``; ``no pair``; ``not kept``: the run has no such page."""
    weights: dict[str, float]
    """How much each kind of evidence counted, the heaviest first."""
    shown: list[str] | None
    """The two pages that the evidence is about; null for none."""
    evidence: list[dict[str, Any]]
    """The kinds that were measured: ``evidence``, ``value``, ``rival`` (null for none), ``weight``, ``meaning``."""
    candidates: list[dict[str, Any]]
    """What was looked at, the best first: ``url_a``, ``url_b``, ``score``, every kind of evidence, ``pair``."""

    @classmethod
    def of(cls, explanation: Explanation) -> ExplanationTold:
        """Take what is told from an explanation."""
        return cls(
            url=explanation.url,
            verdict=explanation.verdict,
            state=explanation.state,
            weights={name: float(weight) for name, weight in explanation.weights.items()},
            shown=None if explanation.shown is None else list(explanation.shown),
            evidence=_rows(explanation.evidence),
            candidates=_rows(explanation.candidates),
        )

    def lines(self) -> Iterator[str]:
        """Yield the explanation as text."""
        import pandas as pd

        from twinlink.explain import Explanation

        explanation = Explanation(
            self.url,
            self.verdict,
            pd.DataFrame(self.candidates),
            self.weights,
            self.state,
            None if self.shown is None else (self.shown[0], self.shown[1]),
            pd.DataFrame(self.evidence),
        )
        yield from str(explanation).splitlines()


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, with values as Python has them."""
    rows = table.to_dict(orient="records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a value of a table as Python has it."""
    return value.item() if hasattr(value, "item") else value


class MethodTold(msgspec.Struct, frozen=True):
    """What one method says of all pairs."""

    method: str
    """Its name."""
    counts: dict[str, int]
    """Verdicts, and how many pairs have each."""
    found: dict[str, float]
    """What it found on the set, such as its threshold."""
    notes: list[str]
    """Rules for odd sets that stepped in."""


class VerdictsTold(Record, frozen=True, kw_only=True):
    """`twinlink verify`: what each method makes of the pairs."""

    methods: list[MethodTold]
    """The methods."""
    not_judged: dict[str, int]
    """Pairs that no method could judge, by reason."""
    verdicts: str
    """File of the verdicts."""

    @classmethod
    def of(cls, verified: Verified, target: Path) -> VerdictsTold:
        """Take what is told from the verdicts."""
        missing = Counter(row["verdict"] for row in verified.table.to_pylist() if row["method"] is None)
        return cls(
            methods=[
                MethodTold(each.method, dict(each.counts), dict(each.found), list(each.notes))
                for each in verified.summaries
            ],
            not_judged=dict(missing),
            verdicts=str(target),
        )

    def lines(self) -> Iterator[str]:
        """Yield a line a method, what was not judged, and where the verdicts are."""
        for each in self.methods:
            counts = ", ".join(f"{verdict} {count}" for verdict, count in each.counts.items())
            found = "".join(f", {name} {value:.4g}" for name, value in each.found.items())
            notes = f" ({', '.join(each.notes)})" if each.notes else ""
            yield f"{each.method:12}  {counts}{found}{notes}"
        for reason, count in self.not_judged.items():
            yield f"not judged: {reason} {count}"
        if self.methods:
            yield f"verdicts → {self.verdicts}"

    def problem(self) -> TwinlinkError | None:
        """Return an error when not one pair could be judged."""
        if self.methods:
            return None
        message = f"no pair could be judged: of none are both pages there; verdicts: {self.verdicts}"
        return NothingFoundError(message)
