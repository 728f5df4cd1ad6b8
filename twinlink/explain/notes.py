"""Notes of explanations: canonical addresses and groups of near-duplicates of pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from twinlink.frames import own_and_canonical

if TYPE_CHECKING:
    from twinlink.run_tables import RunTables

__all__ = ["notes_on"]


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
