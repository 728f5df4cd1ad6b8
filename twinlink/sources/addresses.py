"""Original addresses of saved files, from paths in a mirror folder and from comments that tools write into pages."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Collection, Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

import msgspec

from twinlink.domains import is_registered
from twinlink.languages import ADDRESS_CODES
from twinlink.urls import DEFAULT_DOCUMENTS, join, normalise

ORIGINAL = ".orig"
"""Ending of the pages that ``wget -K`` keeps as they were before it converted their links."""

PAGE_SUFFIXES = frozenset(
    ".html .htm .xhtml .xht .shtml .shtm .stm .phtml .php .php3 .php4 .php5 .asp .aspx .jsp .jspx .cfm .cgi .pl".split()
)
"""Endings of file names that are pages."""

_HOST = re.compile(r"([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?:[:+](\d{1,5}))?", re.IGNORECASE)
_IP_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_RECORDED = re.compile(rb"<!--\s*(?:mirrored from (\S+) by HTTrack|saved from url=\(\d+\)(\S+)\s*-->)", re.IGNORECASE)
_RECORDED_BYTES = 2**14  # both stand in front of the head or in it
# wget keeps the query in the name, behind "?", or behind "@" for file systems that forbid "?".
_QUERY_MARK = re.compile(r"\?|@(?=[\w.%\[\]-]+=)")
_BARE_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")  # "%" that is no percent-encoding which the tool left in the name
_ADDED = re.compile(r"\.html?$", re.IGNORECASE)
_POLISH = re.compile(r"(.+)\.pl(\.html?)", re.IGNORECASE)
_SAFE = "!$&'()*+,;=:@~%[]{}|^`"  # what normalisation leaves alone or encodes by itself
_PLAIN = re.compile(r"[\w.~-]+", re.ASCII)  # what no encoding changes: most names
_RESERVED = re.compile("[$&+,;=:@]")  # of these, what a path may have and many sites percent-encode in their links


class Addresses(msgspec.Struct, frozen=True):
    """The addresses that the paths below a mirror folder stand for."""

    hosts: dict[str, str]
    """Folder on top of the mirror → address of what is in it."""
    base: str
    """Address of everything else, empty if unknown. Like those of ``hosts`` it ends with a slash."""
    is_bare: bool = False
    """Whether the pages link to each other without an ending. Where folders are named as hosts, a tool added ``.html``
    to each name; a folder whose address is given (``base``) holds the names that its pages are read under."""

    is_given: bool = False
    """Whether ``base`` is given by the user, not derived from the folder's name."""

    def of(self, parts: Sequence[str], siblings: Collection[str] = ()) -> list[str]:
        """Return the address of a file, and behind it those that lead to it.

        Parameters
        ----------
        parts : sequence of str
            Its path below the mirror folder.
        siblings : collection of str
            Names of the files beside it: of several index files only the first stands for the folder, and beside other
            versions ``page.pl.html`` is a page in Polish, not a saved ``page.pl``.

        Returns
        -------
        list of str
            Empty if the address is unknown.

        Examples
        --------
        >>> example = Addresses({}, "http://example.org/")
        >>> example.of(["en", "index.html"])
        ['http://example.org/en/index.html', 'http://example.org/en/', 'http://example.org/en']
        >>> example.of(["a.php?id=3.html"])[:3]
        ['http://example.org/a.php?id=3', 'http://example.org/a.php?id=3.html', 'http://example.org/a.php%3Fid=3.html']
        >>> example.of(["C++"])
        ['http://example.org/C++', 'http://example.org/C%2B%2B']
        """
        base, added = self.base, self.is_bare and not self.is_given
        if len(parts) > 1 and parts[0] in self.hosts:
            base, added = self.hosts[parts[0]], self.is_bare
            parts = parts[1:]
        if not base:
            return []
        folder = base + "".join(f"{_encode(part)}/" for part in parts[:-1])
        names = _names(parts[-1], siblings, added)
        if self.is_bare and len(names) == 1:
            names.append(_ADDED.sub("", names[0]))
        addresses = [normalise(folder + name) for name in names]
        if addresses and addresses[-1] == folder:
            addresses.append(normalise(folder[:-1]))
        known = [address for address in addresses if address]
        return list(dict.fromkeys([*known, *(_escaped(address, base) for address in known)]))

    def path_of(self, url: str) -> str | None:
        """Return where a tool saves the page at an address without a query: its path below the folder, None if nowhere.

        Examples
        --------
        >>> Addresses({"www.example.org": "http://www.example.org/"}, "").path_of("http://www.example.org/a%20b")
        'www.example.org/a b'
        """
        for top, address in [*self.hosts.items(), ("", self.base)]:
            if address and url.startswith(address) and "?" not in url:
                path = os.fsdecode(unquote_to_bytes(url.removeprefix(address)))
                is_inside = "\0" not in path and ".." not in path.split("/")
                return "/".join(filter(None, (top, path))) if is_inside else None
        return None


def host_folders(names: Sequence[str], base_url: str) -> dict[str, str]:
    """Return those folders on top of a mirror that are named as hosts, and the host that each stands for.

    wget and HTTrack make them: ``www.example.org``, ``localhost:8000`` (on Windows ``localhost+8000``). A name with
    dots must end in a public suffix. Where ``base_url`` is given they count only if it names one of them.
    """
    hosts = {name: name.lower().replace("+", ":") for name in names if _is_host(name)}
    return hosts if not base_url or urlsplit(base_url).netloc in hosts.values() else {}


