"""Why two pages are a pair, or why a page has none: the numbers behind it and the rivals that lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from twinlink.errors import InputError
from twinlink.frames import column_texts
from twinlink.tables import CANDIDATES, EVIDENCE

if TYPE_CHECKING:
    from twinlink.run import Run

__all__ = ["EVIDENCE_COLUMNS", "PAIRED", "UNKEPT", "UNPAIRED", "Explanation", "explain"]

N_RIVALS = 5
NUMBERS = ["score", *(field.name for field in EVIDENCE)]
EVIDENCE_COLUMNS = ["evidence", "value", "rival", "weight", "meaning"]
PAIRED, UNPAIRED, UNKEPT = "pair", "no pair", "not kept"


def _no_evidence() -> pd.DataFrame:
    return pd.DataFrame(columns=EVIDENCE_COLUMNS)


@dataclass(frozen=True, repr=False)
class Explanation:
    """A verdict in words, the evidence behind it, and the candidates that the pair was chosen from.

    ``print`` shows it as text; a notebook shows it as tables with bars.
    """

    url: str
    verdict: str
    candidates: pd.DataFrame
    """Best candidates of the page (and of its partner): url_a, url_b, the numbers, and whether it is the pair."""
    weights: dict[str, float]
    """How much each kind of evidence counted, the heaviest first."""
    state: str = UNKEPT
    """pair; no pair; not kept: the run has no such page."""
    shown: tuple[str, str] | None = None
    """The two pages that the evidence is about: the pair, or what was asked for, or else the best candidate."""
    evidence: pd.DataFrame = field(default_factory=_no_evidence)
    """A row for each kind of evidence that was measured, the heaviest first: evidence (its name), value (of the two
    pages), rival (the same of the best other candidate of either page; nan: there is none), weight, meaning."""

    def __str__(self) -> str:
        parts = [self.url, self.verdict]
        if self.shown is not None:
            about = " ↔ ".join(self.shown)
            parts += [f"\nevidence for {about}:", *_evidence_lines(self.evidence)]
        table = self.candidates.to_string(index=False, float_format="{:.4f}".format) if len(self.candidates) else "none"
        return "\n".join([*parts, f"\ncandidates:\n{table}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from twinlink.notebook_html import explanation_html

        return explanation_html(self)


def _evidence_lines(evidence: pd.DataFrame) -> list[str]:
    """Return evidence as lines of text, aligned."""
    rows = evidence.to_dict("records")
    width = max((len(row["evidence"]) for row in rows), default=0)
    head = f"{'':{width}}  weight   value   rival"
    lines = (
        f"{row['evidence']:{width}}  {row['weight']:6.2f}  {row['value']:6.4f}  {row['rival']:6.4f}  {row['meaning']}"
        for row in rows
    )
    return [head, *lines]


def explain(run: Run, url_a: str, url_b: str | None = None) -> Explanation:
    """Explain a pair of pages, or what became of one page.

    Parameters
    ----------
    run : Run
        With stage `match` done.
    url_a, url_b : str
        Addresses, or paths where all pages of the run are on one host; the second may be left out.

    Raises
    ------
    InputError
        If the run has seen no page of that address.
    MissingStageError
        If the run has not been matched.
    """
    from twinlink.spiders.urls import page_id

    number_a = page_id(_as_url(run, url_a))
    known = dict(zip(run.pages["page_id"], run.pages["url"], strict=True))
    if number_a not in known:
        return _unkept(run, url_a)
    pairs = run.pairs
    partner = pairs[(pairs["page_a"] == number_a) | (pairs["page_b"] == number_a)]
    if url_b is None:
        numbers = {number_a}
        verdict, state = _verdict_of_page(run, known[number_a], partner), PAIRED if len(partner) else UNPAIRED
    else:
        number_b = page_id(_as_url(run, url_b))
        if number_b == number_a:
            raise InputError(f"{url_b}: this is the same page; expected two pages, or one alone")
        if number_b not in known:
            return _unkept(run, url_b)
        numbers = {number_a, number_b}
        verdict = _verdict_of_pair(run, number_a, number_b, known)
        state = PAIRED if _both(pairs, numbers).any() else UNPAIRED
    weights = _weights(run, number_a)
    first, others = _chosen(run, numbers)
    return Explanation(
        url=known[number_a],
        verdict=verdict,
        candidates=_candidates(run, pd.concat([first, others.head(N_RIVALS * len(numbers))]), known),
        weights=weights,
        state=state,
        shown=next(((known[row.page_a], known[row.page_b]) for row in first.itertuples()), None),
        evidence=_evidence(first, others, weights),
    )


def _unkept(run: Run, url: str) -> Explanation:
    return Explanation(url, _why_rejected(run, url), _no_candidates(), _weights(run))


def _both(table: pd.DataFrame, numbers: set[int]) -> pd.Series[bool]:
    return table["page_a"].isin(numbers) & table["page_b"].isin(numbers)


def _either(table: pd.DataFrame, numbers: set[int]) -> pd.Series[bool]:
    return table["page_a"].isin(numbers) | table["page_b"].isin(numbers)


def _chosen(run: Run, numbers: set[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidate that an explanation is about (a row, or none), and the others of its pages, best first.

    It is what was asked for; of one page the pair, or else its best candidate.
    """
    table = run.candidates
    own = table[_either(table, numbers)].sort_values("score", ascending=False, kind="stable")
    if len(numbers) == 2:
        first = own[_both(own, numbers)].head(1)
    else:
        paired = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
        is_pair = [ends in paired for ends in zip(own["page_a"], own["page_b"], strict=True)]
        first = own[is_pair].head(1) if any(is_pair) else own.head(1)
        numbers = {*first["page_a"], *first["page_b"], *numbers}
        own = table[_either(table, numbers)].sort_values("score", ascending=False, kind="stable")
    return first, own.drop(first.index)


