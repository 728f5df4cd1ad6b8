"""Reading of the report's data from the tables of a run; large tables by column and part by part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.damage import read_json
from twinlink.errors import RunError
from twinlink.match.look_alikes import DOUBTFUL, PAIRED
from twinlink.review.charts.facing import facing
from twinlink.review.reading.columns import floats, read_parts, read_sites
from twinlink.review.report.data import Means, ScoreCounts, SiteGraph
from twinlink.run_files import CRAWL_REPORT, REJECTS_FILE
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.tables import (
    CANDIDATES,
    EVIDENCE_FIELDS,
    FILTERS,
    LANGUAGES,
    LINKS,
    LOOK_ALIKES,
    PAGES,
    PAIRS,
    PATTERNS,
    REJECTS,
    SEGMENT,
    SEGMENTS,
    WEIGHTS,
    columns_of,
    file_of,
    is_part,
    iter_batches,
    iter_parts,
    read_table,
    table_files,
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
    "site_graph",
    "site_graphs",
]

MAX_GRAPHS = 3
"""Sites whose link graph is shown: those with the most pairs."""
MAX_PATTERNS = 100
"""URL patterns shown: those with the most pages."""
N_BINS = 40
"""Bins of the scores, nine pixels each in a chart 360 pixels wide."""
_DIVIDER = re.compile(r"\s+[|·–—:-]+\s+|\s*[|｜]\s*")  # between the parts of a title


def count_pages(run: RunDirectory) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Return the pages of each site (columns site, n_pages), and the times of fetching (seconds, sorted)."""
    rows, times = [], []
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        table = read_table(part, PAGES, ("site", "fetched"))
        if table.num_rows:
            rows.append((table["site"][0].as_py(), table.num_rows))
            times.append(table["fetched"].drop_null().cast(pa.int64()).to_numpy())
    fetched = np.sort(np.concatenate(times)) if times else np.zeros(0, np.int64)
    return _table(rows, site=pa.string(), n_pages=pa.int64()), fetched


def _table(rows: Sequence[tuple[Any, ...]], **columns: pa.DataType) -> pa.Table:
    """Return rows as a table."""
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    return pa.table([pa.array(each, kind) for each, kind in zip(values, columns.values(), strict=True)], list(columns))


def count_languages(run: RunDirectory, pairs: pa.Table) -> pa.Table:
    """Return the pages in each language, the most frequent first, and those in a pair: columns lang, n_pages, n_paired.

    The language is that of the page; the pairs of a site may have another script variant of it. The table is empty if
    the run is not matched.
    """
    columns = ("page_id", "lang")
    table = columns_of(LANGUAGES, columns).empty_table()
    if run.read_signature("match") is not None:
        table = read_sites(run.stage_folder("match") / "languages", LANGUAGES, columns)
    paired = pa.chunked_array([*pairs["page_a"].chunks, *pairs["page_b"].chunks], pa.int64())
    table = table.append_column("is_paired", pc.is_in(table["page_id"], paired).cast(pa.int64()))
    found = table.group_by("lang").aggregate([([], "count_all"), ("is_paired", "sum")])
    counts = found.select(["lang", "count_all", "is_paired_sum"]).rename_columns(["lang", "n_pages", "n_paired"])
    return counts.sort_by([("n_pages", "descending"), ("lang", "ascending")])


def candidate_sums(run: RunDirectory, pairs: pa.Table) -> tuple[ScoreCounts | None, dict[str, Means], int]:
    """Return the scores and the mean evidence of pairs and of other candidates, and the number of candidates.

    All pairs are candidates, so the sums of the others are the sums of all candidates minus those of the pairs. The
    candidates are read once, part by part.
    """
    parts = list(table_files(run.stage_folder("match") / "candidates"))
    names = [field.name for field in EVIDENCE_FIELDS]
    edges = _score_edges(parts)
    counts, sums = np.zeros(N_BINS, np.int64), {name: np.zeros(2) for name in names}
    n_candidates = 0
    for part in parts:
        for batch in iter_batches(part, columns_of(CANDIDATES, ["score", *names]), 1 << 18):
            n_candidates += batch.num_rows
            counts += np.histogram(_floats(batch["score"]), edges)[0]
            for name in names:
                sums[name] += _sum_and_count(batch[name])
    of_pairs = np.histogram(floats(pairs["score"]), edges)[0]
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


