"""What a site asks of robots: its robots.txt (RFC 9309), robots meta elements and X-Robots-Tag headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from protego import Protego

from twinlink.config import CrawlSettings

__all__ = ["MAX_ROBOTS_BYTES", "NO_RULES", "RobotsRules", "directives", "product_token", "read_robots", "user_agent"]

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes of a robots.txt that are read: RFC 9309 asks for 500 KiB at least, and search engines stop there."""

_MAX_SITEMAPS = 1_000
_MAX_DELAY = 86_400.0
_NO_CONTACT = "contact not set"
_TOKEN = re.compile(r"[A-Za-z_-]+")
_FOR_ONE_ROBOT = re.compile(r"\s*([a-z_-]+)\s*:(.*)", re.DOTALL)
_DIRECTIVES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The robots.txt of one host, as it concerns us."""

    delay: float
    """Seconds between two requests, by Crawl-delay or Request-rate; 0 when it asks for none."""
    sitemaps: tuple[str, ...]
    """As written."""
    _parser: Protego | None = None
    _agent: str = ""

    def allows(self, url: str) -> bool:
        """Return whether an address may be fetched."""
        return self._parser is None or self._parser.can_fetch(url, self._agent)


NO_RULES = RobotsRules(0.0, ())
"""Nothing is forbidden."""


def read_robots(body: bytes, agent: str) -> RobotsRules:
    r"""Read a robots.txt.

    Parameters
    ----------
    body : bytes
        As served; what stands behind `MAX_ROBOTS_BYTES` is not read.
    agent : str
        The crawler's `product_token`.

    Examples
    --------
    >>> rules = read_robots(b"User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 2", "twinlink")
    >>> rules.allows("http://x.org/a/c"), rules.allows("http://x.org/a/b/c"), rules.delay
    (False, True, 2.0)
    """
    text = body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace").replace("\0", "")
    parser = Protego.parse(text)
    rate = parser.request_rate(agent)
    asked = (parser.crawl_delay(agent) or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)
    delay = max((seconds for seconds in asked if 0 <= seconds <= _MAX_DELAY), default=0.0)
    return RobotsRules(delay, tuple(parser.sitemaps)[:_MAX_SITEMAPS], parser, agent)


def user_agent(settings: CrawlSettings) -> str:
    """Return the crawler's full name, with the contact address of the settings.

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
    """Return the word that robots.txt names a robot by: the first one of its name, letters, ``-`` and ``_``.

    Examples
    --------
    >>> product_token("MyBot/2.0 (+http://example.org)")
    'MyBot'
    """
    found = _TOKEN.match(agent.strip())
    return found[0] if found else "*"


def directives(meta: str, headers: Iterable[str], agent: str) -> frozenset[str]:
    """Return what a page asks of us: ``noindex``, ``nofollow``, both, or nothing of these.

    Parameters
    ----------
    meta : str
        Content of its ``<meta name=robots>``.
    headers : iterable of str
        Its X-Robots-Tag headers; one that begins with another robot's name does not concern us.
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
