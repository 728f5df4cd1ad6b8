"""Results as lines of text: one function per record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

from twinlink.cli.colours import Styled
from twinlink.cli.results.discovery import DiscoveryResult, RoundResult
from twinlink.cli.results.evaluation import (
    ComparisonResult,
    CurvePoint,
    DifferentPairs,
    Estimated,
    ExplanationResult,
    Interval,
    Scores,
    ScoresResult,
    VerdictsResult,
)
from twinlink.cli.results.export import ExportResult
from twinlink.cli.results.lexicons import LexiconsResult
from twinlink.cli.results.pages import CrawlResult, IngestResult, PairsResult
from twinlink.cli.results.record import Count
from twinlink.cli.results.review import DemoResult, LabelsResult, ReportResult, ReviewResult
from twinlink.cli.results.sentences import AlignedTexts, SentencesResult, TextPairsResult, TextsResult
from twinlink.cli.results.sites import GuessesResult, PatternsResult, RankResult, RecoveredResult, Rule, Site
from twinlink.language_names import meaning_lines


@singledispatch
def lines(result: Any) -> Iterator[str]:
    """Yield a result as lines of text.

    >>> list(lines(LexiconsResult({"/d/fra-eng.index": 8505}, {}, {"en-fi": ["dict-a"], "en-zh": []})))
    ['lexicon: /d/fra-eng.index (8,505 head words)',
     'lexicon: none is installed for en-fi; Debian package: dict-a',
     'lexicon: none is installed for en-zh, and no Debian package has one']
    """
    raise TypeError(f"no lines for {type(result).__name__}")


def _counted(count: int | None, name: str, rest: str) -> Styled:
    """Return a line that begins with a count of something.

    >>> _counted(1, "key", " → keys.tsv"), _counted(2, "key", " → keys.tsv")
    ('1 key → keys.tsv', '2 keys → keys.tsv')
    """
    return Styled((str(count), "bold"), f" {name}" if count == 1 else f" {name}s", rest)


def _counts(count: int, name: str) -> str:
    """Return a count of something within a line."""
    return str(_counted(count, name, ""))


def _table(rows: Sequence[Sequence[str]], n_numbers: int) -> Iterator[str]:
    """Yield rows as lines: the first columns are numbers and stand right.

    >>> list(_table([["pages", "pattern"], ["1", "/en/ ↔ /tc/"]], 1))
    ['pages  pattern', '    1  /en/ ↔ /tc/']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(n) if i < n_numbers else cell.ljust(n)
            for i, (cell, n) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


@lines.register(LexiconsResult)
def _(result: LexiconsResult) -> Iterator[str]:
    if result.used:
        yield "lexicon: " + ", ".join(f"{path} ({n:,} head words)" for path, n in result.used.items())
    for reason in result.unreadable.values():
        yield f"lexicon left out: {reason}"
    for langs, packages in result.missing.items():
        where = f"; Debian package: {' or '.join(packages)}" if packages else ", and no Debian package has one"
        yield f"lexicon: none is installed for {langs}{where}"


@lines.register(CrawlResult)
def _(result: CrawlResult) -> Iterator[str]:
    if result.n_sites > 1:
        for site in result.sites:
            ended = f", ended by {site.ended}" if site.ended else ""
            yield f"  {site.site}: {_counts(site.pages, 'page')}, {site.rejected} rejected, {site.queued} queued{ended}"
        if result.n_sites > len(result.sites):
            yield f"  … {result.n_sites} sites in total, see {result.report}"
        if result.n_without_pages:
            yield f"  without a page: {_counts(result.n_without_pages, 'site')}, see {result.report}"
    for reason, count in result.rejects.items():
        yield f"  rejected: {reason} {count}"
    if result.again:
        yield "asked again: " + ", ".join(f"{name} {count}" for name, count in result.again.items() if count)
    if result.later and result.end != "page-limit":
        yield f"addresses that wait for their servers: {result.later}; the same command asks for them again"
    if result.end == "page-limit":
        yield f"stopped at --max-pages; addresses still queued: {result.queued}"
    elif result.n_sites == 1 and result.sites and result.sites[0].ended:
        yield f"stopped at {result.sites[0].ended}; addresses still queued: {result.queued}"
    yield _counted(result.fetched, "page", f" fetched, {result.rejected} rejected → {result.archives}, {result.report}")


