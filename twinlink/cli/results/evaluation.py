"""Results about pairs: scores, comparisons of two matches, explanations, and the verdicts of methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from twinlink.cli.results.record import Record
from twinlink.errors import NothingFoundError, TwinlinkError

if TYPE_CHECKING:
    import pandas as pd

    from twinlink.baselines.verify import Verified
    from twinlink.comparison import Comparison
    from twinlink.evaluation.gold import Counts
    from twinlink.evaluation.labelled import LabelScores
    from twinlink.explain.explanation import Explanation
    from twinlink.labels.precision import Share


class Scores(Record, frozen=True, kw_only=True):
    """Counts of a scored list of pairs, and the three measures."""

    gold: int
    """Known pairs."""
    predicted: int
    """Scored pairs of the run."""
    right: int
    """Of these, known ones."""
    wrong: int
    """Of these, ones that are not known."""
    not_scored: int
    """Of these, pairs that the scoring rules leave out."""
    alike: int
    """Further pairs of the run that differ from these only in parts that the gold addresses lack."""
    precision: float | None
    """Right / (right + wrong); null by labels alone: ``estimated`` has it."""
    recall: float | None
    """Right / gold; null by labels alone."""
    f1: float | None
    """Harmonic mean of both; null by labels alone."""

    @classmethod
    def of(cls, result: Counts) -> Scores:
        """Make it from a scored list."""
        from twinlink.evaluation.gold import Evaluation

        measured = result if isinstance(result, Evaluation) else None
        return cls(
            gold=result.n_gold,
            predicted=result.n_predicted,
            right=result.n_right,
            wrong=result.n_wrong,
            not_scored=result.n_unscored,
            alike=result.n_alike,
            precision=None if measured is None else measured.precision,
            recall=None if measured is None else measured.recall,
            f1=None if measured is None else measured.f1,
        )


class Interval(msgspec.Struct, frozen=True):
    """A share estimated from labels, with its 95 % interval."""

    value: float
    """The expected value."""
    low: float
    """Lower bound of the interval."""
    high: float
    """Upper bound."""
    tells: bool
    """Whether the interval is narrow enough; false: too few labels."""
    needed: int
    """Approximate number of labels needed; 0: not known."""

    @classmethod
    def of(cls, share: Share | None) -> Interval | None:
        """Make it from a share."""
        return None if share is None else cls(share.value, share.low, share.high, share.is_narrow, share.needed)


class Estimated(msgspec.Struct, frozen=True):
    """Precision, recall and F1 of all pairs, estimated from labels of some of them."""

    precision: float
    """The expected value."""
    low: float
    """Lower bound of its 95 % interval."""
    high: float
    """Upper bound."""
    labelled: int
    """Pairs with a label."""
    pairs: int
    """All pairs."""
    tells: bool
    """Whether the interval is narrow enough; false: too few labels."""
    needed: int
    """Approximate number of labels in random order needed."""
    recall: Interval | None
    """Share of the accepted pairs that the run has; null without any."""
    f1: Interval | None
    """Harmonic mean of both."""

    @classmethod
    def of(cls, scores: LabelScores) -> Estimated:
        """Make it from scores by labels."""
        e = scores.precision
        shares = Interval.of(scores.recall), Interval.of(scores.f1)
        return cls(e.precision, e.low, e.high, e.n, e.of, e.is_narrow, e.needed, *shares)


class CurvePoint(msgspec.Struct, frozen=True):
    """A cut of the list of pairs."""

    cut: float
    """Probability (or score) of that pair."""
    precision: float
    """Precision of the pairs down to the cut."""
    recall: float | None
    """Recall of the pairs down to the cut; null by labels."""
    low: float | None = None
    """By labels: lower bound of the precision's 95 % interval."""
    high: float | None = None
    """Upper bound."""


