"""Robots.txt beside protego, Scrapy's reader: the same decisions on every file; hostile ones at a bounded cost."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from twinlink.spiders.robots.file import Group
from twinlink.spiders.robots.known import Known, KnownRules
from twinlink.spiders.robots.robots import MAX_ROBOTS_BYTES, RobotsRules, read_robots
from twinlink.spiders.robots.rules import Rules, canonical_path

AGENT = "twinlink"
HOST = "http://a.org"
NAMES = ["*", "twinlink", "TwinLink", "Twin", "t", "twin*", "*link", "twinlinker", "other", "Other-Bot", "**", "", "é"]
FIELDS = ["Disallow", "disallow ", "Dissallow", "Allow", "ALLOW", "Crawl-delay", "crawl delay", "Request-rate"]
FIELDS += [
    "User-agent",
    "user agent",
    "Useragent",
    "Sitemap",
    "site-map",
    "Host",
    "Visit-time",
    "Clean-param",
    "",
    "x y",
]
DELAYS = [
    "2",
    "0.5",
    "-1",
    "nan",
    "inf",
    "1e3",
    "soon",
    "1/5",
    "10/1m",
    "1/2h",
    "0/3",
    "1/5 0900-1200",
    "1/5 0900",
    "1/",
]
paths = st.text(alphabet=list("/ab*$?=.%41Fé(&~ #:"), max_size=8).map(lambda text: f"/{text}")
values = st.one_of(
    paths,
    st.sampled_from(
        ["", "/", "*", "$", "/*", "/a*b$", "/index.html", "/a/index.html$", "b", "https://a.org/a", "/%2F"]
    ),
)
lines = st.one_of(
    st.builds(lambda name: f"User-agent: {name}", st.sampled_from(NAMES)),
    st.builds(lambda field, value: f"{field}: {value}", st.sampled_from(["Disallow", "Allow"]), values),
    st.builds(
        lambda field, mark, value: f"{field}{mark}{value}",
        st.sampled_from(FIELDS),
        st.sampled_from([": ", ":", " ", " : ", "\t"]),
        st.one_of(values, st.sampled_from(NAMES), st.sampled_from(DELAYS)),
    ),
    st.text(alphabet=list("ab:/# \t"), max_size=6),
)
ADDRESSES = [
    "",
    "/",
    "/a",
    "/ab",
    "/a*b",
    "/a?b=a",
    "/a%2Fb",
    "/%C3%A9",
    "/a/index.html",
    "/b/a/",
    "/robots.txt",
    "/a$b",
]


def by_protego(text: str) -> tuple[Protego, float, tuple[str, ...]]:
    parser = Protego.parse(text)
    rate = parser.request_rate(AGENT)
    delays = (parser.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0)
    return parser, max(seconds for seconds in delays if seconds <= 86_400), tuple(parser.sitemaps)


@settings(max_examples=600, deadline=None)
@given(st.lists(lines, max_size=14), st.lists(paths, max_size=6), st.sampled_from(["\n", "\r\n", "\r", "\u2028"]))
def test_every_file_is_read_as_protego_reads_it(text: list[str], more: list[str], end: str) -> None:
    written = end.join(text)
    parser, delay, sitemaps = by_protego(written)
    rules = read_robots(written.encode(), AGENT)
    assert rules.delay == delay
    assert rules.sitemaps == sitemaps
    for path in [*ADDRESSES, *(path.partition("#")[0] for path in more)]:
        url = HOST + path
        assert rules.allows(url) == parser.can_fetch(url, AGENT), url


patterns = st.text(alphabet="ab*", max_size=7).map(lambda text: f"/{text}")


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(patterns, st.sampled_from(["", "$"]), st.booleans()), max_size=9), st.text("ab", max_size=9))
def test_rules_are_matched_as_regular_expressions_are(found: list[tuple[str, str, bool]], path: str) -> None:
    path = f"/{path}"
    best: tuple[int, bool] = (-1, True)
    for pattern, end, allows in found:
        if re.match(re.escape(pattern).replace(r"\*", ".*") + (r"\Z" if end else ""), path):
            best = max(best, (len(pattern + end), allows))
    assert Rules((pattern + end, allows) for pattern, end, allows in found).allows(path) == best[1]


def test_paths_and_rules_that_are_no_utf_8_are_compared_by_their_bytes() -> None:
    rules = read_robots(b"User-agent: *\nDisallow: /" + "中文".encode("big5"), AGENT)
    assert not rules.allows(f"{HOST}/%A4%A4%A4%E5/x")
    assert rules.allows(f"{HOST}/%A4%A4%A5%E5/x")
    assert canonical_path(f"{HOST}/%a4%41") == "/%A4A"


def numbered(line: str, n: int) -> bytes:
    return "".join(line.replace("#", str(number)) + "\n" for number in range(n)).encode()


def held(rules: RobotsRules) -> int:
    assert rules.rules is not None
    return rules.rules.size


@pytest.mark.parametrize("agent", ["a#", "twinlink", "twin", "*"])
def test_agents_by_rules_cost_no_more_than_the_rules(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: Counter[str] = Counter()
    take = Group.take
    monkeypatch.setattr(Group, "take", lambda group, kind, value: (taken.update(["taken"]), take(group, kind, value)))
    body = numbered(f"User-agent: {agent}", 13_000) + b"User-agent: *\n" + numbered("Disallow: /#", 10_000)
    assert 300_000 < len(body) <= MAX_ROBOTS_BYTES
    rules = read_robots(body, AGENT)
    assert taken["taken"] <= 2 * 10_000  # for the name of the robot, and for all robots
    assert held(rules) < 20 * len(body)
    assert not rules.allows(f"{HOST}/9999")
    assert rules.allows(f"{HOST}/x")


def test_groups_of_others_are_not_kept() -> None:
    others = numbered("User-agent: other#\nDisallow: /", 10_000)
    rules = read_robots(others + b"User-agent: *\nDisallow: /a\n" + others, AGENT)
    assert held(rules) == held(read_robots(b"User-agent: *\nDisallow: /a", AGENT))
    assert not rules.allows(f"{HOST}/a")


class Steps(str):
    """A path that counts the looks at its characters."""

    __slots__ = ()
    n: ClassVar = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        for character in str(self):
            Steps.n += 1
            yield character


def test_thousands_of_wildcards_cost_one_look_at_each_character() -> None:
    rules = Rules((f"/*e*t*{number}", False) for number in range(27_000))
    Steps.n = 0
    path = Steps("/page/section/26999.html")
    assert not rules.allows(path)
    assert Steps.n == len(path)
    assert rules.allows("/page/section/x.html")


def test_truncated_file_does_not_allow_more() -> None:
    head = b"User-agent: *\nDisallow: /private\n"
    for last, closed in ((b"Allow: /private", True), (b"Disallow: /private/a", True)):
        filler = b"#" * (MAX_ROBOTS_BYTES - len(head) - len(last) - 1) + b"\n"
        rules = read_robots(head + filler + last + b"/open/only/this", AGENT)
        assert rules.allows(f"{HOST}/private/a") is not closed
        assert rules.allows(f"{HOST}/b")
    rules = read_robots(b"User-agent: *\rDisallow: /a\r" * MAX_ROBOTS_BYTES, AGENT)
    assert not rules.allows(f"{HOST}/a")


def test_rules_of_many_hosts_take_bounded_room_and_none_is_forgotten_that_is_waited_for() -> None:
    answers = KnownRules(max_hosts=3, max_bytes=1_000)
    future = asyncio.new_event_loop().create_future()
    answers.put("waits", Known(future))
    for number in range(5):
        answers.put(f"{number}", Known(future))
        answers.settle(f"{number}", 9.0, 100)
    assert [name for name in ("waits", *"01234") if answers.get(name)] == ["waits", "3", "4"]
    answers.get("3")
    answers.put("large", Known(future))
    answers.settle("large", 9.0, 900)
    assert [name for name in ("waits", "3", "4", "large") if answers.get(name)] == ["waits", "3", "large"]
    answers.settle("large", 9.0, 950)
    assert [name for name in ("waits", "3", "large") if answers.get(name)] == ["waits", "large"]
