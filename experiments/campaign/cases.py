"""Cases of the catalogue: a hostile or broken site, and the expected result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from experiments.campaign.web import Answer, Reply

KEPT = "page"
"""The outcome of an address whose page is in the archive."""

UNKNOWN = "not known"
"""The outcome of an address unknown to the crawl."""

LIMITS: Mapping[str, object] = {
    "timeout": 5,
    "retries": 1,
    "max_page_bytes": 4_000_000,
    "max_site_pages": 400,
    "browser": "never",
    "delay": 0,
}
"""Settings of the crawl in all cases: short times, to limit the duration of a campaign."""

FULL: Mapping[str, object] = {"max_page_bytes": 10 * 2**20, "timeout": 6}
"""Settings of cases that need pages of the default maximum size."""


def dropped(*reasons: str) -> frozenset[str]:
    """Return the outcome of an address that is rejected for one of these reasons."""
    return frozenset(reasons)


class Hostile(msgspec.Struct, frozen=True):
    """The responses of a hostile site."""

    answers: Mapping[str, Reply] = msgspec.field(default_factory=dict)
    """Responses by path. ``/robots.txt`` and ``/sitemap.xml`` get status 404 unless they are given here."""
    expected: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Allowed outcomes of an address (path): its page is `KEPT`, or it is dropped for one of these reasons."""
    linked: tuple[str, ...] | None = None
    """Addresses that the start page links to; default is all of ``answers``."""
    others: Callable[[str], Reply | None] = lambda path: Answer(b"<p>none", status="404 Not Found")
    """The response to any other path."""
    most_sent: int | None = None
    """Maximum number of bytes that the crawler may receive from the hostile responses."""
    good: frozenset[str] = frozenset({KEPT})
    """Allowed outcomes of good pages; `UNKNOWN` if robots.txt may forbid the start page."""
    never: frozenset[str] = frozenset()
    """Addresses (with their origin) of other servers of the case that must not be requested."""


class Case(msgspec.Struct, frozen=True):
    """A hostile site and its name."""

    name: str
    group: str
    """Row of the table."""
    make: Callable[[str], Hostile]
    """Function that generates the site for an origin (``http://host:port``)."""
    settings: Mapping[str, object] = msgspec.field(default_factory=dict)
    """Settings that override `LIMITS`."""
    other_port: bool = False
    """Whether a second server listens at the port whose number is the first one with a digit appended."""
    is_quick: bool = False
    """Whether the tests try it, because it is generated quickly."""


def like(answers: Mapping[str, Reply], *outcomes: str) -> Hostile:
    """Return a site whose responses all have one of these outcomes."""
    return Hostile(answers, dict.fromkeys(answers, dropped(*outcomes)))


def same(
    name: str,
    group: str,
    make: Callable[[], Hostile],
    settings: Mapping[str, object] | None = None,
    quick: bool = False,
) -> Case:
    """Return a case whose site does not depend on the origin."""
    return Case(name, group, lambda origin: make(), settings or {}, is_quick=quick)
