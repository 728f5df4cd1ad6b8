"""Reading of the report's data from the tables of a run; large tables by column and part by part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.damage import read_json
from twinlink.errors import RunError
from twinlink.match.look_alikes import DOUBTFUL, PAIRED
from twinlink.review.charts.facing import facing
from twinlink.review.reading.columns import read_parts, read_sites
from twinlink.review.report.data import ScoreCounts, SiteGraph
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.spiders.crawling import REPORT_NAME
from twinlink.tables import (
    CANDIDATES,
    EVIDENCE,
    FILTERS,
    LANGUAGES,
    LINKS,
    LOOK_ALIKES,
    PAGES,
    PATTERNS,
    REJECTS,
    SEGMENT,
    SEGMENTS,
    WEIGHTS,
    columns_of,
    iter_batches,
    iter_parts,
    read_table,
    table_metadata,
)

__all__ = [
    "candidate_sums",
    "count_languages",
    "count_look_alikes",
    "count_pages",
    "count_rejects",
    "count_sentences",
    "read_crawl",
    "read_example_titles",
    "read_filters",
    "read_patterns",
    "read_titles",
    "read_weights",
    "site_graphs",
]

MAX_GRAPHS = 3
"""Sites whose link graph is shown: those with the most pairs."""
MAX_PATTERNS = 100
"""URL patterns shown: those with the most pages."""
N_BINS = 40
"""Bins of the scores, nine pixels each in a chart 360 pixels wide."""
_DIVIDER = re.compile(r"\s+[|·–—:-]+\s+|\s*[|｜]\s*")  # between the parts of a title


def count_pages(run: RunDirectory) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return the pages of each site (columns site, n_pages), and the times of fetching (seconds, sorted)."""
    rows, times = [], []
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        table = read_table(part, PAGES, ("site", "fetched"))
        if table.num_rows:
            rows.append((table["site"][0].as_py(), table.num_rows))
            times.append(table["fetched"].drop_null().cast(pa.int64()).to_numpy())
    fetched = np.sort(np.concatenate(times)) if times else np.zeros(0, np.int64)
    return pd.DataFrame(rows, columns=["site", "n_pages"]), fetched


