"""Robots rules as they are written: files, meta elements, headers, names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.config import CrawlSettings
from twinlink.spiders.robots.robots import (
    MAX_ROBOTS_BYTES,
    NO_RULES,
    directives,
    product_token,
    read_robots,
    user_agent,
)

URL = "http://a.org"


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 1.5", 1.5),
        ("User-agent: *\nCrawl-delay: 9\nUser-agent: twinlink\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nRequest-rate: 1/5", 5.0),
        ("User-agent: *\nRequest-rate: 10/1m\nCrawl-delay: 2", 6.0),
        ("User-agent: *\nCrawl-delay: soon", 0.0),
        ("User-agent: *\nCrawl-delay: -4", 0.0),
        ("User-agent: *\nCrawl-delay: 604800", 86_400.0),  # config.crawl.max_crawl_delay shortens it
        ("User-agent: *\nCrawl-delay: 1e300", 86_400.0),
        (f"User-agent: *\nRequest-rate: 1/{'9' * 400}", 86_400.0),
        (f"User-agent: *\nRequest-rate: {'9' * 400}/1", 0.0),
        ("User-agent: *\nCrawl-delay: nan", 0.0),
        ("User-agent: other\nCrawl-delay: 7", 0.0),
        ("Crawl-delay: 7", 0.0),
        ("", 0.0),
    ],
)
def test_delays(lines: str, delay: float) -> None:
    assert read_robots(lines.encode(), "twinlink").delay == delay


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        ("User-agent: *\nDisallow: /a", "/a/b", False),
        ("User-agent: *\nDisallow: /a", "/b", True),
        ("User-agent: *\nDisallow: /*.php$", "/x.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/x.php?a=1", True),
        ("User-agent: *\nDisallow: /\nAllow: /en/", "/en/a", True),  # the longer rule
        ("User-agent: *\nDisallow: /\n\nUser-agent: TWINLINK\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Twinlink/1.0\nDisallow: /a", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: twinlink (parallel page finder; me@b.org)\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: twin/1.0\nDisallow:", "/x", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: twinlinker/1.0\nDisallow:", "/x", False),
        ("\ufeffUser-agent: *\r\nDisallow: /%E4%B8%AD", "/%e4%b8%ad/a", False),
        ("User-agent: *\nDisallow: /a\0b", "/ab", False),
        ("<html><body>404</body></html>", "/x", True),
    ],
)
def test_rules(lines: str, path: str, allowed: bool) -> None:
    assert read_robots(lines.encode(), "twinlink").allows(URL + path) is allowed


def test_a_long_file_is_read_to_its_limit() -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    body = head + b"#" * (MAX_ROBOTS_BYTES - len(head)) + b"\nDisallow: /last"
    rules = read_robots(body, "twinlink")
    assert not rules.allows(f"{URL}/first")
    assert rules.allows(f"{URL}/last")


def test_sitemaps_apply_to_all_robots() -> None:
    rules = read_robots(b"Sitemap: http://a.org/1.xml\nUser-agent: x\nDisallow: /\nSITEMAP: /2.xml", "twinlink")
    assert rules.sitemaps == ("http://a.org/1.xml", "/2.xml")
    assert NO_RULES.allows(f"{URL}/")


@given(st.binary(max_size=300))
def test_no_bytes_break_it(body: bytes) -> None:
    rules = read_robots(b"User-agent: *\n" + body, "twinlink")
    assert rules.delay >= 0
    rules.allows(f"{URL}/a?b=c")


@pytest.mark.parametrize(
    ("meta", "headers", "expected"),
    [
        ("", [], set()),
        ("noindex", [], {"noindex"}),
        ("INDEX,FOLLOW", [], set()),
        ("none", [], {"noindex", "nofollow"}),
        ("nofollow,noarchive", ["noindex"], {"noindex", "nofollow"}),
        ("", ["unavailable_after: 25 Jun 2010 15:00:00 PST"], set()),
        ("", ["googlebot: noindex, nofollow"], set()),
        ("", ["Twinlink: nofollow"], {"nofollow"}),
        ("", ["max-snippet: 20, noindex"], {"noindex"}),
        ("noindexing", [], set()),
        ("noindex nofollow", [], {"noindex", "nofollow"}),
        ("noindex;nofollow", [], {"noindex", "nofollow"}),
        ("index, max-image-preview: none", ["max-image-preview: none"], set()),
        ("", ["noarchive nofollow"], {"nofollow"}),
        ("", ["max-snippet:20,noindex"], {"noindex"}),
        ("", ["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], {"noindex"}),
        ("", ["noindex, twinlink: nofollow"], {"noindex", "nofollow"}),
        ("", ["noarchive, otherbot: noindex, nofollow"], set()),
        ("", ["otherbot: noindex, twinlink: nofollow"], {"nofollow"}),
        ("", ["bot-2: noindex, max-snippet: 0, nofollow"], set()),
    ],
)
def test_directives(meta: str, headers: list[str], expected: set[str]) -> None:
    assert directives(meta, headers, "twinlink") == expected


@pytest.mark.parametrize(
    ("settings", "name", "token"),
    [
        (CrawlSettings(), "twinlink (parallel page finder; contact not set)", "twinlink"),
        (CrawlSettings(contact="me@b.org"), "twinlink (parallel page finder; me@b.org)", "twinlink"),
        (CrawlSettings(contact="me@b.org", user_agent="My-Bot/1.0"), "My-Bot/1.0 (+me@b.org)", "My-Bot"),
        (CrawlSettings(user_agent="007"), "007", "*"),
    ],
)
def test_names(settings: CrawlSettings, name: str, token: str) -> None:
    assert user_agent(settings) == name
    assert product_token(name) == token