@lines.register(IngestResult)
def _(result: IngestResult) -> Iterator[str]:
    yield from _reject_lines(result.rejects)
    others = f"{_counts(result.n_links, 'link')}, {_counts(result.n_rejects, 'reject')}"
    yield _counted(result.n_pages, "page", f", {others} → {result.tables}")


@lines.register(PairsResult)
def _(result: PairsResult) -> Iterator[str]:
    langs = ", ".join(f"{lang} {count}" for lang, count in result.languages.items())
    yield _counted(result.n_pages, "page", f" ({langs})" if langs else "")
    if result.lexicons is not None:
        yield from lines(result.lexicons)
    yield from meaning_lines({tag: langs for tag, langs in result.meant.items() if langs or result.n_pairs})
    yield from _reject_lines(result.rejects)
    if result.filters:
        counts = {"passed all" if name == "kept" else name: count for name, count in result.filters.items()}
        yield "candidates by filter: " + ", ".join(f"{name} {count}" for name, count in counts.items())
    yield from (f"note: {note}" for note in result.notes)
    if result.why_none is not None:
        return
    claim: tuple[str | tuple[str, str], ...] = (
        f"no expected precision ({result.n_without_probability} have no probability)",
    )
    if result.expected_precision is not None:
        claim = "expected precision ", (f"{result.expected_precision:.3f}", "bold"), _interval(result.expected_interval)
    yield Styled(
        (str(result.n_pairs), "bold"), " pair, " if result.n_pairs == 1 else " pairs, ", *claim, f" → {result.pairs}"
    )
    if result.sentences is not None:
        yield from lines(result.sentences)
    if result.report is not None:
        yield f"report → {result.report}"


def _reject_lines(rejects: Iterable[Count]) -> Iterator[str]:
    return (f"  rejected in {drop.stage}: {drop.reason} {drop.count}" for drop in rejects)


def _interval(ends: tuple[float, float] | None) -> str:
    """Return an interval in brackets, or nothing.

    >>> _interval((0.55, 0.9901)), _interval(None)
    (' (0.550 to 0.990)', '')
    """
    return "" if ends is None else f" ({ends[0]:.3f} to {ends[1]:.3f})"


@lines.register(SentencesResult)
def _(result: SentencesResult) -> Iterator[str]:
    if result.lexicons is not None:
        yield from lines(result.lexicons)
    for row in result.by_languages:
        left_out = ", ".join(f"{reason} {count}" for reason, count in row.left_out.items())
        yield f"{row.langs}: {_counts(row.kept, 'sentence pair')}" + (f"; left out: {left_out}" if left_out else "")
        if row.without_chance:
            of = f" of {_counts(row.without_chance, 'sentence pair')}" if row.without_chance < row.kept else ""
            yield f"{row.langs}: chance not known{of}; the score is the probability of the alignment"
    if result.n_sentence_pairs:
        n_exported = sum(row.exported for row in result.by_languages)
        cut = f", {n_exported} of score {result.min_score:g} or more in the files" if result.min_score else ""
        yield _counted(result.n_sentence_pairs, "sentence pair", f"{cut} → {result.files}")


@lines.register(TextsResult)
@lines.register(AlignedTexts)
def _text_lines(result: TextsResult | AlignedTexts) -> Iterator[str]:
    for one, other in result.beads:
        yield f"{one}:{other}"
    for pair in result.pairs:
        yield f"{pair.a}\t{pair.b}\t{pair.probability:.4f}"


@lines.register(TextPairsResult)
def _(result: TextPairsResult) -> Iterator[str]:
    for texts in result.texts:
        yield from (f"{texts.a}\t{texts.b}\t{line}" for line in _text_lines(texts))


@lines.register(Scores)
def _scores(result: Scores) -> Iterator[str]:
    if result.precision is None:
        yield (
            f"pairs {result.predicted}, accepted {result.right}, rejected {result.wrong}, without a label"
            f" {result.not_scored}; accepted pairs that are not in the run {result.gold - result.right}"
        )
        return
    yield (
        f"gold {result.gold}, predicted {result.predicted}, right {result.right}, wrong {result.wrong}, "
        f"not scored {result.not_scored}"
    )
    if result.alike:
        yield (
            f"note: {result.alike} further pairs are not counted: they differ from these only in parts that"
            " the gold addresses lack (host or query)"
        )
    measures = (("precision ", result.precision), ("  recall ", result.recall), ("  F1 ", result.f1))
    yield Styled(*(part for name, value in measures for part in (name, (f"{value:.4f}", "bold"))))