def recorded_address(body: bytes) -> str | None:
    """Return the address that HTTrack or a browser wrote into a page that it saved.

    Examples
    --------
    >>> recorded_address(b"<!-- Mirrored from example.org/a.php?id=3 by HTTrack Website Copier/3.x -->")
    'http://example.org/a.php?id=3'
    """
    found = _RECORDED.search(body[:_RECORDED_BYTES])
    if found is None:
        return None
    address = html.unescape((found[1] or found[2]).decode("utf-8", "replace"))
    return normalise(address if found[2] or "://" in address else f"http://{address}")


def reconcile(addresses: Sequence[str], recorded: str | None) -> list[str]:
    """Combine the address recorded in a page with those of its file: the page's own first, as in `Addresses.of`.

    The links of such a page are relative to its file. Where the recorded address lies in another folder they would
    break, so that the file's address stays the page's.
    """
    if recorded is None:
        return list(addresses)
    if addresses and join(addresses[0], ".") != join(recorded, "."):
        return [addresses[0], recorded]
    return list(dict.fromkeys([recorded, *addresses[:1]]))


def original_of(name: str, siblings: Collection[str]) -> str | None:
    """Return the name of the original of a page that ``wget -k -K`` converted, None where there is none.

    It is ``page.html.orig``; where ``-E`` had added ``.html`` to the name, ``page.orig``.

    Examples
    --------
    >>> original_of("a.html", ["a.html", "a.html.orig"]), original_of("a?b=1.html", ["a?b=1.html", "a?b=1.orig"])
    ('a.html.orig', 'a?b=1.orig')
    """
    names = (name + ORIGINAL, _ADDED.sub("", name) + ORIGINAL)
    return next((original for original in names if original in siblings), None)


def suffix_of(name: str) -> str:
    """Return the ending of a file name in lower case, without a query that the name may hold; empty if there is none.

    Examples
    --------
    >>> suffix_of("A.PHP?id=3.html"), suffix_of("style.css?v=1"), suffix_of("page")
    ('.php', '.css', '')
    """
    return _ending(_split_query(name)[0])


def _ending(path: str) -> str:
    """Return the suffix of pathlib in lower case, which takes ten times as long."""
    name = path.rstrip("/").rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def _is_host(name: str) -> bool:
    parts = _HOST.fullmatch(name)
    if parts is None:
        return False
    host = parts[1].lower()
    if host == "localhost" or _IP_ADDRESS.fullmatch(host):
        return True
    return "." in host and is_registered(host)


def _names(name: str, siblings: Collection[str], is_bare: bool) -> list[str]:
    """Return the last part of a file's address in its forms, the page's own first, "" for the folder."""
    path, query = _split_query(name)
    if query:
        queries = (_ADDED.sub("", query), query)
        return [*(f"{_encode(path)}?{_encode(form, '?/')}" for form in queries), _encode(name)]
    stem = _ADDED.sub("", path)
    stands_for_folder = _stands_for_folder(path.lower(), siblings)
    was_added = (
        (_ending(stem) in PAGE_SUFFIXES and not _is_polish(path, siblings))
        or original_of(path, siblings) == stem + ORIGINAL
        or (is_bare and not stands_for_folder)
    )
    if stem != path and was_added:
        return [_encode(stem), _encode(path)]
    return [_encode(path), ""] if stands_for_folder else [_encode(path)]


def _is_polish(path: str, siblings: Collection[str]) -> bool:
    """Return whether a file is the Polish version of a page, not a script in Perl that was saved.

    ``page.pl.html`` is, where the same page is beside it in another language (``page.en.html``) or without one
    (``page.html``). Of the endings of pages, ``.pl`` alone names a language, too.
    """
    found = _POLISH.fullmatch(path)
    if found is None:
        return False
    page, suffix = found.groups()
    versions = (page, *(f"{page}.{code}" for code in ADDRESS_CODES if code != "pl"))
    return any(version + suffix in siblings for version in versions)


def _split_query(name: str) -> tuple[str, str]:
    mark = _QUERY_MARK.search(name)
    return (name[: mark.start()], name[mark.end() :]) if mark else (name, "")


def _stands_for_folder(name: str, siblings: Collection[str]) -> bool:
    if name not in DEFAULT_DOCUMENTS:
        return False
    stronger = DEFAULT_DOCUMENTS[: DEFAULT_DOCUMENTS.index(name)]
    return not any(sibling.lower() in stronger for sibling in siblings)


def _escaped(url: str, base: str) -> str:
    """Return an address with every reserved character of its path percent-encoded; ``base`` stays as it is."""
    path, mark, query = url.removeprefix(base).partition("?")
    return f"{base}{_RESERVED.sub(lambda found: quote(found[0], safe=''), path)}{mark}{query}"


def _encode(name: str, safe: str = "") -> str:
    """Percent-encode a part of a path; its bytes count, whatever encoding they are in."""
    if _PLAIN.fullmatch(name):
        return name
    return quote(_BARE_PERCENT.sub(b"%25", os.fsencode(name)), safe=_SAFE + safe)
