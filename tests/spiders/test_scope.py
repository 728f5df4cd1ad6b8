"""Which links a crawl follows."""

from __future__ import annotations

import pytest

from twinlink.config import CrawlSettings
from twinlink.spiders.frontier import FrontierEntry
from twinlink.spiders.scope import MAX_HOPS, MAX_LINK_BYTES, MAX_LINKS, PartScope, Scope, host_of
from twinlink.spiders.traps import shape, winds
from twinlink.urls import page_key

SITE = "http://www.example.org"


def scope(**changes: object) -> Scope:
    settings = CrawlSettings(**changes)  # type: ignore[arg-type]
    return Scope([f"{SITE}/"], settings)


def at(url: str, depth: int = 0, chain: int = 0, hops: int = 0) -> FrontierEntry:
    return FrontierEntry(page_key(url), url, host_of(url), depth, chain, hops)


def reasons(page: FrontierEntry, *urls: str, **changes: object) -> dict[str, str]:
    return {entry.url: entry.reason for entry in scope(**changes).links(page, urls)}


@pytest.mark.parametrize(("site_by", "n"), [("domain", 1), ("host", 2), ("path", 3)])
def test_the_sites_of_the_start_pages_are_counted(site_by: str, n: int) -> None:
    starts = [f"http://{place}" for place in ("a.x.hk/", "b.x.hk/en/1", "b.x.hk/en/2", "b.x.hk/tc/1")]
    assert Scope(starts, CrawlSettings(site_by=site_by)).n_sites == n


def test_links_off_the_sites_are_no_entries() -> None:
    urls = [f"{SITE}/a", "http://data.example.org/", "http://example.com/", "http://example.org.evil.com/"]
    assert list(reasons(at(f"{SITE}/"), *urls)) == [f"{SITE}/a", "http://data.example.org/"]
    assert list(reasons(at(f"{SITE}/"), *urls, site_by="host")) == [f"{SITE}/a"]


def test_documents_are_dropped_by_name_and_resources_ignored() -> None:
    urls = [f"{SITE}/a.PDF", f"{SITE}/b.jpg?size=1", f"{SITE}/style.css", f"{SITE}/c.php?f=x.pdf", f"{SITE}/v1.2/page"]
    expected = {f"{SITE}/a.PDF": "not-html", f"{SITE}/c.php?f=x.pdf": "", f"{SITE}/v1.2/page": ""}
    assert reasons(at(f"{SITE}/"), *urls) == expected


def test_depth() -> None:
    assert reasons(at(f"{SITE}/", depth=2), f"{SITE}/a", max_depth=3) == {f"{SITE}/a": ""}
    assert reasons(at(f"{SITE}/", depth=3), f"{SITE}/a", max_depth=3) == {f"{SITE}/a": "depth"}


def test_a_page_does_not_link_to_itself_nor_twice_to_one_key() -> None:
    entries = scope().links(at(f"{SITE}/?a=1&b=2"), [f"{SITE}/?b=2&a=1", f"{SITE}/x?a=1&b=2", f"{SITE}/x?b=2&a=1"])
    assert [entry.url for entry in entries] == [f"{SITE}/x?a=1&b=2"]


def walk(urls: list[str], limit: int) -> int:
    """Follow a chain of links; return how many are followed."""
    page = at(urls[0])
    for followed, url in enumerate(urls[1:]):
        (page,) = scope(max_trap_chain=limit).links(page, [url])
        if page.reason:
            assert page.reason == "trap"
            return followed
    return len(urls) - 1


@pytest.mark.parametrize(
    "urls",
    [
        [f"{SITE}/calendar?year={2000 + n // 12}&month={n % 12}" for n in range(20)],
        [f"{SITE}/events/{2000 + n // 12}/{n % 12 + 1:02}/" for n in range(20)],
        [f"{SITE}/diary-{2000 + n // 12}-{n % 12 + 1:02}.html" for n in range(20)],
    ],
)
def test_calendars_end(urls: list[str]) -> None:
    assert walk(urls, limit=5) == 5


@pytest.mark.parametrize(
    "urls",
    [
        [f"{SITE}/p/{n:06}.html" for n in range(20)],
        [f"{SITE}/{'en' if n % 2 else 'tc'}/page.php?id={n}" for n in range(20)],  # from shape to shape
    ],
)
def test_ordinary_pages_are_no_trap(urls: list[str]) -> None:
    assert walk(urls, limit=5) == 19


def test_another_page_between_ends_the_chain() -> None:
    assert scope().links(at(f"{SITE}/c?m=1", chain=9), [f"{SITE}/about"])[0].chain == 0
    assert scope().links(at(f"{SITE}/c?m=1", chain=9), [f"{SITE}/c?m=2"])[0].chain == 10


def test_a_path_that_repeats_itself_is_a_trap() -> None:
    assert reasons(at(f"{SITE}/"), f"{SITE}/en/en/en/en/a") == {f"{SITE}/en/en/en/en/a": "trap"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/a/a", False),
        ("/a/a/a/a", True),
        ("/x/a/b/c/a/b/c/a/b/c/a/b/c", True),
        ("/a/b/a/b/a/b", False),
        ("////////", False),
    ],
)
def test_winds(path: str, expected: bool) -> None:
    assert winds(SITE + path) is expected


