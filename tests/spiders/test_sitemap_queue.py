"""Sitemaps that mean harm, and what is read of all sitemaps of a site: bounded, counted, and in turns with pages."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loopback import Answer, links, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
from twinlink.spiders.failures import RefusedError
from twinlink.spiders.frontier import LEDGER_NAME, Budget, Frontier, FrontierEntry, FrontierReader, Outcome
from twinlink.spiders.items import LinksItem
from twinlink.spiders.scope import Scope
from twinlink.spiders.sitemap_queue import Listing
from twinlink.spiders.sitemaps import MAX_ADDRESSES, MAX_SITEMAP_BYTES, Portion, SitemapLimits, SitemapReader
from twinlink.system.packed import PackedError, gzip_parts

URL = "http://a.org/sitemap.xml"


def read(body: bytes, limits: SitemapLimits | None = None) -> tuple[SitemapReader, list[Portion]]:
    reader = SitemapReader(URL, limits)
    return reader, list(reader.portions(body))


def locs(n: int, path: str = "/") -> bytes:
    return b"<urlset>" + b"".join(b"<url><loc>%s%d</loc></url>" % (path.encode(), number) for number in range(n))


HEAD = b"<urlset><url><loc>/first</loc></url>"
HOSTILE: dict[str, Callable[[], bytes]] = {
    "tiny elements": lambda: HEAD + b"<a/>" * 2_100_000,
    "deep elements": lambda: HEAD + b"<a>" * 100_000,
    "named elements": lambda: HEAD + b"".join(b"<a%d/>" % n for n in range(2_100_000)),
    "one tag": lambda: HEAD + b"<a " + b"".join(b"b%d='>' " % n for n in range(400_000)),
    "one comment": lambda: HEAD + b"<!--" + b"> " * 5_000_000,
    "declarations": lambda: HEAD + b"<!DOCTYPE a [" + b"".join(b"<!ENTITY e%d 'x'>" % n for n in range(200_000)),
    "too many addresses": lambda: HEAD + locs(MAX_ADDRESSES),
    "one address again and again": lambda: HEAD + b"<url><loc>/x</loc></url>" * 200_000,
    "versions again and again": lambda: HEAD + b"<url>" + b"<link href='/a'/>" * 600_000,
    "versions": lambda: HEAD + b"<url>" + b"".join(b"<link href='/%d'/>" % n for n in range(250_000)),
    "long addresses": lambda: HEAD + locs(30_000, f"/{'x' * 1_000}/"),
    "spaces": lambda: HEAD + b" " * MAX_SITEMAP_BYTES,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_sitemap_above_a_limit_is_cut_and_reported(name: str) -> None:
    reader, portions = read(gzip.compress(HOSTILE[name](), 1))
    assert reader.is_sitemap
    assert reader.cut
    assert portions[0].pages[0] == "http://a.org/first"
    assert reader.n_bytes <= MAX_SITEMAP_BYTES
    assert sum(map(len, (address for portion in portions for address in portion.pages))) <= SitemapLimits().characters
    assert max(len(portion.pages) for portion in portions) <= 2**16 / len("<link href='/0'/>") * 2
    assert len(portions) >= reader.n_bytes / 2**17  # the others have their turn after each part


@pytest.mark.parametrize(
    "body", [b"http://a.org/x\n" + b"y" * 10_000_000, b"\0" * 10_000_000, b"<" + b"x" * 10_000_000]
)
def test_long_words_are_no_addresses(body: bytes) -> None:
    reader, portions = read(body)
    assert [address for portion in portions for address in portion.pages] == (
        ["http://a.org/x"] if reader.is_sitemap else []
    )


def test_a_damaged_packing_is_read_as_far_as_it_goes() -> None:
    body = gzip.compress(locs(30_000), 1)
    reader, portions = read(body[: len(body) // 2])
    assert reader.cut.startswith("damaged")
    assert 10_000 < sum(len(portion.pages) for portion in portions) < 20_000


def test_versions_keep_their_number_from_portion_to_portion() -> None:
    entry = "<url><loc>/{0}</loc><link hreflang='en' href='/{0}'/><link hreflang='zh' href='/{0}-zh'/></url>"
    turned = "<url><loc>/{0}-zh</loc><link hreflang='en' href='/{0}'/><link hreflang='zh' href='/{0}-zh'/></url>"
    body = "".join(form.format(n) for form in (entry, turned) for n in range(2_000))
    _, portions = read(f"<urlset>{body}".encode())
    assert len(portions) > 3
    numbers: dict[str, set[int]] = {}
    for portion in portions:
        for address, (number, _) in portion.versions.items():
            numbers.setdefault(address, set()).add(number)
    assert numbers == {f"http://a.org/{n}{lang}": {n} for n in range(2_000) for lang in ("", "-zh")}


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=40), st.integers(1, 500), st.integers(1, 15))
def test_gzip_comes_in_parts(members: list[bytes], size: int, cut: int) -> None:
    packed = b"".join(gzip.compress(member, mtime=0) for member in members)
    parts = list(gzip_parts(packed, size))
    assert b"".join(parts) == b"".join(members)
    assert all(size <= len(part) < 2 * size for part in parts[:-1])
    damaged = gzip_parts(packed + gzip.compress(b"y" * 500, mtime=0)[:-cut], size)
    found: list[bytes] = []
    with pytest.raises(PackedError):
        found.extend(damaged)
    assert b"".join(found).startswith(b"".join(members))


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    with closing(Frontier(tmp_path / LEDGER_NAME)) as frontier:
        frontier.seed([FrontierEntry("http://a.org/", "http://a.org/", "a.org", site="a.org")], 50, 30, Budget())
        yield frontier


def listing(frontier: Frontier) -> tuple[Listing, FrontierEntry]:
    scope = Scope(["http://a.org/"], CrawlSettings())
    entry = scope.sitemap(URL)
    assert entry is not None
    frontier.add([entry])
    return Listing(frontier, scope, None, 100_000), entry


async def book(frontier: Frontier, portions: AsyncIterator[LinksItem | Outcome]) -> Outcome | None:
    """Book what a sitemap lists as the item pipeline does; return its outcome, None without one."""
    async for portion in portions:
        if isinstance(portion, Outcome):
            return portion
        frontier.bring(portion.entry, portion.links)
        frontier.spend_on_sitemaps(portion.entry.site, portion.n_addresses, portion.n_bytes)
    return None


def test_others_have_their_turn_while_a_sitemap_is_read(frontier: Frontier) -> None:
    turns: list[int] = []

    async def others() -> None:
        while True:
            turns.append(frontier.counts().queued)
            await asyncio.sleep(0)

    async def both() -> Outcome | None:
        task = asyncio.ensure_future(others())
        reader, entry = listing(frontier)
        outcome = await book(frontier, reader.read(entry, locs(20_000), lambda: True))
        task.cancel()
        return outcome

    assert asyncio.run(both()) == Outcome("aside", status=200)
    assert frontier.counts().queued == 20_002
    assert max(after - before for before, after in pairwise(turns)) <= 500
    assert frontier.room_for_sitemaps("a.org")[0] == 2**62 - 20_100


def test_a_crawl_that_ends_leaves_its_sitemap_to_be_read_again(frontier: Frontier) -> None:
    reader, entry = listing(frontier)
    portions = reader.read(entry, locs(20_000), lambda: frontier.counts().queued < 3_000)
    assert asyncio.run(book(frontier, portions)) is None
    assert 3_000 <= frontier.counts().queued < 10_000


def test_sitemaps_that_are_not_read_are_dropped_together(frontier: Frontier) -> None:
    """Each by itself would take a request that is refused: an index can name a million."""
    reader, entry = listing(frontier)
    scope = Scope(["http://a.org/", "http://b.org/"], CrawlSettings())
    frontier.add([scope.sitemap(f"http://{host}.org/{n}.xml") for host in "ab" for n in range(2_500)])
    reader.check(entry)
    assert frontier.counts().rejected == 0
    frontier.spend_on_sitemaps("a.org", 2**62, 0)
    for n_dropped in (1_000, 2_000, 2_501):
        with pytest.raises(RefusedError) as refused:
            reader.check(entry)
        assert refused.value.reason == "sitemap-budget"
        assert frontier.counts().rejected == n_dropped
    assert frontier.counts().queued == 1 + 2_500  # the start page, and what another site lists
    with pytest.raises(RefusedError) as refused:
        Listing(frontier, scope, None, 1).check(entry)
    assert refused.value.reason == "not-needed"
    assert frontier.counts().rejected == 2_501


def xml(body: bytes) -> Answer:
    return Answer(body, type="application/xml")


def site_of(maps: dict[str, bytes]) -> Callable[[str], Answer | None]:
    return lambda path: xml(maps[path]) if path in maps else links()


def named(n: int) -> Answer:
    return Answer("".join(f"Sitemap: /{number}.xml\n" for number in range(n)).encode(), type="text/plain")


def test_sitemaps_beyond_the_limit_of_a_site_are_counted_and_not_asked_for(tmp_path: Path) -> None:
    maps = {f"/{n}.xml": locs(30, f"/{n}/") for n in range(6)}
    settings = CrawlSettings(max_site_listed=270)
    with serving(site_of(maps), robots=named(6)) as site:
        progress = crawl([site.url], tmp_path, settings)
        asked = [path for path in site.log if path in maps]
        assert asked == ["/0.xml", "/1.xml", "/2.xml"]  # a sitemap counts for a hundred more
        assert progress.reasons == {"sitemap-budget": 3, "sitemap-cut": 1}
        assert progress.fetched == 1 + 30 + 30 + 10
        found = {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(tmp_path).rejects()}
        assert found == {"/2.xml": "sitemap-cut", **{f"/{n}.xml": "sitemap-budget" for n in (3, 4, 5)}}
        assert FrontierReader(tmp_path).report()["sitemaps"] == {"read": 2, "sitemap-budget": 3, "sitemap-cut": 1}
        more = crawl([site.url], tmp_path, CrawlSettings())
        assert more.fetched == 1 + 5 * 30 + 10
        assert more.reasons == {"sitemap-cut": 1}


def test_indexes_that_list_ever_more_indexes_are_soon_enough(tmp_path: Path) -> None:
    """What is within an index within an index counts ten times as much: loops have thousands of them."""

    def answer(path: str) -> Answer:
        if not path.startswith("/index"):
            return links()
        number = int(path.removeprefix("/index").removesuffix(".xml"))
        inner = ["/index0.xml", *(f"/index{20 * number + n}.xml" for n in range(1, 21))]
        rows = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in inner)
        return xml(f"<sitemapindex>{rows}</sitemapindex>".encode())

    rules = Answer(b"Sitemap: /index0.xml\n", type="text/plain")
    with serving(answer, robots=rules) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_site_listed=20_000))
        n_asked = sum(path.startswith("/index") for path in site.log)
    assert 15 < n_asked < 25  # without that, a hundred and fifty
    assert progress.reasons["sitemap-budget"] > 300


def test_sitemaps_of_a_site_of_which_enough_is_known_are_not_asked_for(tmp_path: Path) -> None:
    maps = {f"/{n}.xml": locs(120, f"/{n}/") for n in range(6)}
    with serving(site_of(maps), robots=named(6)) as site:
        crawl([site.url], tmp_path, CrawlSettings(max_pages=150, concurrency=1))
        assert [path for path in site.log if path in maps] == ["/0.xml", "/1.xml"]
    assert FrontierReader(tmp_path).report()["sitemaps"] == {"not-needed": 4, "read": 2}


def test_sitemaps_are_no_pages_that_are_known(tmp_path: Path) -> None:
    maps = {f"/{n}.xml": locs(1, f"/{n}/") for n in range(12)}
    with serving(site_of(maps), robots=named(12)) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=10))
    assert progress.fetched == 10
    assert FrontierReader(tmp_path).report()["sitemaps"]["read"] >= 9


def test_pages_are_fetched_despite_a_hostile_sitemap(tmp_path: Path) -> None:
    bomb = gzip.compress(HEAD + b"<a/>" * 2_100_000, 9)
    assert len(bomb) < 50_000
    with serving(site_of({"/0.xml": bomb}), robots=named(1)) as site, serving(lambda path: links("/a", "/b")) as other:
        progress = crawl([site.url, other.url], tmp_path, CrawlSettings())
    assert progress.fetched == 2 + 3
    assert progress.reasons == {"sitemap-cut": 1}


def test_links_beyond_what_a_site_may_take_up_are_counted(tmp_path: Path) -> None:
    many = [f"/{'x' * 500}/{n}" for n in range(60)]
    with serving(lambda path: Answer(path.encode() + links(*many).body)) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_site_address_bytes=20_000))
        rejects = list(FrontierReader(tmp_path).rejects())
    assert progress.fetched == 19  # a thousand characters each, and the start page
    assert progress.reasons == {"too-many-links": 1}
    assert rejects[0].detail == (
        f"it and 41 links after it: the addresses of {site.url.removeprefix('http://')} reached 20000 bytes"
    )
