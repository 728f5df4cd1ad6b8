"""Addresses that look like traps, which lead to endless pages or to one page under many addresses.

Looking so is no proof. Only an address whose path runs in circles is dropped for its looks (`winds`); any other is
queued behind all addresses of its host that look sound (`suspicion`), and a crawl that reaches it follows a chain of
its kind only so far (`CrawlSettings.max_trap_chain`). So a site that is fetched to its end loses no page by a rule.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from zlib import crc32

MAX_ALIKE = 20
"""Pages of one form that may say the same before the form is a trap, if all of them do. A choice: so many are fetched
in vain; fewer would take a shelf of empty pages, filled one by one, for a trap."""
MAX_TRIALS = 20
"""Pages of such a form that are fetched all the same: real pages may come after many placeholders. A choice: true traps
cost so many pages more."""

MAX_SEGMENTS = 20
"""Segments of a sound path: Heritrix's TooManyPathSegmentsDecideRule."""
MAX_SAME = 3
"""Times that one segment may stand in a sound path; pages under /en/a/en/b/ are real."""
MAX_PARAMETERS = 8
"""Parameters of a sound query: filters that are combined (facets) grow beyond."""

_MANY_PARAMETERS = 64  # of so many none is looked at: whatever they say, the address is put last
_MAX_FORMS = 10_000  # kept in mind; the least recently seen is forgotten
_TRIALS_AT_RATE = 3  # before half as many addresses are tried: so 20 trials reach behind some 600 placeholders
_MIN_TEXT = 80  # characters: pages that say less (frames, scripts) are alike without being the same
# Only where a word begins: from each of its characters, the search for a digit would go to its end.
_TOKEN = re.compile(r"(?<![0-9a-z_-])(?=[a-z_-]*\d)[0-9a-z_-]{8,}", re.IGNORECASE)

