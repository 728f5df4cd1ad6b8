"""Which links a crawl follows: those that stay on the sites, and are no document, no trap and not too deep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from twinlink.config import CrawlSettings
from twinlink.spiders.ledger import Entry
from twinlink.spiders.urls import page_key, site_of

__all__ = ["MAX_HOPS", "Scope", "host_of", "shape", "winds"]

MAX_HOPS = 10
"""Redirects followed in a row: RFC 9110 leaves the number open; browsers stop at 20, and 10 was in no trial too few."""

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
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([/-])(?:0?[1-9]|1[0-2])(?:\1(?:0?[1-9]|[12]\d|3[01]))?(?!\d)")
_DIGITS = re.compile(r"\d+")


class Scope:
    """The sites of the start pages, and the limits.

    Parameters
    ----------
    sites : sequence of str
        What `site_of` gives for the start pages.
    settings : CrawlSettings
        ``site_by``, ``max_depth`` and ``max_trap_chain`` count.
    """

    def __init__(self, sites: Sequence[str], settings: CrawlSettings) -> None:
        self._sites = frozenset(sites)
        self._settings = settings
        self._inside: dict[str, bool] = {}

    def holds(self, url: str) -> bool:
        """Return whether a normalised address belongs to one of the sites."""
        host = url.split("/", 3)[2]
        inside = self._inside.get(host)
        if inside is None:
            if len(self._inside) >= 100_000:  # pages can name any number of hosts
                self._inside.clear()
            inside = self._inside[host] = site_of(url, self._settings.site_by) in self._sites
        return inside

    def links(self, page: Entry, urls: Iterable[str]) -> list[Entry]:
        """Turn the links of ``page`` into entries, each key once; those that are dropped carry their reason.

        Links off the sites and parts of pages (pictures, styles, scripts) give none: they are no loss.
        """
        page_shape = shape(page.url)
        found: dict[str, Entry] = {}
        for url in urls:
            if not self.holds(url):
                continue
            key = page_key(url)
            if key in found or key == page.key:
                continue
            extension = _extension(url)
            if extension in _RESOURCES:
                continue
            chain = page.chain + 1 if _varies(url) and shape(url) == page_shape else 0
            found[key] = self._judged(Entry(key, url, host_of(url), page.depth + 1, chain), extension)
        return list(found.values())

    def redirect(self, page: Entry, url: str) -> Entry | None:
        """Return the entry that a redirect from ``page`` leads to; None when it leads off the sites.

        It stands as deep as ``page``. When it has the same key it is ``page`` itself in another spelling.
        """
        if not self.holds(url):
            return None
        entry = Entry(page_key(url), url, host_of(url), page.depth, page.chain, page.hops + 1)
        if entry.hops > MAX_HOPS or url == page.url:
            return entry._replace(reason="redirect-loop", detail=f"{entry.hops} redirects in a row, from {page.url}")
        extension = _extension(url)
        return self._judged(entry, extension if extension not in _RESOURCES else "")

    def _judged(self, entry: Entry, extension: str) -> Entry:
        if extension in _DOCUMENTS:
            return entry._replace(reason="not-html", detail=f"by its name: .{extension}")
        if winds(entry.url):
            return entry._replace(chain=-1, reason="trap", detail="its path repeats itself")
        if entry.chain > self._settings.max_trap_chain:
            return entry._replace(reason="trap", detail=f"{entry.chain} links in a row that changed query or date")
        if entry.depth > self._settings.max_depth:
            return entry._replace(reason="depth", detail=f"{entry.depth} links from a start page")
        return entry


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


def shape(url: str) -> str:
    """Return what a calendar's addresses have in common.

    That is the address with the values of its query blanked, and, where its path holds a date (YYYY/MM or YYYY-MM), the
    path's numbers too.

    Examples
    --------
    >>> shape("http://a.org/calendar?month=5&year=2024") == shape("http://a.org/calendar?year=2025&month=1")
    True
    >>> shape("http://a.org/events/2024/05/") == shape("http://a.org/events/2024/06/")
    True
    >>> shape("http://a.org/p/000123.html") == shape("http://a.org/p/000124.html")
    False
    """
    path, _, query = url.partition("?")
    if _DATE.search(path):
        path = _DIGITS.sub("0", path)
    if not query:
        return path
    names = sorted({parameter.partition("=")[0] for parameter in query.split("&")})
    return f"{path}?{'&'.join(names)}"


def winds(url: str) -> bool:
    """Return whether one to three segments of the path stand there four times in a row.

    A relative link on a page that answers under any path gives /a/a/a/a/… (cf. Heritrix's PathologicalPathDecideRule).

    Examples
    --------
    >>> winds("http://a.org/en/en/en/en/"), winds("http://a.org/en/x/en/x/en/x/"), winds("http://a.org/a/b/a/b/a/b/a/b/c")
    (True, False, True)
    """
    segments = url.partition("?")[0].split("/")[3:]
    return any(_repeats(segments, period) for period in range(1, 4) if len(segments) >= 4 * period)


def _repeats(segments: Sequence[str], period: int) -> bool:
    run = 0
    for earlier, later in zip(segments, segments[period:], strict=False):
        run = run + 1 if earlier == later and later else 0
        if run >= 3 * period:
            return True
    return False


def _varies(url: str) -> bool:
    """Tell cheaply whether two addresses can share this one's shape at all."""
    return "?" in url or _DATE.search(url) is not None


def _extension(url: str) -> str:
    """Return the extension of the path's last segment, lower case, without its dot; empty when there is none."""
    name = url.partition("?")[0].split("/", 3)[-1].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