def test_shape_keeps_the_names_of_a_query_only() -> None:
    assert shape(f"{SITE}/c?b=1&a=2") == shape(f"{SITE}/c?a=3&b=4") != shape(f"{SITE}/c?a=3")


def test_redirects() -> None:
    inside = scope()
    target = inside.redirect(at(f"{SITE}/a", depth=50, chain=3), "http://data.example.org/b")
    assert target is not None
    assert (target.depth, target.chain, target.hops, target.reason) == (50, 3, 1, "")
    assert inside.redirect(at(f"{SITE}/a"), "http://example.com/") is None
    for page, url in ((at(f"{SITE}/a", hops=MAX_HOPS), f"{SITE}/b"), (at(f"{SITE}/a"), f"{SITE}/a")):
        target = inside.redirect(page, url)
        assert target is not None
        assert target.reason == "redirect-loop"
    target = inside.redirect(at(f"{SITE}/a"), f"{SITE}/a.pdf")
    assert target is not None
    assert target.reason == "not-html"


@pytest.mark.parametrize("kind", ["page", "sitemap"])
def test_a_page_with_very_many_links_says_how_many_are_not_looked_at(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 500
    monkeypatch.setitem(MAX_LINKS, kind, most)
    page = at(f"{SITE}/")._replace(kind=kind)
    urls = [f"{SITE}/{n}" for n in range(most + 10)]
    assert len(scope().links(page, urls[:most])) == most
    entries = scope().links(page, urls)
    assert [entry.reason for entry in entries] == [*[""] * most, "too-many-links"]
    assert entries[-1].url == urls[most]
    assert entries[-1].detail == f"it and 9 links after it, on {SITE}/"


def test_a_page_with_very_long_addresses_brings_so_many_fewer() -> None:
    long = f"{SITE}/{'x' * 1_900}/"
    urls = [f"{long}{n}" for n in range(10_000)]
    entries = scope().links(at(f"{SITE}/"), urls)
    assert sum(len(entry.url) for entry in entries[:-1]) <= MAX_LINK_BYTES["page"]
    assert [entry.reason for entry in entries] == [*[""] * (len(entries) - 1), "too-many-links"]
    assert len(entries) > MAX_LINK_BYTES["page"] / 2_000
    assert entries[-1].detail == f"it and {len(urls) - len(entries)} links after it, on {SITE}/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.example.org/map.xml", "www.example.org/en/"),
        ("https://www.example.org/map.xml", "www.example.org/en/"),  # a host that moves to https
        ("http://www.example.org/en/map.xml", "www.example.org/en/"),
        ("http://www.example.org:8080/map.xml", None),
        ("https://www.example.org:80/map.xml", None),
        ("http://www.example.org.evil.net/map.xml", None),
        ("http://www.example.orga/map.xml", None),
        ("http://example.org/map.xml", None),
    ],
)
def test_sitemaps_of_a_folder_lie_in_the_place_that_names_them(url: str, expected: str | None) -> None:
    scoped = Scope([f"{SITE}/en/"], CrawlSettings(site_by="path"))
    found = scoped.sitemap(url, f"{SITE}/robots.txt", "www.example.org/en/")
    assert (found and found.site) == expected
    moved = scoped.redirect(
        FrontierEntry("k", f"{SITE}/a", "www.example.org", site="www.example.org/en/", kind="sitemap"), url
    )
    assert (moved and moved.site) == expected


def test_a_sitemap_has_another_key_than_a_page_at_its_address() -> None:
    inside = scope()
    found = inside.sitemap(f"{SITE}/a")
    assert found is not None
    moved = inside.redirect(found, f"{SITE}/b")
    assert moved is not None
    pages = inside.links(at(f"{SITE}/"), [f"{SITE}/a", f"{SITE}/b"])
    assert not {found.key, moved.key} & {page.key for page in pages}
    assert inside.sitemap(f"{SITE}/b") == moved._replace(hops=0)


def test_parts_of_pages_belong_to_the_sites_of_their_hosts() -> None:
    def parts(**changes: object) -> PartScope:
        return PartScope([f"{SITE}/en/"], CrawlSettings(**changes))  # type: ignore[arg-type]

    assert parts(site_by="path").start(f"{SITE}/style.css").site == "www.example.org/en/"  # above the folder
    assert parts().start("http://static.example.org/a.css").reason == ""
    assert parts(site_by="host").start("http://static.example.org/a.css").reason == "excluded"
    elsewhere = parts(page_parts="all").start("http://cdn.example.net/a.css")
    assert (elsewhere.reason, elsewhere.site, elsewhere.kind) == ("", "cdn.example.net", "part")
    assert parts(include=("/en/",)).start(f"{SITE}/style.css").reason == ""
    assert parts(exclude=("[.]css$",)).start(f"{SITE}/style.css").reason == "excluded"
