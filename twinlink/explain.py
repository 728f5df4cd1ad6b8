"""Why two pages are a pair, or why a page has none: the numbers behind it and the rivals that lost."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from twinlink.errors import InputError
from twinlink.tables import EVIDENCE

if TYPE_CHECKING:
    from twinlink.run import Run

__all__ = ["Explanation", "explain"]

N_RIVALS = 5
NUMBERS = ["score", *(field.name for field in EVIDENCE)]


@dataclass(frozen=True)
class Explanation:
    """A verdict in words, and the candidates it was chosen from."""

    url: str
    verdict: str
    candidates: pd.DataFrame
    """Best candidates of the page (and of its partner): url_a, url_b, the numbers, and whether it is the pair."""
    weights: dict[str, float]
    """How much each kind of evidence counted."""

    def __str__(self) -> str:
        weights = ", ".join(f"{name} {value:.2f}" for name, value in self.weights.items())
        table = self.candidates.to_string(index=False, float_format="{:.4f}".format) if len(self.candidates) else "none"
        return f"{self.url}\n{self.verdict}\nweights: {weights}\ncandidates:\n{table}"

    def _repr_html_(self) -> str:
        table = self.candidates.to_html(index=False, float_format="{:.4f}".format)
        return f"<p><b>{escape(self.url)}</b><br>{escape(self.verdict)}</p>{table}"


def explain(run: Run, url_a: str, url_b: str | None = None) -> Explanation:
    """Explain a pair of pages, or what became of one page.

    Raises
    ------
    InputError
        If the run has seen no page of that address.
    """
    from twinlink.spiders.urls import page_id

    number_a = page_id(_as_url(run, url_a))
    known = dict(zip(run.pages["page_id"], run.pages["url"], strict=True))
    if number_a not in known:
        return Explanation(url_a, _why_rejected(run, url_a), _no_candidates(), _weights(run))
    pairs = run.pairs
    partner = pairs[(pairs["page_a"] == number_a) | (pairs["page_b"] == number_a)]
    if url_b is None:
        numbers = {number_a}
        verdict = _verdict_of_page(run, known[number_a], partner)
    else:
        number_b = page_id(_as_url(run, url_b))
        if number_b == number_a:
            raise InputError(f"{url_b}: this is the same page; expected two pages, or one alone")
        if number_b not in known:
            return Explanation(url_b, _why_rejected(run, url_b), _no_candidates(), _weights(run))
        numbers = {number_a, number_b}
        verdict = _verdict_of_pair(run, number_a, number_b, known)
    return Explanation(known[number_a], verdict, _candidates(run, numbers, known), _weights(run))


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


def _weights(run: Run) -> dict[str, float]:
    """Return how much each kind of evidence counted, on average over the run's sites, the heaviest first."""
    mean = run.weights.groupby("evidence")["weight"].mean().sort_values(ascending=False, kind="stable")
    return {str(kind): float(weight) for kind, weight in mean.items()}


def _why_rejected(run: Run, url: str) -> str:
    rows = run.rejects[run.rejects["url"] == _as_url(run, url)]
    if rows.empty:
        raise InputError(f"{url}: this run has seen no such page; `RUN/ingest/pages` holds those it has")
    return "; ".join(f"rejected in {row.stage}: {row.reason} {row.detail}".rstrip() for row in rows.itertuples())


def _verdict_of_page(run: Run, url: str, partner: pd.DataFrame) -> str:
    if len(partner):
        return "; ".join(
            f"paired: {row.url_a} ↔ {row.url_b}, {_chance(row)}, best rival {row.rival:.3f}"
            for row in partner.itertuples()
        )
    return f"no pair; {_why_rejected(run, url)}"


def _verdict_of_pair(run: Run, number_a: int, number_b: int, known: dict[int, str]) -> str:
    pairs, numbers = run.pairs, {number_a, number_b}
    both = pairs[pairs["page_a"].isin(numbers) & pairs["page_b"].isin(numbers)]
    if len(both):
        row = both.iloc[0]
        return f"a pair: {_chance(row)}, score {row.score:.4f}, best rival {row.rival:.4f}"
    candidates = run.candidates
    looked_at = candidates[candidates["page_a"].isin(numbers) & candidates["page_b"].isin(numbers)]
    langs = [run.pages.loc[run.pages["page_id"] == number, "lang"].iloc[0] for number in (number_a, number_b)]
    if len(looked_at):
        reason = "it was a candidate"
    elif langs[0] == langs[1]:
        reason = f"both pages are in one language ({langs[0]})"
    else:
        reason = "it was never a candidate: other pages were more alike"
    others = pairs[pairs["page_a"].isin(numbers) | pairs["page_b"].isin(numbers)]
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


def _candidates(run: Run, numbers: set[int], known: dict[int, str]) -> pd.DataFrame:
    """Return the best candidates of some pages, best first."""
    table = run.candidates
    own = table[table["page_a"].isin(numbers) | table["page_b"].isin(numbers)]
    own = own.sort_values("score", ascending=False, kind="stable")
    shown = own.head(N_RIVALS * len(numbers)).copy()
    shown["url_a"], shown["url_b"] = shown["page_a"].map(known), shown["page_b"].map(known)
    paired = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    shown["pair"] = ["yes" if ends in paired else "" for ends in zip(shown["page_a"], shown["page_b"], strict=True)]
    return shown[["url_a", "url_b", *NUMBERS, "pair"]].dropna(axis="columns", how="all")
