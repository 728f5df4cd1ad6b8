"""Outcomes of pages and pairs in words, their checks, and notes on pages, from the tables of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

from twinlink.config import MatchSettings
from twinlink.errors import InputError
from twinlink.frames import own_and_canonical
from twinlink.languages import includes_language
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.filter_checks import MEANINGS, verdict_of
from twinlink.wording import reason_words

if TYPE_CHECKING:
    from twinlink.run_tables import RunTables

_BY_ADDRESS = {
    "bitextor2010": "the URL rule does not join their addresses",
    "jangeldin": "neither hreflang nor the URL rule joins them",
    "urls": "no URL pattern joins their addresses",
}
"""Reasons why two pages are not candidates, in methods that choose them by address."""
WITHOUT_PROBABILITIES = frozenset((*_BY_ADDRESS, "webmining"))
"""Methods that give no probabilities."""
_NOT_MATCHED = frozenset(("no-language", "two-languages", "other-language", "only-language", "placeholder"))
"""Reasons of pages that were compared with none."""
_SAID_BY_REASON = frozenset(("two-languages", "only-language", "no-candidate", "no-partner-left"))
"""Reasons whose details repeat their descriptions."""
CHECK_COLUMNS = ["check", "value", "relation", "bound", "passed", "meaning"]


def both(table: pd.DataFrame, numbers: set[int]) -> pd.Series[bool]:
    """Mark the rows whose two pages are these."""
    return table["page_a"].isin(numbers) & table["page_b"].isin(numbers)


def either(table: pd.DataFrame, numbers: set[int]) -> pd.Series[bool]:
    """Mark the rows that have one of these pages."""
    return table["page_a"].isin(numbers) | table["page_b"].isin(numbers)


class Outcomes:
    """Outcomes of the pages of a matched run.

    Parameters
    ----------
    run : RunTables
        With stage `match` done.
    """

    def __init__(self, run: RunTables) -> None:
        self._run = run
        signature = RunDirectory(run.path).read_signature("match")
        settings = signature.settings if signature else {}
        self._wanted: list[str] = list(settings.get("langs", ()))
        self._method = msgspec.convert(settings.get("match", {}), MatchSettings)
        pages = run.pages
        self._url = dict(zip(pages["page_id"], pages["url"], strict=True))
        self._lang = dict(zip(pages["page_id"], pages["lang"], strict=True))
        self._site = dict(zip(pages["page_id"], pages["site"], strict=True))
        self._matched = frozenset((*run.pairs["lang_a"], *run.pairs["lang_b"]))

    def of_page(self, number: int) -> str:
        """Return the outcome of a kept page."""
        pairs = self._run.pairs
        partner = pairs[either(pairs, {number})]
        if len(partner):
            return "; ".join(
                f"paired: {row.url_a} ↔ {row.url_b}, {self._chance(row)}, best rival {row.rival:.3f}"
                for row in partner.itertuples()
            )
        return f"no pair; {self._why_unpaired(number)}"

    def of_address(self, url: str) -> str:
        """Return why an address is not a kept page.

        Raises
        ------
        InputError
            If the run neither kept nor rejected it.
        """
        why = self.why_dropped(url)
        if not why:
            pages = self._run.path / "ingest" / "pages"
            raise InputError(f"{url}: no such page in this run; its pages are in {pages}")
        return why

    def why_dropped(self, url: str) -> str:
        """Return why an address was dropped; empty if it was not."""
        rejects = self._run.rejects
        return _as_text(rejects[rejects["url"] == url])

    def of_pair(self, number_a: int, number_b: int) -> str:
        """Return why two kept pages are a pair, or not."""
        pairs, numbers = self._run.pairs, {number_a, number_b}
        found = pairs[both(pairs, numbers)]
        if len(found):
            row: Any = next(found.itertuples())
            return f"a pair: {self._chance(row)}, score {row.score:.4f}, best rival {row.rival:.4f}"
        parts = [self._why_not(number_a, number_b), self._label(number_a, number_b)]
        if self._site[number_a] == self._site[number_b]:
            parts += [f"{row.url_a} ↔ {row.url_b} was chosen instead" for row in self._instead(number_a, number_b)]
        unpaired = (number for number in sorted(numbers) if not either(pairs, {number}).any())
        parts += [f"{self._url[number]}: {self._why_unpaired(number)}" for number in unpaired]
        return "not a pair: " + "; ".join(filter(None, parts))

    def langs(self, number_a: int, number_b: int) -> frozenset[str]:
        """Return the two languages that pages were matched in."""
        return frozenset((self._matched_as(number_a), self._matched_as(number_b)))

    def _matched_as(self, number: int) -> str:
        """Return in which language a page was matched: few pages of a script variant stand with the other variant."""
        lang = str(self._lang[number])
        if lang in self._matched:
            return lang
        base = lang.partition("-")[0]
        return next((name for name in sorted(self._matched) if name.partition("-")[0] == base), lang)

    def _why_not(self, number_a: int, number_b: int) -> str:
        """Return why two pages are not a pair; empty if the tables give no reason."""
        sites, langs = ([table[number] for number in (number_a, number_b)] for table in (self._site, self._lang))
        if sites[0] != sites[1]:
            return f"they are of different sites ({sites[0]}, {sites[1]}), and each site is matched separately"
        if any(set(self._rejects_of(number)["reason"]) & _NOT_MATCHED for number in (number_a, number_b)):
            return ""
        tags = [next((tag for tag in self._wanted if includes_language(tag, lang)), lang) for lang in langs]
        if tags[0] == tags[1]:
            return f"both pages are in the same language ({tags[0]})"
        candidates = self._run.candidates
        looked_at = candidates[both(candidates, {number_a, number_b})]
        if looked_at.empty:
            return self._why_no_candidate(number_a, number_b)
        row = looked_at.iloc[0]
        if pd.isna(row["filter"]):
            return f"it was a candidate, of score {row['score']:.4f}"
        return f"it was a candidate, which the filter {row['filter']} rejected"

    def _why_no_candidate(self, number_a: int, number_b: int) -> str:
        by_address = self._method.method != "bitextor2010" or self._method.bitextor.use_urls
        if by_address and self._method.method in _BY_ADDRESS:
            return f"it was not a candidate: {_BY_ADDRESS[self._method.method]}"
        candidates = self._run.candidates
        counts = [int(either(candidates, {number}).sum()) for number in (number_a, number_b)]
        return f"it was not a candidate; the two pages had {counts[0]} and {counts[1]} others"

    def _instead(self, number_a: int, number_b: int) -> list[Any]:
        """Return the pairs of the two pages that are in the same two languages."""
        pairs, langs = self._run.pairs, self.langs(number_a, number_b)
        rows = pairs[either(pairs, {number_a, number_b})].itertuples()
        return [row for row in rows if {row.lang_a, row.lang_b} == langs]

    def _why_unpaired(self, number: int) -> str:
        """Return why a kept page is in no pair."""
        return _as_text(self._rejects_of(number))

    def _rejects_of(self, number: int) -> pd.DataFrame:
        rejects = self._run.rejects
        of_page: pd.DataFrame = rejects[(rejects["url"] == self._url[number]) & (rejects["stage"] == "match")]
        return of_page

    def _label(self, number_a: int, number_b: int) -> str:
        """Return the label of two pages as a sentence if the match used labels; else empty."""
        if not self._method.labels:
            return ""
        labels, urls = self._run.labels, [self._url[number_a], self._url[number_b]]
        of_both = labels[labels["url_a"].isin(urls) & labels["url_b"].isin(urls)]
        return "a label rejects it" if (of_both["verdict"] == "reject").any() else ""

    def _chance(self, pair: Any) -> str:
        if not pd.isna(pair.probability):
            return f"probability {pair.probability:.3f}"
        why = "the method gives none" if self._method.method in WITHOUT_PROBABILITIES else "a label made it a pair"
        return f"no probability ({why})"


def _as_text(rejects: pd.DataFrame) -> str:
    return "; ".join(_reject_text(str(row.stage), str(row.reason), str(row.detail)) for row in rejects.itertuples())


def _reject_text(stage: str, reason: str, detail: str) -> str:
    """Return a reject with the description that report and review give of its reason.

    >>> _reject_text("crawl", "http-404", "")
    'rejected in crawl: http-404, the server answered 404'
    >>> _reject_text("ingest", "redirect", "https://a.org/")
    'rejected in ingest: redirect, redirects to another address, which is used if the run has it (https://a.org/)'
    """
    words = reason_words(reason)
    is_said = reason in _SAID_BY_REASON or reason.startswith("filter-")
    return (
        f"rejected in {stage}: {reason}"
        + (f", {words}" if words else "")
        + (f" ({detail})" if detail and not is_said else "")
    )


def no_checks() -> pd.DataFrame:
    """Return the checks of a method that compares nothing with bounds."""
    return pd.DataFrame(columns=CHECK_COLUMNS)


def checks_of(run: RunTables, first: pd.DataFrame) -> pd.DataFrame:
    """Return the checks of a candidate (a row, or none), in their order, each with its meaning."""
    if first.empty or run.checks.empty:
        return no_checks()
    own = run.checks[both(run.checks, {*first["page_a"], *first["page_b"]})].reset_index(drop=True)
    own["relation"] = own["relation"].fillna("")
    own["meaning"] = own["check"].map(MEANINGS)
    return own[CHECK_COLUMNS]


def check_lines(checks: pd.DataFrame) -> Iterator[str]:
    """Yield the checks of a candidate as lines of text, aligned."""
    rows = checks.to_dict("records")
    width = max((len(row["check"]) for row in rows), default=0)
    yield f"{'':{width}}       value          bound"
    for row in rows:
        bound = "" if pd.isna(row["bound"]) else f"{row['bound']:.4f}"
        value = "–" if pd.isna(row["value"]) else f"{row['value']:.4f}"
        verdict = verdict_of(row["relation"], row["value"], row["passed"])
        yield f"{row['check']:{width}}  {value:>10}  {row['relation']:2} {bound:>10}  {verdict:6}  {row['meaning']}"


def notes_on(run: RunTables, numbers: Sequence[int], langs: Collection[str], rivals: pd.DataFrame) -> list[str]:
    """Return notes on pages, in sentences.

    Parameters
    ----------
    run : RunTables
        With stage `match` done.
    numbers : sequence of int
        The pages, each once.
    langs : collection of str
        Languages that they were matched in as a pair; empty: any.
    rivals : DataFrame
        Candidates of the pages, columns of `CANDIDATES`, the best first; the pair is not among them.
    """
    pages = dict(zip(run.pages["page_id"], own_and_canonical(run.pages), strict=True))
    of_pages = ((number, *pages[number]) for number in numbers)
    notes = [f"{url} names {canonical} as its canonical address" for _, url, canonical in of_pages if canonical]
    table = run.look_alikes
    for number in numbers:
        of_page = table[(table["page_id"] == number) & (table["facing_lang"].isin(langs) | (not langs))]
        notes += ["; ".join(_of_group(group, number, rivals, pages)) for group in of_page.itertuples()]
    return notes


def _of_group(group: Any, number: int, rivals: pd.DataFrame, pages: dict[int, tuple[str, str | None]]) -> Iterator[str]:
    """Yield the parts of the sentence on a page's group of near-duplicates."""
    have = "1 has" if group.n_paired == 1 else f"{group.n_paired} have"
    group_of = f"one of {group.n_pages} near-duplicates in {group.lang}"
    yield f"{group.url} is {group_of}, of which {have} a partner in {group.facing_lang}"
    if not pd.isna(group.n_facing):
        yield f"they face a group of {group.n_facing}"
    for own, other in (("page_a", "page_b"), ("page_b", "page_a")):
        best = rivals[rivals[own] == number].head(1)
        if len(best):
            yield f"best rival of its partner: {pages[best[other].iloc[0]][0]}, score {best['score'].iloc[0]:.4f}"
            return