def count_languages(run: RunDirectory, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pages in each language, the most frequent first, and those in a pair: columns lang, n_pages, n_paired.

    The language is that of the page; the pairs of a site may have another script variant of it.
    """
    table = read_sites(run.stage_folder("match") / "languages", LANGUAGES, ("page_id", "lang"))
    paired = pa.array(pd.concat([pairs["page_a"], pairs["page_b"]]).unique(), pa.int64())
    table = table.append_column("is_paired", pc.is_in(table["page_id"], paired).cast(pa.int64()))
    found = table.group_by("lang").aggregate([([], "count_all"), ("is_paired", "sum")])
    counts: pd.DataFrame = found.select(["lang", "count_all", "is_paired_sum"]).to_pandas()
    counts = counts.set_axis(["lang", "n_pages", "n_paired"], axis=1)
    return counts.sort_values(["n_pages", "lang"], ascending=[False, True], ignore_index=True)


def candidate_sums(run: RunDirectory, pairs: pd.DataFrame) -> tuple[ScoreCounts | None, pd.DataFrame, int]:
    """Return the scores and the mean evidence of pairs and of other candidates, and the number of candidates.

    All pairs are candidates, so the sums of the others are the sums of all candidates minus those of the pairs. The
    candidates are read once, part by part.
    """
    parts = list(iter_parts(run.stage_folder("match") / "candidates"))
    names = [field.name for field in EVIDENCE]
    edges = _score_edges(parts)
    counts, sums = np.zeros(N_BINS, np.int64), {name: np.zeros(2) for name in names}
    n_candidates = 0
    for part in parts:
        for batch in iter_batches(part, columns_of(CANDIDATES, ["score", *names]), 1 << 18):
            n_candidates += batch.num_rows
            counts += np.histogram(_floats(batch["score"]), edges)[0]
            for name in names:
                sums[name] += _sum_and_count(batch[name])
    of_pairs = np.histogram(pairs["score"], edges)[0]
    scores = ScoreCounts(edges, of_pairs, np.maximum(counts - of_pairs, 0)) if n_candidates else None
    return scores, _means(sums, pairs), n_candidates


def _score_edges(parts: Sequence[Path]) -> npt.NDArray[np.float64]:
    """Return the bins of scores: from 0 to 1, or the range of the method's scores, by the statistics of the files."""
    low, high = 0.0, 1.0
    place = CANDIDATES.names.index("score")
    for part in parts:
        metadata = table_metadata(part)
        for group in range(metadata.num_row_groups):
            statistics = metadata.row_group(group).column(place).statistics
            if statistics is not None and statistics.has_min_max:
                low, high = min(low, statistics.min), max(high, statistics.max)
    return np.linspace(low, high, N_BINS + 1)


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
    return found


def _sum_and_count(values: pa.Array) -> tuple[float, int]:
    n_known = len(values) - values.null_count
    return (pc.sum(values).as_py(), n_known) if n_known else (0.0, 0)


def _means(sums: dict[str, npt.NDArray[np.float64]], pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each kind of evidence over pairs and over other candidates."""
    rows = {}
    for name, (total, n) in sums.items():
        known = pairs[name].dropna().astype(np.float64)
        n_others = n - len(known)
        if n:
            others = (total - float(known.sum())) / n_others if n_others > 0 else np.nan
            rows[name] = (float(known.mean()) if len(known) else np.nan, others)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["pairs", "others"])


def read_weights(run: RunDirectory) -> pd.DataFrame:
    """Return the table of weights."""
    frame: pd.DataFrame = read_sites(run.stage_folder("match") / "weights", WEIGHTS).to_pandas()
    return frame


def read_filters(run: RunDirectory) -> pd.DataFrame:
    """Return how many candidates each filter rejected on all sites: columns filter, n_pairs, in order of use."""
    table: pd.DataFrame = read_sites(run.stage_folder("match") / "filters", FILTERS).to_pandas()
    return table.groupby("filter", sort=False)["n_pairs"].sum().reset_index()


def count_look_alikes(run: RunDirectory, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the groups of near-duplicates, see `ReportData.look_alikes`; empty if the run is not matched."""
    is_matched = run.read_signature("match") is not None
    table = read_sites(run.path / "match" / "look_alikes", LOOK_ALIKES) if is_matched else LOOK_ALIKES.empty_table()
    is_paired = pc.equal(table["state"], PAIRED)
    table = pa.concat_tables([table.filter(is_paired), table.filter(pc.invert(is_paired))])  # the first is the example
    table = table.append_column("is_doubtful", pc.equal(table["state"], DOUBTFUL).cast(pa.int64()))
    table = table.set_column(table.column_names.index("n_facing"), "n_facing", pc.fill_null(table["n_facing"], 0))
    names = ["site", "lang", "facing_lang", "group"]
    whole = ["n_pages", "n_paired", "n_facing", "url", "page_id"]
    grouped = table.group_by(names, use_threads=False)
    found = grouped.aggregate([*((name, "first") for name in whole), ("is_doubtful", "sum")])
    frame: pd.DataFrame = found.select([*names, *(f"{name}_first" for name in whole), "is_doubtful_sum"]).to_pandas()
    frame = frame.set_axis([*names, *whole, "n_doubtful"], axis=1).sort_values(["site", *names[1:]], ignore_index=True)
    return frame.assign(partner=_partners(pairs, frame["page_id"], frame["facing_lang"])).drop(columns="page_id")


def _partners(pairs: pd.DataFrame, pages: pd.Series, langs: pd.Series) -> list[str]:
    """Return the address of the partner of each page in a language; empty: it has none."""
    wanted = set(pages)
    found: dict[tuple[int, str], str] = {}
    for one, other in (("a", "b"), ("b", "a")):
        chosen = pairs[pairs[f"page_{one}"].isin(wanted)]
        columns = (chosen[name].tolist() for name in (f"page_{one}", f"lang_{other}", f"url_{other}"))
        found |= {(page, lang): url for page, lang, url in zip(*columns, strict=True)}
    return [found.get(each, "") for each in zip(pages.tolist(), langs.tolist(), strict=True)]


def read_patterns(run: RunDirectory) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the patterns with the most pages, usable ones first, and the number of patterns per verdict."""
    if run.read_signature("patterns") is None:
        return PATTERNS.empty_table().to_pandas(), {}
    frame: pd.DataFrame = read_table(run.path / "patterns" / "patterns", PATTERNS).to_pandas()
    found = frame["verdict"].value_counts()
    verdicts = {name: int(found[name]) for name in ("credible", "rescued", "weak") if name in found}
    order = frame.assign(is_weak=frame["verdict"] == "weak").sort_values(
        ["is_weak", "n_pages"], ascending=[True, False], kind="stable"
    )
    return order.drop(columns="is_weak").head(MAX_PATTERNS), verdicts


def count_rejects(run: RunDirectory) -> pd.DataFrame:
    """Return the rejects by stage and reason, the most frequent first: columns stage, reason, n, url."""
    stages = [stage for stage in ("ingest", "match") if run.read_signature(stage) is not None]
    tables = [read_table(run.path / stage / "rejects.parquet", REJECTS, ("stage", "reason", "url")) for stage in stages]
    grouped = pa.concat_tables(tables).group_by(["stage", "reason"], use_threads=False)
    frame: pd.DataFrame = grouped.aggregate([("url", "count"), ("url", "first")]).to_pandas()
    frame = frame.rename(columns={"url_count": "n", "url_first": "url"})
    return frame.sort_values(["n", "stage", "reason"], ascending=[False, True, True], ignore_index=True)


def count_sentences(run: RunDirectory) -> pd.DataFrame:
    """Return the reported sentence pairs, by site and languages.

    Columns site, lang_a, lang_b, n, n_known (those with a chance), chance (the sum of their chances).
    """
    rows = []
    if run.read_signature("align") is not None:
        for part in iter_parts(run.path / "align" / "segments"):
            table = read_table(part, SEGMENTS, ("site", "lang_a", "lang_b", "chance", "verdict"))
            if table.num_rows:
                chances = table["chance"].filter(pc.equal(table["verdict"], SEGMENT))
                names = [table[name][0].as_py() for name in ("site", "lang_a", "lang_b")]
                rows.append((*names, len(chances), len(chances) - chances.null_count, pc.sum(chances).as_py() or 0.0))
    return pd.DataFrame(rows, columns=["site", "lang_a", "lang_b", "n", "n_known", "chance"])


def read_crawl(run: RunDirectory) -> dict[str, Any]:
    """Return the report of the crawl; empty without a crawl."""
    try:
        return read_json(run.path / REPORT_NAME, dict[str, Any])
    except RunError:
        return {}


def read_titles(run: RunDirectory, pages: pd.DataFrame) -> dict[int, str]:
    """Return the titles of pages (columns site, page) by page_id."""
    folder = run.stage_folder("ingest") / "pages"
    table = read_parts([site_file(folder, str(site)) for site in pages["site"].unique()], PAGES, ("page_id", "title"))
    chosen = table.filter(pc.is_in(table["page_id"], pa.array(pages["page"].unique(), pa.int64())))
    return dict(zip(chosen["page_id"].to_pylist(), chosen["title"].to_pylist(), strict=True))


def read_example_titles(run: RunDirectory, addresses: Iterable[str]) -> dict[str, str]:
    """Return the titles of pages by address; pages without a title, and addresses without a page, are left out."""
    wanted = pa.array(sorted(set(addresses)), pa.string())
    titles: dict[str, str] = {}
    for part in iter_parts(run.stage_folder("ingest") / "pages") if len(wanted) else ():
        table = read_table(part, PAGES, ("url", "title"))
        table = table.filter(pc.and_(pc.is_in(table["url"], wanted), pc.not_equal(table["title"], "")))
        titles |= zip(table["url"].to_pylist(), table["title"].to_pylist(), strict=True)
    return titles


def site_graphs(run: RunDirectory, pairs: pd.DataFrame) -> list[SiteGraph]:
    """Return the link graphs of the sites with the most pairs, each in the two languages with the most pairs."""
    graphs = []
    for site in pairs["site"].value_counts().index[:MAX_GRAPHS]:
        of_site = pairs[pairs["site"] == site]
        lang_a, lang_b = of_site.groupby(["lang_a", "lang_b"]).size().idxmax()
        chosen = of_site[(of_site["lang_a"] == lang_a) & (of_site["lang_b"] == lang_b)]
        chosen = chosen.drop_duplicates("page_a").drop_duplicates("page_b").sort_values("url_a", kind="stable")
        links = read_table(site_file(run.stage_folder("ingest") / "links", str(site)), LINKS, ("source", "target"))
        links = links.filter(links["target"].is_valid())
        ends = (links[name].to_numpy() for name in ("source", "target"))
        found = facing(chosen["page_a"].to_numpy(), chosen["page_b"].to_numpy(), *ends)
        shown = chosen.iloc[found.rows]
        if len(found.links_a) + len(found.links_b):
            titles = [_titles(run, shown, side) for side in "ab"]
            graphs.append(SiteGraph(str(site), (str(lang_a), str(lang_b)), found, *titles))
    return graphs


def _titles(run: RunDirectory, shown: pd.DataFrame, side: str) -> list[str]:
    """Return names of pages: their titles, or their addresses without the host."""
    wanted = shown[["site", f"page_{side}"]].set_axis(["site", "page"], axis=1)
    titles = read_titles(run, wanted)
    addresses = shown[f"url_{side}"].str.replace(r"^https?://[^/]*", "", regex=True)
    return _without_frame([titles.get(page) or where for page, where in zip(wanted["page"], addresses, strict=True)])


def _without_frame(titles: Sequence[str]) -> list[str]:
    """Return titles without the part with which many begin or end: the site's name, separated by a bar or a dash.

    >>> _without_frame(["Tax | City", "Roads | City", "Parks | City", "City"])
    ['Tax', 'Roads', 'Parks', 'City']
    """
    parts = [_DIVIDER.split(title) for title in titles]
    counts = Counter(name for each in parts for name in set(each))
    most = max(2, len(titles) // 5)
    kept = [[name for name in each if counts[name] <= most] for each in parts]
    return [" | ".join(some or each) for some, each in zip(kept, parts, strict=True)]
