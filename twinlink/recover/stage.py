"""Stage `recover`: pages that nothing links to are found by URL patterns, fetched into the run's archive, and judged.

Addresses are guessed, requested in rounds, and judged after each round: the best guess of each page first, and a
few guesses of each pattern. The state is on disk: no address is requested twice, and a call that was killed can be
resumed. `ingest` reads the found pages as pages of the run; all others are counted in its rejects (stage
``recover``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.config import Config
from twinlink.patterns.stage import learn_run
from twinlink.recover.guessing import SiteGuesses, crawled_keys, guess_run, known_of, next_round
from twinlink.recover.verdicts import KnownTexts, judge_answers, read_answers, unjudged
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.rundir.remembered import keep_with
from twinlink.rundir.side_results import check_own_pages
from twinlink.rundir.signature import Signature
from twinlink.spiders.crawling import crawl_chosen
from twinlink.spiders.frontier import (
    CHOSEN_LEDGER,
    LATER,
    LEDGER_NAME,
    WAITING,
    Answer,
    FrontierReader,
    GuessBook,
    Guessed,
    guess_state,
)
from twinlink.tables import PAGES, RECOVERED, iter_parts, read_table, tsv_lines, write_table
from twinlink.urls import page_key, root_of

TRIED = "tried.parquet"
TRIED_FILE = "tried.tsv"


def has_crawl(run: RunDirectory) -> bool:
    """Return whether the run has crawled its pages, rather than read them from files."""
    return (run.path / LEDGER_NAME).is_file()


def open_guesses(run: RunDirectory, config: Config) -> Iterator[SiteGuesses]:
    """Yield the addresses of each site that `recover` would request, best first, without any request.

    Of several guesses for one page, the later ones are requested only if the first is not found. A site has at most as
    many as ``recover.max_site_addresses`` still allows.
    """
    learn_run(run, config)
    so_far = _so_far(run)
    asked, n_asked = {page_key(answer.guess.url) for answer in so_far}, Counter(answer.guess.site for answer in so_far)
    for site in guess_run(run, config):
        left = max(0, config.recover.max_site_addresses - n_asked[site.site])
        still_open = [guess for guess in site.guesses if page_key(guess.url) not in asked]
        yield site._replace(guesses=still_open[:left])


def _so_far(run: RunDirectory) -> list[Answer]:
    if not (run.path / CHOSEN_LEDGER).is_file():
        return []
    with GuessBook(run.path) as book:
        return book.answers()


def recover(
    run: RunDirectory, config: Config, on_answer: Callable[[int, int], None] = lambda done, total: None
) -> Signature:
    """Find missing partners by URL patterns, fetch them, and judge the answers.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done; stage `patterns` is done first, and languages and pairs of `match` are used if there.
    config : Config
        Its ``recover``, ``match.patterns`` and ``crawl`` are used.
    on_answer : callable
        Called with the number of responses and of requested addresses.

    Returns
    -------
    Signature
        Of the table of outcomes (`RECOVERED`): ``RUN/recover/tried.parquet``, and ``tried.tsv``.

    Raises
    ------
    MissingStageError
        If the pages have not been ingested.
    RunError, CrawlError, KeyboardInterrupt
        As `twinlink.spiders.crawling.crawl`; what came in is kept. A further match cannot get pages.
    """
    check_own_pages(run)
    learn_run(run, config)
    sites = list(guess_run(run, config))
    with GuessBook(run.path) as book:
        others = _ask(run, config, book, sites, on_answer)
        book.adopt(run.path)
        rows = [*_answered_rows(book.answers()), *_other_rows(sites, others)]
    inputs = [str(run.read_signature("patterns")), guess_state(run.path)]
    signature = Signature.of("recover", {"recover": config.recover}, inputs)
    table = pa.Table.from_pylist(rows, schema=RECOVERED).sort_by([("site", "ascending"), ("url", "ascending")])
    with run.writing(signature) as folder:
        write_table(table, RECOVERED, folder / TRIED)
        (folder / TRIED_FILE).write_text("".join(f"{line}\n" for line in tsv_lines(table)), encoding="utf-8")
        keep_with(run, folder, config, "recover")
    return signature


def _ask(
    run: RunDirectory,
    config: Config,
    book: GuessBook,
    sites: Sequence[SiteGuesses],
    on_answer: Callable[[int, int], None],
) -> dict[str, str]:
    """Request in rounds until no guess is left; return why guesses were not requested."""
    starts = _starts(run, config)
    _judge(run, config, book)
    waited = -1
    again = any(answer.outcome in LATER for answer in book.answers())
    while True:
        chosen, others = _choose(sites, book.answers(), config)
        book.add(chosen)
        answers = book.answers()
        waiting = [answer.guess.url for answer in answers if answer.state in WAITING]
        if not (waiting or again) or (not chosen and len(waiting) == waited):
            return others
        waited, again = len(waiting), False
        on_wait = partial(_report, book, len(answers), on_answer)
        crawl_chosen(waiting, starts, run.path, config.crawl, on_wait, run.pause_file)
        _judge(run, config, book)


def _report(book: GuessBook, total: int, on_answer: Callable[[int, int], None]) -> None:
    on_answer(book.n_answered(), total)


def _choose(
    sites: Sequence[SiteGuesses], answers: Iterable[Answer], config: Config
) -> tuple[list[Guessed], dict[str, str]]:
    by_site = _by_site(answers)
    chosen: list[Guessed] = []
    others: dict[str, str] = {}
    for site in sites:
        of_site, why_not = next_round(site.guesses, by_site.get(site.site, ()), config.recover)
        chosen.extend(of_site)
        others.update(why_not)
    return chosen, others


def _by_site(answers: Iterable[Answer]) -> Mapping[str, list[Answer]]:
    by_site: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_site[answer.guess.site].append(answer)
    return by_site


def _starts(run: RunDirectory, config: Config) -> list[str]:
    """Return what stands for the run's sites: where its crawl began, and a page of each host."""
    starts = FrontierReader(run.path).starts() if has_crawl(run) else []
    if config.crawl.site_by == "path" and starts:
        return starts
    pages: dict[str, str] = {}
    for part in iter_parts(run.stage_folder("ingest") / "pages"):
        for url in read_table(part, PAGES, ("url",))["url"].to_pylist():
            pages.setdefault(root_of(url), url)
    return list(dict.fromkeys([*starts, *pages.values()]))


