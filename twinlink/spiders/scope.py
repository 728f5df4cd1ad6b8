"""Scope of a crawl: it follows links within its sites, except documents, traps and links that are too deep."""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from twinlink.config import CrawlSettings
from twinlink.spiders.dead_forms import DeadForms
from twinlink.spiders.frontier import SAME_PAGE, SITEMAP_KEY, FrontierEntry
from twinlink.spiders.frontier.partners import OF_SITEMAPS, UNKNOWN, UNWANTED, Sides
from twinlink.spiders.frontier.urgency import LAST, PLAIN, UNLIKELY
from twinlink.spiders.passive_parameters import PassiveParameters
from twinlink.spiders.traps import Sameness, form, session_parameter, shape, suspicion, varies, winds
from twinlink.urls import REMEMBERED_LENGTH, page_key, root_of, share_place, site_of

MAX_HOPS = 10
"""Redirects followed in a row: RFC 9110 leaves the number open; browsers stop at 20, and 10 was in no trial too few."""

MAX_LINKS = {"page": 50_000, "sitemap": 200_000}
"""Addresses that one page, or one sitemap, can bring: to look at fifty thousand takes about a second, in which all
hosts wait. A sitemap may have 50,000 pages, each in several languages; it is looked at in portions."""
MAX_LINK_BYTES = {kind: 100 * most for kind, most in MAX_LINKS.items()}
"""Characters of these addresses: with a long ``<base>``, each link of a page could be 2,000 long, and all of them take
up 300 MB in the ledger."""

# Parts of pages. They are loaded, not read: nothing is lost when they are left out, so they are not counted.
_RESOURCES = frozenset(
    "css js mjs map woff woff2 ttf otf eot ico cur png jpg jpeg jpe jfif gif svg webp avif bmp tif tiff".split()
)
# Documents that a reader opens like a page, but that are no HTML.
_DOCUMENTS = frozenset(
    "pdf ps eps doc docx docm dot dotx rtf odt xls xlsx xlsm ods csv tsv ppt pptx pps ppsx odp epub mobi txt json rss"
    " atom kml kmz dwg psd ai ics vcf zip gz tgz bz2 xz 7z rar tar jar exe msi dmg apk iso bin torrent"
    " mp3 mp4 m4a m4v wav ogg oga ogv webm avi mov wmv wma flv swf mpg mpeg 3gp ram asf".split()
)


