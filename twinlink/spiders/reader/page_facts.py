"""Data that a crawl needs from a response: the decompressed body, and the facts of a page.

`perform` works on plain records, so that another process can do it (`twinlink.spiders.reader.process`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from twinlink.pages.content_encoding import EncodingError, decompress
from twinlink.pages.parser import Link, ParsedPage, parse_page
from twinlink.pages.scripted import is_blank, needs_scripts
from twinlink.pages.sniffing import is_html
from twinlink.spiders.frontier.partners import language_tag, text_sample
from twinlink.spiders.traps import text_digest

__all__ = ["RESULTS", "Job", "PageFacts", "PageLink", "Result", "UnreadError", "perform"]


class UnreadError(Exception):
    """A response that cannot be read: the reason and the detail of its reject.

    Attributes
    ----------
    reason : str
        ``bad-encoding``, ``too-large``, ``parse-timeout`` or ``parse-failed``.
    detail : str
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Job(msgspec.Struct, frozen=True, array_like=True):
    """A response that is to be read."""

    kind: Literal["page", "built", "whole"]
    """A page as a crawl wants it, the same of what a browser has built, or a page with all that is on it."""
    url: str
    """Its normalised address."""
    body: bytes
    """As received."""
    limit: int
    """Largest body once it is unpacked."""
    content_type: str = ""
    content_language: str = ""
    encoding: str = ""
    """Content-Encoding header; empty: the body is unpacked."""
    looks_at_scripts: bool = True
    """Whether it matters if a page needs its scripts."""


class PageLink(NamedTuple):
    """A link, as far as a crawl goes by it."""

    url: str
    """Normalised address that it leads to."""
    tag: str = ""
    """Language that it says to lead to, by ``hreflang`` or by its text; empty: it says none."""
    nofollow: bool = False
    """Whether its ``rel`` says so."""


class PageFacts(msgspec.Struct, frozen=True, array_like=True):
    """A page, as far as a crawl goes by it."""

    declared_lang: str
    """As `ParsedPage` has it."""
    robots: str
    """As `ParsedPage` has it."""
    sample: str
    """What tells its script: text of its longest blocks."""
    text_digest: str
    """What stands for its text: equal texts have it in common. Empty for next to no text."""
    links: tuple[PageLink, ...]
    """In document order."""
    needs_scripts: bool = False
    """See `twinlink.pages.scripted.needs_scripts`."""
    is_blank: bool = False
    """Of a page that a browser has built: see `twinlink.pages.scripted.is_blank`."""


Result = PageFacts | ParsedPage | None
"""What comes of a job; None: it is no HTML."""

RESULTS: dict[str, object] = {"page": PageFacts | None, "built": PageFacts | None, "whole": ParsedPage}
"""Type of the result by the kind of job."""


def perform(job: Job) -> Result:
    """Do a job.

    Raises
    ------
    UnreadError
        If the body cannot be unpacked (``bad-encoding``), or is larger than the limit then (``too-large``).

    Examples
    --------
    >>> perform(Job("page", "http://a.org/", b"<a href=/fr/ rel=nofollow>Francais</a>", 1_000, "text/html")).links
    (PageLink(url='http://a.org/fr/', tag='fr', nofollow=True),)
    """
    body = _unpacked(job)
    if job.kind == "whole":
        return parse_page(body, job.url, job.content_type, job.content_language)
    if not is_html(job.content_type, body):
        return None
    return _facts(
        parse_page(body, job.url, job.content_type),
        needs_scripts=job.kind == "page" and job.looks_at_scripts and needs_scripts(body, job.content_type),
        is_empty=job.kind == "built" and is_blank(body, job.content_type),
    )


def _unpacked(job: Job) -> bytes:
    try:
        body = decompress(job.body, job.encoding, job.limit) if job.encoding else job.body
    except EncodingError as error:
        raise UnreadError("bad-encoding", str(error)) from error
    if len(body) > job.limit:
        raise UnreadError("too-large", "decompressed")
    return body


def _facts(page: ParsedPage, *, needs_scripts: bool, is_empty: bool) -> PageFacts:
    return PageFacts(
        declared_lang=page.declared_lang,
        robots=page.robots,
        sample=text_sample(page.blocks),
        text_digest=text_digest(page.blocks),
        links=_links(page.links),
        needs_scripts=needs_scripts,
        is_blank=is_empty,
    )


def _links(links: Sequence[Link]) -> tuple[PageLink, ...]:
    return tuple(
        PageLink(link.url, language_tag(link), bool(link.rel) and "nofollow" in link.rel.split()) for link in links
    )
