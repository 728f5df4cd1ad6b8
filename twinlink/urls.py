"""Addresses: normalisation, resolution of links, identity of pages, sites."""

from __future__ import annotations

import functools
import re
from hashlib import blake2b
from typing import Literal
from urllib.parse import quote

import ada_url

from twinlink.domains import public_suffix, registered_domain

SiteBy = Literal["domain", "host", "path"]
"""What a site is: a registered domain, a host, or the folder of a start page."""

MAX_URL_LENGTH = 2_000
"""Longest usable address. The sitemap protocol allows 2,048 characters; longer ones are traps or data, not pages."""

REMEMBERED_LENGTH = 300
"""Maximum length of addresses whose analysis is cached, because links are repeated: thousands of the longest would
take 100 MB."""

DEFAULT_DOCUMENTS = tuple(
    f"{stem}.{ending}"
    for stem in ("index", "default")
    for ending in "html htm php asp aspx jsp shtml xhtml cfm cgi pl php3 php4 php5 do stm".split()
)
"""Files that Apache, nginx, IIS and Tomcat serve for a folder; the usual ones first."""

_SCHEMES = ("http://", "https://")
_ANY_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
# Links that look only at the folder of their page, not at its name or query (which "?a=1", "#a" and "http:?a=1" take
# over): those that begin with a path and hold no colon, and whole addresses. Any other is joined to the whole base.
_FOLDER_IS_ENOUGH = re.compile(r"[\w./][^:]*\Z|https?://", re.ASCII)
# A host that is a name (its last label is no number), without a port and without punycode, which may be wrong.
_PLAIN_ORIGIN = re.compile(r"https?://(?!.*xn--)([a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.[a-z][a-z0-9_-]*)")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
# Only names that never mean anything else (cf. Heritrix's StripSessionIDs): of Java, PHP, ASP, ASP.NET, osCommerce and
# Zen Cart. A parameter "sid" can be a story or a section.
_SESSION = re.compile(
    r";jsessionid=[^/?#;&]*|(?<=[?&])(?:jsessionid|phpsessid|aspsessionid[a-z]{8}|oscsid|zenid)=[^&]*"
    r"|/\(S\([0-9a-z]{24}\)\)(?=/)",
    re.IGNORECASE,
)

# Unreserved characters of RFC 3986, and those that some writers escape and others do not: JavaScript's
# encodeURIComponent leaves !'()* alone, PHP's rawurlencode does not.
_NEVER_ESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'()*")