@lines.register(Estimated)
def _(result: Estimated) -> Iterator[str]:
    from twinlink.evaluation.labelled import share_lines
    from twinlink.labels.precision import Share

    def share(interval: Interval | None) -> Share | None:
        return None if interval is None else Share(interval.value, interval.low, interval.high, interval.needed)

    precision = Share(result.precision, result.low, result.high, result.needed)
    yield from share_lines(precision, share(result.recall), share(result.f1))


@lines.register(ScoresResult)
def _(result: ScoresResult) -> Iterator[str]:
    yield from meaning_lines(result.meant)
    if result.not_in_run:
        missing = f"{len(result.not_in_run)} of {result.n_known} gold addresses"
        yield f"note: {missing} are not in the run, e.g. {result.not_in_run[0]}"
    yield from _scores(result)
    if result.estimated is not None:
        yield f"by labels of {result.estimated.labelled} of {result.estimated.pairs} pairs:"
        yield from lines(result.estimated)
    if result.matched_with_labels:
        yield "note: the pairs were matched with these labels; use labels of other pairs for an unbiased score"
    if result.curve is not None:
        yield from _curve_lines(result.curve_by or "", result.curve)


def _curve_lines(by: str, curve: Sequence[CurvePoint]) -> Iterator[str]:
    if all(point.recall is None for point in curve):
        yield f"{by:11}  precision  95 % interval" if curve else "curve: too few labels"
    else:
        yield f"{by:11}  precision  recall"
    for point in curve:
        of_recall = f"{point.low:6.4f} to {point.high:6.4f}" if point.recall is None else f"{point.recall:6.4f}"
        yield f"{point.cut:11.4f}  {point.precision:9.4f}  {of_recall}"


@lines.register(ExplanationResult)
def _(result: ExplanationResult) -> Iterator[str]:
    import pandas as pd

    from twinlink.explain.explanation import Explanation

    shown = None if result.shown is None else (result.shown[0], result.shown[1])
    candidates, evidence, checks = map(pd.DataFrame, (result.candidates, result.evidence, result.checks))
    explanation = Explanation(
        result.url, result.verdict, candidates, result.weights, result.state, shown, evidence, result.notes,
        result.titles, checks,
    )  # fmt: skip
    yield from str(explanation).splitlines()


@lines.register(VerdictsResult)
def _(result: VerdictsResult) -> Iterator[str]:
    for each_set in result.sets:
        one, other = each_set.langs
        first = "first page" if one == other else f"page in {one}"
        pairs = "1 pair" if each_set.size == 1 else f"{each_set.size} pairs"
        yield f"{pairs} {one}-{other}; L_d is above 0 where the {first} has the longer text"
    for each in result.methods:
        counts = ", ".join(f"{verdict} {count}" for verdict, count in each.counts.items())
        found = "".join(f", {name} {value:.4g}" for name, value in each.found.items())
        notes = f" ({', '.join(each.notes)})" if each.notes else ""
        yield f"{each.method:12}  {counts}{found}{notes}"
    for reason, count in result.not_judged.items():
        yield f"not judged: {reason} {count}"
    if result.methods:
        yield f"verdicts → {result.verdicts}"


@lines.register(ComparisonResult)
def _(result: ComparisonResult) -> Iterator[str]:
    yield f"first: {result.first}, {result.n_first} pairs; second: {result.second}, {result.n_second} pairs"
    yield from _different_lines("in both", result.both)
    if result.changed is not None:
        yield from _different_lines(
            f"of these, probability differs by {result.min_difference:g} or more", result.changed
        )
    yield from _different_lines("only in the first", result.only_first)
    yield from _different_lines("only in the second", result.only_second)
    for name, scores in zip(("first", "second"), result.scores, strict=False):
        yield Styled(
            f"{name}: precision {scores.precision:.4f}  recall {scores.recall:.4f}  F1 ", (f"{scores.f1:.4f}", "bold")
        )
    if result.table is not None:
        yield f"all pairs → {result.table}"


