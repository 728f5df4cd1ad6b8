"""Directives for robots: robots.txt (RFC 9309), robots meta elements and X-Robots-Tag headers."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from itertools import islice
from urllib.parse import quote

import msgspec
from protego import Protego, RequestRate

from twinlink.config import CrawlSettings
from twinlink.urls import MAX_URL_LENGTH

MAX_ROBOTS_BYTES = 512 * 1024
"""Bytes of a robots.txt that are read: RFC 9309 requires at least 500 KiB, and search engines read no more."""

_AGENT_LINE = re.compile(
    r"(?:user[- ]?agent\s*:|(?:user-?agent|user\s+agent)\s(?![^:]*:(?:\s|$)))\s*(\S.*)", re.IGNORECASE
)
"""A line that names a robot, as Protego reads it: with a colon or without."""
_OTHERS = "User-agent: !"
_HIGH_BYTE = re.compile("%([89A-Fa-f][0-9A-Fa-f])")
_ASCII = "".join(map(chr, range(128)))
_BYTES_A_LINE = 400  # of ordinary files; those of 500 kB take 190 to 1,430, by the form of their lines
_MAX_SITEMAPS = 1_000
_MAX_DELAY = 86_400
_NO_CONTACT = "contact not set"
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ROBOT = re.compile(r"(?<![\w-])([a-z][\w-]*+)\s*+:")
"""The name of a robot before its directives in an X-Robots-Tag header, in lower case."""
_WITH_VALUE = re.compile(r"(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)\s*+:\s*+[^\s,;]*")


class RobotsRules(msgspec.Struct, frozen=True):
    """The rules of a robots.txt that apply to this crawler."""

    delay: float
    """Seconds between two requests, by Crawl-delay or Request-rate; 0 if neither is given."""
    sitemaps: tuple[str, ...]
    """Addresses of sitemaps, as written."""
    parser: Protego | None = None
    """None: everything is allowed."""
    agent: str = ""
    """The crawler's `product_token`."""
    size: int = 1_000
    """Approximate memory in bytes."""

    def allows(self, url: str) -> bool:
        """Return whether an address may be fetched; robots.txt itself is always allowed."""
        return self.parser is None or self.parser.can_fetch(_compared(url), self.agent)


NO_RULES = RobotsRules(0.0, ())
"""Everything is allowed."""


def read_robots(body: bytes, agent: str) -> RobotsRules:
    r"""Read a robots.txt (Protego, the parser of Scrapy).

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
    text = body[:MAX_ROBOTS_BYTES].removeprefix(codecs.BOM_UTF8).replace(b"\0", b"").decode("utf-8", "surrogateescape")
    lines = (_whole_lines(text) if len(body) > MAX_ROBOTS_BYTES else text).splitlines()
    lines = [bare for line in lines if (bare := line.partition("#")[0].strip())]
    parser = Protego.parse("\n".join(_prepared(line, agent.lower()) for line in lines))
    delay = max(min(parser.crawl_delay(agent) or 0.0, _MAX_DELAY), _seconds_a_request(parser.request_rate(agent)))
    named = islice(parser.sitemaps, _MAX_SITEMAPS)
    readable = (url.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for url in named)
    sitemaps = tuple(url for url in readable if len(url) <= MAX_URL_LENGTH)
    return RobotsRules(delay, sitemaps, parser, agent, 1_000 + _BYTES_A_LINE * len(lines) + 2 * len(text))


def _seconds_a_request(rate: RequestRate | None) -> float:
    """Return the delay that a Request-rate asks for; its integers may be too large for floats."""
    return min(rate.seconds, _MAX_DELAY * rate.requests) / rate.requests if rate else 0.0


def _whole_lines(text: str) -> str:
    """Remove the truncated last line if it is an Allow, which would allow too much; a truncated Disallow is kept."""
    *lines, last = text.splitlines(keepends=True)
    return "".join(lines if last.lstrip().lower().startswith("allow") else [*lines, last])


def _prepared(line: str, token: str) -> str:
    """Return a line as Protego gets it: robots that are not this one share a name, so that they share their rules.

    Otherwise the rules of a group would be stored once for each of its robots, of which a file may name thousands.
    What follows the token of this robot, such as a version, is removed: administrators copy it from their logs.
    """
    found = _AGENT_LINE.match(line)
    if found is None:
        return line if line[:4].lower() == "site" else _compared(line)
    own = _TOKEN.match(found[1])
    if own is not None and own[0].lower() == token:
        return f"User-agent: {token}"
    names = {found[1].lower(), found[1].lower().replace("*", "")} - {""}
    return line if any(name == "*" or token.startswith(name) for name in names) else _OTHERS


def _compared(text: str) -> str:
    """Return a text in which bytes outside ASCII are written as ``%25`` and two digits.

    Protego decodes percent-encoded bytes and replaces those that are not UTF-8, so different bytes would become equal;
    servers percent-encode the bytes of their own encoding.
    """
    if not text.isascii():
        text = quote(text, _ASCII, errors="surrogateescape")
    return _HIGH_BYTE.sub(lambda found: f"%25{found[1].upper()}", text)


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
        X-Robots-Tag headers; what follows the name of another robot is ignored.
    agent : str
        The crawler's `product_token`.

    Examples
    --------
    >>> sorted(directives("", ["otherbot: none", "nofollow, noarchive"], "twinlink"))
    ['nofollow']
    """
    general, *tags = (_WITH_VALUE.sub("", text.lower()) for text in (meta, *headers))
    words = set(re.split(r"[\s,;]+", ",".join([general, *(_for_us(tag, agent.lower()) for tag in tags)])))
    if "none" in words:
        words |= {"noindex", "nofollow"}
    return frozenset(words & {"noindex", "nofollow"})


def _for_us(header: str, agent: str) -> str:
    """Return the directives for all robots and for this one; the name of a robot applies up to the next one."""
    general, *named = _ROBOT.split(header)
    return ",".join([general, *(text for name, text in zip(named[::2], named[1::2], strict=True) if name == agent)])