def normalise(url: str) -> str | None:
    """Return the normal form of an absolute address, or None if it is not usable.

    As browsers do (WHATWG URL): white space around it and line breaks in it removed, scheme and host in lower case,
    host in punycode, default port dropped, ``.`` and ``..`` resolved, other characters percent-encoded as UTF-8. Beyond
    that the fragment and a user name or password are removed. The query keeps its order.

    Returns
    -------
    str or None
        None for other schemes than http and https, broken addresses, and those over `MAX_URL_LENGTH` characters.

    Examples
    --------
    >>> normalise(" HTTP://Www.Example.ORG:80/a/../b?y=2&x=1#top ")
    'http://www.example.org/b?y=2&x=1'
    >>> normalise("mailto:someone@example.org") is None
    True
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    try:
        return _usable(ada_url.normalize_url(url))
    except ValueError:
        return None


def join(base: str, href: str, encoding: str = "utf-8") -> str | None:
    """Resolve the link ``href`` on the page ``base``, and normalise it.

    Parameters
    ----------
    base : str
        Address of the page, or of its ``<base href>``, normalised.
    href : str
        The attribute as written in the page.
    encoding : str, default "utf-8"
        Encoding of the page. Browsers percent-encode the query (not the path) in it, which is necessary for the
        server to understand: ``?q=中`` on a Big5 page asks for ``?q=%A4%A4``. What the encoding lacks becomes
        ``&#number;``.

    Returns
    -------
    str or None
        None as in `normalise`.

    Examples
    --------
    >>> join("http://www.example.org/en/index.html", "../tc/index.html#main")
    'http://www.example.org/tc/index.html'
    >>> join("http://www.example.org/", "find?q=中", encoding="big5hkscs")
    'http://www.example.org/find?q=%A4%A4'
    """
    if len(href) > MAX_URL_LENGTH:
        return None
    if encoding != "utf-8" and not href.isascii():
        href = _encode_query(href, encoding)
    base = folder_of(base) if folder_decides(href) else base
    return _join(base, href) if len(base) + len(href) <= REMEMBERED_LENGTH else _join_anew(base, href)


def _join_anew(base: str, href: str) -> str | None:
    try:
        return _usable(ada_url.join_url(base, href))
    except ValueError:
        return None


_join = functools.lru_cache(maxsize=2**14)(_join_anew)  # the pages of a folder share many links


def folder_decides(href: str) -> bool:
    """Return whether a link leads to the same address from all pages in a folder (`folder_of`).

    >>> folder_decides("../b.html"), folder_decides("?page=2")
    (True, False)
    """
    return _FOLDER_IS_ENOUGH.match(href) is not None


def folder_of(base: str) -> str:
    """Return an address up to the last slash of its path, and one without a path as it is.

    >>> folder_of("http://www.example.org/en/a.html?b=/c"), folder_of("http://www.example.org")
    ('http://www.example.org/en/', 'http://www.example.org')
    """
    folder = base.partition("?")[0].rpartition("/")[0]
    return f"{folder}/" if folder.count("/") >= 2 else base


def page_key(url: str) -> str:
    """Return the key that identifies the page at a normalised address. It is not meant for fetching.

    Query parameters are sorted by name (those of one name keep their order), empty ones dropped; percent-encodings that
    mean the same are written alike. Session identifiers of common servers are left out: otherwise a site that
    creates one per visit has an unlimited number of addresses.

    Examples
    --------
    >>> page_key("http://www.example.org/%7euser/?lang=en&id=%e4")
    'http://www.example.org/~user/?id=%E4&lang=en'
    >>> page_key("http://www.example.org/a.jsp;jsessionid=9F3A0C?id=1&PHPSESSID=8a7b6c")
    'http://www.example.org/a.jsp?id=1'
    """
    if "%" in url:
        url = _ESCAPE.sub(_canonical_escape, url)
    if "ess" in url or "ESS" in url or "sid" in url or "nid" in url or "(S(" in url:  # faster than the expression
        url = _SESSION.sub("", url)
    path, mark, query = url.partition("?")
    if not mark:
        return url
    parameters = sorted(filter(None, query.split("&")), key=_parameter_name)
    return f"{path}?{'&'.join(parameters)}" if parameters else path


def page_id(url: str) -> int:
    """Return the number of the page at a normalised address: `page_key` hashed to a signed 64-bit integer.

    It is the same in every run. Two of 10 million pages share a number with a chance of 3 in a million.

    Examples
    --------
    >>> page_id("http://www.example.org/?a=1&b=2") == page_id("http://www.example.org/?b=2&a=1")
    True
    """
    return int.from_bytes(blake2b(page_key(url).encode(), digest_size=8).digest(), "big", signed=True)


def has_scheme(address: str) -> bool:
    """Return whether an address begins with a scheme and a host; another one may have them in its query.

    >>> has_scheme("http://a.org/"), has_scheme("/go?to=http://a.org/")
    (True, False)
    """
    return _ANY_SCHEME.match(address) is not None


def root_of(url: str) -> str:
    """Return a normalised address up to the slash that its path begins with: scheme, host and port.

    >>> root_of("http://127.0.0.1:8000/en/a.html")
    'http://127.0.0.1:8000'
    """
    return "/".join(url.split("/", 3)[:3])


def origin_of(url: str) -> str:
    """Return the origin of a web address: its scheme, host and port, a default port left out; empty if it has none.

    Two addresses are from one server only if their origins are equal: ``http://a.org:80`` begins as
    ``http://a.org:8080`` does.

    Examples
    --------
    >>> origin_of("HTTP://User@Example.org:80/a"), origin_of("https://a.org:8443?b"), origin_of("mailto:a@b.org")
    ('http://example.org', 'https://a.org:8443', '')
    """
    normal = normalise("/".join(re.split(r"[/?#]", url, maxsplit=3)[:3]))
    return normal.rstrip("/") if normal else ""


def share_place(url: str, other: str) -> bool:
    """Return whether two normalised addresses are of one server: their origins are equal.

    http and https of one host count as one where both have their default ports: a host that moves to https keeps its
    pages.

    Examples
    --------
    >>> share_place("http://a.org/b", "https://a.org/c"), share_place("http://a.org:80/", "http://a.org:8080/")
    (True, False)
    >>> share_place("http://a.org:8000/", "https://a.org:8000/"), share_place("http://a.org/", "http://a.org.b.net/")
    (False, False)
    """
    origin, others = origin_of(url), origin_of(other)
    if not origin or not others:
        return False
    if origin == others:
        return True
    hosts = {each.partition("//")[2] for each in (origin, others)}
    return len(hosts) == 1 and ada_url.URL(origin).port == ""


def site_of(url: str, site_by: SiteBy = "domain") -> str:
    """Return the name of the site that a normalised address belongs to.

    Parameters
    ----------
    url : str
        A normalised address.
    site_by : {"domain", "host", "path"}
        The registered domain by the Public Suffix List that the package ``publicsuffixlist`` carries, or the host
        (also for ``path``: only a crawl knows the folders that it started at).

    Returns
    -------
    str
        A host that has no registered domain (an IP address, ``localhost``, a public suffix itself) stands for itself. A
        host carries its port when that is not the default one. Empty for an invalid address.

    Examples
    --------
    >>> site_of("http://www.info.gov.hk/isd/"), site_of("http://www.info.gov.hk/isd/", "host")
    ('info.gov.hk', 'www.info.gov.hk')
    >>> site_of("http://127.0.0.1:8000/")
    '127.0.0.1:8000'
    """
    return _site_of_origin(root_of(url), site_by)


@functools.lru_cache(maxsize=2**12)  # most links go to few hosts
def _site_of_origin(origin: str, site_by: SiteBy) -> str:
    plain = _PLAIN_ORIGIN.fullmatch(origin)
    if plain is None:
        return _site_of_any_origin(origin, site_by)
    return registered_domain(plain[1]) if site_by == "domain" else plain[1]


def _site_of_any_origin(origin: str, site_by: SiteBy) -> str:
    """Return the name of a site as the parser of addresses reads it, which takes four times as long."""
    try:
        parsed = ada_url.URL(origin)
    except ValueError:
        return ""
    if site_by == "domain" and parsed.host_type == ada_url.HostType.DEFAULT:
        name = parsed.hostname.rstrip(".")
        return parsed.host if public_suffix(name) in ("", name) else registered_domain(name)
    return parsed.host


def _usable(url: str) -> str | None:
    """Finish a URL that ada has written: http(s) only, no fragment, no user, not too long."""
    if not url.startswith(_SCHEMES):
        return None
    if "#" in url:
        url = url.partition("#")[0]
    if "@" in url and "@" in url.split("/", 3)[2]:
        scheme, _, rest = url.partition("//")
        user_and_host, _, path = rest.partition("/")
        url = f"{scheme}//{user_and_host.rpartition('@')[2]}/{path}"
    return url if len(url) <= MAX_URL_LENGTH else None


def _encode_query(href: str, encoding: str) -> str:
    if encoding.startswith(("utf-16", "utf-32")):
        return href  # browsers take UTF-8 for these
    address, hash_mark, fragment = href.partition("#")
    path, question_mark, query = address.partition("?")
    query = _NON_ASCII.sub(lambda found: quote(found[0].encode(encoding, "xmlcharrefreplace")), query)
    return path + question_mark + query + hash_mark + fragment


def _canonical_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _NEVER_ESCAPED else escape[0].upper()


def _parameter_name(parameter: str) -> str:
    return parameter.partition("=")[0]