def _different_lines(what: str, found: DifferentPairs) -> Iterator[str]:
    judged = "" if found.right is None else f" ({found.right} right, {found.wrong} wrong)"
    yield Styled(f"{what}: ", (str(found.n), "bold"), judged)
    for pair in found.shown:
        ranks = [f"{rank:.2f}" for rank in (pair.in_first, pair.in_second) if rank is not None]
        right = {True: "right", False: "wrong", None: ""}[pair.right]
        said = ", ".join(filter(None, (" → ".join(ranks), right)))
        yield f"  {said}  {pair.url_a} ↔ {pair.url_b}"
        for url, other in ((pair.url_a, pair.other_a), (pair.url_b, pair.other_b)):
            if other is not None:
                yield f"      the other has {url} ↔ {other}"
    if 0 < len(found.shown) < found.n:
        yield f"  … {found.n - len(found.shown)} more"


@lines.register(ExportResult)
def _(result: ExportResult) -> Iterator[str]:
    for file in result.files:
        yield f"  {file.path}, {_size(file.n_bytes)}"
    if result.lost:
        yield f"note: {len(result.lost)} pages are in no archive any more, e.g. {result.lost[0]}"
    counts = ", ".join(f"{langs} {n}" for langs, n in result.by_languages.items())
    yield _counted(result.n_pairs, "page pair", f" ({counts}) → {result.folder}")


def _size(n_bytes: int) -> str:
    kilobytes = max(1, round(n_bytes / 1000))
    return f"{kilobytes} kB" if kilobytes < 10_000 else f"{round(kilobytes / 1000)} MB"


@lines.register(ReportResult)
def _(result: ReportResult) -> Iterator[str]:
    yield f"report, {_size(result.n_bytes)} → {result.report}"


@lines.register(ReviewResult)
def _(result: ReviewResult) -> Iterator[str]:
    yield f"review of {result.run}: {result.address} (Ctrl-C ends it)"


@lines.register(LabelsResult)
def _(result: LabelsResult) -> Iterator[str]:
    total = result.accepted + result.rejected
    if result.written == total:
        yield _counted(total, "label", f" ({result.accepted} accept, {result.rejected} reject) → {result.exported}")
        return
    left = f" → {result.exported}, a gold list, which has no place for {_counts(result.rejected, 'rejected pair')}"
    yield _counted(result.written, "accepted pair", left)


@lines.register(DemoResult)
def _(result: DemoResult) -> Iterator[str]:
    n_others = result.pairs.n_pages - result.calendar_pages
    yield (
        f"crawled: {n_others} of the {_counts(result.site_pages, 'page')} that the site was made with, and"
        f" {_counts(result.calendar_pages, 'page')} of its calendar"
    )
    yield from lines(result.pairs)
    yield (
        f"known truth: {_counts(result.scores.gold - result.gold_months, 'pair')} that the site was made with, and"
        f" {_counts(result.gold_months, 'month')} of the calendar that the crawl got in both languages → {result.gold}"
    )
    yield from lines(result.scores)


@lines.register(PatternsResult)
def _(result: PatternsResult) -> Iterator[str]:
    if result.rules:
        head = ["pages", "sites", "credibility", "pattern"]
        rows = (
            [str(rule.n_pages), str(rule.n_sites), _rounded(rule.credibility), _named(rule)] for rule in result.rules
        )
        yield from _table([head, *rows], 3)
    if result.n_rules > len(result.rules):
        yield f"… {result.n_rules} patterns in all"
    if result.n_crowded:
        yield (
            f"  {result.n_crowded} places in which more addresses differ than are compared (match.patterns.max_group):"
            " there, only keys found elsewhere were looked up"
        )
    counts = ", ".join(f"{verdict} {n}" for verdict, n in result.verdicts.items())
    found = f"{result.n_bilingual} of {_counts(result.n_sites, 'site')} with a pattern that counts"
    yield f"patterns: {counts}; {found} → {result.patterns}"
    if result.exported is not None:
        yield _counted(result.n_exported, "key", f" → {result.exported}")


def _named(rule: Rule) -> str:
    return f"{rule.rule} (rescued)" if rule.verdict == "rescued" else rule.rule