class Scope:
    """The sites of the start pages, and the limits.

    Parameters
    ----------
    starts : sequence of str
        The start pages, normalised.
    settings : CrawlSettings
        ``site_by``, ``include``, ``exclude``, ``max_depth`` and ``max_trap_chain`` count.
    """

    def __init__(self, starts: Sequence[str], settings: CrawlSettings) -> None:
        self._settings = settings
        self._include = _patterns(settings.include)
        self._exclude = _patterns(settings.exclude)
        self._sites: frozenset[str] = frozenset()
        self._folders: dict[str, list[str]] = {}  # host with port → folders of start pages on it, the longest first
        if settings.site_by == "path":
            for folder in sorted({_folder(start) for start in starts}, key=lambda name: (-len(name), name)):
                self._folders.setdefault(folder.partition("/")[0], []).append(folder)
        else:
            self._sites = frozenset(site_of(start, settings.site_by) for start in starts)
        self._by_host: dict[str, str] = {}
        self._sameness = Sameness()
        self._parameters = PassiveParameters()
        self.dead_forms = DeadForms()
        """Forms of address that bring failures alone."""

    @property
    def n_sites(self) -> int:
        """Number of sites of the start pages."""
        return sum(map(len, self._folders.values())) or len(self._sites)

    def site(self, url: str) -> str:
        """Return the site of the crawl that a normalised address belongs to; empty when it is off all of them."""
        host = url.split("/", 3)[2]
        if self._folders:
            address = url.partition("//")[2]
            return next((folder for folder in self._folders.get(host, ()) if address.startswith(folder)), "")
        site = self._by_host.get(host)
        if site is None:
            if len(self._by_host) >= 100_000:  # pages can name any number of hosts
                self._by_host.clear()
            name = site_of(url, self._settings.site_by)
            site = self._by_host[host] = name if name in self._sites else ""
        return site

    def reading(self) -> str:
        """Return a digest of what decides which links are kept and which pages are built, patterns and depth apart.

        What is dropped for these is known to the ledger; links off the sites are not.
        """
        names = [*sorted(self._sites), *sorted(folder for found in self._folders.values() for folder in found)]
        limits = self._settings
        settings = [limits.site_by, limits.browser, *limits.browser_sites]
        return blake2b("\n".join([*settings, "", *names]).encode(), digest_size=8).hexdigest()

    def see(self, url: str, digest: str) -> None:
        """Record a fetched page and the digest of its text: addresses that bring the same again are traps."""
        self._sameness.see(url, digest)
        self._parameters.see(url, digest)

    def recall(self, urls: Iterable[str]) -> None:
        """Record pages of an earlier run, the text of which is not known."""
        for url in urls:
            self._parameters.see(url, "")

    def is_trap(self, url: str) -> bool:
        """Return whether an address would bring a page again, by its form or by a parameter that changes nothing."""
        return self._parameters.is_repeat(url) or self._sameness.is_trap(url)

    def is_unlikely(self, entry: FrontierEntry) -> bool:
        """Return whether an address seems to bring nothing new, without a proof.

        So it seems where its form brings failures alone, and where its page was fetched under another value of what
        looks like a session id. (A page that shows the time says something else each time, in one session or in two.)
        """
        if self.dead_forms.is_dead(entry.url):
            return True
        return entry.suspect == "session-id" and self._parameters.was_fetched(entry.url, session_parameter(entry.url))

    def take_lifted(self) -> list[Callable[[str], bool]]:
        """Return the suspicions of `is_trap` that turned out wrong since the last call, each as a test of addresses."""
        forms: list[Callable[[str], bool]] = [_of_form(kind) for kind in self._sameness.take_lifted()]
        return [*forms, *(parameter.is_in for parameter in self._parameters.take_lifted())]

    def holds(self, url: str) -> bool:
        """Return whether a normalised address belongs to one of the sites."""
        return self.site(url) != ""

    def wants(self, url: str) -> bool:
        """Return whether the patterns let an address through."""
        if self._include is not None and not self._include.search(url):
            return False
        return self._exclude is None or not self._exclude.search(url)

    def start(self, url: str) -> FrontierEntry:
        """Return the entry of a start page."""
        site = self.site(url)
        place = _place(0, zlib.crc32(site.encode())) if self._settings.order == "pairs" else 0
        return FrontierEntry(page_key(url), url, host_of(url), site=site, place=place)

    def sitemap(self, url: str, named_at: str = "", site: str = "") -> FrontierEntry | None:
        """Return the entry of a sitemap; None when it is off the sites.

        Parameters
        ----------
        url : str
            Its normalised address.
        named_at : str
            Normalised address of what names it.
        site : str
            The site that this is read for. It is also that of a sitemap from the same place: a site that is a folder
            has its sitemap above it.
        """
        site = self.site(url) or (site if share_place(url, named_at) else "")
        if not site:
            return None
        return FrontierEntry(_key(url, "sitemap"), url, host_of(url), site=site, kind="sitemap", side=OF_SITEMAPS)

    def links(self, page: FrontierEntry, urls: Iterable[str]) -> list[FrontierEntry]:
        """Turn the links of ``page`` into entries, each key once; those that are dropped carry their reason.

        Links off the sites and parts of pages (pictures, styles, scripts) give none: they are no loss. Behind
        `MAX_LINKS` of a page, or `MAX_LINK_BYTES`, one more is given, which is dropped and says for how many links that
        are not looked at.
        """
        page_shape = shape(page.url)
        found: dict[str, FrontierEntry] = {}
        side, urgency = max(page.side, UNKNOWN), LAST if page.side == UNWANTED else PLAIN
        placed = page.place != 0 and page.side != UNWANTED and page.kind == "page"
        urls = list(urls)
        n_bytes = 0
        for number, url in enumerate(urls):
            site = self.site(url)
            if not site:
                continue
            key = page_key(url)
            if key in found or key == page.key:
                continue
            n_bytes += len(url)
            if len(found) >= MAX_LINKS[page.kind] or n_bytes > MAX_LINK_BYTES[page.kind]:
                detail = f"it and {len(urls) - number - 1} links after it, on {page.url}"
                found[key] = FrontierEntry(key, url, host_of(url), page.depth + 1, 0, 0, "too-many-links", detail, site)
                break
            extension = _extension(url)
            if extension in _RESOURCES or self._parameters.is_settled(url):  # it would only fill the ledger
                continue
            chain = page.chain + 1 if varies(url) and shape(url) == page_shape else 0
            place = _place(page.place, number) if placed else 0
            entry = FrontierEntry(
                key, url, host_of(url), page.depth + 1, chain, site=site, side=side, urgency=urgency, place=place
            )
            found[key] = self._judged(entry, extension)
        return list(found.values())

    def redirect(self, page: FrontierEntry, url: str) -> FrontierEntry | None:
        """Return the entry that a redirect from ``page`` leads to; None when it leads off the sites.

        It stands as deep as ``page``. When it has the same key it is ``page`` itself in another spelling.
        """
        site = self.site(url) or (page.site if page.kind == "sitemap" and share_place(url, page.url) else "")
        if not site:
            return None
        entry = page._replace(key=_key(url, page.kind), url=url, host=host_of(url), hops=page.hops + 1, site=site)
        if entry.hops > MAX_HOPS or url == page.url:
            return entry._replace(reason="redirect-loop", detail=f"{entry.hops} redirects in a row, from {page.url}")
        if entry.kind == "sitemap":
            return entry
        extension = _extension(url)
        return self._judged(entry, extension if extension not in _RESOURCES else "")

    def _judged(self, entry: FrontierEntry, extension: str) -> FrontierEntry:
        if extension in _DOCUMENTS:
            return entry._replace(reason="not-html", detail=f"by its name: .{extension}")
        if entry.depth and not self.wants(entry.url):  # where a start page is moved to is one, too
            return entry._replace(reason="excluded", detail="by include or exclude")
        circles, suspect = _looks(entry.url)
        if circles:
            return entry._replace(chain=-1, reason="trap", detail="its path repeats itself")
        entry = entry._replace(suspect=suspect) if suspect != entry.suspect else entry
        return self._limited(entry._replace(urgency=UNLIKELY) if self.is_unlikely(entry) else entry)

    def _limited(self, entry: FrontierEntry) -> FrontierEntry:
        if entry.chain > self._settings.max_trap_chain:
            return entry._replace(reason="trap", detail=f"{entry.chain} links in a row that changed query or date")
        if entry.depth > self._settings.max_depth:
            return entry._replace(reason="depth", detail=f"{entry.depth} links from a start page")
        if self.is_trap(entry.url):  # last: it is queued once it is no trap (`Frontier.readmit`)
            return entry._replace(reason="trap", detail=SAME_PAGE)
        return entry


