"""Sections of the report on the results: figures, languages, sites, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup
from msgspec.structs import replace

from twinlink.evaluation.expected import expected_precision
from twinlink.labels.precision import Estimate
from twinlink.review.reading.columns import floats
from twinlink.review.reading.orders import REASONS, ordered, reasons
from twinlink.review.report.data import (
    Column,
    Figure,
    Measured,
    ReportData,
    Section,
    Table,
    known,
    known_text,
    records,
    total,
)
from twinlink.review.templating import count, percent
from twinlink.wording import DOUBTS, LABELS

__all__ = ["found_section", "interval_words", "languages_section", "pairs_section", "shown_pairs", "sites_section"]

MAX_PAIRS = 1000
"""Pairs shown at each end of the list."""
MAX_SITES = 300
MAX_LANGS = 100


def found_section(data: ReportData) -> Section:
    """Return the first section: a summary in a sentence and in figures."""
    n_pages, n_pairs = total(data.sites["n_pages"]), len(data.pairs)
    paired = _pages_in_pairs(data.pairs)
    figures = [Figure(count(n_pairs), _word(n_pairs, "pair of pages", "pairs of pages"))] if data.is_matched else []
    if n_pairs and _has_probabilities(data.pairs):
        n_known = n_pairs - data.pairs["probability"].null_count
        whose = "of them" if n_known == n_pairs else f"of the {count(n_known)} with a probability"
        figures.append(
            Figure(percent(_expected(data.pairs)), f"{whose} expected to be right{interval_words(data.pairs)}")
        )
    figures += [_measured_figure(each) for each in data.measured]
    if len(data.sentences):
        n_sentences = total(data.sentences["n"])
        figures.append(Figure(count(n_sentences), _word(n_sentences, "pair of sentences", "pairs of sentences")))
    shared = f", {percent(paired / n_pages, 0)} of them in a pair" if n_pairs else ""
    figures.append(Figure(count(n_pages), f"{_word(n_pages, 'page', 'pages')} read{shared}"))
    if len(data.sites) > 1:
        figures.append(Figure(count(len(data.sites)), "sites"))
    return Section("found", "What was found", "Found", [_summary(data, n_pages)], figures=figures)


def languages_section(data: ReportData) -> Section | None:
    """Return the pairs and pages by language; None: not known yet."""
    tables = [_pairs_by_languages(data)] if len(data.pairs) else []
    tables += [_pages_by_language(data)] if len(data.languages) else []
    return Section("languages", "Languages", "Languages", tables=tables) if tables else None


def _measured_figure(each: Measured) -> Figure:
    if not each.n:
        return Figure("–", f"right by {each.source}: no pair was judged")
    if not isinstance(each.precision, Estimate):
        return Figure(percent(each.precision), f"right by {each.source}")
    if not each.precision.is_narrow:
        return Figure("–", f"right by {each.source}: too few")
    low, high = each.precision.low, each.precision.high
    return Figure(f"{100 * low:.0f}–{percent(high, 0)}", f"right by {each.source} (95 % interval)")


def _summary(data: ReportData, n_pages: int) -> Markup:
    n_sites, n_pairs = len(data.sites), len(data.pairs)
    where = f"{count(n_pages)} {_word(n_pages, 'page', 'pages')} of {count(n_sites)} {_word(n_sites, 'site', 'sites')}"
    if not data.is_matched:
        return Markup(
            "twinlink read {}. They have not been matched yet: <code>twinlink match RUN</code> looks for pairs."
        ).format(where)
    if not n_pairs:
        return Markup(
            "twinlink read {} and found <b>no pairs</b>. The rejects and their reasons are listed below. Common"
            " causes: the wanted languages (<code>--langs</code>) are not those of the site, or the crawl did not reach"
            " the other language: <code>twinlink mine URL --add -o RUN</code> adds the address where it starts."
        ).format(where)
    text = Markup("twinlink read {} and found <b>{}</b> that are probably translations of each other.").format(
        where, f"{count(n_pairs)} {_word(n_pairs, 'pair of pages', 'pairs of pages')}"
    )
    if _has_probabilities(data.pairs):
        probabilities = data.pairs["probability"].drop_null()
        if n_pairs == 1:
            return text + Markup(" By its own estimate, it is right with a probability of {}.").format(
                percent(probabilities[0].as_py())
            )
        whose = "them" if len(probabilities) == n_pairs else f"the {count(len(probabilities))} with a probability"
        text += Markup(" By its own estimate, about {} of {} are right.").format(
            count(round(float(probabilities.to_numpy().sum()))), whose
        )
    return text


def _pages_by_language(data: ReportData) -> Table:
    rows = [
        (row.lang, int(row.n_pages), int(row.n_paired), row.n_paired / row.n_pages) for row in records(data.languages)
    ]
    columns = [
        Column("Language", "tight"),
        Column("Pages", "count"),
        Column("In a pair", "count"),
        Column("Share", "share"),
    ]
    return Table(_of("Pages by language", rows, MAX_LANGS), columns, rows[:MAX_LANGS], len(rows) > 12, is_small=True)


def _pairs_by_languages(data: ReportData) -> Table:
    rows = []
    grouped = data.pairs.group_by(["lang_a", "lang_b"], use_threads=False)
    for row in records(grouped.aggregate([([], "count_all"), ("probability", "mean"), ("site", "count_distinct")])):
        langs = (row.lang_a, row.lang_b)
        n_sentences, chance = _sentences(data.sentences, ("lang_a", "lang_b"), langs)
        n_sites = row.site_count_distinct if len(data.sites) > 1 else None
        rows.append((langs, row.count_all, row.probability_mean, n_sites, n_sentences, chance))
    rows.sort(key=lambda row: -row[1])
    columns = [
        Column("Languages", "langs"),
        Column("Pairs", "count"),
        Column("Pairs expected right", "share", "mean of the probabilities"),
        Column("Sites", "count"),
        Column("Sentences", "count", "pairs of sentences"),
        Column("Sentences expected right", "share", "mean chance of the sentence pairs"),
    ]
    caption = _of("Pairs by languages", rows, MAX_LANGS)
    return _without_blanks(Table(caption, columns, rows[:MAX_LANGS], len(rows) > 12, is_small=True))


def sites_section(data: ReportData) -> Section | None:
    """Return a table of the sites; None if there is only one."""
    if len(data.sites) < 2:
        return None
    table = _site_table(data)
    rows = [tuple(_site_row(data, row)) for row in records(table.slice(0, MAX_SITES))]
    columns = [
        Column("Site", "code"),
        Column("Pages", "count"),
        Column("Pairs", "count"),
        Column("Pages in a pair", "share"),
        Column("Expected right", "share", "mean of the probabilities"),
        Column("Pairs of sentences", "count"),
    ]
    with_pairs = len(table) - table["n_pairs"].null_count
    text = f"{count(with_pairs)} of {count(len(table))} sites have pairs." if data.is_matched else ""
    shown = Table(
        _of("Sites, those with the most pairs first", table, MAX_SITES), columns, rows, is_tall=len(rows) > 15
    )
    return Section("sites", "Site by site", "Sites", [text] if text else [], tables=[_without_blanks(shown)])


def _site_table(data: ReportData) -> pa.Table:
    """Return the sites, those with the most pairs first: columns site, n_pages, n_pairs, expected, paired."""
    sums = data.pairs.group_by("site").aggregate([([], "count_all"), ("probability", "mean")])
    sides = [data.pairs.select(["site", f"page_{side}"]).rename_columns(["site", "page"]) for side in "ab"]
    pages = pa.concat_tables(sides).group_by("site").aggregate([("page", "count_distinct")])
    table = data.sites.select(["site", "n_pages"])
    for name, found, column in (
        ("n_pairs", sums, "count_all"),
        ("expected", sums, "probability_mean"),
        ("paired", pages, "page_count_distinct"),
    ):
        places = pc.index_in(table["site"], found["site"].combine_chunks())
        table = table.append_column(name, found[column].combine_chunks().take(places.combine_chunks()))
    return table.sort_by([("n_pairs", "descending"), ("n_pages", "descending")])


def _site_row(data: ReportData, row: Any) -> Iterator[Any]:
    has_pairs = row.n_pairs is not None
    yield row.site
    yield int(row.n_pages)
    none = 0 if data.is_matched else None
    yield int(row.n_pairs) if has_pairs else none
    yield float(row.paired) / row.n_pages if has_pairs else none
    yield known(row.expected)
    yield _sentences(data.sentences, ("site",), (row.site,))[0]


def shown_pairs(pairs: pa.Table) -> list[npt.NDArray[np.intp]]:
    """Return the rows of the pairs to show: all, or the most doubtful and the most probable ones."""
    doubtful = ordered(pairs, {}, "doubt")
    if len(pairs) <= 2 * MAX_PAIRS:
        return [doubtful]
    return [doubtful[:MAX_PAIRS], ordered(pairs, {}, "probable")[:MAX_PAIRS]]


def pairs_section(data: ReportData) -> Section | None:
    """Return the tables of pairs; None: no pairs."""
    if not len(data.pairs):
        return None
    chosen, n_pairs = shown_pairs(data.pairs), len(data.pairs)
    whys = reasons(data.pairs)
    names = ["All pairs, the most doubtful first"]
    if len(chosen) > 1:
        names = ["The most doubtful pairs", "The most probable pairs"]
    text = Markup("{} in <code>pairs.tsv</code>. {}").format(
        _word(n_pairs, "It is", f"The most doubtful pairs come first. All {count(n_pairs)} are"), _way_to_review(data)
    )
    tables = [
        _pair_table(data, rows, whys, f"{name}: {count(len(rows))} of {count(n_pairs)}")
        for name, rows in zip(names, chosen, strict=True)
    ]
    tables[1:] = [replace(table, folded=names[1]) for table in tables[1:]]  # a browser lays it out when it is opened
    return Section("pairs", "The pairs", "Pairs", [text], tables=tables)


def _way_to_review(data: ReportData) -> Markup:
    if data.is_in_review:
        return Markup("“Judge” leads to the pair in this review.")
    return Markup(
        "<code>twinlink review RUN</code> shows the two pages of each side by side, and this report with links to them."
    )


def _pair_table(data: ReportData, rows: npt.NDArray[np.intp], whys: npt.NDArray[np.int8], caption: str) -> Table:
    columns = [
        Column("Probability", "share"),
        Column("First page", "page"),
        Column("Second page", "page"),
        Column("Review", "review"),
        Column("Score", "decimal"),
        Column("Best rival", "decimal", "best score of another pair with one of the two pages"),
        Column("Possible error", "words"),
        Column("Judged", "words"),
        Column("Site", "code"),
    ]
    pairs = data.pairs.take(rows)
    numbers_a, numbers_b = (pairs[name].to_pylist() for name in ("page_a", "page_b"))
    reviews = [f"/pair/{a}/{b}" if data.is_in_review else None for a, b in zip(numbers_a, numbers_b, strict=True)]
    values = (
        [known(value) for value in pairs["probability"].to_pylist()],
        *(_pages(data, pairs, side) for side in "ab"),
        reviews,
        *(pairs[name].to_pylist() for name in ("score", "rival")),
        [DOUBTS[REASONS[why]] or None for why in whys[rows].tolist()],
        [LABELS.get(label) for label in data.labels[rows].tolist()] if len(data.labels) else [None] * len(rows),
        pairs["site"].to_pylist() if len(data.sites) > 1 else [None] * len(rows),
    )
    lines = list(zip(*values, strict=True))
    return _without_blanks(Table(caption, columns, lines, is_tall=len(lines) > 15))


def _pages(data: ReportData, pairs: pa.Table, side: str) -> list[tuple[str, str, str, str]]:
    """Return the cells of the pages of one side of pairs."""
    names = (f"{name}_{side}" for name in ("url", "page", "lang", "canonical"))
    pages = zip(*(pairs[name].to_pylist() for name in names), strict=True)
    return [(url, data.titles.get(page, ""), lang, known_text(named)) for url, page, lang, named in pages]


def _without_blanks(table: Table) -> Table:
    """Return the table without the columns in which all values are unknown."""
    kept = [k for k in range(len(table.columns)) if any(row[k] is not None for row in table.rows)]
    rows = [tuple(row[k] for k in kept) for row in table.rows]
    return replace(table, columns=[table.columns[k] for k in kept], rows=rows)


def _sentences(sentences: pa.Table, names: Sequence[str], wanted: Sequence[Any]) -> tuple[int | None, float | None]:
    """Return the number of sentence pairs and their mean probability; None: sentences were not aligned."""
    if not len(sentences):
        return None, None
    for name, value in zip(names, wanted, strict=True):
        sentences = sentences.filter(pc.equal(sentences[name], value))
    n_known = total(sentences["n_known"])
    return total(sentences["n"]), pc.sum(sentences["chance"]).as_py() / n_known if n_known else None


def _pages_in_pairs(pairs: pa.Table) -> int:
    return len(np.unique(np.concatenate([pairs[name].to_numpy() for name in ("page_a", "page_b")])))


def _expected(pairs: pa.Table) -> Any:
    """Return the mean of the probabilities; None: there are none."""
    return known(pc.mean(pairs["probability"]).as_py())


def interval_words(pairs: pa.Table) -> str:
    """Return the interval of the expected precision in brackets; nothing where the method has none."""
    expected = expected_precision(floats(pairs["probability"]), floats(pairs["risk"]))
    if expected is None or expected.interval is None:
        return ""
    return f" (90 % interval: {percent(expected.interval[0])} to {percent(expected.interval[1])})"


def _has_probabilities(pairs: pa.Table) -> bool:
    return bool(pairs["probability"].null_count < len(pairs))


def _of(text: str, rows: Any, most: int) -> str:
    return f"{text}: {count(min(most, len(rows)))} of {count(len(rows))}" if len(rows) > most else text


def _word(n: int, one: str, several: str) -> str:
    return one if n == 1 else several