def _rounded(value: float) -> str:
    """Return a sum without digits that say nothing.

    >>> _rounded(1084.69), _rounded(8.82), _rounded(0.114)
    ('1,085', '8.8', '0.11')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


@lines.register(RankResult)
def _(result: RankResult) -> Iterator[str]:
    if result.best:
        digits = _digits([site.score for site in result.best])
        rows = ([str(site.rank), f"{site.score:.{digits}f}", site.site, _reasons(site)] for site in result.best)
        yield from _table([["rank", "score", "site", "main reasons"], *rows], 2)
    private = f", {result.n_not_public} under no public name" if result.n_not_public else ""
    yield (
        f"sites: {result.n_crawled} crawled, {result.n_candidates} candidates{private} → {result.sites};"
        f" weights → {result.weights}"
    )
    if result.exported is not None:
        yield f"graph of sites → {result.exported}"


def _reasons(site: Site) -> str:
    parts = zip(site.reasons.items(), site.words, strict=True)
    reasons = ", ".join(f"{name} {part:+.1f} ({words})" for (name, part), words in parts)
    return f"{reasons}; one of {site.n_equal} with this score" if site.n_equal > 1 else reasons


def _digits(scores: Sequence[float]) -> int:
    """Return the number of digits, 2 to 6, with which different scores look different.

    >>> _digits([0.5, 0.25]), _digits([0.991, 0.992, 0.992]), _digits([1 - 1e-9, 1 - 1e-10])
    (2, 3, 6)
    """
    different = set(scores)
    return next((n for n in range(2, 6) if len({f"{score:.{n}f}" for score in different}) == len(different)), 6)


@lines.register(GuessesResult)
def _(result: GuessesResult) -> Iterator[str]:
    for guess in result.addresses:
        yield f"{guess.url}\t{guess.rule}\t{guess.credibility:.4f}\t{guess.page}"


@lines.register(RecoveredResult)
def _(result: RecoveredResult) -> Iterator[str]:
    for rule, n in result.rules.items():
        yield f"  {rule}   {n} found"
    for name, counts in (("not taken", result.not_taken), ("not asked for", result.not_asked)):
        for outcome, n in counts.items():
            yield f"  {name}: {outcome} {n}"
    tried = "1 address" if result.n_tried == 1 else f"{result.n_tried} addresses"
    found = f"{_counts(result.n_found, 'page')} found"
    yield f"{tried} tried (and {result.n_made_up} made up), {found} → {result.tried}"


@lines.register(RoundResult)
def _(result: RoundResult) -> Iterator[str]:
    for each in result.failed:
        yield f"  {each.site}: {each.verdict} ({each.reason})"
    if result.n_failed > len(result.failed):
        yield f"  … {result.n_failed} sites in total gave no page, see {result.verdicts}"
    row = result.counts
    yield (
        f"round {row['round']}: {_counts(row['tried'], 'site')} tried, {row['added']} added, {row['one_language']} not"
        f" bilingual, {row['copies']} copies of other sites, {row['refused']} refused, {row['dead']} dead,"
        f" {row['unreadable']} unreadable;"
        f" {_counts(row['pairs'], 'pair')} on {row['with_pairs']} of its sites; so far"
        f" {_counts(row['sites'], 'site')}, {_counts(row['all_pairs'], 'pair')}"
    )


@lines.register(DiscoveryResult)
def _(result: DiscoveryResult) -> Iterator[str]:
    if result.rounds:
        rows = [list(result.rounds[0].counts), *([str(n) for n in each.counts.values()] for each in result.rounds)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    if result.exhausted:
        n_out = result.rounds[-1].counts["candidates"] if result.rounds else 0
        why = "by discover.only or discover.skip, or since their names are not public (crawl.allow_private)"
        yield "no site is left to try" + (f"; candidates left out {why}: {n_out}" if n_out else "")
    if result.n_unpaired:
        added = "1 site was" if result.n_unpaired == 1 else f"{result.n_unpaired} sites were"
        yield f"{added} added without a URL pattern; twinlink match {result.run} pairs pages by their contents"
    yield (
        f"rounds → {result.table}, {Path(result.picture).name}; verdicts → {result.verdicts};"
        f" pairs → {result.pairs}; next sites → {result.sites}"
    )