def versions_together(
    sitemap: FrontierEntry, links: Sequence[FrontierEntry], versions: Mapping[str, tuple[int, str]], sides: Sides
) -> list[FrontierEntry]:
    """Give the pages that a sitemap calls versions of each other one place, and each its side.

    Parameters
    ----------
    sitemap : FrontierEntry
        Where the links are from.
    links : sequence of FrontierEntry
        The pages that it lists.
    versions : mapping
        As `twinlink.spiders.sitemaps.Portion` has them.
    sides : Sides
        The wanted languages.
    """
    start = zlib.crc32(sitemap.url.encode())
    found = []
    for link in links:
        number, tag = versions.get(link.url, (-1, ""))
        side = sides.of_tag(tag)
        if number >= 0:
            urgency = LAST if side == UNWANTED else link.urgency
            link = link._replace(place=_place(start, number), side=side, urgency=urgency)  # noqa: PLW2901
        found.append(link)
    return found


def host_of(url: str) -> str:
    """Return the host of a normalised address, without its port: requests to it wait for each other.

    Examples
    --------
    >>> host_of("http://www.example.org:8080/a"), host_of("http://[::1]:8080/")
    ('www.example.org', '[::1]')
    """
    netloc = url.split("/", 3)[2]
    host, colon, port = netloc.rpartition(":")
    return host if colon and port.isdigit() else netloc


