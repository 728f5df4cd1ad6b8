"""Sitemaps: what they list is found, and what they might do is not done."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loopback import Answer, Server, links, redirect, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.sitemaps import MAX_ADDRESSES, MAX_SITEMAP_BYTES, SitemapLimits, SitemapReader

URL = "http://a.org/sitemap.xml"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


class Sitemap(NamedTuple):
    """All that a sitemap lists."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    versions: dict[str, tuple[int, str]]
    cut: str = ""


def read_sitemap(body: bytes, url: str, limits: SitemapLimits | None = None) -> Sitemap | None:
    reader = SitemapReader(url, limits)
    portions = list(reader.portions(body))
    versions: dict[str, tuple[int, str]] = {}
    for portion in portions:
        for address, (number, tag) in portion.versions.items():
            known = versions.get(address, (number, ""))
            assert known[0] == number
            versions[address] = number, known[1] or tag
    pages = tuple(address for portion in portions for address in portion.pages)
    assert len(set(pages)) == len(pages)
    assert reader.n_addresses == len(pages) + sum(len(portion.sitemaps) for portion in portions)
    sitemaps = tuple(address for portion in portions for address in portion.sitemaps)
    return Sitemap(pages, sitemaps, versions, reader.cut) if reader.is_sitemap else None


def urlset(*addresses: str) -> bytes:
    return f"{HEAD}<urlset xmlns='{SPACE}'>{''.join(f'<url><loc>{a}</loc></url>' for a in addresses)}</urlset>".encode()


def index(*addresses: str) -> bytes:
    inner = "".join(f"<sitemap><loc>{a}</loc><lastmod>2014-05-13</lastmod></sitemap>" for a in addresses)
    return f"{HEAD}<sitemapindex xmlns='{SPACE}'>{inner}</sitemapindex>".encode()


def test_pages_and_their_other_languages() -> None:
    body = f"""{HEAD}<urlset xmlns="{SPACE}" xmlns:xhtml="http://www.w3.org/1999/xhtml"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc>
        http://a.org/en?x=1&amp;y=2 </loc>
        <xhtml:link rel="alternate" hreflang="zh-HK" href="http://a.org/tc"/>
        <image:image><image:loc>http://a.org/picture.png</image:loc></image:image></url>
      <url><loc>/relative</loc></url><url><loc>http://a.org/tc</loc></url><url><loc>mailto:x</loc></url></urlset>"""
    expected = ("http://a.org/en?x=1&y=2", "http://a.org/tc", "http://a.org/relative")
    versions = {"http://a.org/en?x=1&y=2": (0, ""), "http://a.org/tc": (0, "zh-HK")}
    assert read_sitemap(body.encode(), URL) == Sitemap(expected, (), versions)


def alternates(*entries: tuple[str, dict[str, str]]) -> bytes:
    """Make a sitemap whose entries name versions by language."""
    links = (
        f"<url><loc>{loc}</loc>"
        + "".join(f"<xhtml:link rel='alternate' hreflang='{tag}' href='{url}'/>" for tag, url in versions.items())
        + "</url>"
        for loc, versions in entries
    )
    space = "xmlns:xhtml='http://www.w3.org/1999/xhtml'"
    return f"{HEAD}<urlset xmlns='{SPACE}' {space}>{''.join(links)}</urlset>".encode()


def test_versions_share_the_number_of_their_entry_whichever_of_them_names_them() -> None:
    both = {"en": "/a", "zh": "/b", "x-default": "/a"}
    one = alternates(("/a", both), ("/b", both), ("/c", {}), ("/d", {"zh": "/e"}))
    found = read_sitemap(one, URL)
    assert found is not None
    assert {url.removeprefix("http://a.org"): version for url, version in found.versions.items()} == {
        "/a": (0, "en"),
        "/b": (0, "zh"),
        "/d": (3, ""),
        "/e": (3, "zh"),
    }


