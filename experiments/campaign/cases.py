"""Cases of the catalogue: a hostile or broken site, and the expected result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from experiments.campaign.web import Answer, Reply

__all__ = ["FULL", "KEPT", "LIMITS", "UNKNOWN", "Case", "Hostile", "dropped", "like", "same"]

KEPT = "page"
"""The outcome of an address whose page is in the archive."""

UNKNOWN = "not known"
"""The outcome of an address that the crawl never heard of."""

LIMITS: Mapping[str, object] = {
    "timeout": 5,
    "retries": 1,
    "max_page_bytes": 4_000_000,
    "max_site_pages": 400,
    "browser": "never",
    "delay": 0,
}
"""Settings of the crawl in all cases: short times, so that a campaign comes to its end."""

FULL: Mapping[str, object] = {"max_page_bytes": 10 * 2**20, "timeout": 6}
"""Settings of cases that need pages of the usual largest size."""


def dropped(*reasons: str) -> frozenset[str]:
    """Return the outcome of an address that is rejected for one of these reasons."""
    return frozenset(reasons)


@dataclass(frozen=True)
class Hostile:
    """The answers of a hostile site."""

    answers: Mapping[str, Reply] = field(default_factory=dict)
    """By path. ``/robots.txt`` and ``/sitemap.xml`` are answered with 404 unless they are here."""
    expected: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What may become of an address (path): its page is `KEPT`, or it is dropped for one of these reasons."""
    linked: tuple[str, ...] | None = None
    """What the start page links to; without it all of ``answers``."""
    others: Callable[[str], Reply | None] = lambda path: Answer(b"<p>none", status="404 Not Found")
    """The answer to any other path."""
    most_sent: int | None = None
    """Most bytes that the hostile answers may bring over the line before the crawler has enough."""
    good: frozenset[str] = frozenset({KEPT})
    """What may become of its good pages; `UNKNOWN` where its robots.txt may keep the start page from being read."""
    never: frozenset[str] = frozenset()
    """Addresses (with their origin) of other servers of the case that must not be asked for."""


@dataclass(frozen=True)
class Case:
    """A hostile site by its name."""

    name: str
    group: str
    """The row of the table that it counts in."""
    make: Callable[[str], Hostile]
    """Makes it for an origin (``http://host:port``)."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Go over `LIMITS`."""
    other_port: bool = False
    """Whether a second server listens at the port whose number is the first one's with a digit behind it."""
    is_quick: bool = False
    """Whether it belongs to those that the tests try: it takes next to nothing to make."""


def like(answers: Mapping[str, Reply], *outcomes: str) -> Hostile:
    """Return a site all of whose answers come to one of these outcomes."""
    return Hostile(answers, dict.fromkeys(answers, dropped(*outcomes)))


def same(
    name: str,
    group: str,
    make: Callable[[], Hostile],
    settings: Mapping[str, object] | None = None,
    quick: bool = False,
) -> Case:
    """Return a case whose site is the same at every origin."""
    return Case(name, group, lambda origin: make(), settings or {}, is_quick=quick)