def _means(sums: dict[str, npt.NDArray[np.float64]], pairs: pa.Table) -> dict[str, Means]:
    """Return the mean of each kind of evidence over pairs and over other candidates."""
    means = {}
    for name, (total, n) in sums.items():
        known = floats(pairs[name].drop_null())
        n_others = n - len(known)
        if n:
            others = (total - float(known.sum())) / n_others if n_others > 0 else np.nan
            means[name] = Means(float(known.mean()) if len(known) else np.nan, others)
    return means


def read_weights(run: RunDirectory) -> pa.Table:
    """Return the table of weights."""
    return read_sites(run.stage_folder("match") / "weights", WEIGHTS)


def read_filters(run: RunDirectory) -> pa.Table:
    """Return how many candidates each filter rejected on all sites: columns filter, n_pairs, in order of use."""
    table = read_sites(run.stage_folder("match") / "filters", FILTERS, ("filter", "n_pairs"))
    found = table.group_by("filter", use_threads=False).aggregate([("n_pairs", "sum")])
    return found.select(["filter", "n_pairs_sum"]).rename_columns(["filter", "n_pairs"])


def count_look_alikes(run: RunDirectory, pairs: pa.Table) -> pa.Table:
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
    found = found.select([*names, *(f"{name}_first" for name in whole), "is_doubtful_sum"])
    found = found.rename_columns([*names, *whole, "n_doubtful"]).sort_by([(name, "ascending") for name in names])
    partners = pa.array(_partners(pairs, found["page_id"], found["facing_lang"]), pa.string())
    return found.append_column("partner", partners).drop_columns("page_id")


def _partners(pairs: pa.Table, pages: pa.ChunkedArray, langs: pa.ChunkedArray) -> list[str]:
    """Return the address of the partner of each page in a language; empty: it has none."""
    found: dict[tuple[int, str], str] = {}
    for one, other in (("a", "b"), ("b", "a")):
        chosen = pairs.filter(pc.is_in(pairs[f"page_{one}"], pages))
        columns = (chosen[name].to_pylist() for name in (f"page_{one}", f"lang_{other}", f"url_{other}"))
        found |= {(page, lang): url for page, lang, url in zip(*columns, strict=True)}
    return [found.get(each, "") for each in zip(pages.to_pylist(), langs.to_pylist(), strict=True)]


def read_patterns(run: RunDirectory) -> tuple[pa.Table, dict[str, int]]:
    """Return the patterns with the most pages, usable ones first, and the number of patterns per verdict."""
    if run.read_signature("patterns") is None:
        return PATTERNS.empty_table(), {}
    table = read_table(run.path / "patterns" / "patterns", PATTERNS)
    found = Counter(table["verdict"].to_pylist())
    verdicts = {name: found[name] for name in ("credible", "rescued", "weak") if name in found}
    table = table.append_column("is_weak", pc.equal(table["verdict"], "weak").cast(pa.int8()))
    order = table.sort_by([("is_weak", "ascending"), ("n_pages", "descending")])
    return order.slice(0, MAX_PATTERNS).drop_columns("is_weak"), verdicts


def count_rejects(run: RunDirectory) -> pa.Table:
    """Return the rejects by stage and reason, the most frequent first: columns stage, reason, n, url."""
    stages = [stage for stage in ("ingest", "match") if run.read_signature(stage) is not None]
    tables = [read_table(run.path / stage / REJECTS_FILE, REJECTS, ("stage", "reason", "url")) for stage in stages]
    grouped = pa.concat_tables(tables).group_by(["stage", "reason"], use_threads=False)
    found = grouped.aggregate([("url", "count"), ("url", "first")])
    found = found.select(["stage", "reason", "url_count", "url_first"]).rename_columns(["stage", "reason", "n", "url"])
    return found.sort_by([("n", "descending"), ("stage", "ascending"), ("reason", "ascending")])