def test_versions_that_a_sitemap_names_are_fetched_together(tmp_path: Path) -> None:
    names = [(f"/x{n}", f"/y{(n * 7) % 20}") for n in range(20)]
    listed = sorted(name for pair in names for name in pair)
    partner = {one: both for both in names for one in both}
    with serving(lambda path: Answer(f"<p>{path}".encode())) as site:
        entries = [
            (site.url + one, {"en": site.url + partner[one][0], "zh": site.url + partner[one][1]}) for one in listed
        ]
        site.sitemap = xml(alternates(*entries, (f"{site.url}/de", {"de": f"{site.url}/de"})))
        crawl([site.url], tmp_path, CrawlSettings(langs=("en", "zh"), concurrency=1, max_pages=11))
        fetched = set(site.fetched()) - {"/"}
    assert len(fetched) == 10
    assert sum(set(both) <= fetched for both in names) == 5


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (index("http://a.org/1.xml", "http://a.org/2.xml.gz"), ((), ("http://a.org/1.xml", "http://a.org/2.xml.gz"))),
        (gzip.compress(urlset("http://a.org/x"), mtime=0), (("http://a.org/x",), ())),
        (b"\xef\xbb\xbf" + urlset("http://a.org/x"), (("http://a.org/x",), ())),
        (urlset("http://a.org/x").decode().replace("UTF-8", "UTF-16").encode("utf-16"), (("http://a.org/x",), ())),
        (urlset("http://a.org/x").replace(b"UTF-8", b"utf-16"), (("http://a.org/x",), ())),  # the bytes are UTF-8
        (b"\xef\xbb\xbf" + urlset("http://a.org/x").replace(b"UTF-8", b"utf-16"), (("http://a.org/x",), ())),
        (b"<urlset><url><loc>http://a.org/x</loc></url></urlset>", (("http://a.org/x",), ())),
        (b"http://a.org/x\r\nhttp://a.org/y\n", (("http://a.org/x", "http://a.org/y"), ())),
        (b"<rss><channel><link>http://a.org/</link><item><link>http://a.org/x</link></item></channel></rss>", None),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='http://a.org/x'/></entry></feed>", None),
        (urlset("http://a.org/x")[:-20] + b"<broken", (("http://a.org/x",), ())),
        (urlset(), ((), ())),
    ],
)
def test_forms_of_sitemaps(body: bytes, expected: tuple[tuple[str, ...], tuple[str, ...]] | None) -> None:
    found = read_sitemap(body, URL)
    assert found is not None
    if expected is None:
        assert "http://a.org/x" in found.pages
    else:
        assert (found.pages, found.sitemaps) == expected


@pytest.mark.parametrize(
    "body", [b"", b"<html><body>Not found</body></html>", b"nothing here", b"\x1f\x8b damaged", b"<", b"\0" * 100]
)
def test_content_that_is_not_a_sitemap(body: bytes) -> None:
    assert read_sitemap(body, URL) is None


def test_an_escaped_ampersand_of_a_version_is_one() -> None:
    found = read_sitemap(alternates(("/?a&amp;lang=en", {"de": "/?a&amp;lang=de", "fr": "/?a&#38;lang=fr"})), URL)
    assert found is not None
    assert sorted(found.pages) == [f"http://a.org/?a&lang={lang}" for lang in ("de", "en", "fr")]


def test_an_unescaped_ampersand_is_part_of_the_address() -> None:
    space = "xmlns:xhtml='http://www.w3.org/1999/xhtml'"
    body = f"""{HEAD}<urlset xmlns="{SPACE}" {space}>
      <url><loc>http://a.org/?a=1&b=2&lang=fr</loc><xhtml:link hreflang="de" href="http://a.org/?a=1&lang=de"/></url>
      <url><loc>http://a.org/?a=1&amp;b=2&#38;c=3&#x26;d&</loc></url>
      <url><loc><![CDATA[http://a.org/?cdata&b=2&amp=3]]></loc></url><url><loc>http://a.org/?x&y</loc></url></urlset>"""
    found = read_sitemap(body.encode(), URL)
    assert found is not None
    queries = ["a=1&b=2&lang=fr", "a=1&lang=de", "a=1&b=2&c=3&d&", "cdata&b=2&amp=3", "x&y"]
    assert sorted(found.pages) == sorted(f"http://a.org/?{query}" for query in queries)
    assert found.versions["http://a.org/?a=1&lang=de"] == (0, "de")


