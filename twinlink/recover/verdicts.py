"""Verdicts on responses to guessed addresses: a missing page, or a reason why it is not one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from twinlink.config.recover import RecoverSettings
from twinlink.ingest.page_spool import body_digest
from twinlink.language.identify import identify_text
from twinlink.languages import UNDETERMINED
from twinlink.pages.parser import parse_page
from twinlink.recover.error_pages import ErrorPages, text_key
from twinlink.recover.guessing import Known
from twinlink.sources.documents import Document
from twinlink.sources.warc import archive_of, read_archives
from twinlink.spiders.frontier import LATER, Answer, Guessed
from twinlink.urls import join, page_key

__all__ = ["KnownTexts", "Verdict", "judge_answers", "read_answers", "unjudged"]

MAX_HOPS = 3
"""Redirects followed from a guess: to https, to the host's other name, to the address that is written in full."""
SAME_ANSWERS = 2
"""Number of pages with the same response from which it is rejected: no page is the partner of several."""


class Verdict(NamedTuple):
    """Outcome of a guess."""

    url: str
    outcome: str
    detail: str = ""


class KnownTexts(NamedTuple):
    """Texts of a site's pages, to recognise responses that repeat them."""

    url_of: dict[str, str]
    """Digest of a body → address."""
    blocks_of: dict[str, Sequence[str]]
    """Address → title and blocks."""


class _Page(NamedTuple):
    blocks: tuple[str, ...]
    """Title and blocks."""
    n_links: int
    digest: str


def read_answers(folder: Path, answers: Iterable[Answer], max_page_bytes: int) -> dict[str, Document]:
    """Read the responses from their archives, by address."""
    wanted = {answer.guess.url for answer in answers if answer.archive}
    names = sorted({answer.archive for answer in answers if answer.archive})
    paths = [folder / name for name in names if (folder / name).is_file()]
    found: dict[str, Document] = {}
    for item in read_archives([archive_of(path) for path in paths], max_page_bytes) if paths else ():
        if isinstance(item, Document) and item.url in wanted:
            found[item.url] = item
    return found


def judge_answers(
    answers: Sequence[Answer],
    documents: dict[str, Document],
    known: Known,
    pages: KnownTexts,
    settings: RecoverSettings,
) -> tuple[list[Verdict], list[Guessed]]:
    """Judge the answers of one site that have not been judged.

    Parameters
    ----------
    answers : sequence of Answer
        All of the site.
    documents : dict
        What `read_answers` gives for those that are to be judged and for the probes.
    known : Known
    pages : KnownTexts
    settings : RecoverSettings

    Returns
    -------
    verdicts : list of Verdict
    further : list of Guessed
        Unknown targets of redirects, to be requested instead.
    """
    judge = _Judge(answers, documents, known, pages, settings)
    verdicts = [judge.verdict(answer) for answer in answers if _is_open(answer)]
    return verdicts, judge.further


def _is_open(answer: Answer) -> bool:
    return (not answer.outcome or answer.outcome in LATER) and answer.state not in ("queued", "flight")


