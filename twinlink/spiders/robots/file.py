"""Parser of robots.txt: keeps the rules for one robot, and skips those for others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from twinlink.spiders.robots.rules import canonical_pattern

# Field names with the common misspellings that Google's parser and Scrapy's accept.
_AGENT, _ALLOW, _DISALLOW, _SITEMAP, _DELAY, _RATE, _HOST, _OTHER = range(8)
_FIELDS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), _AGENT),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), _DISALLOW),
    **dict.fromkeys(("sitemap", "sitemaps", "site-map"), _SITEMAP),
    **dict.fromkeys(("crawl-delay", "crawl delay"), _DELAY),
    **dict.fromkeys(("request-rate", "request rate"), _RATE),
    **dict.fromkeys(("visit-time", "visit time"), _OTHER),
    "allow": _ALLOW,
    "host": _HOST,
}
_OF_NO_GROUP = frozenset((_SITEMAP, _HOST))
_TIME = r"(?:[01]?\d|2[0-3])[0-5]\d"
_REQUESTS = re.compile(rf"(\d{{1,9}})/(\d{{1,9}})([smhd]?)(?:\s+{_TIME}-{_TIME})?", re.IGNORECASE | re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_INDEX = "index.html"


@dataclass(slots=True)
class Group:
    """The rules of a robots.txt for one robot."""

    rules: list[tuple[str, bool]] = field(default_factory=list)
    """Values of the Allow and Disallow lines as written, and whether they allow."""
    delay: float = 0.0
    """Crawl-delay in seconds; 0: none."""
    gap: float = 0.0
    """Seconds between two requests by Request-rate; 0: none."""

    def patterns(self) -> Iterator[tuple[str, bool]]:
        """Yield the rules in the form of `twinlink.spiders.robots.rules.Rules`."""
        for value, allows in self.rules:
            # "$" at the end may mean the end of the address or a literal "$".
            for form in (value.replace("$", "%24"), value) if "$" in value else (value,):
                pattern = canonical_pattern(form)
                if pattern:
                    yield pattern, allows
                if allows and pattern.endswith(f"/{_INDEX}"):  # allows the address of the folder, too
                    yield f"{pattern.removesuffix(_INDEX)}$", allows

    def take(self, kind: int, value: str) -> None:
        """Add a line of the group."""
        if kind in (_ALLOW, _DISALLOW):
            self.rules.append((value, kind == _ALLOW))
        elif kind == _DELAY:
            self.delay = _seconds(value, self.delay)
        elif kind == _RATE:
            self.gap = _gap(value, self.gap)


def read_file(text: str, agent: str, max_sitemaps: int) -> tuple[Group, list[str]]:
    r"""Return the group of a robots.txt that applies to a robot, and the sitemaps that it lists.

    Parameters
    ----------
    text : str
        The file.
    agent : str
        The robot's product token. A group applies if the token begins with its name, ignoring case. The group with the
        longest such name is used, or else ``*``. Groups of the same name are merged.
    max_sitemaps : int
        Maximum number of sitemaps returned, as written. They do not belong to a group.

    Examples
    --------
    >>> read_file("User-agent: *\nDisallow: /\n\nUser-agent: Twin\nDisallow: /a\nCrawl-delay: 2", "twinlink", 9)
    (Group(rules=[('/a', False)], delay=2.0, gap=0.0), [])
    """
    token = agent.lower()
    groups: dict[str, Group] = {}
    current: dict[str, Group] = {}
    sitemaps: list[str] = []
    in_names = True
    for kind, value in _lines(text):
        if kind == _SITEMAP and value and len(sitemaps) < max_sitemaps:
            sitemaps.append(value)
        if kind in _OF_NO_GROUP:
            continue
        if kind != _AGENT:
            in_names = False
            for group in current.values() if value else ():
                group.take(kind, value)
            continue
        if not in_names:
            in_names, current = True, {}
        current |= {name: groups.setdefault(name, Group()) for name in _names(value, token)}
    best = max(groups, key=lambda name: 1 if name == "*" else len(name), default="")
    return groups.get(best, Group()), sitemaps


def _names(value: str, token: str) -> list[str]:
    """Return the names of a user-agent line that apply to a robot; an asterisk in a name is ignored."""
    name = value.lower()
    if name == "*":
        return [name]
    return [each for each in dict.fromkeys((name, name.replace("*", ""))) if each and token.startswith(each)]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the kind and the value of each line of the form ``name: value`` or ``name value``."""
    for line in text.splitlines():
        parsed = _parse(line.partition("#")[0].strip())
        if parsed is not None:
            yield parsed


def _parse(line: str) -> tuple[int, str] | None:
    if not line:
        return None
    name, colon, value = line.partition(":")
    kind = _FIELDS.get(name.strip().lower()) if colon else None
    if kind is not None:
        return kind, value.strip()
    if not colon or (value and not value[0].isspace()):  # perhaps "Sitemap https://…"
        words = line.split()
        for n in (1, 2):
            kind = _FIELDS.get(" ".join(words[:n]).lower())
            if kind is not None:
                return kind, " ".join(words[n:])
    return (_OTHER, value.strip()) if colon else None


def _seconds(value: str, otherwise: float) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return otherwise
    return seconds if math.isfinite(seconds) and seconds >= 0 else otherwise


def _gap(value: str, otherwise: float) -> float:
    words = value.split()
    found = _REQUESTS.fullmatch(" ".join(words if len(words) == 2 else words[:1]))
    if found is None or not int(found[1]) or not int(found[2]):
        return otherwise
    return int(found[2]) * _SECONDS[found[3].lower()] / int(found[1])