@pytest.mark.parametrize("address", ["http://a.org/?a&amp;b&c", "<![CDATA[http://a.org/?a&b&c]]>"])
def test_ampersands_are_read_wherever_a_part_of_the_body_ends(address: str) -> None:
    for shift in range(len(address) + 20):
        body = urlset("http://a.org/1", f"<!--{'x' * (2**16 - 150 - shift)}-->http://a.org/2", *[address] * 5)
        found = read_sitemap(body, URL)
        assert found is not None
        assert found.pages == ("http://a.org/1", "http://a.org/2", "http://a.org/?a&b&c")


def test_entities_are_not_expanded() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    declared = f'<!DOCTYPE urlset [<!ENTITY e0 "http://a.org/e">{levels}<!ENTITY file SYSTEM "file:///etc/hostname">]>'
    body = (
        f"<?xml version='1.0'?>{declared}<urlset><url><loc>http://a.org/1</loc></url><url><loc>&e8;</loc></url>"
        "<url><loc>http://a.org/&file;</loc></url><url><loc>http://a.org/2</loc></url></urlset>"
    )
    found = read_sitemap(body.encode(), URL)
    assert found is not None
    assert set(found.pages) <= {"http://a.org/1", "http://a.org/2", "http://a.org/"}
    assert "http://a.org/1" in found.pages


def test_elements_deep_within_each_other_end_the_reading() -> None:
    listed = f"<urlset xmlns='{SPACE}'><url><loc>http://a.org/b</loc></url>".encode()
    found = read_sitemap(listed + b"<url>" * 100_000 + b"<loc>http://a.org/deep</loc>", URL)
    assert found is not None
    assert found.pages == ("http://a.org/b",)
    assert "nested elements" in found.cut


def test_limits() -> None:
    lines = "\n".join(f"http://a.org/{n}" for n in range(MAX_ADDRESSES + 10))
    for body in (lines.encode(), urlset(*lines.split())):
        found = read_sitemap(body, URL)
        assert found is not None
        assert MAX_ADDRESSES <= len(found.pages) <= MAX_ADDRESSES + 1
    bomb = gzip.compress(b"<urlset><url><loc>http://a.org/x</loc></url>" + b" " * (MAX_SITEMAP_BYTES + 1), mtime=0)
    assert len(bomb) < 100_000
    assert read_sitemap(bomb, URL) == Sitemap(("http://a.org/x",), (), {}, f"more than {MAX_SITEMAP_BYTES} bytes")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<urlset>", "<url>", "<loc>", "</loc>", "http://a.org/", "<!--", "-->", "&x;", "\0", "<", "é"])
    )
)
def test_no_bytes_break_it(parts: list[str]) -> None:
    read_sitemap("".join(parts).encode(), URL)


def robots(text: str) -> Answer:
    return Answer(text.encode(), type="text/plain")


def xml(body: bytes) -> Answer:
    return Answer(body, type="application/xml")


def page(path: str) -> Answer:
    return links() if path in ("/", "/hidden", "/hidden-tc", "/other", "/private/x") else Answer(status=404)


def with_sitemaps(site_of: Callable[[], Server], maps: dict[str, Callable[[str], Answer]]) -> Callable[[str], Answer]:
    return lambda path: maps[path](site_of().url) if path in maps else page(path)


def test_robots_txt_leads_to_sitemaps_and_these_to_pages(tmp_path: Path) -> None:
    maps: dict[str, Callable[[str], Answer]] = {
        "/index.xml": lambda url: xml(index(f"{url}/moved.xml", f"{url}/gone.xml", "http://elsewhere.example/s.xml")),
        "/moved.xml": lambda url: Answer(status=301, headers={"Location": "/pages.xml.gz"}),
        "/pages.xml.gz": lambda url: Answer(
            gzip.compress(urlset(f"{url}/hidden", f"{url}/private/x", "http://elsewhere.example/x"), mtime=0),
            type="application/gzip",
        ),
        "/text.txt": lambda url: Answer(f"{url}/other\n{url}/gone\n".encode(), type="text/plain"),
    }
    rules = "User-agent: *\nDisallow: /private/\nSitemap: /index.xml\nSitemap: text.txt\nSitemap: http://x.example/"
    with serving(with_sitemaps(lambda: site, maps), robots(rules)) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings())
        rejects = {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(tmp_path).rejects()}
        log = list(site.log)
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 3
        assert site.log == log
    assert progress.fetched == 3
    assert rejects == {"/private/x": "robots", "/gone": "http-404"}
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"http-404": 1, "moved": 1, "read": 3}
    assert "/sitemap.xml" not in log  # robots.txt named others