def _judge(run: RunDirectory, config: Config, book: GuessBook) -> None:
    """Judge all new responses, and add the targets of redirects as further guesses."""
    keys: tuple[set[str], set[str]] | None = None
    for site, answers in _by_site(book.answers()).items():
        new = list(unjudged(answers))
        if not new:
            continue
        keys = keys or crawled_keys(run)
        part = site_file(run.path / "ingest" / "pages", site)
        probes = [answer for answer in answers if answer.guess.kind == "probe"]
        documents = read_answers(run.path / "warc", [*new, *probes], config.crawl.max_page_bytes)
        texts = _texts(part, {answer.guess.page for answer in new})
        verdicts, further = judge_answers(answers, documents, known_of(run, part, keys), texts, config.recover)
        book.add(further)
        book.book(verdicts)


def _texts(part: Path, pages: set[str]) -> KnownTexts:
    table = read_table(part, PAGES, ("url", "digest", "title", "blocks"))
    url_of = dict(zip(table["digest"].to_pylist(), table["url"].to_pylist(), strict=True))
    rows = table.filter(pc.is_in(table["url"], pa.array(sorted(pages), pa.string()))).to_pylist()
    return KnownTexts(url_of, {row["url"]: (row["title"], *row["blocks"]) for row in rows})


def _answered_rows(answers: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    for answer in answers:
        outcome, detail = answer.outcome, answer.detail
        if answer.state in WAITING:
            outcome, detail = "over-budget", "the limits of the crawl, or it was stopped"
        yield _row(answer.guess, outcome, detail)


def _other_rows(sites: Iterable[SiteGuesses], others: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for site in sites:
        for guess in site.guesses:
            if guess.url in others:
                waits = "" if others[guess.url] else "another guess for its page has no response yet"
                yield _row(guess, others[guess.url] or "over-budget", waits)
        yield from (_row(guess, "linked", "a page links to it: crawl first") for guess in site.linked)


def _row(guess: Guessed, outcome: str, detail: str = "") -> dict[str, Any]:
    of_guess = {name: getattr(guess, name) for name in ("site", "url", "page", "rule", "credibility", "lang")}
    return {**of_guess, "outcome": outcome, "detail": detail}