class _Judge:
    def __init__(
        self,
        answers: Sequence[Answer],
        documents: dict[str, Document],
        known: Known,
        pages: KnownTexts,
        settings: RecoverSettings,
    ) -> None:
        self.further: list[Guessed] = []
        self._documents, self._known, self._pages, self._settings = documents, known, pages, settings
        self._read = {url: _page_of(document) for url, document in documents.items() if not document.location}
        self._asked = {page_key(answer.guess.url) for answer in answers}
        probes = {answer.guess.url for answer in answers if answer.guess.kind == "probe"}
        wrong = [(self._read[url].blocks, url) for url in sorted(probes & self._read.keys())]
        self._targets = Counter(_target(document) for document in documents.values() if document.location)
        self._wrong_targets = {_target(documents[url]) for url in probes & documents.keys()}
        self._same: dict[frozenset[str], set[str]] = defaultdict(set)
        lines: dict[str, set[str]] = defaultdict(set)
        for answer in answers:
            url, page = answer.guess.url, answer.guess.page
            if url in self._read and answer.guess.kind != "probe":
                self._same[self._text(url)].add(page)
                for line in text_key(self._read[url].blocks, url):
                    lines[line].add(page)
        common = (line for line, of_pages in lines.items() if len(of_pages) >= SAME_ANSWERS)
        self._errors = ErrorPages(wrong, settings.min_letters, common)

    def _text(self, url: str) -> frozenset[str]:
        return text_key(self._read[url].blocks, url, numbers=True)

    def verdict(self, answer: Answer) -> Verdict:
        """Judge one answer."""
        url = answer.guess.url
        if answer.guess.kind == "probe":
            return Verdict(url, "made-up", self._of_probe(answer))
        if answer.state == "moved":
            return self._moved(answer.guess)
        if answer.state != "done":
            is_missing = answer.reason in ("http-404", "http-410")
            return Verdict(
                url, "not-found" if is_missing else answer.reason, answer.reason if is_missing else answer.said
            )
        if url not in self._read:
            return Verdict(url, "unreadable", answer.archive)
        return Verdict(url, *self._page(answer.guess, self._read[url]))

    def _of_probe(self, answer: Answer) -> str:
        if answer.state == "moved":
            return f"redirected {answer.said}"
        return "answered with a page" if answer.state == "done" else answer.reason

    def _moved(self, guess: Guessed) -> Verdict:
        document = self._documents.get(guess.url)
        target = _target(document) if document is not None else ""
        why = self._why_redirected(guess, target)
        if why:
            return Verdict(guess.url, "redirected", f"to {target or 'nowhere'}: {why}")
        if page_key(target) not in self._asked:
            self._asked.add(page_key(target))
            self.further.append(guess._replace(url=target, hops=guess.hops + 1))
        return Verdict(guess.url, "redirected", f"to {target}, which was requested")

    def _why_redirected(self, guess: Guessed, target: str) -> str:
        if not target:
            return "no address"
        if target in self._wrong_targets or self._targets[target] >= SAME_ANSWERS:
            return "the target of other addresses, too"
        if self._known.holds(target):
            return "a page of the run"
        if target.split("/", 3)[3].partition("?")[0] == "":
            return "the home page"
        if not _is_of(target, guess.site):
            return "another site"
        return f"after {guess.hops} redirects" if guess.hops >= MAX_HOPS else ""

    def _page(self, guess: Guessed, page: _Page) -> tuple[str, str]:
        """Return the verdict on a page with status 200, and its reason."""
        same = self._pages.url_of.get(page.digest, "")
        if same:
            is_own = same == guess.page
            return ("wrong-language", "the page itself whose partner is missing") if is_own else ("known-page", same)
        if not any(page.blocks) and not page.n_links:
            return "empty-page", ""
        wrong = self._why_error(guess, page)
        if wrong:
            return "soft-404", wrong
        own = self._pages.blocks_of.get(guess.page, ())
        if own and ErrorPages([(own, guess.page)], self._settings.min_letters).explain(page.blocks, guess.url):
            return "wrong-language", "the text of the page whose partner is missing"
        return _language(guess, page.blocks, own)

    def _why_error(self, guess: Guessed, page: _Page) -> str:
        if self._errors.explain(page.blocks, guess.url):
            return "same as the response to a made-up address"
        others = self._same[self._text(guess.url)]
        return f"the same response for {len(others)} pages" if len(others) >= SAME_ANSWERS else ""


def _language(guess: Guessed, blocks: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    """Judge a page by the language of what it does not share with the page whose partner is missing."""
    shared = frozenset(own)
    lang, _ = identify_text("\n".join(block for block in blocks if block not in shared))
    if lang == UNDETERMINED:
        return "found", "its language is not known"
    is_other = guess.lang != "" and lang.partition("-")[0] != guess.lang.partition("-")[0]
    if lang == guess.page_lang or is_other:
        return "wrong-language", f"{lang}, expected {guess.lang or f'another one than {guess.page_lang}'}"
    return "found", lang


def _page_of(document: Document) -> _Page:
    page = parse_page(document.body, document.url, document.content_type, document.content_language)
    return _Page((page.title, *page.blocks), len(page.links), body_digest(document.body))


def _target(document: Document) -> str:
    """Return where an answer leads; empty: nowhere."""
    return (join(document.url, document.location) or "") if document.location else ""


def _is_of(url: str, site: str) -> bool:
    netloc = url.split("/", 3)[2]
    host, name = (netloc, site) if ":" in site else (netloc.partition(":")[0], site)
    return host == name or host.endswith(f".{name}")


def unjudged(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the answers that came in and have not been judged."""
    yield from (answer for answer in answers if _is_open(answer))