def test_the_usual_place_is_tried(tmp_path: Path) -> None:
    languages = (
        "<urlset xmlns:x='http://www.w3.org/1999/xhtml'><url><loc>%s/hidden</loc>"
        "<x:link rel='alternate' hreflang='zh' href='%s/hidden-tc'/></url></urlset>"
    )
    with serving(page) as site:
        site.sitemap = xml((languages % (site.url, site.url)).encode())
        assert crawl([site.url], tmp_path / "with", CrawlSettings()).fetched == 3
        assert crawl([site.url], tmp_path / "wild", CrawlSettings(obey_robots=False)).fetched == 3


def test_html_page_at_a_sitemap_address_is_not_a_sitemap(tmp_path: Path) -> None:
    with serving(page, sitemap=links("/hidden")) as site:
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 1
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"not-a-sitemap": 1}
    assert list(FrontierReader(tmp_path).rejects()) == []


def test_a_page_that_is_met_as_a_sitemap_is_fetched_as_a_page(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        known = {"/": links("/hidden"), "/en/": links("/", "/map"), "/map": links("/other")}
        return known.get(path) or (page(path) if path in ("/hidden", "/other") else redirect("/"))

    with serving(answer, robots("Sitemap: /gone.xml\nSitemap: /map")) as site:
        for order in ("pairs", "breadth"):
            assert crawl([f"{site.url}/en/"], tmp_path / order, CrawlSettings(order=order)).fetched == 5
            assert list(FrontierReader(tmp_path / order).rejects()) == []
            assert FrontierReader(tmp_path / order).report()["sitemaps"] == {"moved": 1, "not-a-sitemap": 2}


def test_the_usual_place_is_tried_where_robots_txt_names_only_sitemaps_off_the_sites(tmp_path: Path) -> None:
    with serving(page) as site:
        site.robots = robots(f"Sitemap: {site.url.replace('127.0.0.1', 'localhost')}/sitemap.xml")
        site.sitemap = xml(urlset(f"{site.url}/hidden"))
        assert crawl([site.url], tmp_path, CrawlSettings(site_by="host")).fetched == 2


def serving_on_ports_alike(
    stack: ExitStack, answer: Callable[[str], Answer | None], other: Callable[[str], Answer | None]
) -> tuple[Server, Server]:
    """Serve on two ports one of which begins as the other does: 1813 and 18131."""
    for port in range(2_000, 6_000):
        with suppress(OSError), ExitStack() as attempt:
            site = attempt.enter_context(serving(answer, port=port))
            longer = attempt.enter_context(serving(other, port=10 * port + 1))
            stack.enter_context(attempt.pop_all())
            return site, longer
    pytest.fail("no two such ports are free")


def test_sitemaps_on_another_port_are_not_asked_for(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        if path == "/index.xml":
            return xml(index(f"{other.url}/inner.xml"))
        return redirect(f"{other.url}/moved.xml") if path == "/moved.xml" else page(path)

    with ExitStack() as stack:
        site, other = serving_on_ports_alike(stack, answer, lambda path: xml(urlset()))
        assert other.url.startswith(site.url)
        site.robots = robots(f"Sitemap: {other.url}/named.xml\nSitemap: /index.xml\nSitemap: /moved.xml")
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 1
        assert other.log == []
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"moved": 1, "read": 1}


def test_an_index_that_lists_itself_ends(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return xml(index(*(f"{site.url}{path}/{n}.xml" for n in range(2)))) if path.startswith("/s") else page(path)

    with serving(answer, robots("Sitemap: /s")) as site:
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 1
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"read": 1 + 2 + 4 + 8}