class ScoresResult(Scores, frozen=True, kw_only=True):
    """`twinlink evaluate`: the measures against known pairs."""

    run: str
    """The run directory."""
    not_in_run: list[str]
    """Addresses of known pairs that are not in the run."""
    n_known: int
    """All addresses of known pairs."""
    matched_with_labels: bool
    """Whether the match used the same labels (``match.labels``), so that the scores are biased."""
    meant: dict[str, dict[str, int]]
    """With ``--langs``: languages that mean others than are written, as of `twinlink mine`."""
    estimated: Estimated | None = None
    """With ``--labels``: the measures of all pairs, with intervals."""
    curve_by: str | None = None
    """With ``--curve``: what the pairs are ranked by, ``probability`` or ``score``."""
    curve: list[CurvePoint] | None = None
    """With ``--curve``: the measures after each scored pair, best first; by labels only those that labels give."""

    @classmethod
    def made_of(
        cls,
        result: Counts,
        run: Path,
        addresses: tuple[Sequence[str], int],
        by_labels: LabelScores | None = None,
        curve: tuple[str, Sequence[CurvePoint]] | None = None,
        *,
        matched_with_labels: bool = False,
        meant: dict[str, dict[str, int]] | None = None,
    ) -> ScoresResult:
        """Put together the measures, the addresses that are missing of how many, and what else was requested."""
        counts = {name: getattr(Scores.of(result), name) for name in Scores.__struct_fields__}
        return cls(
            run=str(run),
            not_in_run=list(addresses[0]),
            n_known=addresses[1],
            matched_with_labels=matched_with_labels,
            meant=meant or {},
            estimated=None if by_labels is None else Estimated.of(by_labels),
            curve_by=None if curve is None else curve[0],
            curve=None if curve is None else list(curve[1]),
            **counts,
        )