def count_sentences(run: RunDirectory) -> pa.Table:
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
    text, number = pa.string(), pa.int64()
    return _table(rows, site=text, lang_a=text, lang_b=text, n=number, n_known=number, chance=pa.float64())


def read_crawl(run: RunDirectory) -> dict[str, Any]:
    """Return the report of the crawl; empty without a crawl."""
    try:
        return read_json(run.path / CRAWL_REPORT, dict[str, Any])
    except RunError:
        return {}


def read_titles(run: RunDirectory, sites: pa.ChunkedArray, pages: pa.ChunkedArray) -> dict[int, str]:
    """Return the titles of pages of some sites by page_id."""
    folder = run.stage_folder("ingest") / "pages"
    files = {file_of(site_file(folder, site)): None for site in sites.unique().to_pylist()}
    table = read_parts(list(files), PAGES, ("page_id", "title"))
    chosen = table.filter(pc.is_in(table["page_id"], pages))
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


def site_graphs(run: RunDirectory, pairs: pa.Table) -> list[SiteGraph]:
    """Return the link graphs of the sites with the most pairs, each in the two languages with the most pairs."""
    sites = [site for site, _ in Counter(pairs["site"].to_pylist()).most_common(MAX_GRAPHS)]
    return [graph for site in sites if (graph := _graph(run, site, pairs.filter(pc.equal(pairs["site"], site))))]


def site_graph(run: RunDirectory, site: str) -> SiteGraph | None:
    """Return the link graph of a site in the two languages with the most pairs; None: no links between paired pages."""
    path = site_file(run.stage_folder("match") / "pairs", site)
    return _graph(run, site, read_table(path, PAIRS)) if is_part(path) else None


def _graph(run: RunDirectory, site: str, pairs: pa.Table) -> SiteGraph | None:
    if not len(pairs):
        return None
    langs, chosen = _most_frequent(pairs)
    links = read_table(site_file(run.stage_folder("ingest") / "links", site), LINKS, ("source", "target"))
    links = links.filter(links["target"].is_valid())
    ends = (links[name].to_numpy() for name in ("source", "target"))
    found = facing(chosen["page_a"].to_numpy(), chosen["page_b"].to_numpy(), *ends)
    if not len(found.links_a) + len(found.links_b):
        return None
    shown = chosen.take(found.rows)
    titles = read_titles(run, shown["site"], pa.chunked_array([*shown["page_a"].chunks, *shown["page_b"].chunks]))
    titles_a, titles_b = (_names(shown, side, titles) for side in "ab")
    pages = list(zip(shown["page_a"].to_pylist(), shown["page_b"].to_pylist(), strict=True))
    return SiteGraph(site, langs, found, titles_a, titles_b, pages)


def _most_frequent(pairs: pa.Table) -> tuple[tuple[str, str], pa.Table]:
    """Return the two languages of most pairs, and their pairs by address, no page twice."""
    found = Counter(zip(pairs["lang_a"].to_pylist(), pairs["lang_b"].to_pylist(), strict=True))
    langs = min(found, key=lambda each: (-found[each], each))
    pairs = pairs.filter(pc.and_(pc.equal(pairs["lang_a"], langs[0]), pc.equal(pairs["lang_b"], langs[1])))
    for name in ("page_a", "page_b"):
        pairs = pairs.take(np.sort(np.unique(pairs[name].to_numpy(), return_index=True)[1]))
    return langs, pairs.sort_by([("url_a", "ascending")])


def _names(shown: pa.Table, side: str, titles: Mapping[int, str]) -> list[str]:
    """Return names of pages: their titles, or their addresses without the host."""
    pages = shown[f"page_{side}"].to_pylist()
    addresses = pc.replace_substring_regex(shown[f"url_{side}"], "^https?://[^/]*", "").to_pylist()
    return _without_frame([titles.get(page) or where for page, where in zip(pages, addresses, strict=True)])


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