def _key(url: str, kind: str) -> str:
    """Return the key of an address; that of a sitemap is another one, because a page may be at the same address."""
    return f"{SITEMAP_KEY}{page_key(url)}" if kind == "sitemap" else page_key(url)


def _of_form(kind: str) -> Callable[[str], bool]:
    return lambda url: form(url) == kind


def _looks(url: str) -> tuple[bool, str]:
    return _looked_at(url) if len(url) <= REMEMBERED_LENGTH else (winds(url), suspicion(url))


@functools.lru_cache(maxsize=2**14)  # the pages of a site have most links in common
def _looked_at(url: str) -> tuple[bool, str]:
    return winds(url), suspicion(url)


def _patterns(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """Compile several patterns into one that fits where one of them does; None for none."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _place(place: int, number: int) -> int:
    """Return the place of a page that the link of this number leads to, never 0; mixed as in SplitMix64."""
    mixed = (place ^ (number + 1) * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return (mixed ^ mixed >> 29) >> 2 | 1


def _folder(url: str) -> str:
    """Return a start page's address up to the last slash of its path, without its scheme."""
    return url.partition("//")[2].partition("?")[0].rpartition("/")[0] + "/"


def _extension(url: str) -> str:
    """Return the extension of the path's last segment, lower case, without its dot; empty when there is none."""
    name = url.partition("?")[0].split("/", 3)[-1].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


class ChosenScope(Scope):
    """The sites of the start pages, of which only chosen addresses are fetched; the limits apply as for links.

    A redirect is recorded and not followed: the caller decides about its target.
    """

    def start(self, url: str) -> FrontierEntry:
        """Return the entry of a chosen address."""
        root = f"{root_of(url)}/"
        home = FrontierEntry("", root, host_of(url), site=self.site(root))
        found = super().links(home, [url])
        if found:
            return found[0]._replace(chain=0, side=0, urgency=0, place=0)
        off = "" if self.site(url) else "it belongs to none of the sites"
        return FrontierEntry(page_key(url), url, host_of(url), 1, reason="excluded", detail=off, site=self.site(url))

    def links(self, page: FrontierEntry, urls: Iterable[str]) -> list[FrontierEntry]:  # noqa: ARG002  (as the other scope has it)
        """Follow nothing."""
        return []

    def redirect(self, page: FrontierEntry, url: str) -> FrontierEntry | None:
        """Follow only to another spelling of the same address."""
        target = super().redirect(page, url)
        return target if target is not None and target.key == page.key else None


class PartScope(ChosenScope):
    """Style sheets and pictures of pages: on the hosts of the start pages' sites, or everywhere (``page_parts``).

    ``include`` does not count, because it is about pages; ``exclude`` does.
    """

    def __init__(self, starts: Sequence[str], settings: CrawlSettings) -> None:
        super().__init__(starts, replace(settings, include=()))
        self._of_host = {host_of(start): super(PartScope, self).site(start) for start in starts}
        self._is_everywhere = settings.page_parts == "all"

    def site(self, url: str) -> str:
        """Return the site of a part; empty when its host belongs to none, and parts are not fetched everywhere."""
        site = super().site(url) or self._of_host.get(host_of(url), "")
        return site or (site_of(url, "host") if self._is_everywhere else "")

    def wants(self, url: str) -> bool:
        """Return whether a part may be fetched."""
        return self.holds(url) and super().wants(url)

    def start(self, url: str) -> FrontierEntry:
        """Return the entry of a part."""
        site = self.site(url)
        entry = FrontierEntry(page_key(url), url, host_of(url), 1, site=site or site_of(url, "host"), kind="part")
        if self.wants(url):
            return entry
        return entry._replace(reason="excluded", detail="" if site else "it belongs to none of the sites")