_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([/-])(?:0?[1-9]|1[0-2])(?:\1(?:0?[1-9]|[12]\d|3[01]))?(?!\d)")
_DIGITS = re.compile(r"\d+")
_CALENDAR = re.compile(r"(?:calend[ae]r|kalender|agenda|calendrier|events?)(?![a-z])", re.IGNORECASE)
_DAY = re.compile(r"(?:19|20)\d\d[-/.]?[01]?\d(?:[-/.]?[0-3]?\d)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH = re.compile(r"0?[1-9]|1[0-2]|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*")
_SORT = re.compile(r"(?:sort|order)(?:[_-]?(?:by|dir|order|field|col|column|type))?|orderdir|filter_order(?:_dir)?")
_DIRECTION = frozenset(("dir", "direction", "sd", "so"))
_SESSION = re.compile(
    r"(?:php|asp|j)?sess(?:ion)?(?:[_-]?(?:id|key|token))?[a-z]{0,8}|sid|s|zenid|oscsid|cftoken|token|sessid|session_hash"
)
_SESSION_VALUE = re.compile(r"(?=.*\d)[0-9a-z]{24,}(?:[.!-][0-9a-z.!-]*)?")
_SESSION_PATH = re.compile(r";jsessionid=|/\(S\([0-9a-z]{24}\)\)/", re.IGNORECASE)
_APACHE = re.compile(r"C=[NMSD](?:[;&]O=[AD])?|[NMSD]=[AD]")


def suspicion(url: str) -> str:
    """Return what kind of trap a normalised address looks like; empty for a sound one.

    The kinds are ``session-id``, ``calendar``, ``sort-order``, ``facets`` and ``endless-path``.

    Examples
    --------
    >>> suspicion("http://a.org/list?id=4&sort=name"), suspicion("http://a.org/list?id=4&page=3")
    ('sort-order', '')
    >>> suspicion("http://a.org/calendar?month=5&year=2024"), suspicion("http://a.org/news/2024/05/")
    ('calendar', '')
    """
    path, mark, query = url.partition("?")
    if (";" in path or "(" in path) and _SESSION_PATH.search(path):
        return "session-id"
    if path.count("/") > 2 + MAX_SAME and _strays(path.split("/")[3:]):
        return "endless-path"
    if not mark:
        return "calendar" if _DATE.search(path) and _CALENDAR.search(path.split("/", 3)[3]) else ""
    return _suspicious_query(query, path)


def _suspicious_query(query: str, path: str) -> str:
    if _APACHE.fullmatch(query) and path.endswith("/"):
        return "sort-order"
    if query.count("&") > _MANY_PARAMETERS:
        return "facets"
    parameters = [
        (name.lower(), value.lower()) for name, _, value in (part.partition("=") for part in query.split("&"))
    ]
    if any(_is_session(name, value) for name, value in parameters):
        return "session-id"
    if _is_calendar(dict(parameters), path):
        return "calendar"
    if any(_sorts(name, value) for name, value in parameters):
        return "sort-order"
    return "facets" if len(parameters) > MAX_PARAMETERS else ""


def session_parameter(url: str) -> str:
    """Return the name of the first parameter that looks like a session id; empty if none does.

    >>> session_parameter("http://a.org/list?id=4&sid=8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d")
    'sid'
    """
    parameters = (part.partition("=") for part in url.partition("?")[2].split("&"))
    return next((name for name, _, value in parameters if _is_session(name.lower(), value.lower())), "")


def _is_session(name: str, value: str) -> bool:
    return _SESSION.fullmatch(name) is not None and _SESSION_VALUE.fullmatch(value) is not None


def _sorts(name: str, value: str) -> bool:
    if name in _DIRECTION:
        return value in ("asc", "desc")
    return _SORT.fullmatch(name) is not None and not value.isdigit()  # order=1234 is an order


def _is_calendar(parameters: dict[str, str], path: str) -> bool:
    """Return whether a query asks for a day or a month, as calendars do: some parameter must say so by its name."""
    month = next((parameters[name] for name in ("month", "m", "mon", "mo") if name in parameters), "")
    year = next((parameters[name] for name in ("year", "y", "yr") if name in parameters), "")
    if _MONTH.fullmatch(month) and _YEAR.fullmatch(year):
        return True
    days = any(
        _DAY.fullmatch(value) for name, value in parameters.items() if name in ("date", "day", "tribe-bar-date", "d")
    )
    return days and ("tribe-bar-date" in parameters or _CALENDAR.search(path) is not None)


def _strays(segments: Sequence[str]) -> bool:
    """Return whether a path is too long, or says the same again and again: the next step would be to run in circles."""
    if len(segments) > MAX_SEGMENTS:
        return True
    named = [segment for segment in segments if segment and not segment.isdigit()]
    return max(Counter(named).values(), default=0) > MAX_SAME


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


def varies(url: str) -> bool:
    """Tell cheaply whether two addresses can share this one's shape at all."""
    return "?" in url or _DATE.search(url) is not None


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


def form(url: str) -> str:
    """Return what addresses of one kind have in common: numbers, tokens with digits and values of the query blanked.

    Examples
    --------
    >>> form("http://a.org/s/9f3a0c1d2e/list/12.html?sort=name&dir=up")
    'http://a.org/s/##/list/#.html?dir&sort'
    """
    path, _, query = url.partition("?")
    scheme, mark, rest = path.partition("://")
    host, slash, path = rest.partition("/")
    path = _DIGITS.sub("#", _TOKEN.sub("##", path))  # a normalised address has none
    names = sorted({parameter.partition("=")[0] for parameter in query.split("&")}) if query else []
    return f"{scheme}{mark}{host}{slash}{path}" + (f"?{'&'.join(names)}" if names else "")


def text_digest(blocks: Iterable[str]) -> str:
    """Return a digest of the text of a page; empty if the text is too short.

    >>> text_digest(["Welcome."])
    ''
    >>> text_digest(["Welcome to this page. "] * 9) == text_digest(["Welcome to that page. "] * 9)
    False
    """
    text = "\n".join(blocks)
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if len(text) >= _MIN_TEXT else ""


class Sameness:
    """Knows the forms of address under which one and the same page came again and again (`MAX_ALIKE`).

    Session ids in paths and sort orders make endless addresses of one page. But a form may also have a few dozen
    placeholders before its real pages, so `MAX_TRIALS` more are fetched, spread over its addresses (`is_trial`). One
    that says something else lifts the suspicion.

    Pages that say two things, one after the other, clear a form for good. It is kept in memory: a crawl that is resumed
    looks at so many pages of a form anew.

    Examples
    --------
    >>> sameness = Sameness()
    >>> for n in range(MAX_ALIKE):
    ...     sameness.see(f"http://a.org/s{n}/home", text_digest(["Welcome to this page. " * 9]))
    >>> sameness.is_trap("http://a.org/s78/home"), sameness.is_trap("http://a.org/home")
    (True, False)
    >>> sameness.see("http://a.org/s79/home", text_digest(["What else there is. " * 9]))
    >>> sameness.is_trap("http://a.org/s78/home"), sameness.take_lifted()
    (False, ['http://a.org/s#/home'])
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[str, int]] = OrderedDict()  # form → what it says, pages; -1: cleared
        self._lifted: list[str] = []

    def see(self, url: str, digest: str) -> None:
        """Record the `text_digest` of a fetched page.

        After one that lifts the suspicion, pages of the form are counted anew: a trap whose one page has changed
        meanwhile is found again.
        """
        kind = form(url)
        if kind == url:
            return
        first, n = self._seen.get(kind, (digest, 0))
        if n >= MAX_ALIKE and digest != first:
            self._lifted.append(kind)
            first, n = digest, 0
        cleared = n < 0 or not digest or digest != first
        self._seen[kind] = (first, -1 if cleared else n + 1)
        self._seen.move_to_end(kind)
        while len(self._seen) > _MAX_FORMS:
            self._seen.popitem(last=False)

    def take_lifted(self) -> list[str]:
        """Return the forms whose suspicion was lifted since the last call: what was dropped of them is wanted."""
        lifted, self._lifted = self._lifted, []
        return lifted

    def is_trap(self, url: str) -> bool:
        """Return whether an address would bring only what its form has brought all along, and is no trial."""
        n_trials = self._seen.get(form(url), ("", 0))[1] - MAX_ALIKE
        return n_trials >= 0 and not is_trial(url, n_trials)


def is_trial(url: str, n_trials: int) -> bool:
    """Return whether an address that seems to bring nothing new is fetched all the same, after so many others.

    At first one of two is fetched, then one of four, of eight, and so on, and none after `MAX_TRIALS`. A checksum of
    the path decides: an address gets the same answer where it is linked, linked again, and requested.
    """
    if n_trials >= MAX_TRIALS:
        return False
    return crc32(url.split("/", 3)[3].encode()) % (2 << n_trials // _TRIALS_AT_RATE) == 0
