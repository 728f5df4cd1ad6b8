"""Why two pages are a pair, or why a page has none: the evidence and the rejected rivals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import pandas as pd

from twinlink.errors import InputError
from twinlink.explain.outcomes import Outcomes, both, checks_of, either, no_checks, notes_on
from twinlink.explain.text import explanation_lines
from twinlink.tables import EVIDENCE_FIELDS
from twinlink.wording import EVIDENCE_WORDS

if TYPE_CHECKING:
    from twinlink.run_tables import RunTables

__all__ = ["EVIDENCE_COLUMNS", "PAIRED", "UNKEPT", "UNPAIRED", "Explanation", "explain"]

N_RIVALS = 5
NUMBERS = ["score", *(field.name for field in EVIDENCE_FIELDS)]
EVIDENCE_COLUMNS = ["evidence", "value", "rival", "weight", "meaning"]
PAIRED, UNPAIRED, UNKEPT = "pair", "no pair", "not kept"


def _no_evidence() -> pd.DataFrame:
    return pd.DataFrame(columns=EVIDENCE_COLUMNS)


class Explanation(msgspec.Struct, frozen=True):
    """A verdict in words, the evidence behind it, and the candidates that the pair was chosen from.

    ``print`` shows it as text; a notebook shows it as tables with bars.
    """

    url: str
    verdict: str
    candidates: pd.DataFrame
    """Best candidates of the page (and of its partner): url_a, url_b, the numbers, the filter that rejected it, and
    whether it is the pair."""
    weights: dict[str, float]
    """Weight of each kind of evidence, the largest first."""
    state: str = UNKEPT
    """pair; no pair; not kept: the run has no such page."""
    shown: tuple[str, str] | None = None
    """The two pages that the evidence is about: the pair, the requested pages, or else the best candidate."""
    evidence: pd.DataFrame = msgspec.field(default_factory=_no_evidence)
    """A row for each kind of evidence that was measured, the heaviest first: evidence (its name), value (of the two
    pages), rival (the same of the best other candidate of either page; nan: there is none), weight, meaning."""
    notes: Sequence[str] = ()
    """Further facts on the pages, in sentences: canonical addresses, groups of near-duplicates."""
    titles: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Title of each page above, by its address."""
    checks: pd.DataFrame = msgspec.field(default_factory=no_checks)
    """The numbers that the method compared with its bounds, in their order, up to the one that failed: check (its
    name), value (nan: not measured), relation, bound, passed, meaning. No rows for methods without bounds."""

    def __str__(self) -> str:
        return "\n".join(explanation_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from twinlink.explain.html import explanation_html

        return explanation_html(self)


def explain(run: RunTables, url_a: str, url_b: str | None = None) -> Explanation:
    """Explain a pair of pages, or the outcome of one page.

    Parameters
    ----------
    run : RunTables
        With stage `match` done.
    url_a, url_b : str
        Addresses, or paths where all pages of the run are on one host; the second may be left out.

    Raises
    ------
    InputError
        If the run neither kept nor rejected such an address.
    MissingStageError
        If the run has not been matched.
    """
    from twinlink.urls import page_id

    known = dict(zip(run.pages["page_id"], run.pages["url"], strict=True))
    asked = [_as_url(run, text) for text in (url_a, url_b) if text is not None]
    found = run.addresses.find(asked)
    urls = [found.get(url, url) for url in asked]
    wanted = {page_id(url): url for url in urls}
    if url_b is not None and len(wanted) == 1:
        raise InputError(f"{url_b}: both addresses are the same page; expected two pages, or one address")
    outcomes = Outcomes(run)
    if unkept := [url for number, url in wanted.items() if number not in known]:
        return Explanation(unkept[0], outcomes.of_address(unkept[0]), _no_candidates(), _weights(run.weights))
    numbers = list(wanted)
    first, others = _chosen(run, set(numbers))
    ends: list[tuple[int, int]] = list(zip(first["page_a"].tolist(), first["page_b"].tolist(), strict=True))
    weights = _weights(_weights_of(run, numbers[0], outcomes.langs(*ends[0]) if ends else None))
    is_paired = (both if len(wanted) == 2 else either)(run.pairs, set(wanted)).any()
    rivals = _of_same_languages(others, ends, outcomes)
    shown = list(dict.fromkeys([*numbers, *(number for pair in ends for number in pair)]))
    candidates = _candidates(run, pd.concat([first, others.head(N_RIVALS * len(wanted))]), known)
    return Explanation(
        url=known[numbers[0]],
        verdict=outcomes.of_pair(*numbers) if len(wanted) == 2 else outcomes.of_page(*numbers),
        candidates=candidates,
        weights=weights,
        state=PAIRED if is_paired else UNPAIRED,
        shown=next(((known[a], known[b]) for a, b in ends), None),
        evidence=_evidence(first, rivals, weights),
        notes=[
            *(f"{url}: {why}" for url in asked if url not in urls and (why := outcomes.why_dropped(url))),
            *notes_on(run, shown, outcomes.langs(*ends[0]) if ends else (), rivals),
        ],
        titles=_titles(
            run, {known[number] for number in shown}.union(*(candidates.get(end, ()) for end in ("url_a", "url_b")))
        ),
        checks=checks_of(run, first),
    )


def _titles(run: RunTables, urls: set[str]) -> dict[str, str]:
    """Return the titles of pages by their addresses."""
    of_pages = run.pages.loc[run.pages["url"].isin(urls), ["url", "title"]].fillna("")
    return dict(zip(of_pages["url"], of_pages["title"], strict=True))


def _of_same_languages(others: pd.DataFrame, ends: Sequence[tuple[int, int]], outcomes: Outcomes) -> pd.DataFrame:
    """Return the candidates in the two languages of a candidate: those of a third language are no rivals of it."""
    if others.empty or not ends:
        return others
    langs = [outcomes.langs(*pair) for pair in zip(others["page_a"], others["page_b"], strict=True)]
    return others[[pair == outcomes.langs(*ends[0]) for pair in langs]]


def _chosen(run: RunTables, numbers: set[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidate that an explanation is about (a row, or none), and the others of its pages, best first.

    It is the requested pair; for a single page its pair, or else its best candidate.
    """
    table = run.candidates
    own = _best_first(run, table[either(table, numbers)])
    if len(numbers) == 2:
        first = own[both(own, numbers)].head(1)
    else:
        paired = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
        is_pair = [ends in paired for ends in zip(own["page_a"], own["page_b"], strict=True)]
        first = own[is_pair].head(1) if any(is_pair) else own.head(1)
        numbers = {*first["page_a"], *first["page_b"], *numbers}
        own = _best_first(run, table[either(table, numbers)])
    return first, own.drop(first.index)


def _best_first(run: RunTables, candidates: pd.DataFrame) -> pd.DataFrame:
    """Return candidates by score; of equal scores, those that passed more filters first."""
    if run.checks.empty:
        return candidates.sort_values("score", ascending=False, kind="stable")
    ends = ["page_a", "page_b"]
    checks = run.checks[run.checks["page_a"].isin(candidates["page_a"])]
    n_checks = checks.groupby(ends).size().rename("n_checks")
    counted = candidates.join(n_checks, on=ends)
    return counted.sort_values(["score", "n_checks"], ascending=False, kind="stable").drop(columns="n_checks")


def _evidence(first: pd.DataFrame, others: pd.DataFrame, weights: dict[str, float]) -> pd.DataFrame:
    """Return the numbers of a candidate beside those of its best rival, the heaviest first."""
    if first.empty:
        return _no_evidence()
    values = first.iloc[0]
    rows = [
        (
            name,
            values[name],
            others.iloc[0][name] if len(others) else float("nan"),
            weights.get(name, 0.0),
            EVIDENCE_WORDS[name],
        )
        for name in (kind.name for kind in EVIDENCE_FIELDS)
        if not pd.isna(values[name])
    ]
    frame = pd.DataFrame(rows, columns=EVIDENCE_COLUMNS)
    return frame.sort_values("weight", ascending=False, kind="stable", ignore_index=True)


def _as_url(run: RunTables, text: str) -> str:
    """Return an address in its normal form; accept a path where all pages of the run are on one host."""
    from twinlink.urls import has_scheme, normalise, root_of

    if not has_scheme(text):
        roots = {root_of(url) for url in run.pages["url"]}
        if len(roots) > 1:
            hosts = ", ".join(sorted(roots)[:3])
            raise InputError(f"{text}: this run has pages of several hosts; give the full address ({hosts}, …)")
        text = f"{min(roots, default='')}/{text.lstrip('/')}"
    return normalise(text) or text


def _weights(weights: pd.DataFrame) -> dict[str, float]:
    """Return the weight of each kind of evidence, averaged over sites and languages, the largest first."""
    n_matches = len(weights[["site", "lang_a", "lang_b"]].drop_duplicates())
    mean = weights.groupby("evidence")["weight"].sum().sort_values(ascending=False, kind="stable") / max(n_matches, 1)
    return {str(kind): float(weight) for kind, weight in mean.items()}


def _weights_of(run: RunTables, number: int, langs: Collection[str] | None) -> pd.DataFrame:
    """Return the weights on a page's site, in two languages if they are given."""
    site = run.pages.loc[run.pages["page_id"] == number, "site"].iloc[0]
    weights: pd.DataFrame = run.weights[run.weights["site"] == site]
    return weights if langs is None else weights[weights["lang_a"].isin(langs) & weights["lang_b"].isin(langs)]


def _no_candidates() -> pd.DataFrame:
    return pd.DataFrame(columns=["url_a", "url_b", *NUMBERS, "filter", "pair"])


def _candidates(run: RunTables, shown: pd.DataFrame, known: dict[int, str]) -> pd.DataFrame:
    """Return candidates with addresses and whether each is a pair, best first."""
    shown = shown.sort_values("score", ascending=False, kind="stable", ignore_index=True)
    shown["filter"] = shown["filter"].fillna("") if shown["filter"].notna().any() else None
    shown["url_a"], shown["url_b"] = shown["page_a"].map(known), shown["page_b"].map(known)
    paired = set(zip(run.pairs["page_a"], run.pairs["page_b"], strict=True))
    shown["pair"] = ["yes" if ends in paired else "" for ends in zip(shown["page_a"], shown["page_b"], strict=True)]
    shown = shown[["url_a", "url_b", *NUMBERS, "filter", "pair"]]
    return shown if shown.empty else shown.dropna(axis="columns", how="all")
