"""Directives for robots: robots.txt (RFC 9309), robots meta elements and X-Robots-Tag headers."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from twinlink.config import CrawlSettings
from twinlink.spiders.robots.file import read_file
from twinlink.spiders.robots.rules import Rules, canonical_path
from twinlink.urls import MAX_URL_LENGTH

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes of a robots.txt that are read: RFC 9309 requires at least 500 KiB, and search engines read no more."""

_MAX_SITEMAPS = 1_000
_MAX_DELAY = 86_400.0
_NO_CONTACT = "contact not set"
_TOKEN = re.compile(r"[A-Za-z_-]+")
_FOR_ONE_ROBOT = re.compile(r"\s*([a-z_-]+)\s*:(.*)", re.DOTALL)
_DIRECTIVES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of a robots.txt that apply to this crawler."""

    delay: float
    """Seconds between two requests, by Crawl-delay or Request-rate; 0 if neither is given."""
    sitemaps: tuple[str, ...]
    """Addresses of sitemaps, as written."""
    rules: Rules | None = None
    """None: everything is allowed."""

    @property
    def size(self) -> int:
        """Approximate memory in bytes."""
        return 1_000 + sum(map(len, self.sitemaps)) + (self.rules.size if self.rules else 0)

    def allows(self, url: str) -> bool:
        """Return whether an address may be fetched; robots.txt itself is always allowed."""
        if self.rules is None:
            return True
        path = canonical_path(url)
        return path == "/robots.txt" or self.rules.allows(path)


NO_RULES = RobotsRules(0.0, ())
"""Everything is allowed."""


def read_robots(body: bytes, agent: str) -> RobotsRules:
    r"""Read a robots.txt.

    Parameters
    ----------
    body : bytes
        As served; bytes after `MAX_ROBOTS_BYTES` are not read.
    agent : str
        The crawler's `product_token`.

    Examples
    --------
    >>> rules = read_robots(b"User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 2", "twinlink")
    >>> rules.allows("http://x.org/a/c"), rules.allows("http://x.org/a/b/c"), rules.delay
    (False, True, 2.0)
    """
    # Rules that are not UTF-8 are compared as bytes, because servers percent-encode the bytes of their own encoding.
    text = body[:MAX_ROBOTS_BYTES].removeprefix(codecs.BOM_UTF8).replace(b"\0", b"").decode("utf-8", "surrogateescape")
    group, named = read_file(_whole_lines(text) if len(body) > MAX_ROBOTS_BYTES else text, agent, _MAX_SITEMAPS)
    delay = max((seconds for seconds in (group.delay, group.gap) if seconds <= _MAX_DELAY), default=0.0)
    readable = (url.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for url in named)
    sitemaps = tuple(url for url in readable if len(url) <= MAX_URL_LENGTH)
    return RobotsRules(delay, sitemaps, Rules(group.patterns()) if group.rules else None)


def _whole_lines(text: str) -> str:
    """Remove the truncated last line if it is an Allow, which would allow too much; a truncated Disallow is kept."""
    *lines, last = text.splitlines(keepends=True)
    return "".join(lines if last.lstrip().lower().startswith("allow") else [*lines, last])


def user_agent(settings: CrawlSettings) -> str:
    """Return the User-Agent of the crawler, with the contact address of the settings.

    Examples
    --------
    >>> user_agent(CrawlSettings(contact="mailto:a@b.org"))
    'twinlink (parallel page finder; mailto:a@b.org)'
    """
    if not settings.contact:
        return settings.user_agent
    if _NO_CONTACT in settings.user_agent:
        return settings.user_agent.replace(_NO_CONTACT, settings.contact)
    return f"{settings.user_agent} (+{settings.contact})"


def product_token(agent: str) -> str:
    """Return the product token of a User-Agent (RFC 9309): its leading letters, ``-`` and ``_``.

    Examples
    --------
    >>> product_token("MyBot/2.0 (+http://example.org)")
    'MyBot'
    """
    found = _TOKEN.match(agent.strip())
    return found[0] if found else "*"


def directives(meta: str, headers: Iterable[str], agent: str) -> frozenset[str]:
    """Return the directives of a page that apply to the crawler: ``noindex``, ``nofollow``, both or none.

    Parameters
    ----------
    meta : str
        Content of ``<meta name=robots>``.
    headers : iterable of str
        X-Robots-Tag headers; one that begins with the name of another robot is ignored.
    agent : str
        The crawler's `product_token`.

    Examples
    --------
    >>> sorted(directives("", ["otherbot: none", "nofollow, noarchive"], "twinlink"))
    ['nofollow']
    """
    words: set[str] = set()
    for text in (meta.lower(), *(_for_us(header.lower(), agent.lower()) for header in headers)):
        words.update(word.strip() for word in text.split(","))
    if "none" in words:
        words |= {"noindex", "nofollow"}
    return frozenset(words & {"noindex", "nofollow"})


def _for_us(header: str, agent: str) -> str:
    named = _FOR_ONE_ROBOT.match(header)
    if named is None or named[1] in _DIRECTIVES:
        return header
    return named[2] if named[1] == agent else ""