class ExplanationResult(Record, frozen=True, kw_only=True):
    """`twinlink explain`: why two pages are a pair or not, or the outcome of one page."""

    url: str
    """The page."""
    verdict: str
    """Its outcome, in words."""
    state: str
    """``pair``; ``no pair``; ``not kept``: the run has no such page."""
    weights: dict[str, float]
    """Weight of each kind of evidence, heaviest first."""
    shown: list[str] | None
    """The two pages that the evidence is about; null for none."""
    evidence: list[dict[str, Any]]
    """The kinds that were measured: ``evidence``, ``value``, ``rival`` (null for none), ``weight``, ``meaning``."""
    candidates: list[dict[str, Any]]
    """Candidates, best first: ``url_a``, ``url_b``, ``score``, every kind of evidence, ``filter``, ``pair``."""
    notes: list[str] = msgspec.field(default_factory=list)
    """Notes on the pages, in sentences."""
    titles: dict[str, str] = msgspec.field(default_factory=dict)
    """Title of each page above, by its address."""
    checks: list[dict[str, Any]] = msgspec.field(default_factory=list)
    """What the method compared with its bounds: ``check``, ``value`` (null: not measured), ``relation``, ``bound``,
    ``passed``, ``meaning``."""

    @classmethod
    def of(cls, explanation: Explanation) -> ExplanationResult:
        """Make it from an explanation."""
        return cls(
            url=explanation.url,
            verdict=explanation.verdict,
            state=explanation.state,
            weights={name: float(weight) for name, weight in explanation.weights.items()},
            shown=None if explanation.shown is None else list(explanation.shown),
            evidence=_rows(explanation.evidence),
            candidates=_rows(explanation.candidates),
            notes=list(explanation.notes),
            titles=dict(explanation.titles),
            checks=_rows(explanation.checks),
        )


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, with values as Python has them."""
    rows = table.to_dict(orient="records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """Return a value of a table as Python has it."""
    return value.item() if hasattr(value, "item") else value


class MethodResult(msgspec.Struct, frozen=True):
    """Verdicts of one method on all pairs."""

    method: str
    """Its name."""
    counts: dict[str, int]
    """Number of pairs by verdict."""
    found: dict[str, float]
    """What it found on the set, such as its threshold; of several sets, each name ends with the two languages."""
    notes: list[str]
    """Rules for unusual sets that were applied."""


class PairSetResult(msgspec.Struct, frozen=True):
    """Pairs that were judged together."""

    langs: list[str]
    """Their two languages; the first one, whose texts are shorter, is the first of L_d (`mean`) and of `length_1`."""
    size: int
    """Number of pairs."""


class VerdictsResult(Record, frozen=True, kw_only=True):
    """`twinlink verify`: verdicts of each method on the pairs."""

    sets: list[PairSetResult]
    """The pairs by their languages, in either order; each set was judged by itself."""
    methods: list[MethodResult]
    """The methods."""
    not_judged: dict[str, int]
    """Pairs that no method could judge, by reason."""
    verdicts: str
    """File of the verdicts."""

    @classmethod
    def of(cls, verified: Verified, target: Path) -> VerdictsResult:
        """Make it from the verdicts."""
        missing = Counter(row["verdict"] for row in verified.table.to_pylist() if row["method"] is None)
        return cls(
            sets=[PairSetResult(list(each.langs), each.size) for each in verified.sets],
            methods=[
                MethodResult(each.method, dict(each.counts), dict(each.found), list(each.notes))
                for each in verified.summaries
            ],
            not_judged=dict(missing),
            verdicts=str(target),
        )

    def problem(self) -> TwinlinkError | None:
        """Return an error when not one pair could be judged."""
        if self.methods:
            return None
        message = f"no pair could be judged: no pair has both pages; verdicts: {self.verdicts}"
        return NothingFoundError(message)


class ComparedPair(msgspec.Struct, frozen=True):
    """A pair in which two results differ."""

    url_a: str
    """Page of the first language."""
    url_b: str
    """Page of the second language."""
    in_first: float | None
    """Probability in the first result (score where its method gives none); null: not in it, or accepted without a
    probability."""
    in_second: float | None
    """The same in the second."""
    other_a: str | None
    """Partner of url_a in the other result; null: none, or the pair is in both."""
    other_b: str | None
    """Partner of url_b in the other result."""
    right: bool | None
    """With ``--gold``: whether it is right; null: not scored."""


class DifferentPairs(msgspec.Struct, frozen=True):
    """Pairs in which two results differ in the same way."""

    n: int
    """Their number."""
    right: int | None
    """With ``--gold``: the right ones."""
    wrong: int | None
    """With ``--gold``: the wrong ones."""
    shown: list[ComparedPair]
    """The first of them, ``--top`` at most: the most probable ones, or those that differ most."""

    @classmethod
    def of(cls, pairs: pd.DataFrame, top: int, *, is_judged: bool) -> DifferentPairs:
        """Make it from rows of a comparison."""
        rows = pairs.head(top)[list(ComparedPair.__struct_fields__)].astype(object)
        shown = [ComparedPair(**_compared(row)) for row in rows.to_dict(orient="records")]
        counts = pairs["right"].value_counts()
        right, wrong = (int(counts.get(verdict, 0)) if is_judged else None for verdict in (True, False))
        return cls(len(pairs), right, wrong, shown)


def _compared(row: dict[Any, Any]) -> dict[str, Any]:
    import pandas as pd

    return {name: None if pd.isna(value) else value for name, value in row.items()}


class ComparisonResult(Record, frozen=True, kw_only=True):
    """`twinlink compare`: where two results of matching differ."""

    first: str
    """The first run directory."""
    second: str
    """The second."""
    n_first: int
    """Pairs of the first result."""
    n_second: int
    """Pairs of the second."""
    both: DifferentPairs
    """Pairs of both; none is shown."""
    only_first: DifferentPairs
    """Pairs that only the first has."""
    only_second: DifferentPairs
    """Pairs that only the second has."""
    changed: DifferentPairs | None
    """Pairs of both whose probabilities differ by ``min_difference`` or more; null: a method gives none."""
    min_difference: float
    """Least difference of two probabilities that counts."""
    scores: list[Scores]
    """With ``--gold``: the measures of both results."""
    table: str | None
    """With ``--out``: the file with all pairs."""

    @classmethod
    def of(cls, found: Comparison, top: int, min_difference: float, table: Path | None) -> ComparisonResult:
        """Make it from a comparison."""
        from twinlink.comparison import BOTH, FIRST, SECOND

        judged, pairs = found.scores is not None, found.pairs
        both, first, second = (pairs[pairs["where"] == where] for where in (BOTH, FIRST, SECOND))
        changed = found.changed(min_difference) if len(both) and both["difference"].notna().any() else None
        return cls(
            first=str(found.first),
            second=str(found.second),
            n_first=len(both) + len(first),
            n_second=len(both) + len(second),
            both=DifferentPairs.of(both, 0, is_judged=judged),
            only_first=DifferentPairs.of(first, top, is_judged=judged),
            only_second=DifferentPairs.of(second, top, is_judged=judged),
            changed=None if changed is None else DifferentPairs.of(changed, top, is_judged=judged),
            min_difference=min_difference,
            scores=[Scores.of(each) for each in found.scores or ()],
            table=None if table is None else str(table),
        )
