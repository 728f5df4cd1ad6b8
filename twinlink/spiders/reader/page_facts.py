"""Facts that a crawl needs from a response: language, links, robots directives, and whether the page needs scripts.

`perform` takes and returns plain records, so that it can run in another process (`twinlink.spiders.reader.process`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from twinlink.pages.content_encoding import EncodingError, decompress
from twinlink.pages.decoding import is_html
from twinlink.pages.parser import Link, ParsedPage, parse_page
from twinlink.pages.scripted import is_blank, needs_scripts
from twinlink.spiders.frontier.partners import language_tag, text_sample
from twinlink.spiders.traps import text_digest


class UnreadError(Exception):
    """A response cannot be read; has the reason and the detail of the reject.

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
    """A response to parse."""

    kind: Literal["page", "built", "whole"]
    """``page``: return the facts of a page; ``built``: the same for a page rendered by a browser; ``whole``: return
    the whole parsed page."""
    url: str
    """Normalised address."""
    body: bytes
    """As received."""
    limit: int
    """Maximum size of the decompressed body."""
    content_type: str = ""
    content_language: str = ""
    encoding: str = ""
    """Content-Encoding header; empty: the body is not compressed."""
    looks_at_scripts: bool = True
    """Whether to test if the page needs its scripts."""
    link: str = ""
    refresh: str = ""
    """Headers of these names."""


class PageLink(NamedTuple):
    """A link, with the data that a crawl uses."""

    url: str
    """Normalised target address."""
    tag: str = ""
    """Language of the target by ``hreflang`` or by the text of the link; empty if unknown."""
    nofollow: bool = False
    """Whether its ``rel`` contains ``nofollow``."""


class PageFacts(msgspec.Struct, frozen=True, array_like=True):
    """A page, with the data that a crawl uses."""

    declared_lang: str
    """See `ParsedPage`."""
    robots: str
    """See `ParsedPage`."""
    sample: str
    """Text of the longest blocks, from which the script is identified."""
    text_digest: str
    """Digest of the text, the same for equal texts. Empty for a page with hardly any text."""
    links: tuple[PageLink, ...]
    """In document order."""
    needs_scripts: bool = False
    """See `twinlink.pages.scripted.needs_scripts`."""
    is_blank: bool = False
    """For a page rendered by a browser: see `twinlink.pages.scripted.is_blank`."""


Result = PageFacts | ParsedPage | None
"""Result of a job; None if the response is not HTML."""

RESULTS: dict[str, object] = {"page": PageFacts | None, "built": PageFacts | None, "whole": ParsedPage}
"""Type of the result by the kind of job."""


def perform(job: Job) -> Result:
    """Perform a job and return its result.

    Raises
    ------
    UnreadError
        If the body cannot be decompressed (``bad-encoding``), or is larger than the limit (``too-large``).

    Examples
    --------
    >>> perform(Job("page", "http://a.org/", b"<a href=/fr/ rel=nofollow>Francais</a>", 1_000, "text/html")).links
    (PageLink(url='http://a.org/fr/', tag='fr', nofollow=True),)
    """
    body = _unpacked(job)
    if job.kind == "whole":
        return parse_page(body, job.url, job.content_type, job.content_language, job.link)
    if not is_html(job.content_type, body):
        return None
    return _facts(
        parse_page(body, job.url, job.content_type, link=job.link, refresh=job.refresh),
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
