"""Hostile robots.txt files and sitemaps, which can affect a whole site."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator

from experiments.campaign.case_packed import empty_members, nested_gzip
from experiments.campaign.cases import KEPT, UNKNOWN, Case, Hostile, dropped
from experiments.campaign.web import HTML, Answer, Reply, endless, page, redirect

__all__ = ["ROOT_CASES", "alternates", "many_agents", "tiny_elements", "wildcards"]

XML = "application/xml"
TEXT = "text/plain"
N_AGENTS, N_RULES = 13_000, 20_000
N_WILDCARDS = 27_000
N_ELEMENTS = 12_000_000
N_ALTERNATES = 1_600_000
NAMESPACE = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
PAGES = {f"/long/{'x' * 200}/{n}/index.html": page(f"page {n}") for n in range(100)}
"""Pages of ordinary sites, to all of which the rules are applied."""


def robots(body: bytes, headers: dict[str, str] | None = None) -> Answer:
    """Return a robots.txt."""
    return Answer(body, type=TEXT, headers=headers or {})


def sitemap(body: bytes, type_: str = XML) -> Answer:
    """Return a sitemap."""
    return Answer(body, type=type_)


def many_agents() -> bytes:
    """Return one group of very many agents and very many rules, of 475 kB."""
    agents = b"".join(b"user-agent:%d\n" % n for n in range(N_AGENTS))
    return agents + b"".join(b"allow:/%x\n" % n for n in range(N_RULES)) + b"user-agent:*\ndisallow:/none\n"


def wildcards() -> bytes:
    """Return very many rules with wildcards, for all robots."""
    return b"User-agent: *\n" + b"".join(b"disallow:*a%x*b\n" % n for n in range(N_WILDCARDS))


def backtracking() -> bytes:
    """Return rules that cause exponential backtracking in a naive matcher."""
    return b"User-agent: *\n" + b"".join(b"disallow: /%s%x$\n" % (b"*x" * 60, n) for n in range(2_000))


def ruled(body: bytes) -> Hostile:
    """Return ordinary pages under a robots.txt."""
    answers: dict[str, Reply] = {"/robots.txt": robots(body), **PAGES}
    return Hostile(answers, dict.fromkeys(PAGES, dropped(KEPT)), linked=tuple(PAGES))


def tiny_elements(n_elements: int = N_ELEMENTS) -> bytes:
    """Return a compressed sitemap of very many empty elements."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    block = b"<a/>" * 100_000
    parts = [packer.compress(NAMESPACE), *(packer.compress(block) for _ in range(n_elements // 100_000))]
    return b"".join([*parts, packer.compress(b"</urlset>"), packer.flush()])


def alternates(n_links: int = N_ALTERNATES) -> bytes:
    """Return a compressed sitemap of one page with very many versions."""
    head = NAMESPACE.replace(b">", b' xmlns:xhtml="http://www.w3.org/1999/xhtml">')
    link = b'<xhtml:link rel="alternate" hreflang="%x" href="/%x"/>'
    entry = b"<url><loc>/good/0.html</loc>" + b"".join(link % (n % 4096, n) for n in range(n_links // 4)) + b"</url>"
    return gzip.compress(head + entry * 4 + b"</urlset>", 6, mtime=0)


def mapped(*maps: bytes, type_: str = XML) -> Hostile:
    """Return a site of ordinary pages with these sitemaps."""
    named = {f"/map{n}.xml": sitemap(body, type_) for n, body in enumerate(maps)}
    rules = b"".join(b"Sitemap: %b\n" % path.encode() for path in named)
    answers: dict[str, Reply] = {"/robots.txt": robots(rules), **named}
    return Hostile(answers, linked=(), others=lambda path: page(path[:50]))


def index_loop() -> Hostile:
    """Return sitemap indexes that list themselves, each other, and endless new ones."""

    def others(path: str) -> Reply:
        if not path.startswith("/index"):
            return page(path[:50])
        number = int("0" + "".join(c for c in path if c.isdigit()))
        inner = [path, "/index0.xml", *(f"/index{50 * number + n}.xml" for n in range(1, 51))]
        rows = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in inner)
        return sitemap(f"<sitemapindex>{rows}</sitemapindex>".encode())

    return Hostile({"/robots.txt": robots(b"Sitemap: /index0.xml\n")}, linked=(), others=others)


def many_sitemaps() -> Hostile:
    """Return a robots.txt that lists 10,000 sitemaps, each with its own addresses."""

    def others(path: str) -> Reply:
        if not path.startswith("/map"):
            return page(path[:50])
        rows = "".join(f"<url><loc>{path}/{n}.pdf</loc></url>" for n in range(2_000))
        return sitemap(f"<urlset>{rows}</urlset>".encode())

    rules = b"".join(b"Sitemap: /map%d.xml\n" % n for n in range(10_000))
    return Hostile({"/robots.txt": robots(rules)}, linked=(), others=others)


def sitemaps_elsewhere(origin: str) -> Hostile:
    """Return a robots.txt with sitemaps at a port with the same leading digits, and at ports of other services."""
    other = f"{origin}1"
    named = [f"{other}/sitemap.xml", "http://127.0.0.1:25/sitemap.xml", "http://127.0.0.1:6000/sitemap.xml"]
    rules = "".join(f"Sitemap: {url}\n" for url in [*named, f"{origin}/mine.xml"]).encode()
    mine = f"<urlset><url><loc>{origin}/listed.html</loc></url><url><loc>{other}/x.html</loc></url></urlset>".encode()
    answers: dict[str, Reply] = {"/robots.txt": robots(rules), "/mine.xml": sitemap(mine), "/listed.html": page()}
    return Hostile(answers, {"/listed.html": dropped(KEPT)}, linked=(), never=frozenset({f"{other}/sitemap.xml"}))


def robots_without_end(kind: str) -> Hostile:
    """Return a robots.txt that is late, endless, or a redirect loop."""

    def pieces() -> Iterator[bytes]:
        while True:
            yield b"Disallow: /nothing\n" * 500

    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    kinds: dict[str, Reply] = {
        "endless": Answer(pieces, type=TEXT, framing="chunked"),
        "slow": endless(head + b"Content-Length: 500000\r\n\r\n", b"x", 0.2),
        "loop": redirect("/robots.txt"),
        "bomb": robots(gzip.compress(bytes(200_000_000), 9, mtime=0), {"Content-Encoding": "gzip"}),
        "members": robots(nested_gzip(empty_members(10_000_000), 1), {"Content-Encoding": "gzip, gzip"}),
        "one line": robots(b"Disallow: /" + b"x" * 3_000_000),
        "page": Answer(b"<p>" * 500_000, type=HTML),
    }
    answers: dict[str, Reply] = {"/robots.txt": kinds[kind], "/page.html": page()}
    allowed = dropped(KEPT, UNKNOWN, "robots-unreachable")
    return Hostile(answers, {"/page.html": allowed}, linked=("/page.html",), good=allowed)


def _lines(origin: str) -> bytes:
    return b"".join(b"%b/%x.pdf\n" % (origin.encode(), n) for n in range(200_000))


def _robots_case(kind: str) -> Callable[[str], Hostile]:
    return lambda origin: robots_without_end(kind)


_ROBOTS = ("endless", "slow", "loop", "bomb", "members", "one line", "page")

ROOT_CASES = (
    Case("13,000 agents with 20,000 rules", "robots.txt", lambda origin: ruled(many_agents())),
    Case("27,000 rules with wildcards", "robots.txt", lambda origin: ruled(wildcards())),
    Case("rules that lead a careless reader astray", "robots.txt", lambda origin: ruled(backtracking())),
    *(Case(f"robots.txt: {kind}", "robots.txt", _robots_case(kind)) for kind in _ROBOTS),
    Case("12 million tiny elements", "sitemaps", lambda origin: mapped(tiny_elements())),
    Case("1.6 million alternates", "sitemaps", lambda origin: mapped(alternates())),
    Case("200,000 lines", "sitemaps", lambda origin: mapped(_lines(origin), type_=TEXT)),
    Case("empty gzip members as a sitemap", "sitemaps", lambda origin: mapped(empty_members(10_000_000))),
    Case("a deep sitemap", "sitemaps", lambda origin: mapped(NAMESPACE + b"<url>" * 2_000_000)),
    Case("a sitemap of one long word", "sitemaps", lambda origin: mapped(NAMESPACE + b"<url><loc>" + b"x" * 9_000_000)),
    Case("indexes that list themselves and ever more", "sitemaps", lambda origin: index_loop()),
    Case("10,000 sitemaps", "sitemaps", lambda origin: many_sitemaps()),
    Case("sitemaps at other ports", "sitemaps", sitemaps_elsewhere, other_port=True, is_quick=True),
)