def _evidence(first: pd.DataFrame, others: pd.DataFrame, weights: dict[str, float]) -> pd.DataFrame:
    """Return the numbers of a candidate beside those of its best rival, the heaviest first."""
    if first.empty:
        return _no_evidence()
    texts = column_texts(CANDIDATES)
    values = first.iloc[0]
    rows = [
        (name, values[name], others.iloc[0][name] if len(others) else float("nan"), weights.get(name, 0.0), texts[name])
        for name in (kind.name for kind in EVIDENCE)
        if not pd.isna(values[name])
    ]
    frame = pd.DataFrame(rows, columns=EVIDENCE_COLUMNS)
    return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)


def _as_url(run: Run, text: str) -> str:
    """Return an address in its normal form; accept a path where all pages of the run are on one host."""
    from twinlink.spiders.urls import normalise

    if "://" not in text:
        roots = {"/".join(url.split("/", 3)[:3]) for url in run.pages["url"]}
        if len(roots) > 1:
            hosts = ", ".join(sorted(roots)[:3])
            raise InputError(f"{text}: this run has pages of several hosts; write the whole address ({hosts}, …)")
        text = f"{min(roots, default='')}/{text.lstrip('/')}"
    return normalise(text) or text


def _weights(run: Run, number: int | None = None) -> dict[str, float]:
    """Return how much each kind of evidence counted on a page's site, or on average; the heaviest first."""
    weights = run.weights
    if number is not None:
        site = run.pages.loc[run.pages["page_id"] == number, "site"].iloc[0]
        weights = weights[weights["site"] == site]
    mean = weights.groupby("evidence")["weight"].mean().sort_values(ascending=False, kind="stable")
    return {str(kind): float(weight) for kind, weight in mean.items()}


def _why_rejected(run: Run, url: str) -> str:
    rows = run.rejects[run.rejects["url"] == _as_url(run, url)]
    if rows.empty:
        raise InputError(f"{url}: this run has seen no such page; it has those in {run.path / 'ingest' / 'pages'}")
    told = [(f"rejected in {row.stage}: {row.reason}", str(row.detail)) for row in rows.itertuples()]
    return "; ".join(f"{reason} ({detail})" if detail else reason for reason, detail in told)


def _verdict_of_page(run: Run, url: str, partner: pd.DataFrame) -> str:
    if len(partner):
        return "; ".join(
            f"paired: {row.url_a} ↔ {row.url_b}, {_chance(row)}, best rival {row.rival:.3f}"
            for row in partner.itertuples()
        )
    return f"no pair; {_why_rejected(run, url)}"


def _verdict_of_pair(run: Run, number_a: int, number_b: int, known: dict[int, str]) -> str:
    pairs, numbers = run.pairs, {number_a, number_b}
    both = pairs[_both(pairs, numbers)]
    if len(both):
        row = both.iloc[0]
        return f"a pair: {_chance(row)}, score {row.score:.4f}, best rival {row.rival:.4f}"
    candidates = run.candidates
    looked_at = candidates[_both(candidates, numbers)]
    langs = [run.pages.loc[run.pages["page_id"] == number, "lang"].iloc[0] for number in (number_a, number_b)]
    if len(looked_at):
        reason = "it was a candidate"
    elif langs[0] == langs[1]:
        reason = f"both pages are in one language ({langs[0]})"
    else:
        reason = "it was never a candidate: other pages were more alike"
    others = pairs[_either(pairs, numbers)]
    taken = "; ".join(f"{row.url_a} ↔ {row.url_b} was taken instead" for row in others.itertuples())
    lost = "; ".join(f"{known[n]}: {_why_rejected(run, known[n])}" for n in sorted(numbers) if not _in_pairs(others, n))
    return "not a pair: " + "; ".join(part for part in (reason, taken, lost) if part)


def _chance(pair: Any) -> str:
    unknown = pd.isna(pair.probability)
    return "no probability (the method tells none)" if unknown else f"probability {pair.probability:.3f}"


def _in_pairs(pairs: pd.DataFrame, number: int) -> bool:
    return bool(((pairs["page_a"] == number) | (pairs["page_b"] == number)).any())


def _no_candidates() -> pd.DataFrame:
    return pd.DataFrame(columns=["url_a", "url_b", *NUMBERS, "pair"])


def _candidates(run: Run, shown: pd.DataFrame, known: dict[int, str]) -> pd.DataFrame:
    """Return candidates with addresses and whether each is a pair, best first."""
    shown = shown.sort_values("score", ascending=False, kind="stable", ignore_index=True)
    shown["url_a"], shown["url_b"] = shown["page_a"].map(known), shown["page_b"].map(known)
    paired = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    shown["pair"] = ["yes" if ends in paired else "" for ends in zip(shown["page_a"], shown["page_b"], strict=True)]
    return shown[["url_a", "url_b", *NUMBERS, "pair"]].dropna(axis="columns", how="all")
